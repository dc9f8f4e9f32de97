"""What a run says is what its trace and the oracle say: exact values, regret, violation, and the policies to deploy."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr

K = 250


@pytest.fixture(params=["drift", "best-response", "alternating"])
def run(request, cmdp, lively) -> tr.Run:
    losses = tr.losses.make(request.param, cmdp, K, seed=1)
    made = tr.simulate(cmdp, losses, lively(), K, seed=1, record_every=1, trace=True)
    assert made.dual.max() > 0 and made.epoch[-1] > 3
    return made


def oracle_values(run: tr.Run) -> np.ndarray:
    """[K, 1+m] of every policy that played, against the losses of its episode."""
    trace, cmdp = run.trace, run.cmdp
    assert trace is not None
    start = cmdp.initial_distribution
    weights = np.concatenate(
        [
            trace.loss_weights[:, None],
            np.broadcast_to(cmdp.cost_weights.swapaxes(0, 1), (K, *cmdp.cost_weights.swapaxes(0, 1).shape)),
        ],
        axis=1,
    )
    return np.array(
        [
            [start @ tr.oracle.values(cmdp, policy, w)[0] for w in channels]
            for policy, channels in zip(trace.policies, weights)
        ]
    )


def test_every_exact_value_is_the_oracles_and_the_curves_sum_them(run):
    assert run.trace is not None
    exact, b = oracle_values(run), run.cmdp.budgets
    np.testing.assert_allclose(run.trace.exact_values, exact, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.loss, np.cumsum(exact[:, 0]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.violation, np.cumsum(exact[:, 1:] - b, axis=0), rtol=0, atol=1e-9)
    over = np.cumsum(np.maximum(exact[:, 1:] - b, 0), axis=0)
    np.testing.assert_allclose(run.hard_violation, over, rtol=0, atol=1e-9)
    assert (run.positive_violation == np.maximum(run.violation, 0)).all()


def test_regret_is_the_sum_of_differences_to_the_one_best_policy_in_hindsight(run):
    assert run.trace is not None and run.comparator is not None
    losses = run.trace.loss_weights
    best = tr.oracle.best_policy(run.cmdp, losses.mean(axis=0))
    its = np.array([tr.oracle.start_value(run.cmdp, run.comparator.policy, w) for w in losses])
    assert its.mean() == pytest.approx(best.value, abs=1e-8)
    np.testing.assert_allclose(run.regret, np.cumsum(oracle_values(run)[:, 0] - its), rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.mean_loss_weights, losses.mean(axis=0), rtol=0, atol=1e-12)


def test_the_average_policy_is_worth_the_mean_of_those_that_played(run):
    assert run.trace is not None
    cmdp, average = run.cmdp, run.average_policy()
    values = [tr.oracle.start_value(cmdp, p, run.mean_loss_weights) for p in run.trace.policies]
    costs = oracle_values(run)[:, 1:].mean(axis=0)
    assert average.value == pytest.approx(np.mean(values), abs=1e-10)
    np.testing.assert_allclose(average.costs, costs, rtol=0, atol=1e-10)
    assert average.value == pytest.approx(tr.oracle.start_value(cmdp, average, run.mean_loss_weights), abs=1e-12)
    assert average[0].value is None  # a part of a policy is worth nothing by itself


def test_rewards_and_utilities_come_back_in_their_own_units():
    random = np.random.default_rng(2)
    chances = random.dirichlet(np.ones(3), size=(3, 2))
    rewards, utilities = random.uniform(-300, 700, (2, 4, 3, 2)), random.uniform(-10, 40, (4, 3, 2))
    cmdp = tr.LinearCMDP.from_tables(chances, rewards=rewards, utilities=utilities, limits=[70.0])
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, K), tr.PDPO.practical(cmdp, K), K)
    average, best, reward = run.average_policy(), run.best_policy(), rewards[0]
    for policy in (average, best, run.policy):
        pairs = tr.oracle.occupancy(cmdp, policy)
        assert policy.value == pytest.approx((pairs * reward).sum(), abs=1e-8)
        assert policy.costs == pytest.approx([(pairs * utilities).sum()], abs=1e-8)
    assert best.value is not None and average.value is not None
    assert best.costs is not None and average.costs is not None and best.costs[0] >= 70.0 - 1e-6
    assert run.regret[-1] == pytest.approx(K * (best.value - average.value), abs=1e-6)
    assert run.violation[-1] == pytest.approx(K * (70.0 - average.costs), abs=1e-6)


def test_a_run_that_was_not_compared_has_no_best_policy():
    cmdp = tr.problems.make("streaming")
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 5), tr.PDPO.practical(cmdp, 5), 5, compare=False)
    with pytest.raises(tr.InputError, match="best_policy: this run was made with compare=False"):
        run.best_policy()


@pytest.mark.parametrize("kind", ["alternating", "best-response"])
def test_the_last_policy_is_the_one_that_would_have_played_next(cmdp, lively, kind):
    learner = lively(
        contraction_offset=float(np.log(K))
    )  # the same for both lengths; with warm restarts an epoch resets nothing
    run, longer = (tr.simulate(cmdp, tr.losses.make(kind, cmdp, n), learner, n, seed=1, trace=True) for n in (K, K + 1))
    assert run.trace is not None and longer.trace is not None
    assert np.array_equal(longer.trace.policies[K], run.policy)
    assert np.array_equal(longer.trace.dual[K], run.trace.dual[K])
    assert not np.array_equal(run.trace.policies[K - 1], run.policy)


def test_the_last_policy_has_its_value_against_the_mean_losses(run):
    policy = np.asarray(run.policy)
    assert run.policy.value == pytest.approx(tr.oracle.start_value(run.cmdp, policy, run.mean_loss_weights))


def test_without_evaluation_the_curves_are_what_was_paid(run, lively):
    losses = tr.losses.make(run.about["losses"]["kind"], run.cmdp, K, seed=1)
    paid = tr.simulate(run.cmdp, losses, lively(), K, seed=1, record_every=1, trace=True, evaluate=False)
    trace, exact = paid.trace, run.trace
    assert trace is not None and exact is not None
    assert np.array_equal(trace.states, exact.states) and np.array_equal(trace.policies, exact.policies)
    steps = np.arange(run.cmdp.horizon)
    lost = [
        run.cmdp.losses(w)[steps, s[:-1], a].sum() for w, s, a in zip(trace.loss_weights, trace.states, trace.actions)
    ]
    np.testing.assert_allclose(paid.loss, np.cumsum(lost), rtol=0, atol=1e-9)
    excess = trace.costs.sum(axis=1) - run.cmdp.budgets
    np.testing.assert_allclose(paid.violation, np.cumsum(excess, axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(paid.hard_violation, np.cumsum(np.maximum(excess, 0), axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(paid.regret - run.regret, paid.loss - run.loss, rtol=0, atol=1e-8)
    with pytest.raises(tr.InputError, match="evaluate=False"):
        paid.average_policy()


def test_what_was_observed_is_what_the_problem_says(run):
    trace, cmdp = run.trace, run.cmdp
    assert trace is not None
    steps = np.arange(cmdp.horizon)
    for s, a, costs in zip(trace.states, trace.actions, trace.costs):
        for i in range(cmdp.n_constraints):
            if cmdp.transition_costs is None:
                wanted = cmdp.losses(cmdp.cost_weights[:, i])[steps, s[:-1], a]
            else:
                wanted = cmdp.transition_costs[i, steps, s[:-1], a, s[1:]]
            np.testing.assert_allclose(costs[:, i], wanted, atol=1e-12)


def test_without_a_comparator_there_is_no_regret_and_the_rest_is_the_same(cmdp, lively):
    losses = tr.losses.make("drift", cmdp, K)
    with_, without = (tr.simulate(cmdp, losses, lively(), K, compare=c) for c in (True, False))
    assert np.isnan(without.regret).all() and without.comparator is None
    assert np.array_equal(with_.violation, without.violation) and np.array_equal(with_.loss, without.loss)


def test_a_budget_that_no_policy_keeps_is_refused_before_anything_is_played(lively):
    cmdp = tr.problems.make("priced-jobs", budget=5.2)
    for kind in ("drift", "best-response"):
        with pytest.raises(tr.InfeasibleError, match="smallest feasible budget"):
            tr.simulate(cmdp, tr.losses.make(kind, cmdp, 10), lively(), 10)


def test_rewards_and_utilities_come_back_in_the_units_they_came_in(lively):
    """A problem in rewards 3..8 and utilities -1..1 is the same problem as its losses and costs in [0, 1], scaled."""
    random = np.random.default_rng(0)
    H, S, A = 4, 5, 3
    chances = random.dirichlet(np.ones(S), size=(S, A))
    losses, costs = (np.round(random.random((H, S, A)), 3) for _ in range(2))
    for table in (losses, costs):
        table.ravel()[:2] = 0.0, 1.0
    inner = tr.LinearCMDP.from_tables(chances, costs, [1.7], losses=losses)
    outer = tr.LinearCMDP.from_tables(
        chances, utilities=1 - 2 * costs, limits=[H - 2 * 1.7], rewards=8 - 5 * losses, horizon=H
    )
    plain, scaled = (
        tr.simulate(c, tr.losses.make("fixed", c, K), lively(), K, seed=4, trace=True, record_every=1)
        for c in (inner, outer)
    )
    assert plain.trace is not None and scaled.trace is not None
    np.testing.assert_allclose(scaled.trace.policies, plain.trace.policies, atol=1e-9)
    np.testing.assert_allclose(scaled.dual, plain.dual, atol=1e-9)
    np.testing.assert_allclose(scaled.regret, 5 * plain.regret, atol=1e-7)
    np.testing.assert_allclose(scaled.violation, 2 * plain.violation, atol=1e-7)
    np.testing.assert_allclose(scaled.hard_violation, 2 * plain.hard_violation, atol=1e-7)
    np.testing.assert_allclose(scaled.extremes.violation_peak, 2 * plain.extremes.violation_peak, atol=1e-7)
    assert plain.policy.value is not None and plain.policy.costs is not None and scaled.policy.costs is not None
    assert scaled.policy.value == pytest.approx(8 * H - 5 * plain.policy.value)  # the reward of an episode
    assert scaled.policy.costs[0] == pytest.approx(H - 2 * plain.policy.costs[0])  # its utility
    seen = []
    tr.simulate(outer, tr.losses.make("fixed", outer, K), lively(), K, seed=4, progress=seen.append)
    assert seen[-1].regret == pytest.approx(scaled.regret[-1]) and seen[-1].violation == pytest.approx(
        scaled.violation[-1].max()
    )
