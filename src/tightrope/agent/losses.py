"""What were the losses? Weights in feature space, or values on states from which the weights are told.

paper.tex, "Problem Setting": the loss of episode k is `phi(s, a) . theta_f,h^k`, known in full once the episode is over. Who
knows it as a function gives that; it is asked on a fixed sample of known states, and the weights are those of least squares
(of least length, while the sample does not tell them all: then they are right on everything seen so far). What the
features leave unexplained is reported, as a share of the losses' length, and warned about once.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope.agent.observations import kept, pack, unpack
from tightrope.agent.reading import TOLERANCE, Sizes
from tightrope.errors import InputError
from tightrope.numbers_in import whole_wrong
from tightrope.problems.reading import read_floats, shown
from tightrope.problems.tables import Floats

ROWS = 4  # pairs of state and action in the sample, as a multiple of d
NEW_DIRECTION = 1e-6  # what a later state must add to the sample to enter it
NOT_LINEAR = 1e-3  # the share left over from which it is worth a warning
RANK = 1e-9  # singular values below this share of the largest count as none


@dataclass(frozen=True)
class LossValues:
    """Losses as plain values: what was lost at step h in a state, under an action. They must tell the weights of every step."""

    rows: Sequence[tuple[int, Any, int, float]]  # (h, observation, action, value)


class LossReader:
    """Turns what a user knows of an episode's losses into weights [H, d]."""

    def __init__(self, sizes: Sizes):
        self.sizes = sizes
        self.residual = 0.0
        self._blocks: list[list[Floats]] = [[] for _ in range(sizes.horizon)]  # [A, d] of the states in the sample
        self._observations: list[list[Any]] = [[] for _ in range(sizes.horizon)]
        self._spans: list[Floats] = [np.zeros((0, 0)) for _ in range(sizes.horizon)]  # [r, d] orthonormal rows
        self._known: list[set[bytes]] = [set() for _ in range(sizes.horizon)]  # fingerprints of the blocks
        self._solvers: dict[int, Floats] = {}  # pseudo-inverses [d, n A], forgotten when the sample grows
        self._warned = False
        self._asked = False  # whether losses ever came as a function

    # ---- the sample ------------------------------------------------------------------------------------------------

    def sample(self, h: int, block: Floats, obs: Any) -> None:
        """A state seen at step h, features [A, D]: in the sample while that has fewer than 4d rows or lacks a direction."""
        d = self.sizes.dim or 0
        blocks, rows = self._blocks[h], block[:, :d]
        missing = len(blocks) * self.sizes.n_actions < ROWS * d
        if not missing and len(self._spans[h]) == d:
            return
        fresh = self._extend(h, rows)
        fingerprint = _fingerprint(rows)
        if (missing or fresh) and fingerprint not in self._known[h]:
            self._known[h].add(fingerprint)
            blocks.append(rows.copy())
            self._observations[h].append(kept(obs))
            self._solvers.pop(h, None)

    def _extend(self, h: int, rows: Floats) -> bool:
        """Whether these rows [A, d] add a direction; if so, it is remembered."""
        span, found = self._spans[h].reshape(-1, rows.shape[1]), False
        for row in rows:
            rest = row - span.T @ (span @ row)
            rest -= span.T @ (span @ rest)  # twice is enough for rounding
            length = float(np.linalg.norm(rest))
            if length > NEW_DIRECTION:
                span, found = np.vstack([span, rest / length]), True
        self._spans[h] = span
        return found

    # ---- reading ---------------------------------------------------------------------------------------------------

    def read(self, name: str, given: Any) -> tuple[Floats, float]:
        """The weights [H, d], and what of the losses they leave over, as a share."""
        if isinstance(given, LossValues):
            raise TypeError("values need the features: see `read_values`")
        if callable(given):
            return self._of_function(name, given)
        weights = read_floats(name, given)
        wanted = (self.sizes.horizon, self.sizes.dim)
        if weights.shape != wanted:
            more = " (a function of (h, observation, action), or tr.LossValues, will do too)"
            raise InputError(f"{name}: shape {weights.shape}, wanted weights [H, d] = {wanted}{more}")
        if not np.isfinite(weights).all():
            raise InputError(f"{name}: contains NaN or infinity")
        return np.array(weights), 0.0  # one's own: what is closed to writing would be another type to the kernels

    def _of_function(self, name: str, loss: Callable[[int, Any, int], Any]) -> tuple[Floats, float]:
        H, d, actions = self.sizes.horizon, self.sizes.dim or 0, range(self.sizes.n_actions)
        weights: Floats = np.zeros((H, d))
        left = all_of_it = 0.0
        self._asked = True
        for h in range(H):
            if not self._blocks[h]:
                continue  # no episode has come this far
            values = np.array([self._value(name, loss, h, obs, a) for obs in self._observations[h] for a in actions])
            rows = np.concatenate(self._blocks[h])
            if h not in self._solvers:
                self._solvers[h] = np.linalg.pinv(rows, rcond=RANK).astype(np.float64, copy=False)
            weights[h] = self._solvers[h] @ values
            left += float(np.sum((values - rows @ weights[h]) ** 2))
            all_of_it += float(np.sum(values**2))
        return weights, self._told(left, all_of_it)

    def _value(self, name: str, loss: Callable[[int, Any, int], Any], h: int, obs: Any, a: int) -> float:
        return _checked(lambda: f"{name}({h}, {shown(obs)}, {a})", loss(h, obs, a))

    def read_values(self, name: str, given: LossValues, features: Callable[[Any], Floats]) -> tuple[Floats, float]:
        """The same from plain values; `features` reads an observation into [A, d]."""
        H, d = self.sizes.horizon, self.sizes.dim or 0
        rows: list[list[Floats]] = [[] for _ in range(H)]
        values: list[list[float]] = [[] for _ in range(H)]
        for i, (h, obs, a, value) in enumerate(_rows(name, given.rows)):
            for what, number, below in (("h", h, H), ("action", a, self.sizes.n_actions)):
                if whole_wrong(number, 0) is not None or number >= below:
                    raise InputError(f"{name}: row {i}: {what} {shown(number)}, wanted one of 0..{below - 1}")
            rows[h].append(features(obs)[a])
            values[h].append(_checked(lambda i=i: f"{name}: row {i}", value))
        weights, left, all_of_it, wrong = np.zeros((H, d)), 0.0, 0.0, []
        for h in range(H):
            table, told = np.array(rows[h]).reshape(-1, d), np.array(values[h])
            rank = (
                0
                if not len(table)
                else int(np.linalg.matrix_rank(table, tol=RANK * max(np.linalg.norm(table), 1e-300)))
            )
            if rank < d:
                wrong.append(
                    f"{name}: step {h}: {len(table)} values of rank {rank} do not tell {d} weights; "
                    f"wanted values in {d - rank} more directions of the features{_unseen(table)}"
                )
                continue
            weights[h] = np.linalg.lstsq(table, told, rcond=None)[0]
            left += float(np.sum((told - table @ weights[h]) ** 2))
            all_of_it += float(np.sum(told**2))
        if wrong:
            raise InputError(wrong)
        return weights, self._told(left, all_of_it)

    def _told(self, left: float, all_of_it: float) -> float:
        """The share left over; warned about when it is too much, once."""
        share = math.sqrt(left / all_of_it) if all_of_it > 0 else 0.0
        if share > NOT_LINEAR and not self._warned:
            self._warned = True
            warnings.warn(
                f"the losses are not linear in the features: {share:.1%} of their length is left over by the best weights; "
                "richer features would say more (status().loss_residual goes on telling)",
                stacklevel=6,
            )
        return share

    # ---- files -----------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """The sample, for a file; a step with observations that no file can hold is left out, with a warning if it matters."""
        out: dict[str, np.ndarray] = {"loss_flags": np.array([self._warned, self._asked])}
        lost: dict[str, None] = {}
        for h, (blocks, observations) in enumerate(zip(self._blocks, self._observations)):
            packed = pack(observations) if blocks else None
            if packed is not None:
                out |= {f"loss_blocks{h}": np.array(blocks), f"loss_observations{h}": packed}
                out[f"loss_span{h}"] = self._spans[h]
            elif blocks:
                lost |= {type(obs).__name__: None for obs in observations if pack([obs]) is None}
        if lost and self._asked:
            warnings.warn(
                f"observations of type {', '.join(lost)} cannot be kept in a file: a loaded agent asks losses "
                "that are functions on states seen from then on",
                stacklevel=5,
            )
        return out

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """And back."""
        self._warned, self._asked = (bool(flag) for flag in arrays["loss_flags"])
        for h in range(self.sizes.horizon):
            if f"loss_blocks{h}" in arrays:
                self._blocks[h] = list(arrays[f"loss_blocks{h}"])
                self._observations[h] = unpack(arrays[f"loss_observations{h}"])
                self._spans[h] = arrays[f"loss_span{h}"]
                self._known[h] = {_fingerprint(block) for block in self._blocks[h]}


def _fingerprint(rows: Floats) -> bytes:
    """16 bytes, the same for equal rows (blocks have no -0.0)."""
    return hashlib.blake2b(rows.tobytes(), digest_size=16).digest()


def check_range(name: str, weights: Floats, seen: Iterable[Sequence[Floats]], dtype: np.dtype) -> None:
    """Refuse weights [H, d] that give a loss outside [0, 1] in a state that was met.

    `seen`: sequences over the steps, of blocks [A, D] or [n, A, D]; `dtype` is what their numbers were rounded to.
    """
    (H, d), eps = weights.shape, np.finfo(dtype).eps
    for blocks in seen:
        for h, block in enumerate(blocks[:H]):
            rows = block[..., :d]
            with np.errstate(over="ignore", invalid="ignore"):
                values = rows @ weights[h]
                slack = TOLERANCE + eps * (np.abs(rows) @ np.abs(weights[h]))
                right = (values >= -slack) & (values <= 1.0 + slack)
            if not right.all():
                at = tuple(np.argwhere(~right)[0])
                raise InputError(
                    f"{name}: the weights give {values[at]:.6g} at step h={h}, a={at[-1]} in a state that was visited, "
                    "wanted losses phi(s, a) . weights[h] in [0, 1]"
                )


def _rows(name: str, given: Any) -> list[tuple[Any, Any, Any, Any]]:
    """What `LossValues` was given, row by row."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{name}: {shown(given)}, wanted rows (h, observation, action, value)")
    rows = list(given)
    for i, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != 4:
            raise InputError(f"{name}: row {i}: {shown(row)}, wanted (h, observation, action, value)")
    return rows


def _checked(name: Callable[[], str], given: Any) -> float:
    if (
        isinstance(given, bool | np.bool_ | int | float | np.integer | np.floating)
        and -TOLERANCE <= float(given) <= 1.0 + TOLERANCE
    ):
        return float(given)
    raise InputError(f"{name()}: {shown(given)}, wanted a loss in [0, 1]")


def _unseen(table: Floats) -> str:
    """Which coordinates no row has anything in, if there are few enough to name."""
    empty = np.flatnonzero(~table.any(axis=0)) if len(table) else np.zeros(0, np.int64)
    return f" (nothing is said of coordinates {empty.tolist()})" if 0 < len(empty) <= 12 else ""
