"""A folder of runs answers questions: one row a run, all curves in one lazy frame, conditions in SQL."""

from __future__ import annotations

import polars as pl
import pytest

import tightrope as tr
from tightrope.errors import InputError
from tightrope.lab.query import quoted
from tightrope.lab.runner import run_specs
from tightrope.lab.store import Store


@pytest.fixture
def swept(plan_of, tmp_path):
    """Two steps, two seeds."""
    run_specs(plan_of(episodes=100, seeds=2, sweep={"learner.alpha": [0.1, 0.4]}).specs, Store(tmp_path))
    return tmp_path


def test_a_row_has_the_settings_and_where_the_curves_end(swept):
    frame = tr.lab.runs(swept)
    assert len(frame) == 4
    assert frame.columns[:6] == ["run", "problem", "losses", "learner", "episodes", "seed"]
    for row in frame.iter_rows(named=True):
        run = tr.Run.load(swept / row["run"])
        assert row["learner.alpha"] == run.about["learner"]["alpha"]
        assert (row["regret"], row["violation"]) == (run.regret[-1], run.violation[-1, 0])


def test_a_condition_names_settings_with_or_without_quotes(swept):
    plain = tr.lab.runs(swept, "learner.alpha > 0.2 AND seed = 1")
    quotes = tr.lab.runs(swept, '"learner.alpha" > 0.2 AND seed = 1')
    assert plain.equals(quotes) and len(plain) == 1
    assert quoted("x.y = 'x.y' and \"x.y\" < x.y and ax.y = 1", ["x.y"]) == (
        '"x.y" = \'x.y\' and "x.y" < "x.y" and ax.y = 1'
    )


@pytest.mark.parametrize("where", ["nosuch > 1", "seed >", "seed = 1; DROP TABLE runs", "", "seed = 'a' ("])
def test_a_condition_that_is_none_is_told_in_a_line(swept, where):
    with pytest.raises(InputError) as error:
        tr.lab.runs(swept, where)
    assert len(error.value.problems) == 1
    assert error.value.problems[0].startswith(f"--where: {where!r}")
    assert error.value.problems[0].count("record_every") == 1  # the columns are named once


def test_the_curves_of_all_runs_are_one_lazy_frame_with_the_sweep_s_columns(swept):
    frame = tr.lab.open(swept)
    assert isinstance(frame, pl.LazyFrame)
    last = (
        frame.filter(pl.col("episode") == 100)
        .group_by("learner.alpha")
        .agg(pl.col("regret").mean())
        .sort("learner.alpha")
    )
    table = tr.lab.runs(swept).group_by("learner.alpha").agg(pl.col("regret").mean()).sort("learner.alpha")
    assert last.collect().equals(table)
    some = tr.lab.open(swept, "learner.alpha = 0.4 AND episode <= 10").collect()
    assert len(some) == 2 * 10 and set(some["seed"]) == {0, 1}


def test_runs_with_other_numbers_of_constraints_stand_in_one_frame(swept, plan_of):
    other = plan_of(episodes=20, seeds=1, problem={"name": "random-linear", "constraints": 2})
    run_specs(other.specs, Store(swept))
    frame = tr.lab.open(swept).collect()
    two = frame.filter(pl.col("problem") == "random-linear")
    assert len(two) == 20 and two["violation"].null_count() == 20 and two["violation_1"].null_count() == 0
    assert frame.filter(pl.col("problem") != "random-linear")["violation_1"].null_count() == 400


def test_the_command_lists_filters_and_writes_for_programs(swept, capsys):
    from tightrope.cli.main import _run

    assert _run(["runs", str(swept), "--where", "learner.alpha = 0.4"]) == 0
    said = capsys.readouterr().out
    assert "2 runs" in said and "learner.alpha = 0.4" in said and "seed" in said
    assert _run(["runs", str(swept), "--format", "csv", "--columns", "seed,learner.alpha"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == ["0,0.1", "0,0.4", "1,0.1", "1,0.4", "seed,learner.alpha"]
    assert _run(["runs", str(swept), "--limit", "1"]) == 0
    assert "3 more than shown" in capsys.readouterr().out
    for arguments, wanted in (
        (["--columns", "sed"], "did you mean 'seed'?"),
        (["--format", "xml"], "--format: unknown 'xml'"),
        (["--where", "nosuch = 1"], "--where"),
    ):
        assert _run(["runs", str(swept), *arguments]) == 2
        said = capsys.readouterr()
        assert wanted in said.err and len(said.err.splitlines()) == 1


def test_a_folder_without_runs_is_told(tmp_path):
    with pytest.raises(InputError, match="holds no runs"):
        tr.lab.open(tmp_path)
    assert len(tr.lab.runs(tmp_path)) == 0
    with pytest.raises(InputError, match="cannot be read"):
        tr.lab.runs(tmp_path / "none")
