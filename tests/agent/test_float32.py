"""Tables in float32 take half the room and give the same policies but for rounding."""

from __future__ import annotations

import numpy as np

import tightrope as tr

from .conftest import SETTINGS, make_agent, play_episode, uniforms


def test_policies_in_float32_are_those_in_float64_over_an_epoch(wide):
    """The same recorded episodes for both; the second agent is told what was done. Many known states, one long epoch."""
    learner = tr.PDPO(**SETTINGS | {"alpha": 0.05}, mixing_period=50, restart="warm")
    full, half = make_agent(wide, learner, 600), make_agent(wide, learner, 600, dtype="float32")
    profiles = np.asarray(wide.loss_profiles)
    apart, moved = 0.0, 0.0
    for k, u in enumerate(uniforms(0, 300, wide.horizon)):
        states, actions = play_episode(full, wide, u)
        assert full.current is not None
        costs = list(full.current.costs)
        half.begin(states[0])
        for h, a in enumerate(actions):
            half.observe(costs[h], states[h + 1], action=a)
        for h in range(wide.horizon):
            assert full.current is not None and half.current is not None
            one, other = full.current.policies[h], half.current.policies[h]
            apart, moved = max(apart, np.abs(one - other).max()), max(moved, np.ptp(one))
        full.finish(profiles[k % 2])
        half.finish(profiles[k % 2])
    assert apart <= 1e-4 and moved > 0.2
    assert half.status().table_bytes < 0.75 * full.status().table_bytes
    assert np.array_equal(full.status().known_states, half.status().known_states)


def test_sums_and_gram_matrices_stay_doubles(wide):
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=5), 10, dtype="float32")
    agent.begin(0)
    player = agent._player
    assert player is not None
    assert player.world.kind.dtype == np.float32
    assert {player.world.gram.dtype, player.world.parts.dtype, player.world.weights.dtype} == {np.dtype(np.float64)}
