"""Features stored whole, while a policy plays: where it leads, in the mean and by chance."""

from __future__ import annotations

import numba
import numpy as np

from tightrope.engine.dense import WIDTH, row_of
from tightrope.engine.jit import compiled


@compiled(inner=True, allocates=True)
def _occupy_tile(world, tile, h, policy, occupancy):
    """The tile's part of mu_h, and its occupancy."""
    features, visits, parts = world.features, world.visits, world.parts
    n_states = world.place_of.shape[1]
    base, begin = tile * WIDTH, h * n_states + tile * WIDTH
    n = min(WIDTH, n_states - base)
    here = 0.0
    for w in range(n):
        here += visits[h % 2, base + w]
    for j in range(features.shape[2]):
        parts[tile, j] = 0.0
    if here == 0.0:
        return
    amount = np.empty(WIDTH)
    for a in range(features.shape[1]):
        for w in range(n):
            amount[w] = visits[h % 2, base + w] * policy[a, begin + w]
            occupancy[a, begin + w] += amount[w]
        for j in range(features.shape[2]):
            total = 0.0
            for w in range(n):
                total += features[tile, a, j, w] * amount[w]
            parts[tile, j] += total


@compiled(inner=True, parallel=True)
def _occupy_threads(world, h, policy, occupancy):
    for tile in numba.prange(world.features.shape[0]):
        _occupy_tile(world, np.int64(tile), h, policy, occupancy)


@compiled(inner=True)
def occupy(world, start, policy, occupancy, mu):
    """Follow a policy exactly: mu [H*d] = E[phi(s_h, a_h)], and its occupancy is added to occupancy [A, H*S]."""
    horizon, dim, _ = world.measure.shape
    n_states = start.shape[0]
    for s in range(n_states):
        world.visits[0, s] = start[s]
    for h in range(horizon):
        if world.threads[0]:
            _occupy_threads(world, h, policy, occupancy)
        else:
            for tile in range(world.features.shape[0]):
                _occupy_tile(world, tile, h, policy, occupancy)
        for j in range(dim):
            total = 0.0
            for tile in range(world.parts.shape[0]):
                total += world.parts[tile, j]
            mu[h * dim + j] = total
        if h == horizon - 1:
            break
        for s in range(n_states):
            world.visits[(h + 1) % 2, s] = 0.0
        for j in range(dim):
            x = mu[h * dim + j]
            for s in range(n_states):
                world.visits[(h + 1) % 2, s] += x * world.measure[h, j, s]


@compiled(inner=True)
def dot_feature(world, weights, h, s, a):
    """phi(s, a) . w_h for weights [H, d]."""
    total = 0.0
    for j in range(weights.shape[1]):
        total += world.features[s // WIDTH, a, j, s % WIDTH] * weights[h, j]
    return total


@compiled(inner=True, allocates=True)
def sample(world, h, s, a, u):
    """The next state by the inverse of the distribution function, states in ascending order; its place is not known yet."""
    dim, n_states = world.measure.shape[1:]
    row, chances = np.empty(dim), np.zeros(WIDTH)
    row_of(world, s, a, row)
    reached, block, n_blocks = 0.0, 0, world.block_measure.shape[1]
    for b in range(n_blocks):
        mass = 0.0
        for j in range(dim):
            mass += row[j] * world.block_measure[h, b, j]
        if u < reached + mass or b == n_blocks - 1:
            block = b
            break
        reached += mass
    first = block * WIDTH
    n = min(WIDTH, n_states - first)
    for j in range(dim):
        for w in range(n):
            chances[w] += row[j] * world.measure[h, j, first + w]
    last = 0
    for w in range(n):
        if chances[w] > 0.0:
            last = w
            reached += chances[w]
            if u < reached:
                break
    return first + last, -1
