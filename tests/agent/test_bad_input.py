"""What an agent cannot use is refused in a sentence, and leaves no trace: the agent is what it was before the call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tightrope as tr

from .conftest import SETTINGS, make_agent, play_episode, uniforms

LEARNER = tr.PDPO(**SETTINGS, mixing_period=4)


def picture(agent: tr.Agent) -> dict[str, Any]:
    """Everything an agent is, in bytes."""
    player = agent._player
    arrays = {} if player is None else player.tables.arrays()
    current = agent.current
    told: dict[str, Any] = {name: array.tobytes() for name, array in arrays.items()}
    told["random"] = repr(agent.random.bit_generator.state)
    told["status"] = str(agent.status())
    told["waiting"] = (len(agent._batch), agent._merged is None)
    if current is not None:
        told["episode"] = (
            current.actions[:],
            current.places[:],
            [c.tobytes() for c in current.costs],
            current.chosen,
            current.ended,
        )
    return told


class Spoilt:
    """The features of a problem, but for one state."""

    def __init__(self, cmdp: tr.LinearCMDP, state: int, block: Any):
        self.table, self.state, self.block = cmdp.features, state, block

    def __call__(self, s: int) -> Any:
        return self.block if s == self.state else self.table[s]


@pytest.fixture
def agent(wide) -> tr.Agent:
    """In the middle of its fifth episode, an action chosen."""
    agent = make_agent(wide, LEARNER, 50)
    for k, u in enumerate(uniforms(0, 4, wide.horizon)):
        play_episode(agent, wide, u)
        agent.finish(np.asarray(wide.loss_profiles)[k % 2])
    agent.begin(3)
    agent.act()
    return agent


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda agent: agent.observe(1.5, 4), r"cost: 1.5, wanted a number in \[0, 1\]"),
        (lambda agent: agent.observe(-0.1, 4), r"cost: -0.1, wanted a number in \[0, 1\]"),
        (lambda agent: agent.observe(float("nan"), 4), "cost: nan"),
        (lambda agent: agent.observe("much", 4), "cost: 'much'"),
        (lambda agent: agent.observe([0.1, 0.2], 4), r"cost: \[0.1, 0.2\], wanted a number"),
        (lambda agent: agent.observe(0.5, 4, action=4), r"action: 4, wanted one of 0\.\.3"),
        (lambda agent: agent.observe(0.5, 4, action=-1), "action: -1"),
        (lambda agent: agent.observe(0.5, 4, action=1.5), "action: 1.5"),
        (lambda agent: agent.observe(0.5, 4, action=True), "action: True"),
        (lambda agent: agent.begin(3), "begin: an episode is under way, at step 0 of 4"),
        (lambda agent: agent.finish(np.zeros((4, 5))), r"finish: after 0 of 4 steps; .*ended=True"),
        (lambda agent: agent.set_aside(), "set_aside: after 0 of 4 steps"),
        (lambda agent: agent.learn(np.zeros((4, 5))), "learn: an episode is under way"),
        (lambda agent: agent.merge("x"), "merge: 'x', wanted an increment"),
        (lambda agent: agent.policy(4, 0), r"h: 4, wanted a step in 0\.\.3"),
        (lambda agent: agent.policy("a", 0), "h: 'a'"),
        (lambda agent: agent.explain(-1, 0), "h: -1"),
    ],
)
def test_a_wrong_call_is_refused_and_changes_nothing(agent, call, said):
    before = picture(agent)
    with pytest.raises(tr.InputError, match=said):
        call(agent)
    assert picture(agent) == before


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (np.full((4, 5), 0.9), "length 2.01246 at action 0 for observation 9, wanted at most 1"),
        (np.zeros((4, 6)), r"shape \(4, 6\) for observation 9, wanted \[A, d\] = \(4, 5\)"),
        (np.zeros((3, 5)), r"shape \(3, 5\)"),
        (np.zeros(5), r"shape \(5,\)"),
        (np.where(np.eye(4, 5) > 0, np.nan, 0.0), "nan at action 0, coordinate 0"),
        (np.full((4, 5), np.inf), "inf at action 0"),
        ("text", "features: 'text', wanted an array of numbers"),
        (None, "features: None"),
    ],
)
def test_bad_features_are_refused_and_change_nothing(agent, wide, block, said):
    agent.features = Spoilt(wide, 9, block)
    before = picture(agent)
    for call in (lambda: agent.observe(0.5, 9), lambda: agent.policy(1, 9), lambda: agent.explain(1, 9)):
        with pytest.raises(tr.InputError, match=said):
            call()
        assert picture(agent) == before
    agent.abandon()
    before = picture(agent)
    with pytest.raises(tr.InputError, match=said):
        agent.begin(9)
    assert picture(agent) == before


def raising(*given: Any) -> Any:
    """A function of a user that has a mistake in it."""
    raise ZeroDivisionError("division by zero")


def test_what_a_users_own_function_raises_goes_through_and_changes_nothing(agent, wide):
    features = agent.features
    agent.features = raising
    before = picture(agent)
    for call in (lambda: agent.observe(0.5, 9), lambda: agent.policy(1, 9), lambda: agent.explain(1, 9)):
        with pytest.raises(ZeroDivisionError, match="by zero"):
            call()
        assert picture(agent) == before
    agent.features = features
    for s in range(4):
        agent.act()
        agent.observe(0.5, s)
    before = picture(agent)
    with pytest.raises(ZeroDivisionError):
        agent.finish(raising)
    agent.features = raising
    with pytest.raises(ZeroDivisionError):
        agent.finish(tr.LossValues([(0, 1, 1, 0.5)]))
    assert picture(agent) == before
    agent.features = features
    agent.finish(np.zeros((4, 5)))
    agent.features = raising
    before = picture(agent)
    with pytest.raises(ZeroDivisionError):
        agent.begin(3)
    assert picture(agent) == before and agent.current is None


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_weights_are_held_against_all_that_waits_and_rounding_is_forgiven(wide, dtype):
    """Episodes set aside and those of forks count too; weights that are right in float64 are right for float32 tables."""
    agent, right = make_agent(wide, LEARNER, 50, dtype=dtype), np.asarray(wide.loss_profiles)[0]
    values = np.einsum("sad,hd->hsa", wide.features, right)
    assert abs(values.max() - 1.0) < 1e-12
    h, s, _ = np.unravel_index(int(values.argmax()), values.shape)
    for meet in ("set aside", "fork"):
        player = agent.fork() if meet == "fork" else agent
        player.begin(int(s))
        for _ in range(4):
            player.observe(0.5, int(s), action=0)
        player.set_aside()
        if meet == "fork":
            agent.merge(player.increment())  # pyright: ignore[reportAttributeAccessIssue]
        before = picture(agent)
        with pytest.raises(tr.InputError, match=f"learn: loss: the weights give 1.00001 at step h={h}"):
            agent.learn(right * 1.00001)
        assert picture(agent) == before
        agent.learn(right)
    assert agent.status().updates == 2


def test_steps_out_of_turn_are_refused(wide):
    agent = make_agent(wide, LEARNER, 50)
    for call, what in (
        (agent.act, "act"),
        (lambda: agent.observe(0.5, 1), "observe"),
        (lambda: agent.finish(0), "finish"),
    ):
        with pytest.raises(tr.InputError, match=f"{what}: no episode is under way; call begin first"):
            call()
    with pytest.raises(tr.InputError, match="learn: no episode has been set aside"):
        agent.learn(np.zeros((4, 5)))
    agent.begin(0)
    with pytest.raises(tr.InputError, match="observe: no action has been chosen"):
        agent.observe(0.5, 1)
    for wrong in (1.0, -0.1, float("nan"), "a", [0.5]):
        with pytest.raises(tr.InputError, match="uniform: "):
            agent.act(wrong)  # pyright: ignore[reportArgumentType]
    for s in range(4):
        agent.act()
        agent.observe(0.5, s)
    for call, what in ((agent.act, "act"), (lambda: agent.observe(0.5, 1), "observe")):
        with pytest.raises(tr.InputError, match=f"{what}: all 4 steps have been played; finish"):
            call()
    before = picture(agent)
    for loss, said in (
        (np.zeros((4, 6)), r"finish: loss: shape \(4, 6\), wanted weights \[H, d\] = \(4, 5\)"),
        (np.full((4, 5), np.nan), "finish: loss: contains NaN"),
        (
            np.full((4, 5), 5.0),
            r"loss: the weights give .* at step h=0, a=\d in a .* visited, wanted losses .* in \[0, 1\]",
        ),
        (np.full((4, 5), 1e300), "loss: the weights give .* at step h=0"),
        (np.diag([0.0, 0.0, -1e-6, 0.0]) @ np.ones((4, 5)), "loss: the weights give -.* at step h=2"),
        ("x", "finish: loss: 'x'"),
        (None, "finish: loss: None"),
    ):
        with pytest.raises(tr.InputError, match=said):
            agent.finish(loss)
        assert picture(agent) == before
    agent.finish(np.zeros((4, 5)))
    agent.begin(0)
    agent.act()
    agent.observe(0.5, ended=True)
    with pytest.raises(tr.InputError, match="act: the episode has ended after 1 steps; finish it"):
        agent.act()
    agent.abandon()
    assert agent.status().updates == 1
    agent.begin(0)


def test_settings_that_cannot_be_are_told_all_at_once(wide):
    with pytest.raises(tr.InputError) as told:
        tr.Agent(tr.LinearCMDP, "no map", 0, 2.5, [np.nan], dtype="float16", when_full="burst", seed=-1)  # pyright: ignore[reportArgumentType]
    text = str(told.value)
    for name in (
        "learner: LinearCMDP",
        "features: 'no map'",
        "horizon: 0",
        "n_actions: 2.5",
        "budgets:",
        "dtype:",
        "when_full:",
        "seed:",
    ):
        assert name in text
    with pytest.raises(tr.InputError, match="episodes: missing; this learner's contraction needs log K"):
        tr.Agent(LEARNER, lambda s: s, 3, 2, [1.0])
    with pytest.raises(tr.InputError, match="made for 2 actions, the agent has n_actions = 3"):
        tr.Agent(LEARNER, tr.features.OneHot(2, 4), 3, 3, [1.0], episodes=9)
    with pytest.raises(tr.InputError, match="dim: 9, the features have 8"):
        tr.Agent(LEARNER, tr.features.OneHot(2, 4), 3, 2, [1.0], episodes=9, dim=9)
    with pytest.raises(tr.InputError, match="give it dim=d"):
        tr.Agent(LEARNER, lambda s: s, 3, 2, [1.0], episodes=9).fork()


def test_full_tables_refuse_or_take_the_nearest(wide):
    strict = make_agent(wide, LEARNER, 50, max_states=6, when_full="refuse")
    strict.begin(0)
    for s in (1, 2, 3):
        strict.act()
        strict.observe(0.5, s)
    strict.abandon()
    for s in (10, 11):
        strict.begin(s)
        strict.abandon()
    before = picture(strict)
    with pytest.raises(tr.InputError, match=r"max_states: all 6 states are known, and the one of step 0 \(12\) is new"):
        strict.begin(12)
    assert picture(strict) == before
    strict.begin(10)  # a known one is welcome


def test_a_state_without_room_is_played_exactly_and_stood_in_for(wide):
    K = 80
    free, full = make_agent(wide, LEARNER, K), make_agent(wide, LEARNER, K, max_states=60)
    for k, u in enumerate(uniforms(0, K, wide.horizon)):
        away = full.status().turned_away
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            play_episode(full, wide, u)
        assert [str(w.message)[:14] for w in told] == ["max_states: al"] * (away == 0 < full.status().turned_away)
        full.finish(np.asarray(wide.loss_profiles)[k % 2])
        play_episode(free, wide, u)
        free.finish(np.asarray(wide.loss_profiles)[k % 2])
    status = full.status()
    assert status.known_states.sum() == 60 and status.turned_away > 20 and 0 < status.farthest < 2.5
    assert "found the tables full" in str(status)
    assert status.episodes == K
    far = max(np.abs(full.policy(h, s) - free.policy(h, s)).max() for h in range(4) for s in range(0, 150, 10))
    assert far < 0.3  # an approximation, not another policy
