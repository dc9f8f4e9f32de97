"""The suites share no problem and bind; slopes are slopes; the preset is better than what it was made from."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tightrope as tr
from tightrope.cli.main import _run
from tightrope.studies.practical import VARIANTS, Outcome, outcomes, summary
from tightrope.studies.suites import CONFIRMING, LOSSES, SUITES, TRAINING, make_losses


def test_the_suites_share_no_problem():
    digests = [{task.make().digest for task in suite} for suite in SUITES.values()]
    assert not digests[0] & digests[1]
    for suite in SUITES.values():
        made = [task.make() for task in suite]
        assert {cmdp.n_constraints for cmdp in made} == {1, 3}
        assert {"dense" in repr(cmdp) for cmdp in made} == {True, False}


@pytest.mark.parametrize("task", [*TRAINING, *CONFIRMING], ids=str)
def test_every_budget_of_a_suite_binds_and_can_be_kept(task):
    cmdp = task.make()
    assert cmdp.loss_profiles is not None and tr.oracle.slater(cmdp).gamma > 0.05
    for weights in (*cmdp.loss_profiles, cmdp.loss_profiles.mean(axis=0)):
        assert tr.oracle.best_policy(cmdp, weights).multipliers.max() > 0.05
    assert tr.doctor(cmdp, tr.PDPO.practical(cmdp, 10_000), 10_000).ok


def test_losses_switch_every_root_of_k():
    losses = make_losses("switching", TRAINING[0].make(), 400, 0)
    assert isinstance(losses, tr.losses.Profiles)
    assert np.flatnonzero(np.diff(losses.sequence)).tolist() == list(range(19, 399, 20))
    assert set(LOSSES) == {"alternating", "drift", "switching", "best-response"}


def test_a_slope_is_that_of_the_sum_of_positive_parts_above_the_floor():
    K = (1000, 10_000, 100_000)
    grows = Outcome("", "", K, tuple(0.1 * k**-0.5 for k in K), (-1.0, -1.0, -1.0))
    assert grows.slope == pytest.approx(0.5)
    both = Outcome("", "", K, tuple(0.1 * k**-0.5 for k in K), tuple(0.2 * k**-0.5 for k in K))
    assert both.slope == pytest.approx(0.5) and both.shares[0] == pytest.approx(0.3 / 1000**0.5)
    floored = Outcome("", "", K, (0.01, 0.001, -5.0), (0.0, 0.0, 0.0))
    assert floored.slope == pytest.approx(np.polyfit(np.log(K), np.log([10.0, 10.0, 10.0]), 1)[0], abs=1e-9)
    assert Outcome("", "", K, (0.01, -1.0, 0.0), (0.0, 0.0, 1e-5)).slope is None
    said = summary([grows, both])
    assert (said["shares_at"], said["slopes_above_target"]) == (100_000, 2)
    assert said["regret_largest"] == pytest.approx(0.1 / 100_000**0.5)


@pytest.mark.parametrize("name", list(VARIANTS))
def test_every_variant_can_be_played(name):
    [found] = outcomes(TRAINING[3:4], VARIANTS[name], (50,), ("alternating",), lambda K: (0,))
    assert np.isfinite([*found.regret, *found.violation]).all()


def test_a_capped_dual_stays_under_twice_the_largest_multiplier():
    cmdp, K = TRAINING[0].make(), 3_000
    assert cmdp.loss_profiles is not None
    multiplier = max(tr.oracle.best_policy(cmdp, profile).multipliers.max() for profile in cmdp.loss_profiles)
    losses = make_losses("alternating", cmdp, K, 0)
    capped, free = (
        tr.simulate(cmdp, losses, VARIANTS[name](cmdp, K), K).dual.max()
        for name in ("dual capped at twice the multiplier", "the preset")
    )
    assert capped <= 2 * multiplier + 1e-12 < free


def test_a_single_run_that_loses_is_seen_beside_the_mean():
    task, K = TRAINING[1:2], (300,)
    [both] = outcomes(task, VARIANTS["the preset"], K, ("alternating",), lambda K: (0, 1))
    alone = [next(outcomes(task, VARIANTS["the preset"], K, ("alternating",), lambda K, s=s: (s,))) for s in (0, 1)]
    assert both.worst[0] == max(x.regret[0] for x in alone) > both.regret[0]
    assert summary([both])["regret_worst_run"] == both.worst[0]


def test_the_preset_beats_its_variants_without_a_piece():
    task, K = TRAINING[:1], (10_000,)
    share = {
        name: summary(list(outcomes(task, VARIANTS[name], K, ("alternating",), lambda K: (0,))))["share_mean"][0]
        for name in ("the preset", "restarts as in the paper", "not tightened", "steps K^{-3/4} as in the paper")
    }
    assert share.pop("the preset") < 0.6 * min(share.values())


def test_the_command_judges_and_keeps_what_it_found(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(SUITES, "training", TRAINING[:2])
    words = [
        "study",
        "practical",
        "--episodes",
        "300",
        "--episodes",
        "100",
        "--seeds",
        "1",
        "--out",
        str(tmp_path),
        "-q",
    ]
    assert _run([*words, "--suite", "training"]) == 0
    said = capsys.readouterr().out
    assert "median slope" in said and "wanted at most 0.3" in said
    kept = json.loads((tmp_path / "training.json").read_text())
    assert len(kept["the preset"]["rows"]) == 2 * len(LOSSES)
    assert _run([*words, "--suite", "training", "--problem", "streaming"]) == 0
    part = json.loads((tmp_path / "training-streaming.json").read_text())
    assert [row["task"] for row in part["the preset"]["rows"]] == [str(TRAINING[1])] * len(LOSSES)
    assert "largest regret of one run" in capsys.readouterr().out
    assert _run([*words, "--suite", "training", "--problem", "streamin"]) == 2
    assert "did you mean 'streaming'" in capsys.readouterr().err
    assert _run(["study", "practical", "--suite", "confirmed", "--seeds", "0", "--variants"]) == 2
    assert "did you mean 'confirming'" in capsys.readouterr().err
    assert _run(["study", "practical", "--variants"]) == 2
    assert "nothing is chosen by the confirming one" in capsys.readouterr().err
