"""Who sets the losses, when it is settled beforehand? A few profiles, and which one each episode has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints, frozen

TOLERANCE = 1e-9
CHUNK = 65_536  # episodes counted at a time: NumPy copies what it counts when that is closed to writing


@dataclass(frozen=True, eq=False)
class Profiles:
    """Oblivious losses: episode k has the weights `profiles[sequence[k]]`.

    Parameters
    ----------
    profiles: [L, H, d], `theta_f,h` of each profile (paper.tex, "Problem Setting").
    sequence: [K], ints in 0..L-1.
    about: how they were made, for the record of a run.
    """

    profiles: Floats
    sequence: Ints
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        profiles = read_profiles(self.profiles)
        try:
            sequence = np.asarray(self.sequence)
        except ValueError:
            raise InputError("sequence: rows of different lengths, wanted ints [K] with K >= 1") from None
        if sequence.ndim != 1 or sequence.size == 0 or sequence.dtype.kind not in "iu":
            raise InputError(f"sequence: {sequence.dtype} of shape {sequence.shape}, wanted ints [K] with K >= 1")
        if sequence.min() < 0 or sequence.max() >= len(profiles):
            worst = int(sequence.min() if sequence.min() < 0 else sequence.max())
            raise InputError(f"sequence: {worst} is not one of the {len(profiles)} profiles 0..{len(profiles) - 1}")
        object.__setattr__(self, "profiles", frozen(profiles))
        object.__setattr__(self, "sequence", frozen(sequence.astype(np.int64)))

    @property
    def episodes(self) -> int:
        return len(self.sequence)

    def mean(self, episodes: int) -> Floats:
        """The average loss weights [H, d] of the first episodes."""
        counts = np.zeros(len(self.profiles), np.int64)
        for first in range(0, episodes, CHUNK):
            part = self.sequence[first : min(first + CHUNK, episodes)]
            counts += np.bincount(part, minlength=len(counts))
        return np.tensordot(counts / episodes, self.profiles, axes=1)


def read_profiles(given: Any, name: str = "profiles") -> Floats:
    """[L, H, d], numbers; a single profile [H, d] is one of L = 1."""
    try:
        profiles = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: wanted an array of numbers [L, H, d] ({error})") from None
    if profiles.ndim == 2:
        profiles = profiles[None]
    if profiles.ndim != 3 or 0 in profiles.shape:
        raise InputError(f"{name}: shape {profiles.shape}, wanted [L, H, d]")
    if not np.isfinite(profiles).all():
        raise InputError(f"{name}: contains NaN or infinity")
    return profiles


def fit(cmdp: LinearCMDP, profiles: Floats, name: str = "profiles") -> Floats:
    """Return profiles [L, H, d] if they are losses of this problem: the right shape, values in [0, 1]."""
    wanted = (cmdp.horizon, cmdp.dim)
    if profiles.shape[1:] != wanted:
        raise InputError(f"{name}: shape {profiles.shape}, wanted [L, H, d] = (L, {wanted[0]}, {wanted[1]})")
    for i, profile in enumerate(profiles):
        values = cmdp.losses(profile)  # [H, S, A]
        low, high = float(values.min()), float(values.max())
        if low < -TOLERANCE or high > 1 + TOLERANCE:
            h, s, a = np.unravel_index(int(np.argmax(np.maximum(-values, values - 1))), values.shape)
            which = name if len(profiles) == 1 else f"{name}[{i}]"
            raise InputError(f"{which}: loss {values[h, s, a]:.6g} at step h={h}, s={s}, a={a} is outside [0, 1]")
    return profiles
