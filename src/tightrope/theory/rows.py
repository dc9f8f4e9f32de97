"""What is a row of the certificate? One claim of the paper, its worst case on this run, and whether it applies and holds.

A claim is checked at many places of a run (episodes, steps, states). A place counts where the inequalities that the claim's
proof uses hold there; the row applies when some place counts, and holds when the claim does at every place that counts.
Where none counts, the row still tells the worst case seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.problems.tables import Floats

Bools = NDArray[np.bool_]
EXACT = 1e-9  # rounding that a one-sided check allows, absolute and relative


@dataclass(frozen=True)
class Row:
    """One claim of the paper on one run."""

    name: str
    place: str  # label in paper.tex
    claim: str  # the formula
    claimed: float  # its right side, at the worst place
    computed: float  # its left side there
    where: str
    applies: bool
    holds: bool
    kind: str  # "bound" (computed <= claimed) or "equality"
    counted: int  # places at which the hypotheses of the proof hold
    places: int
    tolerance: float

    @property
    def ok(self) -> bool:
        return self.holds or not self.applies


class Check:
    """Takes in the places of one claim, part by part, and makes a `Row` of them."""

    def __init__(self, name: str, place: str, claim: str, kind: str = "bound", tolerance: float = EXACT):
        self.name, self.place, self.claim, self.kind, self.tolerance = name, place, claim, kind, tolerance
        self.counted = self.places = 0
        self._worst: dict[
            bool, tuple[float, float, float, str]
        ] = {}  # whether it counts: margin, computed, claimed, where

    def take(
        self,
        computed: Any,
        claimed: Any,
        counts: Any = True,
        where: Callable[..., str] | str = "",
        scale: Any = None,
    ) -> None:
        """Arrays that broadcast against each other; `where` gets the place's indices.

        What is allowed grows with `scale`, which is 1 + |claimed| unless given.
        """
        left, right, counted = np.broadcast_arrays(
            np.asarray(computed, dtype=float), np.asarray(claimed, dtype=float), np.asarray(counts, dtype=bool)
        )
        self.places += left.size
        self.counted += int(counted.sum())
        with np.errstate(invalid="ignore"):
            margin = np.abs(left - right) if self.kind == "equality" else left - right
            if scale is None:
                scale = np.where(np.isfinite(right), 1.0 + np.abs(right), 1.0)
            margin = np.where(np.isnan(left) | np.isnan(right), math.inf, margin / scale)
        for flag in (True, False):
            chosen = counted == flag
            if chosen.any():
                self._keep(flag, np.where(chosen, margin, -math.inf), left, right, where)

    def _keep(self, flag: bool, margin: Floats, left: Floats, right: Floats, where: Callable[..., str] | str) -> None:
        at = np.unravel_index(int(np.argmax(margin)), margin.shape)
        worst = float(margin[at])
        if flag not in self._worst or worst > self._worst[flag][0]:
            text = where if isinstance(where, str) else where(*(int(i) for i in at))
            self._worst[flag] = (worst, float(left[at]), float(right[at]), text)

    def row(self) -> Row:
        applies = True in self._worst
        margin, computed, claimed, where = self._worst.get(applies, (0.0, 0.0, 0.0, "no place to look at"))
        holds = margin <= self.tolerance
        return Row(
            self.name,
            self.place,
            self.claim,
            claimed,
            computed,
            where,
            applies,
            holds,
            self.kind,
            self.counted,
            self.places,
            self.tolerance,
        )


def rows_of(checks: Sequence[Check]) -> list[Row]:
    return [check.row() for check in checks]
