"""Features stored whole, at an epoch's start: how long is every feature in the norm of the gram of now?"""

from __future__ import annotations

import numba
import numpy as np

from tightrope.engine import policy as _policy
from tightrope.engine.dense import STEP, WIDTH, products
from tightrope.engine.jit import compiled


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
            products(world.features, tile, b, world.move, 0, product, n)
            for w in range(n):
                x, y = bonus[b, first + w], beta_b * product[0, b, w]
                bonus[b, first + w] = np.sqrt(max(x * x - y * y / shrunk, 0.0))
