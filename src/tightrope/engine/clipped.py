"""Features stored whole, estimates clipped to [0, H]: what some rivals do, and Algorithm 1 does without.

A kind of world of its own, so that runs of Algorithm 1 need not wait until this is compiled. All but the update is that of
`dense`. Without threads.
"""

from __future__ import annotations

import numpy as np

from tightrope.engine import policy as _policy
from tightrope.engine.dense import WIDTH, DenseWorld, estimate_states, estimate_weights, improve_tile
from tightrope.engine.jit import compiled


class ClippedDenseWorld(DenseWorld):
    """The tables of `DenseWorld`, for kernels that clip."""

    __slots__ = ()


@compiled(inner=True)
def _settle(q, policy, high, first, n, v, place):
    """Clip q to [0, high], and average it with the policy."""
    for c in range(v.shape[0]):
        for w in range(n):
            v[c, place + w] = 0.0
        for a in range(q.shape[1]):
            for w in range(n):
                x = min(max(q[c, a, w], 0.0), high)
                q[c, a, w] = x
                v[c, place + w] += policy[a, first + w] * x


@compiled(inner=True, allocates=True)
def _update_clipped(world, state, settings, tile, h, theta):
    """Lines 18 to 26 for the states of a tile at step h; where the current estimates decide, v is of the new policy."""
    q, v = np.empty((world.weights.shape[0], world.features.shape[1], WIDTH)), world.v[h % 2]
    n, first = estimate_states(world, state, settings, tile, h, q)
    room, losses = np.empty((2, WIDTH)), np.empty((world.features.shape[1], WIDTH))  # `improve_tile` adds costs to q[0]
    for turn in range(1 + settings.current):
        _settle(q, state.policy, settings.q_high, first, n, v, tile * WIDTH)
        if turn == 0:
            for a in range(q.shape[1]):
                for w in range(n):
                    losses[a, w] = q[0, a, w]
            if settings.current:
                _policy.forget(state.logits, first, first + n)
            improve_tile(state.logits, state.policy, q, state.dual, settings.alpha, theta, room, first, n)
            for a in range(q.shape[1]):
                for w in range(n):
                    q[0, a, w] = losses[a, w]


@compiled(inner=True)
def update(world, state, loss, settings, theta):
    """See `axis.update`."""
    horizon = world.gram.shape[0]
    world.v[horizon % 2] = 0.0
    for h in range(horizon - 1, -1, -1):
        estimate_weights(world, h, (h + 1) % 2, loss)
        for tile in range(world.features.shape[0]):
            _update_clipped(world, state, settings, tile, h, theta)
