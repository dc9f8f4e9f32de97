"""The figure shows the numbers that the runs have; the full experiment has the numbers it should."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tightrope.cli.main import _run
from tightrope.cli.reproduce import figure1_spec
from tightrope.lab.runner import run_spec
from tightrope.lab.store import Store
from tightrope.lab.summary import summarise
from tightrope.show.figure1 import figure1
from tightrope.show.style import rendered


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return run_spec(figure1_spec(600, 3), Store(tmp_path_factory.mktemp("runs"))).runs


def test_the_drawn_lines_are_the_means_of_the_runs(runs):
    figure = figure1(runs, summarise(runs, 0.0), "note")
    left, right = figure.axes
    drawn = np.asarray(left.lines[0].get_ydata())
    assert np.allclose(drawn[1:], np.mean([run.regret for run in runs], axis=0))
    assert drawn[0] == 0.0
    assert np.allclose(
        np.asarray(right.lines[0].get_ydata())[1:], np.mean([run.violation[:, 0] for run in runs], axis=0)
    )


def test_the_same_runs_give_the_same_bytes_as_png_and_pdf(runs):
    summary = summarise(runs, 0.0)
    for kind in ("png", "pdf"):
        assert rendered(figure1(runs, summary), kind) == rendered(figure1(runs, summary), kind)


def test_the_paper_s_experiment_has_the_numbers_of_an_independent_program(tmp_path):
    """Golden summary: what a program that shares no code with this one has measured, ten seeds."""
    assert _run(["reproduce", "figure1", "--out", str(tmp_path), "-q"]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["episodes"] == 100_000
    assert summary["seeds"] == 10
    assert 1250 <= summary["violation_peak"] <= 1600
    assert 4_000 <= summary["violation_peak_episode"] <= 8_000
    assert 44_000 <= summary["violation_zero_crossing"] <= 52_000
    assert abs(summary["regret_final_mean"] - 57_900) <= 0.04 * 57_900
    assert summary["dual_max"] == 0.0
    assert 240 <= summary["epochs_mean"] <= 260
    assert 0.4 <= summary["regret_slope"] <= 0.75
