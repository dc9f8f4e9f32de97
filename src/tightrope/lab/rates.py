"""How fast do regret and violation grow with the number of episodes? One setting at several K, log-log slopes, intervals.

A slope is taken seed by seed, by least squares in logarithms over the K at which the measure is positive; its interval is the
95% band of these slopes over the seeds. The sum of the positive parts is floored at 0.01% of H K, so that a run that ends
below its budget and its comparator counts as small and not as nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.errors import InputError
from tightrope.lab.summary import band
from tightrope.run import Run

if TYPE_CHECKING:
    import polars as pl

LOWER_BOUND = 0.5  # regret is Omega(sqrt K) (paper.tex, "Discussion on Lower Bound")
FLOOR = 1e-4  # of H K, for the sum of the positive parts
SUM = "regret⁺ + violation⁺"


@dataclass(frozen=True)
class Slope:
    """How a measure grows: like K to the power of `slope`."""

    measure: str
    slope: float | None  # None where fewer than two K have positive values
    half: float | None  # half the width of the 95% interval; None with one seed
    used: int  # runs with a positive value
    runs: int
    declared: float | None  # what the learner declares
    lower: float | None  # a lower bound, for regret


def read_ladder(text: str, points: int) -> list[int]:
    """The K of `1e4..1e6`, so many of them at equal ratios, or of a list `3000,10000,30000`."""
    try:
        if ".." in text:
            low, high = (_count(part) for part in text.split(".."))
            if points < 2 or high <= low:
                raise InputError(
                    f"--episodes: {text!r} with {points} points, wanted LOW..HIGH with LOW < HIGH and 2 or more"
                )
            return sorted({round(k) for k in np.geomspace(low, high, points).tolist()})
        ladder = sorted({_count(part) for part in text.split(",")})
    except ValueError:
        raise InputError(
            f"--episodes: {text!r}, wanted LOW..HIGH such as 1e4..1e6, or a list such as 3000,10000"
        ) from None
    if len(ladder) < 2:
        raise InputError(f"--episodes: {text!r}, wanted at least two numbers of episodes")
    return ladder


def _count(text: str) -> int:
    """A whole number from 1 up, also as 1e4."""
    value = float(text)
    if not (math.isfinite(value) and value >= 1 and value == int(value)):
        raise ValueError(text)
    return int(value)


def measures(runs: Sequence[Run]) -> pl.DataFrame:
    """`group`, `measure`, `episodes`, `seed`, `value` (as it ended), `counted` (as the slope takes it); three rows a run."""
    import polars as pl

    rows = []
    for run in runs:
        regret, violation = float(run.regret[-1]), float(run.violation[-1].max())
        K, least = int(run.episodes[-1]), FLOOR * run.cmdp.horizon * int(run.episodes[-1])
        both = max(regret, 0.0) + max(violation, 0.0)
        for measure, value in (("regret", regret), ("violation", violation), (SUM, both)):
            counted = max(value, least) if measure == SUM else value
            rows.append((run.about["learner"]["name"], measure, K, run.seed, value, counted))
    return pl.DataFrame(rows, schema=["group", "measure", "episodes", "seed", "value", "counted"], orient="row")


def slopes(frame: pl.DataFrame, declared: float | None) -> list[Slope]:
    """One for each measure of the frame that `measures` made."""
    found = []
    for measure in frame["measure"].unique(maintain_order=True):
        own = frame.filter(frame["measure"] == measure)
        positive = own.filter(own["counted"] > 0)
        each = [s for (_,), part in positive.group_by("seed", maintain_order=True) if (s := _slope(part)) is not None]
        mean, half = None, None
        if each:
            over = band(np.array(each)[:, None])
            mean, half = float(over.mean[0]), float(over.half[0]) if len(each) > 1 else None
        lower = LOWER_BOUND if measure != "violation" else None
        found.append(Slope(measure, mean, half, positive.height, own.height, declared, lower))
    return found


def _slope(part: pl.DataFrame) -> float | None:
    if part["episodes"].n_unique() < 2:
        return None
    return float(np.polyfit(np.log(part["episodes"].to_numpy()), np.log(part["counted"].to_numpy()), 1)[0])


def summary(found: Sequence[Slope], asked: dict[str, Any]) -> dict[str, Any]:
    """What is kept as JSON."""
    return {**asked, "slopes": [vars(slope) for slope in found]}
