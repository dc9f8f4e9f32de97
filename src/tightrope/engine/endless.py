"""States that enter when first seen: what an episode teaches. Algorithm 1 on the tables of `endless_tiles`.

The learner needs values only where some episode has been (paper.tex, Algorithm 1, line 16), so each step h keeps a table of its
known states: features, log-policy, policy, contraction, bonus and, for each state, the next-state sum `F_h` of the features
that led to it. An update goes through the tiles once: estimates, improvement, and the tile's part of `F_h V`, which the step
before needs.

No result depends on the number of threads: they share out tiles, whose parts are added in the order of the tiles.
"""

from __future__ import annotations

import numba
import numpy as np

from tightrope.engine import compact
from tightrope.engine import policy as _policy
from tightrope.engine.dense import WIDTH, add_row, contract_tile, improve_tile, ridge_weights
from tightrope.engine.endless_tiles import add_sum, side_of, table_at
from tightrope.engine.episode import _ascend
from tightrope.engine.jit import compiled
from tightrope.engine.lanes import (
    MANY,
    REGISTER,
    half_one,
    half_two,
    multiply_one,
    multiply_two,
    narrow_one,
    narrow_two,
)
from tightrope.engine.memory import array_at

LANES = REGISTER // 8  # doubles in a register
WHOLE = MANY * LANES


@compiled(inner=True)
def _products(features, weights, q, n_actions, padded, side):
    """q = phi . weights, flat: features [A, WIDTH/side, D, side], weights [1 + m, D], q [1 + m, A, WIDTH].

    Two channels in one pass: it is reading the features that takes the time.
    """
    n_channels, step = weights.size // padded, n_actions * WIDTH
    for c in range(0, n_channels - 1, 2):
        for b in range(step // side):
            first, place = b * padded * side, c * step + b * side
            multiply_two(features, first, side, weights, c * padded, padded, q, place, step, padded)
    if n_channels % 2 == 1:
        c = n_channels - 1
        for b in range(step // side):
            first, place = b * padded * side, c * step + b * side
            multiply_one(features, first, side, weights, c * padded, padded, q, place, step, padded)


@compiled(inner=True)
def _lead_back(sums, v, parts, n, padded):
    """parts [1 + m, D] = v [1 + m, WIDTH] times the sums [n, D] of a tile's n states, flat."""
    n_channels = v.size // WIDTH
    for c in range(0, n_channels - 1, 2):
        j, row, place = 0, c * WIDTH, c * padded
        while j + WHOLE <= padded:
            multiply_two(sums, j, padded, v, row, WIDTH, parts, place + j, padded, n)
            j += WHOLE
        while j + LANES <= padded:
            narrow_two(sums, j, padded, v, row, WIDTH, parts, place + j, padded, n)
            j += LANES
        if j < padded:
            half_two(sums, j, padded, v, row, WIDTH, parts, place + j, padded, n)
    if n_channels % 2 == 1:
        j, row, place = 0, (n_channels - 1) * WIDTH, (n_channels - 1) * padded
        while j + WHOLE <= padded:
            multiply_one(sums, j, padded, v, row, WIDTH, parts, place + j, padded, n)
            j += WHOLE
        while j + LANES <= padded:
            narrow_one(sums, j, padded, v, row, WIDTH, parts, place + j, padded, n)
            j += LANES
        if j < padded:
            half_one(sums, j, padded, v, row, WIDTH, parts, place + j, padded, n)


@compiled(inner=True)
def _update_tile(world, h, tile, alpha, lift, theta, weights, flat, values, room):
    """Lines 18 to 26 for the states of a tile at step h, and its part of F_{h-1} V_h.

    weights [1 + m, D], flat, as the tables' kind of number; flat, values and room are scratch.
    """
    n_channels, n_actions, padded = world.weights.shape[1], world.room.shape[1], world.factor.shape[1]
    n = min(WIDTH, world.n_known[h] - tile * WIDTH)
    q, v = flat.reshape((n_channels, n_actions, WIDTH)), values.reshape((n_channels, WIDTH))
    features = array_at(world.tiles[h, tile], world.kind, (n_actions * padded * WIDTH,))
    logits = array_at(table_at(world, h, tile, 0), world.kind, (n_actions, WIDTH))
    policy = array_at(table_at(world, h, tile, 1), world.kind, (n_actions, WIDTH))
    contraction = array_at(table_at(world, h, tile, 2), world.kind, (n_actions, WIDTH))
    bonus = array_at(table_at(world, h, tile, 3), world.kind, (n_actions, WIDTH))
    _products(features, weights, flat, n_actions, padded, side_of(world))
    contract_tile(policy, contraction, bonus, lift, 0, n, q, v, 0)
    improve_tile(logits, policy, q, world.dual, alpha, theta, room, 0, n)
    if h == 0:
        return
    sums = array_at(table_at(world, h, tile, 4), world.parts, (WIDTH * padded,))
    _lead_back(sums, values, world.parts[tile].reshape(n_channels * padded), n, padded)


@compiled(inner=True, allocates=True)
def _update_tiles(world, h, first, end, settings, theta):
    """The tiles from first on, before end, with scratch of their own."""
    kind, n_channels = world.kind.dtype, world.weights.shape[1]
    weights = world.weights[h].reshape(n_channels * world.factor.shape[1]).astype(kind)
    flat, values = np.empty(n_channels * world.room.shape[1] * WIDTH, kind), np.zeros(n_channels * WIDTH)
    room, alpha = np.empty((2, WIDTH), kind), kind.type(settings.alpha)
    lift = kind.type(_policy.lift_of(settings, h, world.gram.shape[0]))
    for tile in range(first, end):
        _update_tile(world, h, tile, alpha, lift, theta, weights, flat, values, room)


@compiled(inner=True, parallel=True)
def _update_threads(world, h, n_tiles, settings, theta):
    n_shares = world.threads[0]
    for share in numba.prange(n_shares):
        _update_tiles(world, h, share * n_tiles // n_shares, (share + 1) * n_tiles // n_shares, settings, theta)


@compiled(inner=True, allocates=True)
def _estimate_weights(world, h, n_tiles, loss):
    """weights[h] = theta_hat + Lambda^{-1} F_h V_{h+1} (lines 13 to 17), from the parts that n_tiles of step h + 1 left."""
    dim = world.inverse.shape[1]
    total = np.empty(dim)
    for c in range(world.weights.shape[1]):
        for j in range(dim):
            total[j] = 0.0 if c == 0 else world.cost_sums[h, c - 1, j]
        for tile in range(n_tiles):
            for j in range(dim):
                total[j] += world.parts[tile, c, j]
        ridge_weights(world.inverse[h], total, world.weights[h, c])
    for j in range(dim):
        world.weights[h, 0, j] += loss[h, j]


@compiled(inner=True, allocates=True)
def _first_values(world, settings, blocks, policies, shares, estimates):
    """estimates = v_hat(s_1), the mean over first states with features [B, A, D], policies [B, A], shares [B]."""
    n_channels, n_actions, padded = world.weights.shape[1], blocks.shape[1], blocks.shape[2]
    norms, lift = np.empty(n_actions), _policy.lift_of(settings, 0, world.gram.shape[0])
    for c in range(n_channels):
        estimates[c] = 0.0
    for b in range(blocks.shape[0]):
        compact.norms_of(world.factor[0], blocks[b], norms)
        for a in range(n_actions):
            sigma = compact.contraction_of(settings, norms[a])
            for c in range(n_channels):
                product = 0.0
                for j in range(padded):
                    product += blocks[b, a, j] * world.weights[0, c, j]
                beta = settings.beta_b * (lift if c == 0 else 1.0)
                q = sigma * product - beta * sigma * norms[a]
                estimates[c] += shares[b] * policies[b, a] * q


@compiled(allocates=True)
def learn(world, segments, settings, budgets, loss, theta, blocks, policies, shares, estimates):
    """Lines 11 to 27 for what was played with the policy of now: loss [H, d], estimates [1+m] = v_hat(s_1).

    theta is the mixing weight of this episode, 0 when it does not mix; the last of the segments takes the step; the first
    states have features [B, A, D], policies [B, A] and shares [B] of the episodes.
    """
    n_tiles = 0
    for h in range(world.gram.shape[0] - 1, -1, -1):
        _estimate_weights(world, h, n_tiles, loss)
        compact.accumulate(segments, h, world.weights[h], world.dual, settings.alpha)
        compact.accumulate_bonus(segments, h, world.dual, settings, _policy.lift_of(settings, h, world.gram.shape[0]))
        if h == 0:
            _first_values(world, settings, blocks, policies, shares, estimates)
        n_tiles = (world.n_known[h] + WIDTH - 1) // WIDTH
        if world.threads[0]:
            _update_threads(world, h, n_tiles, settings, theta)
        else:
            _update_tiles(world, h, 0, n_tiles, settings, theta)
    _ascend(world, settings, budgets, estimates)


@compiled(allocates=True)
def absorb(world, rows, places, costs):
    """Line 12 for the steps that were played: rows [n, d] their features, places [n] of the states they led to, -1 for none."""
    move = np.empty(world.gram.shape[1])
    for h in range(rows.shape[0]):
        world.growth[h] *= add_row(world.gram[h], world.inverse[h], rows[h], move)
        for i in range(costs.shape[1]):
            for j in range(rows.shape[1]):
                world.cost_sums[h, i, j] += rows[h, j] * costs[h, i]
        if places[h] >= 0 and h + 1 < world.gram.shape[0]:
            add_sum(world, h + 1, places[h], rows[h])
