"""What are the user's own units? Rewards and utilities come in any scale and go back out in the same one.

A reward r becomes the loss `(high - r) / (high - low)`; a utility u with a lower limit L on its episode total becomes the
cost `(high - u) / (high - low)` with budget `(H*high - L) / (high - low)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.errors import InputError


@dataclass(frozen=True)
class Scale:
    """An affine change of units for one channel: `inner = (high - outer) / (high - low)`; `plain` leaves it as it is."""

    low: float = 0.0
    high: float = 1.0
    plain: bool = True

    @property
    def width(self) -> float:
        return self.high - self.low

    def inward(self, outer: np.ndarray) -> np.ndarray:
        return np.asarray(outer) if self.plain else (self.high - outer) / self.width

    def total_outward(self, inner, horizon: int):
        """An episode total in inner units, in the user's: a cost total back to a utility total."""
        return inner if self.plain else horizon * self.high - self.width * inner


@dataclass(frozen=True)
class Units:
    """The scale of the loss channel and of each cost channel."""

    loss: Scale
    costs: tuple[Scale, ...]

    @property
    def sentence(self) -> str:
        """What the inner numbers are in the user's units; empty where they are the same."""
        parts = [] if self.loss.plain else [f"a loss of 1 is {self.loss.width:.4g} of your rewards"]
        for i, scale in enumerate(self.costs):
            of = f" of constraint {i}" if len(self.costs) > 1 else ""
            if not scale.plain:
                parts.append(f"a cost of 1{of} is {scale.width:.4g} of your utilities")
        return "; ".join([*parts, "both count down from the largest"]) if parts else ""

    def limit(self, i: int, total: float, horizon: int) -> str:
        """What a cost total of an episode is as a utility, in words; empty where costs are the user's own."""
        scale = self.costs[i]
        return "" if scale.plain else f" (a utility of {scale.total_outward(total, horizon):.6g})"


def scale_of(name: str, values: np.ndarray) -> Scale:
    """Return the scale that maps the range of `values` onto [0, 1], largest value to 0."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        raise InputError(f"{name}: contains NaN or infinity")
    low, high = float(values.min()), float(values.max())
    if high <= low:
        raise InputError(f"{name}: all values are {low:g}; they must differ to be scaled")
    return Scale(low, high, plain=False)
