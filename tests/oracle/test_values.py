"""Values, occupancies and Slater's constant are what their definitions say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope as tr


def random_policy(cmdp: tr.LinearCMDP, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(cmdp.n_actions, 0.5), (cmdp.horizon, cmdp.n_states))


def test_values_are_those_of_a_recursion_over_states_and_actions(draw):
    cmdp = draw(7)
    policy, weights = random_policy(cmdp, 1), cmdp.cost_weights[:, 0]
    chances = np.stack([(cmdp.features @ cmdp.kernel[h]) for h in range(cmdp.horizon)])  # [H, S, A, S]
    v = np.zeros((cmdp.horizon + 1, cmdp.n_states))
    for h in reversed(range(cmdp.horizon)):
        for s in range(cmdp.n_states):
            for a in range(cmdp.n_actions):
                now = cmdp.features[s, a] @ weights[h]
                v[h, s] += policy[h, s, a] * (now + chances[h, s, a] @ v[h + 1])
    np.testing.assert_allclose(tr.oracle.values(cmdp, policy, weights), v, rtol=0, atol=1e-12)
    q = tr.oracle.q_values(cmdp, policy, weights)
    np.testing.assert_allclose((policy * q).sum(axis=2), v[:-1], rtol=0, atol=1e-12)


def test_an_occupancy_is_a_distribution_that_flows(draw):
    cmdp = draw(8)
    policy = random_policy(cmdp, 2)
    x = tr.oracle.occupancy(cmdp, policy)
    assert x.min() >= 0 and x.sum(axis=(1, 2)) == pytest.approx(np.ones(cmdp.horizon))
    np.testing.assert_allclose(x[0].sum(axis=1), cmdp.initial_distribution, atol=1e-14)
    for h in range(cmdp.horizon - 1):
        arrived = np.einsum("sa,sad,dx->x", x[h], cmdp.features, cmdp.kernel[h])
        np.testing.assert_allclose(x[h + 1].sum(axis=1), arrived, rtol=0, atol=1e-14)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_backwards_and_forwards_give_the_same_value(seed):
    cmdp = tr.problems.make("random-linear", n_states=7, n_actions=2, dim=3, horizon=5, seed=seed)
    policy = random_policy(cmdp, seed)
    for weights in (cmdp.loss_profiles[0], cmdp.cost_weights[:, 0]):  # pyright: ignore[reportOptionalSubscript]
        forwards = float(np.vdot(weights, tr.oracle.feature_occupancy(cmdp, policy)))
        assert tr.oracle.start_value(cmdp, policy, weights) == pytest.approx(forwards, abs=1e-12)


def test_job_scheduling_has_the_values_one_can_count():
    """Idling for ever leaves all jobs: cost 1 a step, loss 1 a step."""
    cmdp = tr.problems.make("job-scheduling")
    idle = np.zeros((10, 10, 2))
    idle[:, :, 0] = 1.0
    assert tr.oracle.start_value(cmdp, idle, cmdp.cost_weights[:, 0]) == pytest.approx(10.0)
    assert tr.oracle.start_value(cmdp, idle, cmdp.loss_profiles[0]) == pytest.approx(10.0)  # pyright: ignore[reportOptionalSubscript]


def test_the_slater_constant_of_one_constraint_is_the_budget_less_the_least_cost(two_ways):
    slater = tr.oracle.slater(two_ways)
    assert slater.gamma == pytest.approx(1.5) and slater.costs == pytest.approx([0.0])
    assert tr.oracle.slater(two_ways, budgets=[-0.25]).gamma == pytest.approx(-0.25)


def test_the_slater_constant_of_two_opposite_costs_is_reached_by_mixing():
    costs = np.zeros((2, 3, 1, 2))
    costs[0, :, :, 0] = costs[1, :, :, 1] = 1.0
    cmdp = tr.LinearCMDP.from_tables(np.ones((1, 2, 1)), costs, [2.0, 1.8])
    slater = tr.oracle.slater(cmdp)
    assert slater.gamma == pytest.approx((2.0 + 1.8 - 3.0) / 2, abs=1e-8)
    assert slater.costs == pytest.approx([1.6, 1.4], abs=1e-8)
    assert slater.multipliers == pytest.approx([0.5, 0.5], abs=1e-8)


@pytest.mark.parametrize("m", [1, 3])
def test_no_random_policy_leaves_more_room_than_slater_s(draw, m):
    cmdp = draw(9, m)
    slater = tr.oracle.slater(cmdp)
    assert slater.gap <= 1e-8
    for seed in range(40):
        policy = random_policy(cmdp, seed)
        costs = np.array([tr.oracle.start_value(cmdp, policy, w) for w in cmdp.cost_weights.swapaxes(0, 1)])
        assert (cmdp.budgets - costs).min() <= slater.gamma + 1e-9


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda p: p[:-1], r"policy: shape \(3, 1, 2\), wanted \[H, S, A\] = \(4, 1, 2\)"),
        (lambda p: p * 1.1, "policy: row at step h=0, s=0 sums to 1.1, wanted 1"),
        (lambda p: p * [3.0, -1.0], "policy: -0.5 at step h=0, s=0, a=1, wanted probabilities >= 0"),
        (lambda p: p * np.nan, "policy: 8 of 8 entries are NaN or infinite"),
        (lambda p: "uniform", "policy: 'uniform', wanted an array of numbers"),
    ],
)
def test_what_is_no_policy_is_refused_in_one_line(two_ways, spoil, told):
    with pytest.raises(tr.InputError, match=f"^{told}"):
        tr.oracle.values(two_ways, spoil(np.full((4, 1, 2), 0.5)), two_ways.cost_weights[:, 0])


@pytest.mark.parametrize(
    "ask",
    [
        lambda x, w, pi: tr.oracle.best_policy(x, w),
        lambda x, w, pi: tr.oracle.slater(x),
        lambda x, w, pi: tr.oracle.values(x, pi, w),
        lambda x, w, pi: tr.oracle.q_values(x, pi, w),
        lambda x, w, pi: tr.oracle.start_value(x, pi, w),
        lambda x, w, pi: tr.oracle.occupancy(x, pi),
        lambda x, w, pi: tr.oracle.feature_occupancy(x, pi),
        lambda x, w, pi: tr.oracle.restless_losses(x, w[None], np.zeros(3, int), np.array([3])),
        lambda x, w, pi: tr.learners.make("ghosh2022", x, 100),
        lambda x, w, pi: tr.PDPO.practical(x, None),
    ],
)
def test_what_is_no_problem_is_refused_in_one_line(ask):
    weights, policy = np.zeros((2, 3)), np.full((2, 4, 2), 0.5)
    for wrong in (None, "streaming", 3):
        with pytest.raises(tr.InputError, match=f"^cmdp: {wrong!r}, wanted a LinearCMDP") as told:
            ask(wrong, weights, policy)
        assert len(told.value.problems) == 1
