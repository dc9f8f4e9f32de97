"""What does it cost to win back what was overspent? Regret paid against violation saved, for several `tighten` and `guard`.

With `tighten = N` the learner aims below its budgets until the excess of the first episodes is won back, by about episode N.
Observed costs are noisy: aiming at zero ends above zero half of the time, by their noise. With `guard = z` the excess
counts as won back only when it is z standard deviations below zero, which keeps the running violation itself below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.lab.summary import band
from tightrope.learners.pdpo import PDPO
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints
from tightrope.show import style
from tightrope.simulation import simulate
from tightrope.studies.suites import make_losses

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = ((0.0, 0.0), (1.0, 0.0), (0.2, 0.0), (0.2, 1.0), (0.2, 3.0))  # (tighten as a share of K, guard)


@dataclass(frozen=True, eq=False)
class Tightened:
    """One setting: curves over the recorded episodes, the means of the seeds."""

    tighten: float
    guard: float
    episodes: Ints  # [R]
    regret: Floats  # [R]
    violation: Floats  # [R], the largest of the constraints
    last_above_zero: list[int]  # of each seed, the last recorded episode with a running violation above 0

    @property
    def label(self) -> str:
        if not self.tighten:
            return "not tightened"
        return f"N = {self.tighten:,.0f}" + (f", guard {self.guard:g}" if self.guard else "")


def tightened(
    cmdp: LinearCMDP, episodes: int, kind: str = "alternating", seeds: Sequence[int] = (0, 1, 2, 3, 4)
) -> list[Tightened]:
    """The preset under each of `SHARES`."""
    return [_one(cmdp, episodes, kind, seeds, share * episodes, guard) for share, guard in SHARES]


def _one(cmdp: LinearCMDP, episodes: int, kind: str, seeds: Sequence[int], tighten: float, guard: float) -> Tightened:
    learner = PDPO.practical(cmdp, episodes, tighten=tighten, guard=guard)
    runs = [simulate(cmdp, make_losses(kind, cmdp, episodes, seed), learner, episodes, seed) for seed in seeds]
    violations = np.stack([run.violation.max(axis=1) for run in runs])
    at = runs[0].episodes
    last = [int(at[np.flatnonzero(row > 0)[-1]]) if (row > 0).any() else 0 for row in violations]
    regret = band(np.stack([run.regret for run in runs])).mean
    return Tightened(tighten, guard, at, regret, band(violations).mean, last)


def findings(found: Sequence[Tightened]) -> list[dict[str, Any]]:
    """A row for each setting: what was paid, what was saved, against no tightening."""
    plain = found[0]
    return [
        {
            "tighten": row.tighten,
            "guard": row.guard,
            "regret": float(row.regret[-1]),
            "violation": float(row.violation[-1]),
            "violation_at_tighten": float(np.interp(row.tighten, row.episodes, row.violation)) if row.tighten else None,
            "regret_paid": float(row.regret[-1] - plain.regret[-1]),
            "violation_saved": float(plain.violation[-1] - row.violation[-1]),
            "last_above_zero": row.last_above_zero,
        }
        for row in found
    ]


@style.styled
def tighten_figure(found: Sequence[Tightened], title: str) -> Figure:
    """The running violation under each setting, and where each ends."""
    figure = style.new_figure((style.TWO_PANELS[0], 2.9))
    left, right = figure.subplots(1, 2)
    for row, colour in zip(found, style.colours()):
        left.plot(row.episodes, row.violation, color=colour, label=row.label)
        if row.tighten and row.tighten < row.episodes[-1]:
            left.axvline(row.tighten, color=style.GREY, linewidth=0.6, linestyle=":")
        right.plot(row.violation[-1], row.regret[-1], "o", color=colour, markersize=4)
    left.axhline(0.0, color=style.GREY, linewidth=0.7)
    left.set_title("(a) Running violation")
    left.set_xlabel("episode")
    style.count_axes(left)
    right.axvline(0.0, color=style.GREY, linewidth=0.7)
    right.set_title("(b) Regret paid for violation saved")
    right.set_xlabel("violation at the end")
    right.set_ylabel("regret at the end")
    style.count_axes(right)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    style.foot(figure, title)
    return figure
