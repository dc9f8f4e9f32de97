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
