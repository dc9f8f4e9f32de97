"""States that enter when first seen. Algorithm 1 on tables that grow, one table a step.

The learner needs values only where some episode has been (paper.tex, Algorithm 1, line 16), so each step h keeps a table of its
known states, in the tiles of `dense`: features, log-policy, policy, contraction, bonus and, for each state, the next-state sum
`F_h` of the features that led to it. An update goes through the tiles once: estimates, improvement, and the tile's part
of `F_h V`, which the step before needs. Tiles are blocks of memory of their own, known to the kernels by address, so
that tables grow without being copied.

No result depends on the number of threads: they share out tiles, whose parts are added in the order of the tiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from tightrope.engine import compact
from tightrope.engine import policy as _policy
from tightrope.engine.dense import WIDTH, add_row, contract_tile, improve_tile, invert, norm_tile
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


class EndlessWorld(NamedTuple):
    """Everything of a learner with endless states; D is d padded to a multiple of `dense.STEP`, T and N are room so far.

    A tile has the features of WIDTH states, then A rows of WIDTH numbers each of log-policy, policy, contraction and bonus, all
    of the tables' kind; and behind them the sums of its states, [WIDTH, D], always doubles. Features lie as products read them,
    [A, WIDTH/side, D, side] with `side` states side by side, because memory is fast only when it is read in order.
    """

    gram: np.ndarray  # [H, d, d] Lambda
    inverse: np.ndarray  # [H, d, d] its inverse
    factor: np.ndarray  # [H, D, D] L^{-1} of this epoch, Lambda^{k_e} = L L^T
    cost_sums: np.ndarray  # [H, m, d]
    dual: np.ndarray  # [m]
    ledger: np.ndarray  # [2, m] observed costs above the budgets, and their squares, summed over the episodes
    growth: np.ndarray  # [H] det Lambda now / det Lambda at the epoch's start
    tiles: np.ndarray  # [H, T] addresses
    n_known: np.ndarray  # [H]
    slots: np.ndarray  # [H, N] fingerprint and place + 1 of a known state, by fingerprint; 0 where free
    parts: np.ndarray  # [T, 1 + m, D] room for F V, a tile each
    weights: np.ndarray  # [H, 1 + m, D] of the last update; zero beyond d
    kind: np.ndarray  # [0] of the tables' kind of number
    threads: np.ndarray  # [1] how many threads to use; 0: none but the caller's
    room: np.ndarray  # [3, A]


def tile_bytes(n_actions: int, padded: int, itemsize: int) -> int:
    """The size of a tile."""
    return (n_actions * (padded + 4) * itemsize + padded * 8) * WIDTH


@compiled(inner=True, forceinline=True)
def _table_at(world, h, tile, which):
    """The address of a table [A, WIDTH]: 0 the log-policy, 1 the policy, 2 the contraction, 3 the bonus; 4 of the sums."""
    rows = world.room.shape[1] * (world.factor.shape[1] + which)
    return world.tiles[h, tile] + np.uint64(rows * WIDTH * world.kind.itemsize)


@compiled(inner=True, forceinline=True)
def _side(world):
    """How many states lie side by side: as many as `lanes` takes at a time."""
    return MANY * REGISTER // world.kind.itemsize


@compiled(inner=True, forceinline=True)
def _at(padded, side, a, j, w):
    """Where phi_j(s, a) of the state in column w stands in its tile."""
    return ((a * (WIDTH // side) + w // side) * padded + j) * side + w % side


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


# ---- what an episode does -------------------------------------------------------------------------------------------


@compiled(inner=True)
def _update_tile(world, h, tile, alpha, theta, weights, flat, values, room):
    """Lines 18 to 26 for the states of a tile at step h, and its part of F_{h-1} V_h.

    weights [1 + m, D], flat, as the tables' kind of number; flat, values and room are scratch.
    """
    n_channels, n_actions, padded = world.weights.shape[1], world.room.shape[1], world.factor.shape[1]
    n = min(WIDTH, world.n_known[h] - tile * WIDTH)
    q, v = flat.reshape((n_channels, n_actions, WIDTH)), values.reshape((n_channels, WIDTH))
    features = array_at(world.tiles[h, tile], world.kind, (n_actions * padded * WIDTH,))
    logits = array_at(_table_at(world, h, tile, 0), world.kind, (n_actions, WIDTH))
    policy = array_at(_table_at(world, h, tile, 1), world.kind, (n_actions, WIDTH))
    contraction = array_at(_table_at(world, h, tile, 2), world.kind, (n_actions, WIDTH))
    bonus = array_at(_table_at(world, h, tile, 3), world.kind, (n_actions, WIDTH))
    _products(features, weights, flat, n_actions, padded, _side(world))
    contract_tile(policy, contraction, bonus, 0, n, q, v, 0)
    improve_tile(logits, policy, q, world.dual, alpha, theta, room, 0, n)
    if h == 0:
        return
    sums = array_at(_table_at(world, h, tile, 4), world.parts, (WIDTH * padded,))
    _lead_back(sums, values, world.parts[tile].reshape(n_channels * padded), n, padded)


@compiled(inner=True, allocates=True)
def _update_tiles(world, h, first, end, alpha, theta):
    """The tiles from first on, before end, with scratch of their own."""
    kind, n_channels = world.kind.dtype, world.weights.shape[1]
    weights = world.weights[h].reshape(n_channels * world.factor.shape[1]).astype(kind)
    flat, values = np.empty(n_channels * world.room.shape[1] * WIDTH, kind), np.zeros(n_channels * WIDTH)
    room, step = np.empty((2, WIDTH), kind), kind.type(alpha)
    for tile in range(first, end):
        _update_tile(world, h, tile, step, theta, weights, flat, values, room)


@compiled(inner=True, parallel=True)
def _update_threads(world, h, n_tiles, alpha, theta):
    n_shares = world.threads[0]
    for share in numba.prange(n_shares):
        _update_tiles(world, h, share * n_tiles // n_shares, (share + 1) * n_tiles // n_shares, alpha, theta)


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
        for i in range(dim):
            product = 0.0
            for j in range(dim):
                product += world.inverse[h, i, j] * total[j]
            world.weights[h, c, i] = product + loss[h, i] if c == 0 else product


@compiled(inner=True, allocates=True)
def _first_values(world, settings, blocks, policies, shares, estimates):
    """estimates = v_hat(s_1), the mean over first states with features [B, A, D], policies [B, A], shares [B]."""
    n_channels, n_actions, padded = world.weights.shape[1], blocks.shape[1], blocks.shape[2]
    norms = np.empty(n_actions)
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
                q = sigma * product - settings.beta_b * sigma * norms[a]
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
        if h == 0:
            _first_values(world, settings, blocks, policies, shares, estimates)
        n_tiles = (world.n_known[h] + WIDTH - 1) // WIDTH
        if world.threads[0]:
            _update_threads(world, h, n_tiles, settings.alpha, theta)
        else:
            _update_tiles(world, h, 0, n_tiles, settings.alpha, theta)
    compact.accumulate_bonus(segments, world.dual, settings.alpha, settings.beta_b)
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


@compiled
def add_sum(world, h, place, row):
    """Add the features that led to a known state of step h to its next-state sum."""
    sums = array_at(_table_at(world, h, place // WIDTH, 4), world.parts, (WIDTH, world.factor.shape[1]))
    for j in range(row.shape[0]):
        sums[place % WIDTH, j] += row[j]


# ---- epochs -----------------------------------------------------------------------------------------------------------


@compiled(inner=True, allocates=True)
def _begin_tile(world, h, tile, beta_b, beta_w, offset, forget):
    n_actions, padded = world.room.shape[1], world.factor.shape[1]
    n = min(WIDTH, world.n_known[h] - tile * WIDTH)
    packed = array_at(world.tiles[h, tile], world.kind, (n_actions * padded * WIDTH,))
    features, side = np.empty((1, n_actions, padded, WIDTH)), _side(world)  # as `norm_tile` takes them
    for a in range(n_actions):
        for j in range(padded):
            for w in range(n):
                features[0, a, j, w] = packed[_at(padded, side, a, j, w)]
    logits = array_at(_table_at(world, h, tile, 0), world.kind, (n_actions, WIDTH))
    policy = array_at(_table_at(world, h, tile, 1), world.kind, (n_actions, WIDTH))
    contraction = array_at(_table_at(world, h, tile, 2), world.kind, (n_actions, WIDTH))
    bonus = array_at(_table_at(world, h, tile, 3), world.kind, (n_actions, WIDTH))
    for a in range(n_actions):
        norm_tile(features, 0, a, world.factor[h], bonus, 0, n)
        if forget:
            for w in range(n):
                logits[a, w] = 0.0
                policy[a, w] = 1.0 / n_actions
    room = np.empty((2, WIDTH))
    _policy.contract(beta_b, beta_w, offset, contraction, bonus, room, 0, n)


@compiled(inner=True, parallel=True)
def _begin_threads(world, h, n_tiles, beta_b, beta_w, offset, forget):
    for tile in numba.prange(n_tiles):
        _begin_tile(world, h, tile, beta_b, beta_w, offset, forget)


@compiled
def begin_epoch(world, settings, forget):
    """Lines 3 to 6: contraction and bonus from the gram of now; `forget` brings back the uniform policy and no dual."""
    for h in range(world.gram.shape[0]):
        world.growth[h] = 1.0
        invert(world.gram[h], world.factor[h], world.inverse[h])
        n_tiles = (world.n_known[h] + WIDTH - 1) // WIDTH
        if world.threads[0]:
            _begin_threads(world, h, n_tiles, settings.beta_b, settings.beta_w, settings.offset, forget)
        else:
            for tile in range(n_tiles):
                _begin_tile(world, h, tile, settings.beta_b, settings.beta_w, settings.offset, forget)
    if forget:
        for i in range(world.dual.shape[0]):
            world.dual[i] = 0.0


# ---- states -----------------------------------------------------------------------------------------------------------


@compiled(inner=True)
def _is_block(world, h, place, block):
    """Whether the known state at this place has these features [A, D]."""
    features, side = array_at(world.tiles[h, place // WIDTH], world.kind, (block.size * WIDTH,)), _side(world)
    for a in range(block.shape[0]):
        for j in range(block.shape[1]):
            if features[_at(block.shape[1], side, a, j, place % WIDTH)] != block[a, j]:
                return False
    return True


@compiled
def find(world, h, block, fingerprint):
    """The place of the known state of step h with these features [A, D], or -1; fingerprint: 32 bits of them."""
    mask = np.uint64(world.slots.shape[1] - 1)
    at = np.uint64(fingerprint) & mask
    while world.slots[h, at] != 0:
        slot = world.slots[h, at]
        if slot >> np.uint64(32) == fingerprint:
            place = np.int64(slot & np.uint64(0xFFFFFFFF)) - 1
            if _is_block(world, h, place, block):
                return place
        at = (at + np.uint64(1)) & mask
    return -1


@compiled(inner=True)
def _occupy_slot(slots, fingerprint, place):
    mask = np.uint64(slots.shape[0] - 1)
    at = np.uint64(fingerprint) & mask
    while slots[at] != 0:
        at = (at + np.uint64(1)) & mask
    slots[at] = (np.uint64(fingerprint) << np.uint64(32)) | np.uint64(place + 1)


@compiled
def rehash(old, new):
    """Move the entries of slots [H, N] to larger ones."""
    for h in range(old.shape[0]):
        for i in range(old.shape[1]):
            if old[h, i] != 0:
                place = np.int64(old[h, i] & np.uint64(0xFFFFFFFF)) - 1
                _occupy_slot(new[h], old[h, i] >> np.uint64(32), place)


@compiled(inner=True)
def enter(world, settings, h, block, fingerprint, logits):
    """Make a state known: its features [A, D] and its log-policy [A], with contraction and bonus of this epoch; its place."""
    place = world.n_known[h]
    tile, w = place // WIDTH, place % WIDTH
    room = world.room
    n_actions, padded = block.shape
    features = array_at(world.tiles[h, tile], world.kind, (block.size * WIDTH,))
    rows = array_at(_table_at(world, h, tile, 0), world.kind, (4 * n_actions, WIDTH))
    compact.norms_of(world.factor[h], block, room[0])
    compact.softmax(logits, room[1])
    for a in range(n_actions):
        for j in range(padded):
            features[_at(padded, _side(world), a, j, w)] = block[a, j]
        sigma = compact.contraction_of(settings, room[0, a])
        rows[a, w] = logits[a]
        rows[n_actions + a, w] = room[1, a]
        rows[2 * n_actions + a, w] = sigma
        rows[3 * n_actions + a, w] = settings.beta_b * sigma * room[0, a]
    _occupy_slot(world.slots[h], fingerprint, place)
    world.n_known[h] += 1
    return place


@compiled
def meet(world, segments, settings, h, block, fingerprint, welcome, tables):
    """The place of a state of step h, and tables [2, A]: its log-policy and policy; if `welcome`, it is known from now on.

    The place is -1 where it is neither known nor welcome.
    """
    place = find(world, h, block, fingerprint)
    if place >= 0:
        read(world, h, place, tables)
        return place
    compact.log_policy(segments, settings, h, block, tables[0])
    compact.softmax(tables[0], tables[1])
    if not welcome:
        return -1
    return enter(world, settings, h, block, fingerprint, tables[0])


@compiled
def read(world, h, place, tables):
    """tables [4, A]: log-policy, policy, contraction and bonus of a known state; or the first of these."""
    for which in range(tables.shape[0]):
        table = array_at(_table_at(world, h, place // WIDTH, which), world.kind, (tables.shape[1], WIDTH))
        for a in range(tables.shape[1]):
            tables[which, a] = table[a, place % WIDTH]


@compiled
def nearest(world, h, block):
    """The known state of step h whose features are nearest to these [A, D], and the square of the distance; -1 for none."""
    best, least, side = -1, np.inf, _side(world)
    for place in range(world.n_known[h]):
        features, square = array_at(world.tiles[h, place // WIDTH], world.kind, (block.size * WIDTH,)), 0.0
        for a in range(block.shape[0]):
            for j in range(block.shape[1]):
                square += (features[_at(block.shape[1], side, a, j, place % WIDTH)] - block[a, j]) ** 2
        if square < least:
            best, least = place, square
    return best, least
