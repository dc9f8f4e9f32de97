"""Comparisons are paired, cells leave out what does not apply, and the rules of an ablation are those of the paper."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.lab import ablation, comparison
from tightrope.lab.runner import run_specs
from tightrope.lab.store import Store


def made(cells, folder) -> dict[str, Any]:
    results = run_specs([spec for cell in cells for spec in cell.specs], Store(folder))
    return dict(zip(results.keys, results.runs))


def test_learners_meet_the_same_losses_and_differences_are_paired_by_seed(tmp_path):
    (cell,) = comparison.cells(["priced-jobs"], ["drift"], ["pdpo", "uniform"], 400, 3)
    runs = made([cell], tmp_path / "runs")
    mine = [[runs[spec.key(seed)] for seed in cell.seeds] for spec in cell.specs]
    for one, two in zip(*mine):
        assert np.array_equal(one.mean_loss_weights, two.mean_loss_weights)
        assert one.comparator.value == two.comparator.value
    first, second = comparison.rows(cell, runs)
    apart = np.array([two.regret[-1] - one.regret[-1] for one, two in zip(*mine)]) / 400
    assert first.difference == dict.fromkeys(comparison.MEASURES, 0.0)
    assert second.difference["regret"] == pytest.approx(apart.mean())
    assert second.half["regret"] == pytest.approx(4.302653 * apart.std(ddof=1) / math.sqrt(3), rel=1e-6)
    assert second.mean["regret"] == pytest.approx(np.mean([run.regret[-1] for run in mine[1]]) / 400)


def test_the_suite_of_the_paper_has_every_problem_losses_and_learner_that_applies():
    cells = comparison.suite("paper")
    assert len(cells) == 2 * 4 * 5
    assert {"opse", "ghosh2024"} <= {spec.learner.name for spec in cells[0].specs}  # pyright: ignore[reportAttributeAccessIssue]
    names = {spec.learner.name for cell in cells for spec in cell.specs}  # pyright: ignore[reportAttributeAccessIssue]
    assert names == set(tr.learners.names())
    for cell in cells:
        has = [spec.learner.name for spec in cell.specs]  # pyright: ignore[reportAttributeAccessIssue]
        assert has[0] == "pdpo" and len(set(has)) == len(has)
        assert ("dope" in has) == (cell.episodes == 500 and cell.problem != "random-linear")
        assert ("hindsight" in has) == (cell.episodes == 20_000 and cell.losses != "best-response")
        assert len(cell.seeds) == (5 if cell.episodes == 20_000 else 2)
        assert bool(cell.left_out) == (len(has) < (8 if cell.episodes == 20_000 else 3))


def test_the_figures_of_a_suite_fit_a_page_each_and_show_every_learner(tmp_path):
    from tightrope.show.comparison import figures

    kinds = ["fixed", "drift", "alternating", "switching", "best-response"]
    cells = comparison.cells(["priced-jobs"], kinds, ["pdpo", "naive", "uniform"], 40, 2)
    cells += comparison.cells(["priced-jobs", "streaming"], kinds, ["pdpo", "ucpd"], 5, 2)
    runs = made(cells, tmp_path / "runs")
    told = [(cell, list(comparison.rows(cell, runs))) for cell in cells]
    found = figures(told, runs)
    assert list(found) == ["figure-compare-priced-jobs", "figure-compare-streaming"]
    for figure in found.values():
        width, height = figure.get_size_inches()
        assert width <= 7.0 and height <= 9.5
    shown = found["figure-compare-priced-jobs"].axes
    assert len(shown) == 2 * len(kinds)
    assert [label.get_text() for label in shown[0].get_yticklabels()] == ["naive", "uniform", "ucpd (5)"]
    drawn = {round(float(x), 12) for line in shown[0].lines for x in np.asarray(line.get_xdata())}
    assert {round(row.difference["regret"], 12) for row in told[0][1][1:]} <= drawn
    assert list(figures(told[:4], runs)) == ["figure-compare"]


def test_growth_is_told_of_regret_and_of_violation(tmp_path):
    from tightrope.cli.compare import table
    from tightrope.lab.summary import slope

    (cell,) = comparison.cells(["priced-jobs"], ["fixed"], ["pdpo", "ghosh2024"], 300, 2)
    runs = made([cell], tmp_path / "runs")
    told = list(comparison.rows(cell, runs))
    mine = [runs[cell.specs[1].key(seed)] for seed in cell.seeds]
    grows = slope(mine[0].episodes, np.mean([run.violation[:, 0] for run in mine], axis=0))
    assert grows is not None and told[1].violation_growth == pytest.approx(grows)
    (column,) = [c for c in table(cell, told).columns if str(c.header).startswith("grow as K^")]
    assert f", {grows:.2f}\n[dim]0.5" in str(list(column.cells)[1])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((["priced-job"], ["fixed"], ["pdpo"]), "problem: unknown 'priced-job'; did you mean 'priced-jobs'?"),
        ((["priced-jobs"], ["fixed"], ["pdpo", "pdpo"]), "learners: 'pdpo' is there twice"),
        ((["priced-jobs"], ["fixed"], ["gosh2022"]), "did you mean 'ghosh2022'?"),
        ((["random-linear"], ["fixed"], ["pdpo", "dope"]), "learners: dope: is for tables"),
        ((["priced-jobs"], ["best-response"], ["hindsight"]), "learners: hindsight: plays the best policy"),
        ((["machine-hall"], ["fixed"], ["opse"]), "learners: opse: has one constraint"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused_in_one_line(given: Any, told):
    with pytest.raises(tr.InputError) as caught:
        comparison.cells(*given, episodes=10, seeds=1)
    assert told in str(caught.value) and len(caught.value.problems) == 1


def test_the_rules_of_a_grid_are_those_of_the_paper():
    cmdp, K = tr.problems.make("streaming"), 10_000
    H = cmdp.horizon
    paper = {"mixing": "periodic", "dual": "regularised", "restarts": "paper", "steps": "theory"}
    s = ablation.settings(cmdp, K, paper, 0.1, 0.05)
    assert (s["alpha"], s["eta"]) == (pytest.approx(K**-0.75 / H), pytest.approx(K**-0.75 / H**2))
    assert s["dual_decay"] == pytest.approx(4 * s["alpha"] * s["eta"] * H**3)
    assert s["dual_drift"] == pytest.approx(s["eta"] * (4 * s["alpha"] * H**3 + 4 * 0.1 * H**2))
    assert (s["mixing_period"], s["theta"], s["restart"]) == (1000, 0.1, "paper")
    clipped = ablation.settings(cmdp, K, paper | {"mixing": "never", "dual": "clipped"}, 0.1, 0.05)
    assert clipped["dual_cap"] == pytest.approx(2 * H / tr.oracle.slater(cmdp).gamma)
    assert (clipped["theta"], clipped["dual_drift"], clipped["dual_decay"]) == (0.0, 0.0, 0.0)
    assert ablation.settings(cmdp, K, paper | {"mixing": "every episode"}, 0.1, 0.05)["mixing_period"] == 1
    grid = ablation.grid(ablation.committed(), 100, 1)
    assert len(grid) == 54 == len({setting.spec.key(0) for setting in grid})


def test_the_committed_problem_has_epochs_that_outlast_the_mixing_period():
    """Late in a run of the committed length an epoch lasts k log 2 / (sum of the features of all steps) episodes."""
    numbers = ablation.committed()
    problem, K = numbers["problem"], numbers["episodes"]
    assert K * math.log(2) / (problem["dim"] * problem["horizon"]) > K**0.75


def test_slopes_are_those_of_powers():
    lengths = [1000, 3000, 9000]
    assert ablation.exponent(lengths, [2.0 * K**0.6 for K in lengths]) == pytest.approx(0.6)
    assert ablation.exponent(lengths, [1.0, 0.0, 2.0]) is None


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "from tightrope.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd, timeout=300
    )


def test_compare_leaves_a_table_a_figure_and_data_and_repeats_nothing(tmp_path):
    asked = ("compare", "--problem", "streaming", "--learners", "pdpo,naive,dope", "--episodes", "120", "--seeds", "2")
    done = command(*asked, "--out", "out", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "streaming, alternating losses, 120 episodes, 2 seeds" in done.stdout and "knows: oracle" in done.stdout
    assert "seconds" in done.stdout and "…" not in done.stdout  # all columns fit a terminal of 80
    data = json.loads((tmp_path / "out" / "summary-compare.json").read_text())
    assert [row["learner"] for row in data["cells"][0]["rows"]] == ["pdpo", "naive", "dope"]
    assert (tmp_path / "out" / "figure-compare.png").stat().st_size > 10_000
    again = command(*asked, "--out", "out", "-q", cwd=tmp_path)
    assert "6 runs, 6 of them made before" in " ".join(again.stdout.split())


def test_ablate_and_compare_refuse_what_they_do_not_know(tmp_path):
    for asked, told in (
        (("ablate", "gird"), "PART: unknown 'gird'; did you mean 'grid'?"),
        (("ablate", "rates", "--episodes", "10"), "--episodes: 10, wanted at least"),
        (("compare", "--suite", "papers"), "--suite: unknown 'papers'; did you mean 'paper'?"),
        (("compare", "--learners", ","), "--learners: none given"),
        (("compare", "--episodes", "0"), "--episodes: 0, wanted a whole number from 1 up"),
    ):
        done = command(*asked, cwd=tmp_path)
        assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
