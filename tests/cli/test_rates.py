"""`tightrope rates`: slopes on the terminal, one figure, the data, and nothing made twice."""

from __future__ import annotations

import json

import polars as pl

ASK = ("rates", "--problem", "streaming", "--episodes", "100..1600", "--points", 3, "--seeds", 2, "-q")


def test_slopes_figure_and_data_are_left_and_the_same_command_makes_no_run_again(tightrope, tmp_path):
    said = tightrope(*ASK, "--set", "learner.beta_b=0.05", "--out", tmp_path / "out")
    assert said.code == 0
    assert "regret⁺ + violation⁺" in said.out and "declared" in said.out
    about = json.loads((tmp_path / "out" / "summary-rates.json").read_text())
    assert about["episodes"] == [100, 400, 1600]
    assert about["learner"]["beta_b"] == 0.05
    assert [row["declared"] for row in about["slopes"]] == [0.75] * 3
    data = pl.read_csv(tmp_path / "out" / "figure-rates.csv")
    assert data.height == 3 * 2 * 3
    assert (tmp_path / "out" / "figure-rates.png").read_bytes().startswith(b"\x89PNG")
    runs = sorted((tmp_path / "out").glob("*/manifest.json"))
    before = [path.stat().st_mtime_ns for path in runs]
    assert len(runs) == 6
    assert tightrope(*ASK, "--set", "learner.beta_b=0.05", "--out", tmp_path / "out").code == 0
    assert [path.stat().st_mtime_ns for path in runs] == before
    assert not list((tmp_path / "out").glob("summary-rates-*.json"))
    assert tightrope(*ASK, "--out", tmp_path / "out").code == 0  # another question stands beside the first
    assert len(list((tmp_path / "out").glob("summary-rates-*.json"))) == 1


def test_bad_input_is_told_in_one_line_each(tightrope, tmp_path):
    for extra, message in (
        (("--set", "alpha=1"), "--set: 'alpha=1', wanted TABLE.KEY=VALUE"),
        (("--set", "learner.alpha=x"), "is not a value as TOML writes it"),
        (("--set", "learner.alpa=0.1"), "did you mean"),
        (("--episodes", "5"), "--episodes: '5', wanted at least two"),
        (("--seeds", "0"), "--seeds: 0"),
    ):
        said = tightrope(*ASK, *extra, "--out", tmp_path / "out")
        assert (said.code, said.err.count("\n"), message in said.err) == (2, 1, True), said.err
    assert not (tmp_path / "out").exists()
