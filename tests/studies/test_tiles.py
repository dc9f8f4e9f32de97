"""Tiles that cannot say what a state costs: the truth is a problem of its own, and the agent is judged on it."""

from __future__ import annotations

import numpy as np

import tightrope as tr
from tightrope.features import TileCoding
from tightrope.studies.tiles import HORIZON, LEVELS, _weights, backlog_chain, exact, tiled


def test_the_truth_has_a_budget_that_binds_and_can_be_kept():
    cmdp = backlog_chain()
    assert cmdp.loss_profiles is not None
    assert tr.oracle.best_policy(cmdp, cmdp.loss_profiles.mean(axis=0)).multipliers[0] > 0.1
    assert tr.oracle.slater(cmdp).gamma > 0.1


def test_losses_on_actions_are_exact_in_tiles():
    cmdp, tiles = backlog_chain(), TileCoding(3, [0.0], [1.0], tiles=3, tilings=2)
    rows = np.array([tiles([s / (LEVELS - 1)]) for s in range(LEVELS)])
    assert cmdp.loss_profiles is not None
    np.testing.assert_allclose(rows @ _weights(rows, cmdp, 1)[0], cmdp.losses(cmdp.loss_profiles[1])[0], atol=1e-9)


def test_more_tiles_say_better_what_a_state_costs_and_the_agent_learns_behind_them():
    coarse, fine = tiled(1, 20), tiled(4, 300)
    assert (coarse.dim, fine.dim) == (3 * 2 * 2, 3 * 2 * 5)
    assert coarse.misfit > 3 * fine.misfit > 0.0
    truth = backlog_chain()
    assert truth.loss_profiles is not None
    uniform, mean = np.full((HORIZON, LEVELS, 3), 1 / 3), truth.loss_profiles.mean(axis=0)
    blind = tr.oracle.start_value(truth, uniform, truth.cost_weights[:, 0]) - truth.budgets[0]
    dear = tr.oracle.start_value(truth, uniform, mean) - tr.oracle.best_policy(truth, mean).value
    share = (max(blind, 0.0) + max(dear, 0.0)) / HORIZON
    assert max(fine.regret, 0.0) + max(fine.violation, 0.0) < 0.8 * share


def test_without_tiles_the_learner_is_the_one_of_every_other_run():
    found = exact(4000)
    assert (found.tiles, found.misfit) == (None, 0.0)
    assert found.regret < 0.1 and found.violation < 0.02
