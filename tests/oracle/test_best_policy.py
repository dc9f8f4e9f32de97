"""The best policy in hindsight is best: closed forms, an independent programme, solvers that agree, certificates that bite."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tightrope as tr
from tightrope.oracle import certificate


def loss(cmdp: tr.LinearCMDP, i: int = 0) -> np.ndarray:
    assert cmdp.loss_profiles is not None
    return cmdp.loss_profiles[i]


def enumerated(cmdp: tr.LinearCMDP, weights: np.ndarray) -> float:
    """The best mixture of all deterministic policies, each valued by the oracle: SciPy's programme, not ours."""
    H, S, A = cmdp.horizon, cmdp.n_states, cmdp.n_actions
    points = []
    for actions in itertools.product(range(A), repeat=H * S):
        policy = np.eye(A)[np.reshape(actions, (H, S))]
        of = [weights, *cmdp.cost_weights.swapaxes(0, 1)]
        points.append([tr.oracle.start_value(cmdp, policy, w) for w in of])
    points = np.array(points)
    found = linprog(points[:, 0], points[:, 1:].T, cmdp.budgets, np.ones((1, len(points))), [1.0])
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("method", tr.oracle.METHODS)
def test_where_a_unit_of_loss_buys_a_unit_of_cost_the_budget_is_spent_and_its_price_is_one(two_ways, method):
    best = tr.oracle.best_policy(two_ways, loss(two_ways), method=method)
    assert best.value == pytest.approx(4 - 1.5, abs=1e-9)
    assert best.costs == pytest.approx([1.5], abs=1e-9)
    assert best.multipliers == pytest.approx([1.0], abs=1e-9)
    assert best.method == method and best.gap <= 1e-8 and best.residual <= 1e-8


@pytest.mark.parametrize("method", tr.oracle.METHODS)
def test_a_budget_that_does_not_bind_has_no_price_and_leaves_the_best_policy_of_all(draw, method):
    cmdp = draw(3)
    best = tr.oracle.best_policy(cmdp, loss(cmdp), budgets=[cmdp.horizon], method=method)
    v = np.zeros(cmdp.n_states)
    for h in reversed(range(cmdp.horizon)):  # value iteration, from the definition
        v = (cmdp.features @ (loss(cmdp)[h] + cmdp.kernel[h] @ v)).min(axis=1)
    assert best.value == pytest.approx(cmdp.initial_distribution @ v, abs=1e-9)
    assert best.multipliers == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_policy_is_the_best_mixture_of_all_deterministic_ones(tables, seed, m):
    cmdp = tables(seed, m, states=2, actions=2, horizon=3)
    best = tr.oracle.best_policy(cmdp, loss(cmdp))
    assert best.value == pytest.approx(enumerated(cmdp, loss(cmdp)), abs=1e-8)


@pytest.mark.parametrize("m", [1, 3])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), profile=st.integers(0, 1), kind=st.sampled_from(["tables", "dense"]))
def test_all_methods_agree(m, seed, profile, kind):
    cmdp = (
        tr.problems.make("random-linear", n_states=9, n_actions=3, dim=4, horizon=4, constraints=m, seed=seed)
        if kind == "dense"
        else _tables(seed, m)
    )
    methods = tr.oracle.METHODS if m == 1 else ("lp", "columns")
    found = [tr.oracle.best_policy(cmdp, loss(cmdp, profile), method=method) for method in methods]
    for best in found:
        assert best.value == pytest.approx(found[0].value, abs=1e-7)
        assert best.gap <= 1e-8 and best.residual <= 1e-8
        assert (best.costs <= cmdp.budgets + 1e-8).all() and (best.multipliers >= 0).all()
        assert np.abs(best.policy.sum(axis=2) - 1).max() < 1e-12 and best.policy.min() >= 0
        # complementary slackness: a price is paid only for a budget that is spent
        assert abs(best.multipliers @ (cmdp.budgets - best.costs)) <= 1e-7


def _tables(seed: int, m: int) -> tr.LinearCMDP:
    random = np.random.default_rng(seed)
    chances = random.dirichlet(np.full(4, 0.5), (4, 4, 2))
    costs, losses = random.random((m, 4, 4, 2)), random.random((2, 4, 4, 2))
    loose = tr.LinearCMDP.from_tables(chances, costs if m > 1 else costs[0], [4.0] * m, losses=losses)
    least = tr.oracle.slater(loose).costs
    budgets = least + random.uniform(0.0, 0.4, m)
    return tr.LinearCMDP.from_tables(chances, costs if m > 1 else costs[0], budgets, losses=losses)


@pytest.mark.parametrize("m", [1, 2])
def test_large_problems_are_left_to_dynamic_programming_which_agrees_with_the_programme(tables, m):
    cmdp = tables(1, m, states=420, actions=12, horizon=10)
    assert cmdp.n_states * cmdp.n_actions * cmdp.horizon >= 50_000
    best = tr.oracle.best_policy(cmdp, loss(cmdp))
    assert best.method == ("bisection" if m == 1 else "columns")
    assert best.gap <= 1e-8 and best.residual <= 1e-8
    small = tables(1, m, states=20)
    assert tr.oracle.best_policy(small, loss(small)).method == "lp"


def test_a_large_sparse_kernel_is_never_made_dense(monkeypatch):
    import scipy.sparse as sp

    S, A, H = 3000, 2, 10
    ahead, back = (np.arange(S) + 1) % S, np.maximum(np.arange(S) - 1, 0)
    rows = np.repeat(np.arange(S * A), 2)
    columns = np.stack([ahead, back, back, ahead], axis=1).ravel()
    chances = np.tile([0.7, 0.3, 0.9, 0.1], S)
    step = sp.csr_array((chances, (rows, columns)), shape=(S * A, S))
    step.sum_duplicates()
    costs, losses = np.zeros((H, S, A)), np.zeros((H, S, A))
    costs[:, :, 0], losses[:, :, 1] = 0.8, 1.0
    cmdp = tr.LinearCMDP.from_tables(step, costs, [3.0], S // 2, losses=losses)

    def refuse(self):
        raise AssertionError("made dense")

    monkeypatch.setattr("tightrope.problems.tables.Kernel.dense", property(refuse))
    monkeypatch.setattr("tightrope.problems.tables.AxisFeatures.dense", property(refuse))
    by_programme = tr.oracle.best_policy(cmdp, loss(cmdp), method="lp")
    by_bisection = tr.oracle.best_policy(cmdp, loss(cmdp))
    assert by_bisection.method == "bisection"
    assert by_bisection.value == pytest.approx(by_programme.value, abs=1e-7)
    assert by_bisection.value == pytest.approx(10 - 3.0 / 0.8, abs=1e-8)


# ---- feasibility -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, *tr.oracle.METHODS])
def test_an_infeasible_budget_is_told_with_the_smallest_feasible_one_which_is_feasible(draw, method):
    cmdp = draw(5)
    with pytest.raises(tr.InfeasibleError, match="smallest feasible budget") as refused:
        tr.oracle.best_policy(cmdp, loss(cmdp), budgets=[1e-3], method=method)
    assert len(refused.value.problems) == 1
    (least,) = refused.value.smallest_budgets
    said = float(str(refused.value).split("smallest feasible budget ")[1].split()[0])
    assert least <= said <= least + 2e-6
    at_least = tr.oracle.best_policy(cmdp, loss(cmdp), budgets=[least], method=method)
    assert at_least.costs == pytest.approx([least], abs=1e-8)
    assert tr.oracle.best_policy(cmdp, loss(cmdp), budgets=[said], method=method).residual <= 1e-8


def test_budgets_that_can_only_be_kept_one_at_a_time_are_told_so():
    costs = np.zeros((2, 3, 1, 2))
    costs[0, :, :, 0] = costs[1, :, :, 1] = 1.0  # every action costs one or the other
    cmdp = tr.LinearCMDP.from_tables(np.ones((1, 2, 1)), costs, [3.0, 3.0], losses=np.zeros((3, 1, 2)))
    with pytest.raises(tr.InfeasibleError, match="each be kept alone but not together") as refused:
        tr.oracle.best_policy(cmdp, loss(cmdp), budgets=[1.0, 1.0])
    assert refused.value.smallest_budgets == pytest.approx([1.5, 1.5], abs=1e-6)
    assert tr.oracle.best_policy(cmdp, loss(cmdp), budgets=[1.5, 1.5]).residual <= 1e-8


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"method": "simplex"}, "method: 'simplex' is unknown"),
        ({"budgets": [1.0, 2.0]}, r"budgets: shape \(2,\), wanted \[m\] = \(1,\)"),
        ({"budgets": [np.nan]}, "budgets: 1 of 1 entries are NaN"),
        ({"loss_weights": np.zeros((2, 2))}, r"loss_weights: shape \(2, 2\), wanted \[H, d\]"),
    ],
)
def test_what_the_oracle_cannot_use_is_refused_in_one_line(two_ways, given, told):
    with pytest.raises(tr.InputError, match=f"^{told}") as refused:
        tr.oracle.best_policy(two_ways, **({"loss_weights": loss(two_ways)} | given))
    assert len(refused.value.problems) == 1


def test_bisection_is_for_one_constraint_only(tables):
    cmdp = tables(0, 2)
    with pytest.raises(tr.InputError, match="'bisection' searches one multiplier"):
        tr.oracle.best_policy(cmdp, loss(cmdp), method="bisection")


# ---- certificates ------------------------------------------------------------------------------------------------


def test_an_answer_that_is_a_little_wrong_is_not_certified(two_ways):
    best = tr.oracle.best_policy(two_ways, loss(two_ways))
    judged = certificate.judge(two_ways, loss(two_ways), two_ways.budgets, best.policy, best.multipliers, "lp")
    assert certificate.insist(judged) is judged
    dearer, over = ((1 - 1e-6) * best.policy + 1e-6 * np.eye(2)[a] for a in (0, 1))
    for policy, multipliers in ((dearer, best.multipliers), (over, best.multipliers), (best.policy, np.array([0.9]))):
        wrong = certificate.judge(two_ways, loss(two_ways), two_ways.budgets, policy, multipliers, "lp")
        with pytest.raises(tr.CertificateError, match=r"best policy by 'lp': duality gap .* wanted both at most 1e-08"):
            certificate.insist(wrong)


def test_a_slater_policy_with_less_room_than_there_is_is_not_certified(tables):
    cmdp = tables(2, 2)
    best = tr.oracle.slater(cmdp)
    uniform = np.full(best.policy.shape, 1 / cmdp.n_actions)
    with pytest.raises(tr.CertificateError, match="Slater's constant"):
        certificate.judge_slater(cmdp, cmdp.budgets, uniform, best.multipliers)
