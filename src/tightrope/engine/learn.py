"""How does Algorithm 1 learn from episodes that somebody else played? The second half of `episode.run_episodes`."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from tightrope.engine import operations as op
from tightrope.engine.axis import AxisWorld
from tightrope.engine.episode import _absorb, _ascend, _new_episode, _theta, book
from tightrope.engine.jit import OPTIONS, compiled


def _place(world, h, s, a, arrived):
    """Where the transition stands in the tables, as `sample` would have told; -2 when the problem says it cannot happen."""


@overload(_place, jit_options=OPTIONS)  # pyright: ignore[reportArgumentType]
def _place_in(world, h, s, a, arrived):
    if isinstance(world, types.NamedTuple) and world.instance_class is AxisWorld:

        def search(world, h, s, a, arrived):
            j = world.index[a, s]
            for p in range(world.row_start[h, j], world.row_start[h, j + 1]):
                if world.successor[p] == arrived:
                    return int(p)
            return -2

        return search
    return lambda world, h, s, a, arrived: -1


@compiled(allocates=True)
def learn_batch(world, state, settings, budgets, loss, states, actions, costs):
    """Lines 12 to 27 for B episodes played with state.policy, which count as one: one update, then all enter the tables.

    loss [H, d], states [B, H+1], all from one first state, actions [B, H], costs [B, H, m].
    Returns the first episode and step, as b*H + h, whose transition cannot happen, having learnt nothing; else -1.
    """
    n, horizon, m = costs.shape
    episode = _new_episode(horizon, m)
    mean = np.zeros((horizon, m))
    for b in range(n):
        for h in range(horizon):
            if _place(world, h, states[b, h], actions[b, h], states[b, h + 1]) == -2:
                return b * horizon + h
            for i in range(m):
                mean[h, i] += costs[b, h, i] / n
    done = state.counters[0]
    for turn in range(2):
        if turn == settings.ahead:
            op.update(world, state, loss, settings, _theta(state, settings))
            continue
        op.first_values(world, states[0, 0], state.estimates)
        book(state.ledger, budgets, mean)
        _ascend(state, settings, budgets, state.estimates)
        for b in range(n):
            for h in range(horizon):
                episode.places[h] = _place(world, h, states[b, h], actions[b, h], states[b, h + 1])
            episode.states[:] = states[b]
            episode.actions[:] = actions[b]
            episode.costs[:, :] = costs[b]
            _absorb(world, state, settings, episode)
    state.counters[0] = done + 1
    return -1
