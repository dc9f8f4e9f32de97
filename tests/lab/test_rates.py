"""Slopes over the number of episodes: known powers come back, with an interval that covers them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tightrope.errors import InputError
from tightrope.lab.rates import FLOOR, SUM, measures, read_ladder, slopes


def test_a_ladder_is_a_range_at_equal_ratios_or_a_list():
    assert read_ladder("1e4..1e6", 5) == [10_000, 31_623, 100_000, 316_228, 1_000_000]
    assert read_ladder("300,100", 5) == [100, 300]
    for text, points in (("1e4", 5), ("9..3", 5), ("1e4..", 5), ("a,b", 5), ("0.5..3", 4), ("10..20", 1)):
        with pytest.raises(InputError, match="--episodes"):
            read_ladder(text, points)


def _frame(power: float, noise: float, seeds: int = 6, draw: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(draw)
    rows = [
        ("pdpo", "regret", K, seed, value, value)
        for seed in range(seeds)
        for K in (1000, 4000, 16_000, 64_000)
        for value in [3.0 * K**power * np.exp(noise * random.normal())]
    ]
    return pl.DataFrame(rows, schema=["group", "measure", "episodes", "seed", "value", "counted"], orient="row")


@pytest.mark.parametrize("power", [0.5, 0.75, 1.0])
def test_a_power_law_comes_back_within_its_interval(power):
    (exact,) = slopes(_frame(power, 0.0), 0.75)
    assert exact.slope == pytest.approx(power, abs=1e-12)
    assert exact.half == pytest.approx(0.0, abs=1e-9)
    assert (exact.declared, exact.lower) == (0.75, 0.5)


def test_the_intervals_cover_the_true_power_nineteen_times_of_twenty():
    covered = 0
    for draw in range(200):
        (noisy,) = slopes(_frame(0.6, 0.3, draw=draw), None)
        assert noisy.slope is not None and noisy.half is not None
        covered += abs(noisy.slope - 0.6) < noisy.half
    assert 180 <= covered <= 198


def test_values_that_are_not_positive_are_left_out_and_counted():
    frame = _frame(0.5, 0.0, seeds=2).with_columns(
        pl.when(pl.col("seed") == 0).then(-1.0).otherwise(pl.col("counted")).alias("counted")
    )
    (found,) = slopes(frame, None)
    assert (found.slope, found.half, found.used, found.runs) == (pytest.approx(0.5), None, 4, 8)
    (none,) = slopes(frame.with_columns(counted=pl.lit(-1.0)), None)
    assert (none.slope, none.used) == (None, 0)


def test_the_sum_of_the_positive_parts_is_floored():
    import tightrope as tr

    cmdp = tr.problems.make("streaming", budget=3.9)
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 50), tr.PDPO.practical(cmdp, 50), 50)
    frame = measures([run])
    assert frame["measure"].to_list() == ["regret", "violation", SUM]
    regret, violation, both = frame["value"]
    assert both == pytest.approx(max(regret, 0) + max(violation, 0))
    assert violation < 0
    assert frame["counted"][2] == max(both, FLOOR * 4 * 50)
