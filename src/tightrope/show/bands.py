"""How wide is the uncertainty over seeds? Mean curves with 95% intervals, by Student's t or by bootstrap, from data frames.

A frame of curves has a row for each run and recorded episode: `group` (what is told apart), `run`, `seed`, `episode`, `regret`,
and `violation`, `hard_violation`, `dual` (with several constraints `violation_0`, `violation_1`, …), as `curves.parquet` has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tightrope.errors import InputError, suggest
from tightrope.lab.summary import band
from tightrope.problems.tables import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

INTERVALS = ("t", "bootstrap")
DRAWS = 2000  # resamples of a bootstrap
IDENTITY = ("group", "run", "seed", "episode")


@dataclass(frozen=True, eq=False)
class Curve:
    """A mean over n seeds with its 95% interval."""

    group: str
    column: str
    episodes: Ints  # [R]
    mean: Floats  # [R]
    low: Floats  # [R]
    high: Floats  # [R]
    seeds: int


def channels(frame: pl.DataFrame, name: str) -> list[str]:
    """The columns of a curve: its own, and one for each constraint where there are several."""
    numbered = [
        column for column in frame.columns if column.startswith(f"{name}_") and column[len(name) + 1 :].isdigit()
    ]
    own = [name] if name in frame.columns else []
    found = own + sorted(numbered, key=lambda column: int(column.rsplit("_", 1)[1]))
    if not found:
        raise InputError(f"column {name!r}: missing; {suggest(name, frame.columns)}")
    return found


def has(frame: pl.DataFrame, group: str, column: str) -> bool:
    """Whether a group has anything in a column; those of other problems may have it to themselves."""
    own = frame.filter(frame["group"] == group)
    return own[column].null_count() < own.height


def groups(frame: pl.DataFrame) -> list[str]:
    """Their names, in the order in which they appear."""
    return frame["group"].unique(maintain_order=True).to_list()


def curve(frame: pl.DataFrame, group: str, column: str, interval: str = "t") -> Curve:
    """Mean and interval of one column of one group; episodes that not every run recorded are left out."""
    import polars as pl

    if interval not in INTERVALS:
        raise InputError(f"interval: unknown {interval!r}; {suggest(interval, INTERVALS)}")
    own = frame.filter(pl.col("group") == group).select("run", "episode", column)
    table = own.pivot(on="run", index="episode", values=column).sort("episode").drop_nulls()
    values = table.drop("episode").to_numpy().T.astype(float)  # [n, R]
    if not values.size:
        raise InputError(f"group {group!r}: its runs have no recorded episode in common")
    low, mean, high = interval_of(values, interval)
    return Curve(group, column, table["episode"].to_numpy(), mean, low, high, len(values))


def interval_of(values: Floats, interval: str) -> tuple[Floats, Floats, Floats]:
    """Low, mean and high [R] of n curves [n, R]; the mean itself where n = 1."""
    if interval == "t" or len(values) == 1:
        found = band(values)
        return found.mean - found.half, found.mean, found.mean + found.half
    draws = np.random.default_rng(np.random.SeedSequence(0)).integers(len(values), size=(DRAWS, len(values)))
    shares = np.stack([np.bincount(draw, minlength=len(values)) for draw in draws]) / len(values)  # [DRAWS, n]
    means = shares @ values
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return low, values.mean(axis=0), high


def words(seeds: int, interval: str) -> str:
    """What a band is, for the foot of a figure."""
    if seeds == 1:
        return "one seed"
    by = "Student's t" if interval == "t" else f"bootstrap, {DRAWS:,} resamples"
    return f"mean of {seeds} seeds, band: 95% interval ({by})"


def drawn_data(curves: list[Curve]) -> pl.DataFrame:
    """What a figure of curves shows, for the CSV beside it."""
    import polars as pl

    return pl.concat(
        pl.DataFrame(
            {
                "group": [c.group] * len(c.episodes),
                "curve": [c.column] * len(c.episodes),
                "episode": c.episodes,
                "mean": c.mean,
                "low": c.low,
                "high": c.high,
                "seeds": [c.seeds] * len(c.episodes),
            }
        )
        for c in curves
    )
