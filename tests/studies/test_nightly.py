"""The nightly batch: the plans are what they say, money and work are counted rightly, and the real year keeps its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tightrope as tr
from tightrope.cli.main import _run
from tightrope.studies import night_plans
from tightrope.studies.nightly import LEARNER, findings, first_sentence, nightly_batch_study, play

REAL = Path("/work/shared/data/US-TEX-ERCO_electricity_prices_2021.csv")
CMDP = tr.problems.make("nightly-batch")


@pytest.fixture(scope="module")
def synthetic():
    losses = tr.losses.prices(tr.losses.synthetic_prices(200, seed=4), CMDP)
    return losses, nightly_batch_study(CMDP, losses, machines=50, seed=1)


def test_running_in_given_hours_costs_their_prices_and_does_their_work():
    prices = np.arange(20.0).reshape(2, 10)
    nights = tr.losses.Nights((), prices, ())
    plans = {plan.name: plan for plan in night_plans.ledgers(CMDP, nights, slice(0, 2))}
    one_hour = night_plans.in_hours(CMDP, np.arange(10) == 3)
    mu = tr.oracle.occupancy(CMDP, one_hour)
    assert mu[3, 9, 1] == 1.0 and mu[:, :, 1].sum() == 1.0
    last_week = plans["last week's cheapest"]
    assert last_week.money == pytest.approx([0 + 1 + 2 + 3, 10 + 11 + 12 + 13])  # four hours are the fewest that do
    assert last_week.cost.tolist() == pytest.approx([10 - 4 * 1.7 / 2] * 2)
    assert plans["hourly clairvoyant"].money.mean() <= plans[night_plans.BEST_FIXED].money.mean() + 1e-9
    assert plans[night_plans.BEST_FIXED].cost.mean() == pytest.approx(7.0)


def test_a_night_of_many_machines_has_the_occupancy_of_its_policy():
    policy = np.asarray(tr.oracle.best_policy(CMDP, CMDP.loss_profiles[0]).policy)  # pyright: ignore[reportOptionalSubscript]
    states, actions = play(CMDP, policy, 20_000, np.random.default_rng(0))
    wanted = tr.oracle.occupancy(CMDP, policy)
    for h in (0, 4, 9):
        seen = np.zeros(wanted.shape[1:])
        np.add.at(seen, (states[:, h], actions[:, h]), 1 / len(states))
        np.testing.assert_allclose(seen, wanted[h], atol=0.015)


def test_the_study_counts_what_was_paid_and_what_was_left(synthetic):
    losses, study = synthetic
    found = findings(study)
    half = found["second_half"]
    assert half[LEARNER]["money"] == pytest.approx(study.learner.money[99:].mean())
    assert half[LEARNER]["jobs_left"] == pytest.approx(9 - 2 * (10 - study.learner.cost[99:].mean()))
    assert half[night_plans.BEST_FIXED]["gap_closed"] == 1.0 and half[night_plans.AT_ONCE]["gap_closed"] == 0.0
    assert half["hourly clairvoyant"]["money"] < half[LEARNER]["money"] < 0.6 * half[night_plans.AT_ONCE]["money"]
    assert "% of the electricity bill" in first_sentence(found)
    again = nightly_batch_study(CMDP, losses, machines=50, seed=1)
    assert np.array_equal(again.learner.money, study.learner.money)


def test_the_command_says_the_sentence_first_and_leaves_its_files(tmp_path, capsys):
    tr.losses.write_prices(tr.losses.synthetic_prices(40, seed=2), tmp_path / "prices.csv")
    out = tmp_path / "out"
    words = [
        "study",
        "nightly-batch",
        "--prices",
        str(tmp_path / "prices.csv"),
        "--machines",
        "20",
        "--out",
        str(out),
        "-q",
    ]
    assert _run(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("Learning night by night saved ")
    found = json.loads((out / "study.json").read_text())
    assert found["nights"] == 40 - 1 and found["first_sentence"] in said.replace("\n", " ")
    assert sorted(path.name for path in out.iterdir()) == [
        "nightly-batch.pdf",
        "nightly-batch.png",
        "nights.csv",
        "study.json",
    ]
    (tmp_path / "bad.csv").write_text("time,price\n2021-03-01 00:00,much\n")
    assert _run([*words[:3], str(tmp_path / "bad.csv"), *words[4:]]) == 2
    assert capsys.readouterr().err.strip().endswith("row 2: price 'much'; wanted a number")


@pytest.mark.skipif(not REAL.exists(), reason=f"{REAL} is not here: a year of real prices")
def test_on_the_real_year_the_budget_is_kept_and_the_gap_closed():
    found = findings(nightly_batch_study(CMDP, tr.losses.prices(REAL, CMDP)))
    half, year = found["second_half"], found["year"]
    assert half[night_plans.AT_ONCE]["money"] == pytest.approx(200.3, abs=0.05)
    assert half[night_plans.BEST_FIXED]["money"] == pytest.approx(83.7, abs=0.05)
    assert year[LEARNER]["within_budget"] and half[LEARNER]["within_budget"]
    assert half[LEARNER]["gap_closed"] >= 0.95
