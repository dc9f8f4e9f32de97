"""Features with one non-zero: `phi(s, a) = value * e_j`. Everything is diagonal, so each operation is a gather.

The transition measures are rows of a CSR table, one table a step; the next-state sums `F_h[j, s']` (paper.tex, Algorithm 1,
line 17: the sum of the features that led to s') have the same pattern, since a feature can only lead where its measure goes.

These loops are short and run millions of times, so they take arrays whole and index them: a slice would cost more than the
loop over it. Indices are unsigned, which spares Numba the test for negative ones and lets LLVM use vector registers. Value
channels go in pairs (the loss and the first cost, then two costs each; a missing one is all zeros), side by side in memory,
so that both take one gather.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tightrope.engine import policy as _policy
from tightrope.engine.axis_current import step_current
from tightrope.engine.jit import AS_WRITTEN, compiled


class AxisWorld(NamedTuple):
    """What the kernels read of the problem, and what they have learnt of it.

    Coordinates have an order of the engine's own, `order`: where no two pairs (s, a) share one, the coordinate of the pair is
    `a*S + s`, so that loops over states walk through memory. Weights that come in are put into this order (`tables.inward`).
    C is the number of pairs of channels, `1 + m` over two, rounded up.
    """

    index: np.ndarray  # [A, S] the coordinate j of phi(s, a)
    value: np.ndarray  # [A, S]
    order: np.ndarray  # [d] the problem's coordinate that stands at each place of the engine's
    pair_start: np.ndarray  # [d + 1] where the pairs of each coordinate begin in `pairs`
    pairs: np.ndarray  # [A*S, 2] the pairs (a, s), coordinate by coordinate
    row_start: np.ndarray  # [H, d + 1] absolute positions of the CSR rows
    successor: np.ndarray  # [nnz]
    measure: np.ndarray  # [nnz] psi_h[j, s']
    column_start: np.ndarray  # [H, S + 1] the same entries by s': absolute positions of the columns
    source: np.ndarray  # [nnz] the coordinate j of each entry, column by column
    column_measure: np.ndarray  # [nnz] psi_h[j, s'], column by column
    gram: np.ndarray  # [H, d] the diagonal of Lambda
    inverse: np.ndarray  # [H, d] of its inverse
    sums: np.ndarray  # [nnz] F_h[j, s'], row by row
    cost_sums: np.ndarray  # [C, H, d, 2] sums of the features times the costs; 0 for the loss
    gain: np.ndarray  # [A, H*S] room for q_f + sum_i Y_i q_g_i
    q: np.ndarray  # [C, A, S, 2] room for the estimates of one step, where they alone decide
    v: np.ndarray  # [2, C, S, 2] room for the values of two steps
    weights: np.ndarray  # [C, d, 2] room
    price: np.ndarray  # [C, 2] room for what each channel counts in `gain`: 1, Y_1, .., Y_m
    visits: np.ndarray  # [2, S] room for the occupancy of two steps


CHANGING = ("gram", "inverse", "sums", "cost_sums")  # the arrays that learning writes to
_LOSS, _COST = np.uint64(0), np.uint64(1)  # the two places of a pair of channels
_ACTION, _STATE = np.uint64(0), np.uint64(1)  # and of a pair in `pairs`


@compiled(inner=True, forceinline=True, fastmath=AS_WRITTEN)
def _weigh(world, h, c, after, loss):
    """weights[c] = theta_hat_c + Lambda^{-1} sum_tau phi V_c(s') (lines 13 to 17), with the values v[after]; c a pair."""
    row_start, successor, sums, v, weights = world.row_start, world.successor, world.sums, world.v, world.weights
    inverse, cost_sums = world.inverse, world.cost_sums
    known = 1.0 if c == 0 else 0.0
    end = row_start[h, 0]
    for j in range(np.uint64(weights.shape[1])):
        first, end = end, row_start[h, j + np.uint64(1)]
        one, two = cost_sums[c, h, j, _LOSS], cost_sums[c, h, j, _COST]
        for p in range(first, end):
            x, s = sums[p], successor[p]
            one += x * v[after, c, s, _LOSS]
            two += x * v[after, c, s, _COST]
        x = inverse[h, j]
        weights[c, j, _LOSS] = x * one + known * loss[h, j]
        weights[c, j, _COST] = x * two


@compiled(inner=True, forceinline=True, fastmath=AS_WRITTEN)
def _estimate(world, h, c, now, state, lift, low, high):
    """Lines 18 and 19 for one step and a pair of channels: their part of gain in the columns of step h, and v[now].

    `lift` times the bonus for the first of the pair; Q clipped to [low, high], which Algorithm 1 does without.
    """
    index, value, weights, gain, v = world.index, world.value, world.weights, world.gain, world.v
    policy, contraction, bonus = state.policy, state.contraction, state.bonus
    price_one, price_two = world.price[c, _LOSS], world.price[c, _COST]
    n_actions, n_states = np.uint64(index.shape[0]), np.uint64(index.shape[1])
    base = h * n_states
    for a in range(n_actions):
        for s in range(n_states):
            i, j = base + s, index[a, s]
            scale, chance = contraction[a, i] * value[a, s], policy[a, i]
            x, y = scale * weights[c, j, _LOSS] - lift * bonus[a, i], scale * weights[c, j, _COST] - bonus[a, i]
            x, y = min(max(x, low), high), min(max(y, low), high)
            total = price_one * x + price_two * y
            gain[a, i] = gain[a, i] + total if c > 0 else total
            v[now, c, s, _LOSS] = v[now, c, s, _LOSS] + chance * x if a > 0 else chance * x
            v[now, c, s, _COST] = v[now, c, s, _COST] + chance * y if a > 0 else chance * y


@compiled(inner=True)
def update(world, state, loss, settings, theta):
    """Lines 13 to 26 for all steps: values in v, then mixing (theta > 0) and the multiplicative step."""
    horizon, columns = world.gram.shape[0], state.logits.shape[1]
    price, v = world.price, world.v
    price[0, 0] = 1.0
    for i in range(1, state.dual.shape[0] + 1):
        price[i // 2, i % 2] = state.dual[i - 1]
    last = horizon % 2
    for c in range(v.shape[1]):
        for s in range(v.shape[2]):
            v[last, c, s, 0] = 0.0
            v[last, c, s, 1] = 0.0
    for back in range(horizon):
        h = np.uint64(horizon - 1 - back)
        now = h & np.uint64(1)
        for c in range(np.uint64(v.shape[1])):
            _weigh(world, h, c, np.uint64(1) - now, loss)
            if not settings.current:
                lift = settings.optimism if c == 0 and back > 0 else 1.0
                _estimate(world, h, c, now, state, lift, settings.q_low, settings.q_high)
        if settings.current:
            step_current(world, h, now, state, settings)
    if settings.current:
        return
    if theta > 0.0:
        _policy.mix(state.logits, state.policy, theta, 0, columns)
    _policy.improve(state.logits, state.policy, world.gain, 0, settings.alpha, state.room, 0, columns)


@compiled(inner=True)
def first_values(world, s, estimates):
    """estimates [1+m] = v_hat at the first state."""
    for i in range(estimates.shape[0]):
        estimates[i] = world.v[0, i // 2, s, i % 2]


@compiled(inner=True, forceinline=True, fastmath=AS_WRITTEN)
def _meet(world, h, now, policy, occupancy, mu):
    """Add a step's occupancy, and mu_h = E[phi(s_h, a_h)], from the chances visits[now] of its states."""
    index, value, visits = world.index, world.value, world.visits
    n_actions, n_states, dim = np.uint64(index.shape[0]), np.uint64(index.shape[1]), np.uint64(world.gram.shape[1])
    first, base = h * dim, h * n_states
    for j in range(dim):
        mu[first + j] = 0.0
    for a in range(n_actions):
        for s in range(n_states):
            x = visits[now, s] * policy[a, base + s]
            occupancy[a, base + s] += x
            mu[first + index[a, s]] += x * value[a, s]


@compiled(inner=True, forceinline=True, fastmath=AS_WRITTEN)
def _advance(world, h, after, mu):
    """The chances visits[after] of the next states, from mu_h."""
    column_start, source, column_measure, visits = world.column_start, world.source, world.column_measure, world.visits
    base, end = h * np.uint64(world.gram.shape[1]), column_start[h, 0]
    for s in range(np.uint64(visits.shape[1])):
        first, end = end, column_start[h, s + np.uint64(1)]
        total = 0.0
        for p in range(first, end):
            total += mu[base + source[p]] * column_measure[p]
        visits[after, s] = total


@compiled(inner=True)
def occupy(world, start, policy, occupancy, mu):
    """Follow a policy exactly: mu [H*d] = E[phi(s_h, a_h)], and its occupancy is added to occupancy [A, H*S]."""
    for s in range(start.shape[0]):
        world.visits[0, s] = start[s]
    horizon = np.uint64(world.gram.shape[0])
    for h in range(horizon):
        now = h & np.uint64(1)
        _meet(world, h, now, policy, occupancy, mu)
        if h + np.uint64(1) < horizon:
            _advance(world, h, np.uint64(1) - now, mu)


@compiled(inner=True)
def dot_feature(world, weights, h, s, a):
    """phi(s, a) . w_h for weights [H, d]."""
    return world.value[a, s] * weights[h, world.index[a, s]]


@compiled(inner=True)
def sample(world, h, s, a, u):
    """The next state by the inverse of the distribution function, states in ascending order; and its place in the tables."""
    j = world.index[a, s]
    first, end = world.row_start[h, j], world.row_start[h, j + 1]
    reached = 0.0
    for p in range(first, end):
        reached += world.value[a, s] * world.measure[p]
        if u < reached:
            return world.successor[p], p
    return world.successor[end - 1], end - 1


@compiled(inner=True)
def absorb(world, h, s, a, arrived, place, costs):
    """Add one transition, whose place `sample` told, to gram and sums (line 12); return the growth of the determinant."""
    j, x = world.index[a, s], world.value[a, s]
    growth = 1.0 + x * x * world.inverse[h, j]
    world.gram[h, j] += x * x
    world.inverse[h, j] = 1.0 / world.gram[h, j]
    world.sums[place] += x
    for i in range(1, costs.shape[1] + 1):
        world.cost_sums[i // 2, h, j, i % 2] += x * costs[h, i - 1]
    return growth


@compiled(inner=True)
def refresh(world, h, s, a, beta_b, bonus):
    """Once (h, s, a) has entered gram: the bonuses that it changes, those of the pairs on its coordinate, not contracted."""
    j = world.index[a, s]
    n_states = np.uint64(world.index.shape[1])
    norm = beta_b * np.sqrt(world.inverse[h, j])
    for p in range(world.pair_start[j], world.pair_start[j + np.uint64(1)]):
        b, t = world.pairs[p, _ACTION], world.pairs[p, _STATE]
        bonus[b, np.uint64(h) * n_states + t] = norm * abs(world.value[b, t])


@compiled(inner=True)
def begin_epoch(world, beta_b, beta_w, offset, contraction, bonus, room):
    """Line 6: contraction and bonus [A, H*S] from |phi|_{Lambda^{-1}} with the gram of now."""
    n_actions, n_states = world.index.shape
    for a in range(n_actions):
        for h in range(world.gram.shape[0]):
            for s in range(n_states):
                norm = abs(world.value[a, s]) * np.sqrt(world.inverse[h, world.index[a, s]])
                bonus[a, h * n_states + s] = norm
    _policy.contract(beta_b, beta_w, offset, contraction, bonus, room, 0, contraction.shape[1])
