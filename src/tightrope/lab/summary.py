"""What did several runs of one setting find? Means over seeds with 95% bands, peaks, crossings and slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope.problems.tables import Floats, Ints
from tightrope.run import Run


@dataclass(frozen=True, eq=False)
class Band:
    """A curve's mean over n seeds, and half the width of its 95% interval by Student's t with n - 1 degrees of freedom."""

    mean: Floats  # [R]
    half: Floats  # [R], zero for one seed


def band(curves: Floats) -> Band:
    """curves [n, R]"""
    n = len(curves)
    if n == 1:
        return Band(curves[0].copy(), np.zeros(curves.shape[1]))
    from scipy.special import stdtrit

    return Band(curves.mean(axis=0), stdtrit(n - 1, 0.975) * curves.std(axis=0, ddof=1) / np.sqrt(n))


def slope(episodes: Ints, curve: Floats) -> float | None:
    """The log-log slope over the last decade, by least squares; None where the curve is not positive there."""
    last = episodes >= episodes[-1] / 10.0
    if last.sum() < 2 or not (curve[last] > 0).all():
        return None
    return float(np.polyfit(np.log(episodes[last]), np.log(curve[last]), 1)[0])


def zero_crossing(episodes: Ints, curve: Floats) -> float | None:
    """The episode at which the curve last comes back to zero, between its points by a straight line; None if it never does."""
    down = np.flatnonzero((curve[:-1] > 0) & (curve[1:] <= 0))
    if not len(down):
        return None
    i = int(down[-1])
    return float(episodes[i] + (episodes[i + 1] - episodes[i]) * curve[i] / (curve[i] - curve[i + 1]))


def summarise(runs: Sequence[Run], seconds: float) -> dict[str, Any]:
    """The numbers of `summary.json`; with several constraints, those of the one that is violated most."""
    first = runs[0]
    episodes = first.episodes
    regret = band(np.stack([run.regret for run in runs]))
    violations = [band(np.stack([run.violation[:, i] for run in runs])) for i in range(first.violation.shape[1])]
    violation = max(violations, key=lambda v: v.mean.max())
    peak = int(np.argmax(violation.mean))
    learning = sum(run.seconds["learning"] for run in runs)
    steps = int(episodes[-1]) * first.cmdp.horizon * len(runs)
    return {
        "problem": first.cmdp.name,
        "losses": dict(first.about["losses"]) | {"seed": "each run's own"},
        "learner": dict(first.about["learner"]),
        "episodes": int(episodes[-1]),
        "seeds": len(runs),
        "regret_final_mean": float(regret.mean[-1]),
        "regret_final_ci95": float(regret.half[-1]),
        "regret_slope": slope(episodes, regret.mean),
        "violation_final_mean": float(violation.mean[-1]),
        "violation_final_ci95": float(violation.half[-1]),
        "violation_peak": float(violation.mean[peak]),
        "violation_peak_episode": int(episodes[peak]),
        "violation_zero_crossing": zero_crossing(episodes, violation.mean),
        "hard_violation_final_mean": float(np.mean([run.hard_violation[-1].max() for run in runs])),
        "dual_max": float(max(run.extremes.dual_max.max() for run in runs)),
        "multiplier_mean": _multiplier(runs),
        "epochs_mean": float(np.mean([run.epoch[-1] for run in runs])),
        "seconds_total": seconds,
        "seconds_learning": learning,
        "microseconds_per_step": 1e6 * learning / steps,
    }


def _multiplier(runs: Sequence[Run]) -> float | None:
    """The largest multiplier of the hindsight problem, in the mean over runs."""
    found = [run.comparator.multipliers.max() for run in runs if run.comparator is not None]
    return float(np.mean(found)) if found else None
