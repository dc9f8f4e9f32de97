"""Every condition of the paper that does not hold is told, all at once, and to the ninth digit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import tightrope as tr


def test_the_sound_problem_that_the_other_tests_spoil_is_accepted(parts):
    cmdp = tr.LinearCMDP(**parts)
    assert (cmdp.n_states, cmdp.n_actions, cmdp.dim, cmdp.horizon, cmdp.n_constraints) == (3, 2, 2, 2, 1)
    cmdp.check()


def test_all_violated_conditions_are_told_in_one_error(parts, mistakes):
    kernel = parts["kernel"].copy()
    kernel[1] = [[1.5, -0.5, 0.0], [0.0, 0.25, 0.7]]
    told = mistakes(
        features=parts["features"] * 1.1,
        kernel=kernel,
        cost_weights=np.array([[[-0.2, 0.8]], [[0.4, 2.6]]]),
        budgets=np.array([2.5]),
        initial_state=np.array([0.5, 0.6, 0.0]),
        loss_profiles=np.array([[[0.0, 1.2], [0.0, 0.0]]]),
    )
    starts = (
        "features: longer than 1 for 4 of 6 state-action pairs",
        "kernel: not a distribution at step h=0",
        "kernel: not a distribution at step h=1",
        "kernel: negative probability",
        "kernel: |sum over s' of |psi_h|(s')|",
        "cost_weights[:, 0]: |theta| = 2.6",
        "cost 0: 2.86 at step h=1",
        "loss 0: 1.32 at step h=0",
        "budgets[0]: 2.5 is outside [0, H] = [0, 2]",
        "initial_state: not a distribution (smallest 0, sum 1.1)",
    )
    for start in starts:
        assert any(line.startswith(start) for line in told), (start, told)
    assert all("\n" not in line for line in told)
    assert len(told) == len(starts)


def test_a_part_with_a_wrong_shape_does_not_hide_the_mistakes_of_the_others(mistakes):
    told = mistakes(cost_weights=np.zeros((2, 2)), budgets=np.array([-1.0]), initial_state=7)
    assert [line.split(":")[0] for line in told] == ["initial_state", "cost_weights", "budgets[0]"]


def test_features_and_a_kernel_that_cannot_be_read_do_not_hide_the_mistakes_of_the_others(parts, mistakes):
    told = mistakes(
        features=parts["features"][0],
        kernel=parts["kernel"][0, 0],
        cost_weights=np.zeros((2, 2)),
        budgets=np.array([-1.0]),
        initial_state=[0.5, 0.6],
        loss_profiles=np.full((1, 2, 2), np.nan),
    )
    assert [line.split(":")[0] for line in told] == [
        *("features", "kernel", "cost_weights", "loss_profiles", "budgets[0]", "initial_state"),
    ]


def test_parts_that_are_not_numbers_are_all_named(mistakes):
    told = mistakes(features="abc", kernel=[[1.0], [1.0, 2.0]], cost_weights=None, budgets=["1.0"], initial_state="0")
    assert [line.split(":")[0] for line in told] == ["features", "kernel", "cost_weights", "budgets", "initial_state"]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["features", "kernel", "cost_weights", "budgets"])
def test_nan_and_infinity_are_told_with_their_place(parts, mistakes, part, bad):
    spoilt = parts[part].copy()
    spoilt.flat[-1] = bad
    (line,) = (line for line in mistakes(**{part: spoilt}) if line.startswith(part))
    assert "contains NaN or infinity in 1 of" in line
    if part != "kernel":
        assert line.endswith(f"[{', '.join(str(size - 1) for size in spoilt.shape)}]")


def test_nan_in_a_sparse_kernel_is_told(parts, mistakes):
    step = sp.csr_array(np.where(parts["kernel"][0] == 0.75, np.nan, parts["kernel"][0]))
    assert mistakes(kernel=[step, step])[0].startswith("kernel: contains NaN")


def _off(parts, part, by):
    """The sound problem with one condition missed by `by`."""
    if part == "features":
        return {"features": np.where(parts["features"] == 1.0, 1.0 + by, parts["features"])}
    if part == "kernel":
        return {"kernel": parts["kernel"] + np.array([0.0, 0.0, by])}
    if part == "cost_weights":
        return {"cost_weights": np.array([[[-by, 0.8]], [[0.4, 1.0 + by]]])}
    if part == "budgets":
        return {"budgets": np.array([2.0 + by])}
    return {"initial_state": np.array([1.0 + by, 0.0, -by])}


@pytest.mark.parametrize("part", ["kernel", "cost_weights", "budgets", "initial_state"])
def test_the_tolerance_is_a_billionth(parts, mistakes, part):
    tr.LinearCMDP(**(parts | _off(parts, part, 0.5e-9)))
    assert mistakes(**_off(parts, part, 4e-9))


def test_a_feature_longer_than_one_by_more_than_the_tolerance_is_told(parts, mistakes):
    told = mistakes(**_off(parts, "features", 4e-9))
    assert told[0].startswith("features: longer than 1 for 4 of 6")


def test_a_negative_probability_that_only_the_product_shows_is_found(mistakes):
    features = np.array([[[1.0, 0.0]], [[0.5, -0.5]]])  # both have a negative entry, and every sum is 1
    sound = np.array([[[0.6, 0.4], [-1.0, 0.0]]])  # 0.5*(0.6, 0.4) - 0.5*(-1, 0) = (0.8, 0.2)
    tr.LinearCMDP(features, sound, np.zeros((1, 1, 2)), [0.5])
    spoilt = np.array([[[0.6, 0.4], [0.9, -1.9]]])  # 0.5*(0.6, 0.4) - 0.5*(0.9, -1.9) = (-0.15, 1.15)
    told = mistakes(features=features, kernel=spoilt, cost_weights=np.zeros((1, 1, 2)), budgets=[0.5])
    assert told[0] == "kernel: negative probability -0.15 at step h=0, s=1, a=0 (1 of 2 pairs)"


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_a_negative_entry_among_one_hot_features_is_found_without_making_them_dense(wrap):
    n_states, n_actions = 2_000, 4
    rows = np.arange(n_states * n_actions)
    chances = sp.lil_array((len(rows), n_states))
    chances[:, 0] = 1.0
    chances[5, 0], chances[5, 1] = 1.25, -0.25
    matrix = sp.csr_array(chances) if wrap is sp.csr_array else chances.toarray().reshape(n_states, n_actions, n_states)
    with pytest.raises(tr.InputError) as refused:
        tr.LinearCMDP.from_tables(matrix, np.zeros((2, n_states, n_actions)), [1.0])
    assert refused.value.problems[0] == "kernel: negative probability -0.25 at step h=0, s=1, a=1 (1 of 8000 pairs)"


def test_no_constraint_at_all_is_refused(parts, mistakes):
    told = mistakes(budgets=[], cost_weights=np.zeros((2, 0, 2)))
    assert told[0] == "budgets: shape (0,), wanted [m] with m >= 1, one for each constraint"


def test_costs_on_transitions_must_have_the_linear_cost_as_their_mean(mistakes):
    on_transitions = np.full((1, 2, 3, 2, 3), 0.5)
    told = mistakes(transition_costs=on_transitions)
    assert len(told) == 1
    assert told[0].startswith(
        "cost 0: costs on transitions at step h=0 average to other means than cost_weights (by 0.3"
    )


def test_a_cost_on_a_transition_that_cannot_happen_may_be_anything(parts):
    chances = np.array([[[1.0, 0.0]], [[0.5, 0.5]]])
    costs = np.array([[[[0.25, 99.0]], [[0.0, 1.0]]]])
    cmdp = tr.LinearCMDP.from_tables(chances, costs, [1.0])
    np.testing.assert_allclose(cmdp.losses(cmdp.cost_weights[:, 0])[0], [[0.25], [0.5]], rtol=0, atol=1e-15)
    costs[0, 1, 0, 1] = 1.5
    with pytest.raises(
        tr.InputError, match=r"cost 0: 1.5 on the transition 1 -> 1 at step h=0, a=0 is outside \[0, 1\]"
    ):
        tr.LinearCMDP.from_tables(chances, costs, [1.0])


@pytest.mark.parametrize("bad", [-1, 3, 1.0, True, None, "0"])
def test_an_initial_state_that_is_none_is_refused(mistakes, bad):
    assert mistakes(initial_state=bad)[0].endswith("wanted a state in 0..2 or a distribution [S] over 3 states")
