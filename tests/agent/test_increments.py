"""Forks play one frozen policy; what they hand in adds up to one agent that saw the whole batch."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tightrope as tr

from .conftest import SETTINGS, make_agent, play_episode, uniforms

BATCH, UPDATES = 6, 25


def learnt(agent: tr.Agent) -> dict[str, np.ndarray]:
    player = agent._player
    assert player is not None
    world = player.world
    return {
        "gram": world.gram,
        "costs": world.cost_sums,
        "dual": world.dual,
        "weights": world.weights,
        "growth": world.growth,
    }


def compare(one: tr.Agent, other: tr.Agent, cmdp: tr.LinearCMDP) -> None:
    assert one.status().epoch == other.status().epoch  # which begins it, where one is due
    for (name, a), b in zip(learnt(one).items(), learnt(other).values()):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=name)
    assert np.array_equal(one.status().known_states, other.status().known_states)
    assert one.status().episodes == other.status().episodes
    np.testing.assert_allclose(one.status().violation, other.status().violation, atol=1e-9)
    for s in range(0, cmdp.n_states, 11):
        np.testing.assert_allclose(one.policy(2, s), other.policy(2, s), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("restart", ["paper", "warm"])
def test_merged_increments_equal_one_agent_that_saw_the_batch(wide, restart):
    learner = tr.PDPO(**SETTINGS, mixing_period=4, restart=restart)
    whole, merged, mixed = (make_agent(wide, learner, 500) for _ in range(3))
    for update in range(UPDATES):
        u = uniforms(update, BATCH, wide.horizon)
        loss = np.asarray(wide.loss_profiles)[update % 2]
        for i in range(BATCH):
            play_episode(whole, wide, u[i])
            whole.set_aside()
        whole.learn(loss)
        forks = [pickle.loads(pickle.dumps(merged.fork(seed=i))) for i in range(2)]
        for i in range(BATCH):
            play_episode(forks[i % 2], wide, u[i])
            forks[i % 2].set_aside()
        first, second = (fork.increment() for fork in forks)
        if update % 2:
            merged.merge(first + second)
        else:
            merged.merge(first)
            merged.merge(second)
        merged.learn(loss)
        fork = mixed.fork()  # part of the batch by the agent itself
        for i in range(BATCH):
            play_episode(fork if i < 3 else mixed, wide, u[i])
            (fork if i < 3 else mixed).set_aside()
        mixed.merge(fork.increment())
        mixed.learn(loss)
    assert whole.status().episodes == BATCH * UPDATES and whole.status().epoch > 2
    compare(whole, merged, wide)
    compare(whole, mixed, wide)


def test_a_batch_of_one_is_an_episode(wide):
    learner = tr.PDPO(**SETTINGS, mixing_period=4)
    one, other = (make_agent(wide, learner, 500) for _ in range(2))
    for k, u in enumerate(uniforms(0, 40, wide.horizon)):
        play_episode(one, wide, u)
        one.finish(np.asarray(wide.loss_profiles)[k % 2])
        play_episode(other, wide, u)
        other.set_aside()
        other.learn(np.asarray(wide.loss_profiles)[k % 2])
    for name, array in learnt(one).items():
        assert np.array_equal(array, learnt(other)[name])


def test_an_increment_of_another_policy_is_refused(wide):
    learner = tr.PDPO(**SETTINGS, mixing_period=4)
    agent = make_agent(wide, learner, 500)
    fork = agent.fork()
    u = uniforms(0, 2, wide.horizon)
    play_episode(fork, wide, u[0])
    fork.set_aside()
    old = fork.increment()
    play_episode(agent, wide, u[1])
    agent.finish(np.asarray(wide.loss_profiles)[0])
    with pytest.raises(tr.InputError, match="after 0 updates, this agent has made 1"):
        agent.merge(old)
    with pytest.raises(tr.InputError, match="no episode has been set aside or merged"):
        agent.learn(np.asarray(wide.loss_profiles)[0])
    with pytest.raises(tr.InputError, match="no episode has been set aside"):
        fork.increment()


def test_an_increment_of_another_agent_is_refused(wide):
    """As many updates and epochs, but other losses; or another budget."""
    learner = tr.PDPO(**SETTINGS, mixing_period=4)
    one, other = (make_agent(wide, learner, 500) for _ in range(2))
    stricter = tr.Agent(learner, one.features, wide.horizon, wide.n_actions, wide.budgets / 2, episodes=500)
    u = uniforms(0, 3, wide.horizon)
    for agent, profile in ((one, 0), (other, 1), (stricter, 0)):
        play_episode(agent, wide, u[0])
        agent.finish(np.asarray(wide.loss_profiles)[profile])
    for stranger in (other, stricter):
        fork = stranger.fork()
        play_episode(fork, wide, u[1])
        fork.set_aside()
        with pytest.raises(tr.InputError, match="merge: the increment was played with the policy of another agent"):
            one.merge(fork.increment())


def test_full_tables_take_all_of_an_increment_or_none_and_count_it_once(wide):
    learner = tr.PDPO(**SETTINGS, mixing_period=4)
    strict, lenient = (make_agent(wide, learner, 500, max_states=9, when_full=w) for w in ("refuse", "nearest"))
    loss = np.asarray(wide.loss_profiles)[0]
    for agent in (strict, lenient):
        play_episode(agent, wide, uniforms(0, 1, wide.horizon)[0])
        agent.finish(loss)
    increments, seen = [], set()
    for agent in (strict, lenient):
        fork = agent.fork()
        for u in uniforms(1, 5, wide.horizon):
            states, _ = play_episode(fork, wide, u)
            seen |= {(h, s) for h, s in enumerate(states[:-1])}
            fork.set_aside()
        increments.append(fork.increment())
    before = strict.status().known_states.copy()
    with pytest.raises(tr.InputError, match=r"merge: max_states: \d+ states are new, there is room for 5 of 9"):
        strict.merge(increments[0])
    play_episode(strict, wide, uniforms(0, 1, wide.horizon)[0])
    strict.finish(loss)
    assert np.array_equal(strict.status().known_states, before) and strict.status().episodes == 2
    lenient.merge(increments[1])
    new = sum(lenient._player.find(h, lenient._player.block(wide.features[s])) < 0 for h, s in seen)  # pyright: ignore[reportOptionalMemberAccess]
    with pytest.warns(UserWarning, match="max_states: all 9 states are known"):
        lenient.learn(loss)
    assert lenient.status().turned_away == new - 5
