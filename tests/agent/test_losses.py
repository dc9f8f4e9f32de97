"""Losses given as functions or values become the weights they come from; what features cannot say is told, not hidden."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest

import tightrope as tr

from .conftest import SETTINGS, make_agent, play_episode, uniforms


def linear(cmdp: tr.LinearCMDP, k: int):
    """The loss of episode k as a function, and its weights."""
    assert cmdp.loss_profiles is not None
    weights = cmdp.loss_profiles[k % 2]
    return (lambda h, s, a: float(cmdp.features[s, a] @ weights[h])), weights


def test_a_linear_function_is_as_good_as_its_weights(wide):
    """Least squares on what has been seen, of least length: policies in known states are the same as with the weights."""
    learner = tr.PDPO(**SETTINGS, mixing_period=6)
    one, other = (make_agent(wide, learner, 100) for _ in range(2))
    for k, u in enumerate(uniforms(0, 60, wide.horizon)):
        loss, weights = linear(wide, k)
        play_episode(one, wide, u)
        play_episode(other, wide, u)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.finish(loss)
        other.finish(weights)
        assert one.status().loss_residual < 1e-9
        np.testing.assert_allclose(one.estimates, other.estimates, atol=1e-7)
    rows = [len(blocks) * wide.n_actions for blocks in one._losses._blocks]
    assert rows[0] == wide.n_actions and all(4 * wide.dim <= n <= 6 * wide.dim for n in rows[1:])  # one first state; 4d


def test_the_sample_is_fixed_once_it_tells_everything(wide):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=6), 200)
    sizes = []
    for k, u in enumerate(uniforms(0, 120, wide.horizon)):
        play_episode(agent, wide, u)
        agent.finish(linear(wide, k)[0])
        sizes.append([len(b) for b in agent._losses._blocks])
    assert sizes[-1] == sizes[60]
    assert np.linalg.matrix_rank(np.concatenate(agent._losses._blocks[2])) == wide.dim


def test_what_is_not_linear_is_reported_and_warned_about_once(wide):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=6), 100)
    caught = []
    for u in uniforms(0, 20, wide.horizon):
        play_episode(agent, wide, u)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            agent.finish(lambda h, s, a: float((s * 7 + a * 3 + h) % 5 == 0))
        caught += told
    assert len(caught) == 1 and "not linear in the features" in str(caught[0].message)
    assert 0.1 < agent.status().loss_residual < 1.0
    assert "not linear" in str(agent.status())


def test_values_of_full_rank_are_the_weights(wide):
    _, weights = linear(wide, 0)
    random = np.random.default_rng(1)
    rows = []
    for h in range(wide.horizon):
        for s in random.choice(wide.n_states, 12, replace=False):
            a = int(random.integers(wide.n_actions))
            rows.append((h, int(s), a, float(wide.features[s, a] @ weights[h])))
    one, other = (make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=6), 100) for _ in range(2))
    u = uniforms(0, 1, wide.horizon)[0]
    play_episode(one, wide, u)
    one.finish(tr.LossValues(rows))
    play_episode(other, wide, u)
    other.finish(weights)
    np.testing.assert_allclose(one.estimates, other.estimates, atol=1e-9)
    np.testing.assert_allclose(one.policy(2, 5), other.policy(2, 5), atol=1e-9)


def test_values_that_do_not_tell_the_weights_say_what_is_missing(wide):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=6), 100)
    play_episode(agent, wide, uniforms(0, 1, wide.horizon)[0])
    rows = [(h, s, 0, 0.5) for h in (0, 2, 3) for s in range(10)] + [(1, s, 0, 0.5) for s in range(3)]
    with pytest.raises(tr.InputError, match="step 1: 3 values of rank 3 do not tell 5 weights") as told:
        agent.finish(tr.LossValues(rows))
    assert "2 more directions" in str(told.value) and len(told.value.problems) == 1
    table = tr.features.OneHot(2, 3)
    tabular = tr.Agent(tr.PDPO(**SETTINGS, mixing_period=6), table, 1, 2, [1.0], episodes=10)
    tabular.begin(0)
    tabular.act()
    tabular.observe(0.5)
    with pytest.raises(tr.InputError, match=r"nothing is said of coordinates \[2, 5\]"):
        tabular.finish(tr.LossValues([(0, s, a, 0.5) for s in range(2) for a in range(2)]))


@pytest.mark.parametrize("value", [1.5, -0.2, float("nan"), "x", None])
def test_a_value_that_is_no_loss_is_refused_and_the_episode_can_still_be_finished(wide, value):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=6), 100)
    play_episode(agent, wide, uniforms(0, 1, wide.horizon)[0])
    with pytest.raises(tr.InputError, match=r"wanted a loss in \[0, 1\]"):
        agent.finish(lambda h, s, a: value)
    with pytest.raises(tr.InputError, match=r"row 0: .* wanted a loss in \[0, 1\]"):
        agent.finish(tr.LossValues([(0, 1, 1, value)]))
    for row, said in (((4, 1, 1, 0.5), "h 4"), ((0, 1, 9, 0.5), "action 9"), (("a", 1, 1, 0.5), "h 'a'")):
        with pytest.raises(tr.InputError, match=f"row 0: {said}"):
            agent.finish(tr.LossValues([row]))  # pyright: ignore[reportArgumentType]
    for rows, said in (
        (None, "None, wanted rows"),
        ("abcd", "'abcd', wanted"),
        ([3], "row 0: 3"),
        ([(0, 1, 1)], "row 0"),
    ):
        with pytest.raises(tr.InputError, match=said):
            agent.finish(tr.LossValues(rows))  # pyright: ignore[reportArgumentType]
    agent.finish(linear(wide, 0)[1])
    assert agent.status().updates == 1


class Told:
    """A state of no type that a file can hold."""


OBSERVATIONS = {
    "text": lambda s: f"state {s}",
    "NumPy's numbers": np.int64,
    "a tuple": lambda s: (s, 0.1 * s, "x", None, True),
    "a dict of arrays": lambda s: {"position": np.array([[s]], np.float32), "flags": [np.bool_(s % 2)]},
}


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_the_sample_of_any_observation_survives_the_file(tmp_path, name):
    make, seen = OBSERVATIONS[name], []
    numbers = {repr(make(s)): s for s in range(6)}

    def features(obs):
        return np.eye(12)[[numbers[repr(obs)], 6 + numbers[repr(obs)]]]

    def loss(h, obs, a):
        seen.append((h, repr(obs), type(obs), a))
        return 0.1 * numbers[repr(obs)] + 0.3 * a

    agent = tr.Agent(tr.PDPO(**SETTINGS, mixing_period=6), features, 2, 2, [1.0], episodes=50, dim=12)
    reused = make(0)
    for s in range(5):
        agent.begin(make(s))
        agent.observe(0.5, make(s + 1), action=1)
        agent.observe(0.5, action=0)
        agent.finish(loss)
    agent.save(tmp_path / "agent.npz")
    other = tr.Agent.load(tmp_path / "agent.npz", features)
    told = []
    for one in (agent, other):
        seen.clear()
        one.begin(reused)
        one.observe(0.5, make(3), action=1)
        one.observe(0.5, action=0)
        one.finish(loss)
        told.append((list(seen), one.policy(0, make(2)).tobytes()))
    assert told[0] == told[1] and len(told[0][0]) >= 20


def test_observations_that_no_file_can_hold_are_told_of_where_it_matters(tmp_path):
    for loss, warned in ((np.zeros((1, 4)), False), (lambda h, obs, a: 0.5, True)):
        agent = tr.Agent(
            tr.PDPO(**SETTINGS, mixing_period=6), lambda obs: np.eye(2, 4), 1, 2, [1.0], episodes=50, dim=4
        )
        agent.begin(Told())
        agent.observe(0.5, action=1)
        agent.finish(loss)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            agent.save(tmp_path / "agent.npz")
        assert [str(w.message)[:25] for w in caught] == ["observations of type Told"] * warned
        assert tr.Agent.load(tmp_path / "agent.npz", lambda obs: np.eye(2, 4)).status().episodes == 1


def test_a_sample_is_not_changed_by_an_environment_that_reuses_its_observation():
    obs, seen = {"x": np.zeros(1)}, []
    agent = tr.Agent(
        tr.PDPO(**SETTINGS, mixing_period=6),
        lambda o: np.eye(2, 4) if o["x"][0] < 0.5 else np.eye(2, 4, 2),
        *(2, 2, [1.0]),
        episodes=50,
        dim=4,
    )
    agent.begin(obs)
    obs["x"][0] = 1.0
    agent.observe(0.5, obs, action=0)
    agent.observe(0.5, action=0)
    agent.finish(lambda h, o, a: seen.append((h, o["x"][0])) or 0.5)
    assert set(seen) == {(0, 0.0), (1, 1.0)}


def test_weights_closed_to_writing_compile_nothing_anew(wide):
    kernel = importlib.import_module("tightrope.engine.endless").learn
    agent, weights = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=6), 100), linear(wide, 0)[1].copy()
    compiled = []
    for closed in (False, True):
        weights.flags.writeable = not closed
        play_episode(agent, wide, uniforms(0, 1, wide.horizon)[0])
        agent.finish(weights)
        compiled.append(len(kernel.signatures))
    assert compiled[0] == compiled[1]
