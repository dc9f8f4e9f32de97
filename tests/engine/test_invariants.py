"""What must hold of every run, whatever the problem and the settings, found by Hypothesis among random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tightrope as tr
from tightrope.engine import tables
from tightrope.problems.tables import DenseFeatures, frozen

K = 60

SETTINGS = st.fixed_dictionaries(
    {
        "alpha": st.floats(0.0, 2.0),
        "eta": st.floats(0.0, 2.0),
        "theta": st.floats(0.0, 1.0),
        "beta_b": st.floats(0.0, 1.0),
        "beta_w": st.floats(0.0, 20.0),
        "mixing_period": st.integers(1, 30),
        "dual_decay": st.floats(0.0, 1.0),
        "dual_drift": st.floats(0.0, 0.5),
        "restart": st.sampled_from(["paper", "warm"]),
    }
)
PROBLEMS = st.fixed_dictionaries(
    {
        "n_states": st.integers(1, 8),
        "n_actions": st.integers(1, 4),
        "dim": st.integers(1, 6),
        "horizon": st.integers(1, 4),
        "constraints": st.integers(1, 3),
        "seed": st.integers(0, 1000),
    }
)
KINDS = st.sampled_from(["drift", "alternating", "best-response", "sinusoid"])


def played(cmdp: tr.LinearCMDP, learner: tr.PDPO, kind: str, seed: int = 0, **more: Any) -> tr.Run:
    return tr.simulate(cmdp, tr.losses.make(kind, cmdp, K, seed=seed), learner, K, seed=seed, trace=True, **more)


def close(one: tr.Run, other: tr.Run, states=None, atol: float = 1e-8) -> None:
    """The same run; `states` [S] says which state of `other` each state of `one` is."""
    a, b = one.trace, other.trace
    assert a is not None and b is not None
    states = np.arange(one.cmdp.n_states) if states is None else states
    assert np.array_equal(states[a.states], b.states) and np.array_equal(a.actions, b.actions)
    assert np.array_equal(a.epoch_starts, b.epoch_starts)
    np.testing.assert_allclose(a.policies, b.policies[:, :, states], rtol=0, atol=atol)
    for name in ("dual", "values", "exact_values", "costs"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=0, atol=atol, err_msg=name)
    np.testing.assert_allclose(one.regret, other.regret, rtol=0, atol=atol * K)


# ---- of one run ----------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problem=PROBLEMS, setting=SETTINGS, kind=KINDS)
def test_policies_are_distributions_duals_are_not_negative_and_curves_are_sums(problem, setting, kind):
    cmdp = tr.problems.make("random-linear", **problem)
    run = played(cmdp, tr.PDPO(**setting), kind, record_every=1)
    trace = run.trace
    assert trace is not None
    assert trace.policies.min() >= 0.0
    assert np.abs(trace.policies.sum(axis=3) - 1.0).max() < 1e-12
    assert trace.dual.min() >= 0.0 and np.isfinite(trace.dual).all()
    assert (trace.dual[0] == 0.0).all() and trace.epoch_starts[0] == 0
    assert (np.diff(run.hard_violation, axis=0) >= 0).all()
    assert (run.positive_violation <= run.hard_violation + 1e-9).all()
    if setting["restart"] == "paper":
        assert (trace.dual[trace.epoch_starts] == 0.0).all()
        assert np.abs(trace.policies[trace.epoch_starts] - 1.0 / cmdp.n_actions).max() < 1e-15
    # the dual follows line 27 from the values that were estimated
    ascent = setting["eta"] * (trace.values[:, 1:] - cmdp.budgets) - setting["dual_drift"]
    following = np.maximum(0.0, (1.0 - setting["dual_decay"]) * trace.dual[:-1] + ascent)
    goes_on = np.ones(K, bool)
    if setting["restart"] == "paper":
        goes_on[trace.epoch_starts[1:] - 1] = False
    np.testing.assert_allclose(trace.dual[1:][goes_on], following[goes_on], rtol=1e-12, atol=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(problem=PROBLEMS, setting=SETTINGS)
def test_gram_times_its_inverse_is_one_and_the_determinant_has_grown_as_told(problem, setting):
    cmdp = tr.problems.make("random-linear", **problem)
    learner = tr.PDPO(**setting)
    player = learner.start(cmdp, K)
    random = np.random.default_rng(problem["seed"])
    H, m = cmdp.horizon, cmdp.n_constraints
    expected = np.broadcast_to(np.eye(cmdp.dim), (H, cmdp.dim, cmdp.dim)).copy()
    for k in range(K):
        states = random.integers(0, cmdp.n_states, H + 1)
        actions = random.integers(0, cmdp.n_actions, H)
        player.policy()
        if player.state.counters[1] == k:  # an epoch begins with this episode
            start = np.linalg.slogdet(expected)[1]
        loss = np.zeros((H, cmdp.dim))
        try:
            player.learn(tr.learners.Episode(k, states, actions, np.zeros((H, m)), loss))
        except tr.InputError:
            continue
        for h in range(H):
            row = cmdp.features[states[h], actions[h]]
            expected[h] += np.outer(row, row)
        gram, inverse = whole(player.world, cmdp)
        np.testing.assert_allclose(gram, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(gram @ inverse, np.broadcast_to(np.eye(cmdp.dim), gram.shape), atol=1e-9)
        np.testing.assert_allclose(np.log(player.state.growth), np.linalg.slogdet(expected)[1] - start, atol=1e-9)


def whole(world: tables.World, cmdp: tr.LinearCMDP) -> tuple[np.ndarray, np.ndarray]:
    """Gram and inverse as [H, d, d], in the problem's order of coordinates."""
    if world.gram.ndim == 3:
        return world.gram, world.inverse
    gram, inverse = (np.zeros((cmdp.horizon, cmdp.dim, cmdp.dim)) for _ in range(2))
    order = world.order  # pyright: ignore[reportAttributeAccessIssue]
    gram[:, order, order], inverse[:, order, order] = world.gram, world.inverse
    return gram, inverse


# ---- the same problem told otherwise -------------------------------------------------------------------------------


def retold(cmdp: tr.LinearCMDP, features, kernel, cost_weights, profiles, start=None, **more: Any) -> tr.LinearCMDP:
    start = cmdp.initial_distribution if start is None else start
    budgets = more.pop("budgets", cmdp.budgets)
    return tr.LinearCMDP(features, kernel, cost_weights, budgets, start, loss_profiles=profiles, **more)


def with_room_to_turn(problem: dict[str, Any]) -> tr.LinearCMDP:
    """Features near the middle of the simplex, scaled up to length 1, so that a turned kernel keeps its norm condition."""
    made = tr.problems.make("random-linear", **problem)
    near = 0.2 * made.features + 0.8 / made.dim
    scale = np.linalg.norm(near, axis=2).max()
    weights, profiles = made.cost_weights * scale, made.loss_profiles * scale
    features, horizon = DenseFeatures(frozen(near / scale)), made.horizon
    loose = retold(made, features, made.kernel * scale, weights, profiles, budgets=np.full(made.n_constraints, horizon))
    budgets = np.minimum(tr.oracle.slater(loose).costs + 0.01, horizon)
    return retold(loose, features, loose.kernel, weights, profiles, budgets=budgets)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=PROBLEMS, setting=SETTINGS, kind=KINDS, seed=st.integers(0, 100))
def test_turned_features_give_the_same_run(problem, setting, kind, seed):
    cmdp = with_room_to_turn(problem)
    d = cmdp.dim
    rotation = np.linalg.qr(np.eye(d) + 0.2 * np.random.default_rng(seed).normal(size=(d, d)))[0]
    parts = cmdp.features @ rotation, rotation.T @ cmdp.kernel, cmdp.cost_weights @ rotation
    assume((np.linalg.norm(np.abs(parts[1]).sum(axis=2), axis=1) <= np.sqrt(d)).all())
    turned = retold(cmdp, DenseFeatures(frozen(parts[0])), *parts[1:], cmdp.loss_profiles @ rotation)
    close(played(cmdp, tr.PDPO(**setting), kind), played(turned, tr.PDPO(**setting), kind))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=PROBLEMS, setting=SETTINGS, kind=KINDS)
def test_one_hot_features_stored_whole_give_the_run_of_those_stored_sparsely(problem, setting, kind):
    made = tr.problems.make("random-linear", **problem)
    chances = np.stack([made.features @ psi for psi in made.kernel])
    costs = np.einsum("sad,hid->ihsa", made.features, made.cost_weights)
    losses = made.losses(made.loss_profiles)
    axis = tr.LinearCMDP.from_tables(
        chances, costs if len(costs) > 1 else costs[0], made.budgets, made.initial_distribution, losses=losses
    )
    dense = retold(axis, DenseFeatures(frozen(axis.features)), axis.kernel, axis.cost_weights, axis.loss_profiles)
    assert "axis" in repr(axis) and "dense" in repr(dense)
    close(played(axis, tr.PDPO(**setting), kind), played(dense, tr.PDPO(**setting), kind))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=PROBLEMS, setting=SETTINGS, seed=st.integers(0, 100))
def test_the_names_of_the_states_do_not_matter_where_the_play_does_not_depend_on_them(problem, setting, seed):
    """Relabelled states, told of the same episodes, are given the same policies. (Sampling goes by the order of states.)"""
    cmdp = tr.problems.make("random-linear", **problem)
    order = np.random.default_rng(seed).permutation(cmdp.n_states)  # the new name of each state
    back = np.argsort(order)
    other = retold(
        cmdp,
        DenseFeatures(frozen(cmdp.features[back])),
        cmdp.kernel[:, :, back],
        cmdp.cost_weights,
        cmdp.loss_profiles,
        cmdp.initial_distribution[back],
    )
    run = played(cmdp, tr.PDPO(**setting), "alternating")
    player = tr.PDPO(**setting).start(other, K)
    assert run.trace is not None
    for k in range(K):
        np.testing.assert_allclose(player.policy()[:, order], run.trace.policies[k], rtol=0, atol=1e-9)
        np.testing.assert_allclose(player.dual, run.trace.dual[k], rtol=0, atol=1e-9)
        played_so = (order[run.trace.states[k]], run.trace.actions[k], run.trace.costs[k], run.trace.loss_weights[k])
        player.learn(tr.learners.Episode(k, *played_so))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(problem=PROBLEMS, setting=SETTINGS, kind=KINDS)
def test_a_constraint_that_can_never_bind_changes_nothing_but_its_own_column(problem, setting, kind):
    one = tr.problems.make("random-linear", **problem | {"constraints": 1})
    costs = np.concatenate([one.cost_weights, 0.5 * one.cost_weights], axis=1)
    both = retold(
        one, one.feature_table, one.kernel_table, costs, one.loss_profiles, budgets=[one.budgets[0], one.horizon]
    )
    a, b = played(one, tr.PDPO(**setting), kind), played(both, tr.PDPO(**setting), kind)
    assert a.trace is not None and b.trace is not None
    assert (b.trace.dual[:, 1] == 0.0).all()
    assert np.array_equal(a.trace.actions, b.trace.actions)
    np.testing.assert_allclose(a.trace.policies, b.trace.policies, rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.violation[:, 0], b.violation[:, 0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["priced-jobs", "random-linear"])
def test_doubling_every_action_changes_no_value(name):
    """Twin actions share the probability of the one they were made from, so losses and costs stay what they were."""
    cmdp = tr.problems.make(name)
    features = np.repeat(cmdp.features, 2, axis=1)
    twin = retold(
        cmdp,
        DenseFeatures(frozen(features)) if "dense" in repr(cmdp) else features,
        cmdp.kernel_table,
        cmdp.cost_weights,
        cmdp.loss_profiles,
    )
    learner = tr.PDPO(alpha=0.2, eta=0.2, theta=0.1, beta_b=0.05, beta_w=1.0, mixing_period=7)
    run = played(cmdp, learner, "alternating")
    assert run.trace is not None
    player = learner.start(twin, K)
    for k in range(K):
        shared = player.policy().reshape(*run.trace.policies.shape[1:], 2).sum(axis=3)
        np.testing.assert_allclose(shared, run.trace.policies[k], rtol=0, atol=1e-9)
        trace = run.trace
        player.learn(
            tr.learners.Episode(k, trace.states[k], 2 * trace.actions[k], trace.costs[k], trace.loss_weights[k])
        )
