"""A policy that outlives hundreds of epochs keeps few parameters: light segments are folded, and the bound holds."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr

from .conftest import SETTINGS, make_agent, play_episode, uniforms


@pytest.fixture(scope="module")
def pair(wide) -> tuple[tr.Agent, ...]:
    """The same 300 episodes, with the segments as they come and with at most eight."""
    agents = tuple(
        make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=100, restart="warm"), 300, max_segments=most)
        for most in (512, 8)
    )
    assert wide.loss_profiles is not None
    for k, u in enumerate(uniforms(0, 300, wide.horizon)):
        for agent in agents:
            play_episode(agent, wide, u)
            agent.finish(wide.loss_profiles[k % 2])
    return agents


def test_segments_are_kept_to_their_number(pair):
    whole, folded = pair
    assert whole.status().segments > 20 and whole.status().folded == 0.0
    assert folded.status().segments <= 8 and folded.status().folded > 0.0
    assert folded._player.tables.segments.count[1] <= 8
    assert "folded segments" in str(folded.status())


def test_the_bound_holds_at_states_known_and_unknown(pair, wide):
    """States known all along keep their exact policy in the tables; the compact one is off by no more than the bound."""
    folded = pair[1]
    player, bound = folded._player, folded.status().folded
    seen = 0
    for h in range(wide.horizon):
        for s in range(wide.n_states):
            block = player.block(wide.features[s])
            place = player.find(h, block)
            if place >= 0 and s % 3 == 0:
                exact, compact = player.read(h, place)[1], folded.policy(h, s)
                assert np.abs(np.log(exact / compact)).max() <= bound
                seen += 1
    assert seen > 50


def test_mixing_is_never_folded_away(wide):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=3), 300, max_segments=2)
    assert wide.loss_profiles is not None
    most = 0
    for k, u in enumerate(uniforms(0, 120, wide.horizon)):
        play_episode(agent, wide, u)
        agent.finish(wide.loss_profiles[k % 2])
        most = max(most, agent.status().segments)
    assert most > 2 and agent.status().folded == 0.0


def test_the_bound_holds_where_two_actions_move_apart():
    """An unknown corner that the next epoch knows: the estimate of one action falls as that of the other rises."""
    learner = tr.PDPO(alpha=1.0, eta=0.0, theta=0.0, beta_b=0.0, beta_w=20.0, mixing_period=9, restart="warm")
    apart = np.array([[1.0, 0.0], [-1.0, 0.0]])
    agent = tr.Agent(learner, lambda s: apart, 1, 2, [1.0], episodes=20_000, dim=2, max_segments=2)
    player = agent._ready()
    player.begin()
    player.tables.new_segment(0.0, True)
    player.tables.segments.weights[0, 0, 0] = 3.0
    player.world.factor[0] *= 0.01
    player.tables.new_segment(0.0, True)
    player.factor_of, player.epochs = 1, 2
    before = player.log_policy(0, player.block(apart))
    player.learn(np.zeros((1, 2)), np.zeros((1, 2, player.tables.padded)), np.full((1, 2), 0.5), np.ones(1))
    after = player.log_policy(0, player.block(apart))
    moved = np.abs((after - np.logaddexp.reduce(after)) - (before - np.logaddexp.reduce(before))).max()
    assert 5.0 < moved <= player.folded == 6.0
