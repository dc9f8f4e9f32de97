"""What is a feature map? Something that turns an observation into [A, d]; here is what all of them share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import real_wrong, whole
from tightrope.problems.reading import read_floats, read_observation, shown
from tightrope.problems.tables import Floats

WIDEST = 1e300  # half the width of a rectangle: its width is then a number still


class FeatureMap:
    """A map of the state, `base` [p] of length at most 1, given to each action in a block of its own: d = A * p.

    Whoever inherits sets `size` (p) and says `base`.
    """

    def __init__(self, n_actions: int, size: int):
        self.n_actions, self.size = whole("n_actions", n_actions, 1), size
        self.dim = self.n_actions * size

    def base(self, obs: Any) -> Floats:
        """[p] for one observation, of length at most 1."""
        raise NotImplementedError

    def __call__(self, obs: Any) -> Floats:
        """[A, d] for one observation."""
        out = np.zeros((self.n_actions, self.dim))
        row = self.base(obs)
        for a in range(self.n_actions):
            out[a, a * self.size : (a + 1) * self.size] = row
        return out

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self.dim}, A={self.n_actions})"


class Custom(FeatureMap):
    """A function of the observation that gives [p]; it is divided by `bound`, the largest length it can have.

    The bound is the user's claim; a longer vector is an error that says so, never clipped in silence.
    """

    def __init__(self, n_actions: int, function: Callable[[Any], Any], size: int, bound: float):
        super().__init__(n_actions, whole("size", size, 1))
        if not callable(function):
            raise InputError(f"function: {shown(function)}, wanted a function of an observation")
        if real_wrong(bound, 0.0) or not bound > 0:
            raise InputError(f"bound: {shown(bound)}, wanted the largest length of what the function gives")
        self.function, self.bound = function, float(bound)

    def base(self, obs: Any) -> Floats:
        row = read_floats("function", self.function(obs))
        if row.shape != (self.size,):
            raise InputError(f"function: shape {row.shape} for observation {shown(obs)}, wanted [p] = ({self.size},)")
        length = float(np.linalg.norm(row))
        if not length <= self.bound * (1 + 1e-9):
            raise InputError(
                f"function: length {length:.6g} for observation {shown(obs)}, above its bound {self.bound:g}"
            )
        return row / self.bound


class Box:
    """The rectangle that observations come from, and their place in it as numbers in [0, 1].

    An observation outside is taken for the nearest point inside, so that what is proved for the rectangle holds for all.
    """

    def __init__(self, low: Any, high: Any):
        self.low = np.atleast_1d(read_floats("low", low)).ravel()
        self.high = np.atleast_1d(read_floats("high", high)).ravel()
        if not len(self.low) and not len(self.high):
            raise InputError("low, high: of no dimension, wanted at least one")
        if self.low.shape != self.high.shape:
            raise InputError(f"low, high: shapes {self.low.shape} and {self.high.shape}, wanted two of the same size")
        endless = np.flatnonzero(~(np.isfinite(self.low) & np.isfinite(self.high)))
        if len(endless):
            raise InputError(
                f"low, high: not finite in dimension {endless.tolist()}; give bounds that observations keep to"
            )
        if not (self.low < self.high).all():
            i = int(np.flatnonzero(self.low >= self.high)[0])
            raise InputError(f"low, high: {self.low[i]:g} and {self.high[i]:g} in dimension {i}, wanted low below high")
        wide = np.flatnonzero(self.high / 2 - self.low / 2 > WIDEST)
        if len(wide):
            where = f"further apart than {2 * WIDEST:g} in dimension {wide.tolist()}"
            raise InputError(f"low, high: {where}; give bounds that observations keep to")

    @property
    def size(self) -> int:
        return len(self.low)

    def place(self, obs: Any) -> Floats:
        """[n] numbers in [0, 1]."""
        x = read_observation(obs)
        if x.shape != self.low.shape or not np.isfinite(x).all():
            raise InputError(f"observation: {shown(obs)}, wanted {self.size} finite number{'s' * (self.size > 1)}")
        x = np.minimum(np.maximum(x, self.low), self.high)  # before the difference, which may be beyond every float
        return np.minimum((x - self.low) / (self.high - self.low), 1.0)
