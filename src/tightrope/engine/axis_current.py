"""Features with one non-zero, for learners whose policy comes from the current estimates alone, step by step from the last.

A step goes in three: estimates; the policy that they make; values of that policy. It is apart from the step of Algorithm 1, so
that neither carries the other's work. See `axis` for how these loops are written.
"""

from __future__ import annotations

import numpy as np

from tightrope.engine import policy as _policy
from tightrope.engine.jit import AS_WRITTEN, compiled

_LOSS, _COST = np.uint64(0), np.uint64(1)  # the two places of a pair of channels


@compiled(inner=True, forceinline=True, fastmath=AS_WRITTEN)
def step_current(world, h, now, state, settings):
    """Lines 18 to 26 for one step, from the weights: q clipped, gain and the policy in the columns of the step, and v[now]."""
    index, value, weights, gain, q, v = world.index, world.value, world.weights, world.gain, world.q, world.v
    policy, contraction, bonus = state.policy, state.contraction, state.bonus
    low, high, price = settings.q_low, settings.q_high, world.price
    n_channels, n_actions, n_states = np.uint64(q.shape[0]), np.uint64(index.shape[0]), np.uint64(index.shape[1])
    base = h * n_states
    for c in range(n_channels):
        for a in range(n_actions):
            for s in range(n_states):
                i, j = base + s, index[a, s]
                scale = contraction[a, i] * value[a, s]
                x, y = scale * weights[c, j, _LOSS] - bonus[a, i], scale * weights[c, j, _COST] - bonus[a, i]
                x, y = min(max(x, low), high), min(max(y, low), high)
                q[c, a, s, _LOSS], q[c, a, s, _COST] = x, y
                total = price[c, _LOSS] * x + price[c, _COST] * y
                gain[a, i] = gain[a, i] + total if c > 0 else total
    _policy.renew(state.logits, policy, gain, settings.alpha, state.room, base, base + n_states)
    for c in range(n_channels):
        for a in range(n_actions):
            for s in range(n_states):
                x, y = policy[a, base + s] * q[c, a, s, _LOSS], policy[a, base + s] * q[c, a, s, _COST]
                v[now, c, s, _LOSS] = v[now, c, s, _LOSS] + x if a > 0 else x
                v[now, c, s, _COST] = v[now, c, s, _COST] + y if a > 0 else y
