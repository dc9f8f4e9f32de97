"""Tables in every documented form become the same problem; any units go out as they came in."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tightrope as tr
from tightrope import oracle
from tightrope.problems.tables import dense_of

S, A, H = 3, 2, 4


@pytest.fixture
def tables() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    chances = random.dirichlet(np.ones(S), size=(H, S, A))
    return {
        "chances": chances / chances.sum(axis=-1, keepdims=True),
        "costs": random.uniform(size=(3, H, S, A)),
        "on": random.uniform(size=(3, H, S, A, S)),
    }


def test_the_features_are_one_hot_with_column_s_times_a_plus_a(tables):
    cmdp = tr.LinearCMDP.from_tables(tables["chances"], tables["costs"][0], [2.0], 1)
    assert (cmdp.dim, cmdp.initial_state) == (S * A, 1)
    np.testing.assert_array_equal(cmdp.features, np.eye(S * A).reshape(S, A, S * A))
    np.testing.assert_array_equal(cmdp.kernel, tables["chances"].reshape(H, S * A, S))
    np.testing.assert_array_equal(cmdp.losses(cmdp.cost_weights[:, 0]), tables["costs"][0])


@pytest.mark.parametrize("make", [sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_every_form_of_the_same_transitions_gives_the_same_problem(tables, make):
    costs = tables["costs"][0]
    first = tables["chances"][0]
    forms = [first, np.stack([first] * H), first.tolist(), make(first.reshape(S * A, S))]
    forms.append([make(first.reshape(S * A, S)) for _ in range(H)])
    made = [tr.LinearCMDP.from_tables(form, costs, [2.0]) for form in forms]
    assert len({cmdp.digest for cmdp in made}) == 1
    assert all(len(cmdp.kernel_table.steps) == 1 for cmdp in made)


def test_one_constraint_may_have_its_leading_axis_or_not(tables):
    for key in ("costs", "on"):
        for chances in (tables["chances"], tables["chances"][0]):
            bare = tr.LinearCMDP.from_tables(chances, tables[key][0], [2.0])
            assert tr.LinearCMDP.from_tables(chances, tables[key][:1], 2.0).digest == bare.digest


@pytest.mark.parametrize("make", [np.asarray, lambda flat: sp.csr_array(flat.reshape(S * A, S))])
def test_nan_is_told_by_the_table_that_has_it_beside_every_other_mistake(tables, make):
    chances, costs = tables["chances"][0].copy(), tables["costs"][0].copy()
    losses = tables["costs"].copy()
    chances[1, 0, 2] = costs[3, 2, 1] = np.nan
    losses[2, 0, 1, 0] = np.inf
    with pytest.raises(tr.InputError) as refused:
        tr.LinearCMDP.from_tables(make(chances), costs, [H + 1.0], 7, losses=losses)
    told = refused.value.problems
    starts = ["transitions: contains NaN", "costs: contains NaN", "losses: contains NaN", "initial_state", "budgets[0]"]
    assert len(told) == len(starts) and all(line.startswith(start) for line, start in zip(told, starts)), told
    assert told[0].endswith("[1, 0, 2]") or make is not np.asarray
    assert told[1].endswith("[3, 2, 1]")
    assert told[2].endswith("[2, 0, 1, 0]")


def test_tables_that_are_not_numbers_are_all_named():
    with pytest.raises(tr.InputError) as refused:
        tr.LinearCMDP.from_tables("p", "g", [1.0], losses="f")
    assert [line.split(":")[0] for line in refused.value.problems] == ["transitions", "costs", "losses"]


def test_costs_on_transitions_become_their_means_and_are_kept(tables):
    cmdp = tr.LinearCMDP.from_tables(tables["chances"], tables["on"], [1.0, 2.0, 3.0])
    assert cmdp.transition_costs is not None
    np.testing.assert_array_equal(cmdp.transition_costs, tables["on"])
    for i in range(3):
        means = (tables["chances"] * tables["on"][i]).sum(axis=-1)
        np.testing.assert_allclose(cmdp.losses(cmdp.cost_weights[:, i]), means, rtol=0, atol=1e-14)


def test_tables_to_features_and_back_is_the_same_problem(tables):
    cmdp = tr.LinearCMDP.from_tables(tables["chances"], tables["costs"], [1.0, 2.0, 3.0], np.full(S, 1 / 3))
    other = tr.LinearCMDP(cmdp.features, cmdp.kernel, cmdp.cost_weights, cmdp.budgets, cmdp.initial_distribution)
    assert other.digest == cmdp.digest
    again = [dense_of(cmdp.transitions(h)).reshape(S, A, S) for h in range(H)]
    np.testing.assert_array_equal(again, tables["chances"])


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "costs: give either costs with budgets, or utilities with limits"),
        ({"costs": 0, "utilities": 0}, "costs: give either costs with budgets, or utilities with limits"),
        ({"costs": 0}, "budgets: missing; costs need one number for each constraint"),
        ({"utilities": 0}, "limits: missing; utilities need one number for each constraint"),
        ({"costs": 0, "budgets": [1], "limits": [1]}, "limits: they belong to utilities; costs have budgets"),
        ({"utilities": 0, "limits": [1], "budgets": [1]}, "budgets: they belong to costs; utilities have limits"),
        ({"costs": 0, "budgets": [[1.0]]}, "budgets: shape (1, 1), wanted [m] with m >= 1"),
        ({"costs": 0, "budgets": "2"}, "budgets: '2', wanted an array of numbers"),
        ({"costs": 0, "budgets": True}, "budgets: True, wanted numbers"),
        (
            {"costs": 0, "budgets": [1.0, 2.0]},
            "costs: shape (4, 3, 2), wanted [m=2, H=4, S=3, A=2] or, on transitions, ",
        ),
        ({"costs": "x", "budgets": [1.0]}, "costs: 'x', wanted an array of numbers"),
        ({"costs": 0, "budgets": [1.0], "horizon": 5}, "horizon: 5, but transitions have 4 steps"),
        ({"costs": 0, "budgets": [1.0], "horizon": "4"}, "horizon: '4', wanted a whole number from 1 up"),
        ({"costs": 0, "budgets": [1.0], "losses": 0, "rewards": 0}, "losses: give either losses or rewards, not both"),
        ({"costs": 0, "budgets": [1.0], "losses": [0.5]}, "losses: shape (1,), wanted [H, S, A] = (4, 3, 2) or"),
        ({"utilities": 0, "limits": [9.0]}, "limits[0]: 9 is outside ["),
        ({"transitions": "x", "costs": 0, "budgets": [1.0]}, "transitions: 'x', wanted an array of numbers"),
        (
            {"transitions": np.ones((3, 2, 2)), "costs": 0, "budgets": [1.0]},
            "transitions: shape (3, 2, 2), wanted [H, S, A",
        ),
        (
            {"transitions": sp.csr_array((5, 3)), "costs": 0, "budgets": [1.0]},
            "transitions: sparse shapes [(5, 3)], wanted",
        ),
        (
            {"transitions": sp.coo_array(np.ones(3)), "costs": 0, "budgets": [1.0]},
            "transitions: sparse shapes [(3,)], wanted",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tables, more, told):
    same = {key: tables["costs"][0] if isinstance(value, int) and value == 0 else value for key, value in more.items()}
    with pytest.raises(tr.InputError) as refused:
        tr.LinearCMDP.from_tables(same.pop("transitions", tables["chances"]), **same)
    assert len(refused.value.problems) == 1
    assert refused.value.problems[0].startswith(told)


def test_utilities_that_never_differ_cannot_be_scaled(tables):
    with pytest.raises(tr.InputError, match=r"utilities\[0\]: all values are 3; they must differ to be scaled"):
        tr.LinearCMDP.from_tables(tables["chances"], utilities=np.full((H, S, A), 3.0), limits=[1.0])


units = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    utilities=arrays(float, (2, H, S, A), elements=units),
    rewards=arrays(float, (1, H, S, A), elements=units),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_totals_go_out_in_the_units_they_came_in(utilities, rewards, share, seed):
    utilities[:, 0, 0] = [-1000.5, 1000.5]
    rewards[0, 0, 0] = [-7.0, 1001.0]
    random = np.random.default_rng(seed)
    chances = random.dirichlet(np.ones(S), size=(S, A))
    limits = H * (utilities.min(axis=(1, 2, 3)) * (1 - share) + utilities.max(axis=(1, 2, 3)) * share)
    cmdp = tr.LinearCMDP.from_tables(chances, utilities=utilities, limits=limits, rewards=rewards)
    assert cmdp.units is not None and cmdp.loss_profiles is not None
    policy = random.dirichlet(np.ones(A), size=(H, S))
    occupied = oracle.occupancy(cmdp, policy)
    for i, scale in enumerate(cmdp.units.costs):
        total = scale.total_outward(oracle.start_value(cmdp, policy, cmdp.cost_weights[:, i]), H)
        assert total == pytest.approx((occupied * utilities[i]).sum(), abs=1e-8)
        assert scale.total_outward(cmdp.budgets[i], H) == pytest.approx(limits[i], abs=1e-8)
        shortfall = oracle.start_value(cmdp, policy, cmdp.cost_weights[:, i]) - cmdp.budgets[i]
        assert shortfall * scale.width == pytest.approx(limits[i] - total, abs=1e-8)
    total = cmdp.units.loss.total_outward(oracle.start_value(cmdp, policy, cmdp.loss_profiles[0]), H)
    assert total == pytest.approx((occupied * rewards[0]).sum(), abs=1e-8)


def test_large_sparse_transitions_with_plain_costs_are_never_made_dense():
    n_states, n_actions, horizon, branches = 20_000, 4, 10, 3
    random = np.random.default_rng(0)
    pairs = n_states * n_actions
    rows = np.repeat(np.arange(pairs), branches)
    entries = random.dirichlet(np.ones(branches), pairs).ravel()
    chances = sp.csr_array((entries, (rows, random.integers(0, n_states, rows.size))), shape=(pairs, n_states))
    costs = np.broadcast_to(random.uniform(size=(n_states, n_actions)), (horizon, n_states, n_actions))
    tracemalloc.start()
    try:
        cmdp = tr.LinearCMDP.from_tables(chances, costs, [5.0])
        value = oracle.start_value(cmdp, np.full((horizon, n_states, n_actions), 0.25), cmdp.cost_weights[:, 0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0 < value < horizon
    assert peak < 100e6  # one dense step alone has 12.8 GB
