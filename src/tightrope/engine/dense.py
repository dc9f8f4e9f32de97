"""Features stored whole. Every operation is a pass over the features, split over threads when there are many.

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
        for i in range(dim):
            product = 0.0
            for j in range(dim):
                product += world.inverse[h, i, j] * total[j]
            world.weights[c, i] = product + loss[h, i] if c == 0 else product


@compiled(inner=True)
def _products(features, tile, a, weights, c, out, n):
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
def estimate_tile(features, tile, weights, policy, contraction, bonus, first, n, q, v, place):
    """Lines 18 and 19 for a tile: q [1 + m, A, WIDTH], v [1 + m, .] from `place` on; tables from column `first`."""
    n_channels, n_actions = q.shape[0], q.shape[1]
    for a in range(n_actions):
        for c in range(0, n_channels - 1, 2):
            _two_products(features, tile, a, weights, c, q, n)
        if n_channels % 2 == 1:
            _products(features, tile, a, weights, n_channels - 1, q, n)
    contract_tile(policy, contraction, bonus, first, n, q, v, place)


@compiled(inner=True)
def contract_tile(policy, contraction, bonus, first, n, q, v, place):
    """From products in q to the estimates, and v from `place` on."""
    for c in range(q.shape[0]):
        for w in range(n):
            v[c, place + w] = 0.0
        for a in range(q.shape[1]):
            for w in range(n):
                x = contraction[a, first + w] * q[c, a, w] - bonus[a, first + w]
                q[c, a, w] = x
                v[c, place + w] += policy[a, first + w] * x


@compiled(inner=True)
def improve_tile(logits, policy, q, dual, alpha, theta, room, first, n):
    """Lines 20 to 26 for a tile, from its q [1 + m, A, WIDTH]; room [2, WIDTH]."""
    if theta > 0.0:
        _policy.mix(logits, policy, theta, first, first + n)
    _combine(q, dual, n)
    _policy.improve(logits, policy, q[0], first, alpha, room, first, first + n)


@compiled(inner=True, allocates=True)
def _update_tile(world, state, tile, h, alpha, theta):
    """Lines 18 to 26 for the states of a tile at step h."""
    n_states = world.place_of.shape[1]
    n = min(WIDTH, n_states - tile * WIDTH)
    first = h * n_states + tile * WIDTH
    q = np.empty((world.weights.shape[0], world.features.shape[1], WIDTH))
    contraction, bonus, v = state.contraction, state.bonus, world.v[h % 2]
    estimate_tile(world.features, tile, world.weights, state.policy, contraction, bonus, first, n, q, v, tile * WIDTH)
    improve_tile(state.logits, state.policy, q, state.dual, alpha, theta, np.empty((2, WIDTH)), first, n)


@compiled(inner=True, parallel=True)
def _update_threads(world, state, h, alpha, theta):
    for tile in numba.prange(world.features.shape[0]):
        _update_tile(world, state, np.int64(tile), h, alpha, theta)


@compiled(inner=True)
def update(world, state, loss, settings, theta):
    """Lines 13 to 26 for all steps: values in v, then mixing (theta > 0) and the multiplicative step."""
    horizon = world.gram.shape[0]
    world.v[horizon % 2] = 0.0
    for h in range(horizon - 1, -1, -1):
        estimate_weights(world, h, (h + 1) % 2, loss)
        if world.threads[0]:
            _update_threads(world, state, h, settings.alpha, theta)
        else:
            for tile in range(world.features.shape[0]):
                _update_tile(world, state, tile, h, settings.alpha, theta)


@compiled(inner=True)
def first_values(world, s, estimates):
    """estimates [1+m] = v_hat at the first state."""
    for c in range(estimates.shape[0]):
        estimates[c] = world.v[0, c, s]


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
def _row(world, s, a, row):
    """row = phi(s, a)."""
    for j in range(row.shape[0]):
        row[j] = world.features[s // WIDTH, a, j, s % WIDTH]


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
    _row(world, s, a, row)
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
    _row(world, s, a, row)
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


@compiled(inner=True, allocates=True)
def refresh(world, h, s, a, beta_b, bonus):
    """Once (h, s, a) has entered gram: the bonuses of the step, not contracted, by Sherman-Morrison.

    With move = Lambda^{-1} phi of the new gram, the old one gave |phi'|^2 + (phi' . move)^2 / (1 - phi . move).
    """
    dim, n_states, shrunk = world.gram.shape[1], world.place_of.shape[1], 1.0
    for i in range(dim):
        world.move[0, i] = 0.0
        for j in range(dim):
            world.move[0, i] += world.inverse[h, i, j] * world.features[s // WIDTH, a, j, s % WIDTH]
        shrunk -= world.move[0, i] * world.features[s // WIDTH, a, i, s % WIDTH]
    product = np.empty((1, world.features.shape[1], WIDTH))
    for tile in range(world.features.shape[0]):
        n, first = min(WIDTH, n_states - tile * WIDTH), h * n_states + tile * WIDTH
        for b in range(world.features.shape[1]):
            _products(world.features, tile, b, world.move, 0, product, n)
            for w in range(n):
                x, y = bonus[b, first + w], beta_b * product[0, b, w]
                bonus[b, first + w] = np.sqrt(max(x * x - y * y / shrunk, 0.0))


@compiled(inner=True, allocates=True)
def invert(gram, factor, inverse):
    """factor = L^{-1} for gram = L L^T, and inverse = factor^T factor; every inner loop runs along rows."""
    dim = gram.shape[0]
    lower = np.zeros((dim, dim))
    for i in range(dim):
        for j in range(i + 1):
            rest = gram[i, j]
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
    for i in range(dim):
        for j in range(i):
            factor[i, j] = 0.0
        for k in range(i):
            for j in range(k + 1):
                factor[i, j] -= lower[i, k] * factor[k, j]
        factor[i, i] = 1.0
        for j in range(i + 1):
            factor[i, j] /= lower[i, i]
    for i in range(dim):
        for j in range(dim):
            inverse[i, j] = 0.0
    for k in range(dim):
        for i in range(k + 1):
            for j in range(k + 1):
                inverse[i, j] += factor[k, i] * factor[k, j]


@compiled(inner=True, allocates=True)
def norm_tile(features, tile, a, factor, bonus, first, n):
    """bonus = |phi|_{Lambda^{-1}} = |L^{-1} phi| for the states of a tile; four rows of the triangle L^{-1} at a time."""
    rows, square = np.empty((STEP, WIDTH)), np.zeros(WIDTH)
    for i in range(0, factor.shape[0], STEP):
        for r in range(STEP):
            for w in range(n):
                rows[r, w] = 0.0
        for j in range(0, i + STEP, STEP):
            _block_product(features, tile, a, factor, i, j, rows, n)
        for w in range(n):
            near = rows[0, w] * rows[0, w] + rows[1, w] * rows[1, w]
            far = rows[2, w] * rows[2, w] + rows[3, w] * rows[3, w]
            square[w] += near + far
    for w in range(n):
        bonus[a, first + w] = np.sqrt(square[w])


@compiled(inner=True)
def _block_product(features, tile, a, factor, i, j, rows, n):
    """rows += the 4 x 4 block of the factor at (i, j) times four coordinates of the features, written out for registers."""
    a0, a1, a2, a3 = factor[i, j], factor[i, j + 1], factor[i, j + 2], factor[i, j + 3]
    b0, b1, b2, b3 = factor[i + 1, j], factor[i + 1, j + 1], factor[i + 1, j + 2], factor[i + 1, j + 3]
    c0, c1, c2, c3 = factor[i + 2, j], factor[i + 2, j + 1], factor[i + 2, j + 2], factor[i + 2, j + 3]
    d0, d1, d2, d3 = factor[i + 3, j], factor[i + 3, j + 1], factor[i + 3, j + 2], factor[i + 3, j + 3]
    for w in range(n):
        f0, f1 = features[tile, a, j, w], features[tile, a, j + 1, w]
        f2, f3 = features[tile, a, j + 2, w], features[tile, a, j + 3, w]
        rows[0, w] += a0 * f0 + a1 * f1 + a2 * f2 + a3 * f3
        rows[1, w] += b0 * f0 + b1 * f1 + b2 * f2 + b3 * f3
        rows[2, w] += c0 * f0 + c1 * f1 + c2 * f2 + c3 * f3
        rows[3, w] += d0 * f0 + d1 * f1 + d2 * f2 + d3 * f3


@compiled(inner=True, allocates=True)
def _begin_tile(world, tile, beta_b, beta_w, offset, contraction, bonus):
    n_states = world.place_of.shape[1]
    n = min(WIDTH, n_states - tile * WIDTH)
    room = np.empty((2, WIDTH))
    for h in range(world.gram.shape[0]):
        first = h * n_states + tile * WIDTH
        for a in range(world.features.shape[1]):
            norm_tile(world.features, tile, a, world.factor[h], bonus, first, n)
        _policy.contract(beta_b, beta_w, offset, contraction, bonus, room, first, first + n)


@compiled(inner=True, parallel=True)
def _begin_threads(world, beta_b, beta_w, offset, contraction, bonus):
    for tile in numba.prange(world.features.shape[0]):
        _begin_tile(world, np.int64(tile), beta_b, beta_w, offset, contraction, bonus)


@compiled(inner=True)
def begin_epoch(world, beta_b, beta_w, offset, contraction, bonus, room):
    """Line 6: contraction and bonus [A, H*S] from |phi|_{Lambda^{-1}} with the gram of now; the inverse is taken anew."""
    for h in range(world.gram.shape[0]):
        invert(world.gram[h], world.factor[h], world.inverse[h])
    if world.threads[0]:
        _begin_threads(world, beta_b, beta_w, offset, contraction, bonus)
    else:
        for tile in range(world.features.shape[0]):
            _begin_tile(world, tile, beta_b, beta_w, offset, contraction, bonus)
