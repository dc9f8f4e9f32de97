"""Features stored whole: the tables, and what an episode learns. Every operation is a pass over the features, on threads.

What keeps it fast. Features lie in tiles of `WIDTH` states, `features[tile, a, j, w]`, so that inner loops run over states
side by side and need no sum across a register; four coordinates are taken at a time. Next-state sums are kept only for
states that some step has reached. Estimates, mixing and the multiplicative step of a tile are done in one visit.

No result depends on how many threads there are: threads share out tiles, and sums over tiles are added in the order of the
tiles. Coordinates are padded with zeros to a multiple of four, states to whole tiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from tightrope.engine import policy as _policy
from tightrope.engine.jit import compiled

WIDTH = 64  # states in a tile
STEP = 4  # coordinates taken at a time


class DenseWorld(NamedTuple):
    """What the kernels read of the problem, and what they have learnt of it; D is d padded to a multiple of STEP."""

    features: np.ndarray  # [T, A, D, WIDTH] phi_j of the states of each tile
    measure: np.ndarray  # [H, d, S] psi_h
    block_measure: np.ndarray  # [H, T, d] sums of psi_h over the states of each tile, for the sampler
    gram: np.ndarray  # [H, d, d] Lambda
    inverse: np.ndarray  # [H, d, d] its inverse
    sums: np.ndarray  # [H, N, d] F_h: sum of the features that led to the n-th state reached after step h
    reached: np.ndarray  # [H, N] which state that is
    place_of: np.ndarray  # [H, S] where a state is in `reached`, -1 when it has not been reached
    n_reached: np.ndarray  # [H]
    cost_sums: np.ndarray  # [H, m, d]
    factor: np.ndarray  # [H, D, D] room for the inverse Cholesky factors
    v: np.ndarray  # [2, 1 + m, T*WIDTH] room for the values of two steps
    weights: np.ndarray  # [1 + m, D] room, zero beyond d
    move: np.ndarray  # [1, D] room, zero beyond d
    visits: np.ndarray  # [2, T*WIDTH] room for the occupancy of two steps
    parts: np.ndarray  # [T, D] room for a sum over tiles
    threads: np.ndarray  # [1] how many threads to use; 0: none but the caller's


CHANGING = ("gram", "inverse", "sums", "reached", "place_of", "n_reached", "cost_sums")  # what learning writes to


@compiled(inner=True, allocates=True)
def estimate_weights(world, h, after, loss):
    """weights[c] = theta_hat_c + Lambda^{-1} sum_tau phi V_c(s') (lines 13 to 17), with the values v[after]."""
    dim = world.inverse.shape[1]
    total = np.empty(dim)
    for c in range(world.weights.shape[0]):
        for j in range(dim):
            total[j] = 0.0 if c == 0 else world.cost_sums[h, c - 1, j]
        for n in range(world.n_reached[h]):
            value = world.v[after, c, world.reached[h, n]]
            for j in range(dim):
                total[j] += world.sums[h, n, j] * value
        ridge_weights(world.inverse[h], total, world.weights[c])
    for j in range(dim):
        world.weights[0, j] += loss[h, j]


@compiled(inner=True)
def ridge_weights(inverse, total, weights):
    """weights = Lambda^{-1} total: the fit to a sum of features times what followed them."""
    for i in range(inverse.shape[0]):
        product = 0.0
        for j in range(inverse.shape[0]):
            product += inverse[i, j] * total[j]
        weights[i] = product


@compiled(inner=True)
def products(features, tile, a, weights, c, out, n):
    """out[c, a, :n] = phi(., a) . weights[c] for the states of a tile."""
    for w in range(n):
        out[c, a, w] = 0.0
    for j in range(0, weights.shape[1], STEP):
        x0, x1, x2, x3 = weights[c, j], weights[c, j + 1], weights[c, j + 2], weights[c, j + 3]
        for w in range(n):
            near = x0 * features[tile, a, j, w] + x1 * features[tile, a, j + 1, w]
            far = x2 * features[tile, a, j + 2, w] + x3 * features[tile, a, j + 3, w]
            out[c, a, w] += near + far


@compiled(inner=True)
def _two_products(features, tile, a, weights, c, out, n):
    """The same for the channels c and c + 1 in one pass: it is reading the features that takes the time."""
    for w in range(n):
        out[c, a, w] = 0.0
        out[c + 1, a, w] = 0.0
    for j in range(0, weights.shape[1], STEP):
        x0, x1, x2, x3 = weights[c, j], weights[c, j + 1], weights[c, j + 2], weights[c, j + 3]
        y0, y1, y2, y3 = weights[c + 1, j], weights[c + 1, j + 1], weights[c + 1, j + 2], weights[c + 1, j + 3]
        for w in range(n):
            f0, f1 = features[tile, a, j, w], features[tile, a, j + 1, w]
            f2, f3 = features[tile, a, j + 2, w], features[tile, a, j + 3, w]
            out[c, a, w] += (x0 * f0 + x1 * f1) + (x2 * f2 + x3 * f3)
            out[c + 1, a, w] += (y0 * f0 + y1 * f1) + (y2 * f2 + y3 * f3)


@compiled(inner=True)
def _combine(q, dual, n):
    """q[0] += sum_i Y_i q[i]: what the multiplicative step goes by (line 26)."""
    for i in range(dual.shape[0]):
        if dual[i] != 0.0:
            for a in range(q.shape[1]):
                for w in range(n):
                    q[0, a, w] += dual[i] * q[i + 1, a, w]


@compiled(inner=True)
def estimate_tile(features, tile, weights, policy, contraction, bonus, lift, first, n, q, v, place):
    """Lines 18 and 19 for a tile: q [1 + m, A, WIDTH], v [1 + m, .] from `place` on; tables from column `first`."""
    n_channels, n_actions = q.shape[0], q.shape[1]
    for a in range(n_actions):
        for c in range(0, n_channels - 1, 2):
            _two_products(features, tile, a, weights, c, q, n)
        if n_channels % 2 == 1:
            products(features, tile, a, weights, n_channels - 1, q, n)
    contract_tile(policy, contraction, bonus, lift, first, n, q, v, place)


@compiled(inner=True)
def contract_tile(policy, contraction, bonus, lift, first, n, q, v, place):
    """From products in q to the estimates, and v from `place` on; `lift` times the bonus for the losses."""
    for c in range(q.shape[0]):
        scale = lift if c == 0 else q.dtype.type(1.0)
        for w in range(n):
            v[c, place + w] = 0.0
        for a in range(q.shape[1]):
            for w in range(n):
                x = contraction[a, first + w] * q[c, a, w] - scale * bonus[a, first + w]
                q[c, a, w] = x
                v[c, place + w] += policy[a, first + w] * x


@compiled(inner=True)
def improve_tile(logits, policy, q, dual, alpha, theta, room, first, n):
    """Lines 20 to 26 for a tile, from its q [1 + m, A, WIDTH]; room [2, WIDTH]."""
    if theta > 0.0:
        _policy.mix(logits, policy, theta, first, first + n)
    _combine(q, dual, n)
    _policy.improve(logits, policy, q[0], first, alpha, room, first, first + n)


@compiled(inner=True)
def estimate_states(world, state, settings, tile, h, q):
    """`estimate_tile` for the states of a tile at step h; how many they are, and the column of the first."""
    n_states = world.place_of.shape[1]
    n, first = min(WIDTH, n_states - tile * WIDTH), h * n_states + tile * WIDTH
    contraction, bonus, v = state.contraction, state.bonus, world.v[h % 2]
    lift, weights, place = _policy.lift_of(settings, h, world.gram.shape[0]), world.weights, tile * WIDTH
    estimate_tile(world.features, tile, weights, state.policy, contraction, bonus, lift, first, n, q, v, place)
    return n, first


@compiled(inner=True, allocates=True)
def _update_tile(world, state, settings, tile, h, theta):
    """Lines 18 to 26 for the states of a tile at step h."""
    q = np.empty((world.weights.shape[0], world.features.shape[1], WIDTH))
    n, first = estimate_states(world, state, settings, tile, h, q)
    improve_tile(state.logits, state.policy, q, state.dual, settings.alpha, theta, np.empty((2, WIDTH)), first, n)


@compiled(inner=True, parallel=True)
def _update_threads(world, state, settings, h, theta):
    for tile in numba.prange(world.features.shape[0]):
        _update_tile(world, state, settings, np.int64(tile), h, theta)


@compiled(inner=True)
def update(world, state, loss, settings, theta):
    """Lines 13 to 26 for all steps: values in v, then mixing (theta > 0) and the multiplicative step."""
    horizon = world.gram.shape[0]
    world.v[horizon % 2] = 0.0
    for h in range(horizon - 1, -1, -1):
        estimate_weights(world, h, (h + 1) % 2, loss)
        if world.threads[0]:
            _update_threads(world, state, settings, h, theta)
        else:
            for tile in range(world.features.shape[0]):
                _update_tile(world, state, settings, tile, h, theta)


@compiled(inner=True)
def first_values(world, s, estimates):
    """estimates [1+m] = v_hat at the first state."""
    for c in range(estimates.shape[0]):
        estimates[c] = world.v[0, c, s]


@compiled(inner=True)
def row_of(world, s, a, row):
    """row = phi(s, a)."""
    for j in range(row.shape[0]):
        row[j] = world.features[s // WIDTH, a, j, s % WIDTH]


@compiled(inner=True)
def add_row(gram, inverse, row, move):
    """gram += row row^T, its inverse by Sherman-Morrison; returns the growth of the determinant; move [d] is room."""
    dim, growth = gram.shape[0], 1.0
    for i in range(dim):
        product = 0.0
        for j in range(dim):
            product += inverse[i, j] * row[j]
        move[i] = product
        growth += product * row[i]
    scale = 1.0 / growth
    for i in range(dim):
        for j in range(dim):
            inverse[i, j] -= scale * move[i] * move[j]
            gram[i, j] += row[i] * row[j]
    return growth


@compiled(inner=True, allocates=True)
def absorb(world, h, s, a, arrived, place, costs):
    """Add one transition to the state `arrived` to gram and sums (line 12); return the growth of the determinant."""
    dim = world.gram.shape[1]
    row, move = np.empty(dim), np.empty(dim)
    row_of(world, s, a, row)
    growth = add_row(world.gram[h], world.inverse[h], row, move)
    if world.place_of[h, arrived] < 0:
        world.place_of[h, arrived] = world.n_reached[h]
        world.reached[h, world.n_reached[h]] = arrived
        world.n_reached[h] += 1
    n = world.place_of[h, arrived]
    for j in range(dim):
        world.sums[h, n, j] += row[j]
        for i in range(costs.shape[1]):
            world.cost_sums[h, i, j] += row[j] * costs[h, i]
    return growth
