"""States that enter when first seen: which are known, and what the tables hold of each?"""

from __future__ import annotations

import numpy as np

from tightrope.engine import compact
from tightrope.engine.dense import WIDTH
from tightrope.engine.endless_tiles import feature_at, side_of, table_at
from tightrope.engine.jit import compiled
from tightrope.engine.memory import array_at


@compiled(inner=True)
def _is_block(world, h, place, block):
    """Whether the known state at this place has these features [A, D]."""
    features, side = array_at(world.tiles[h, place // WIDTH], world.kind, (block.size * WIDTH,)), side_of(world)
    for a in range(block.shape[0]):
        for j in range(block.shape[1]):
            if features[feature_at(block.shape[1], side, a, j, place % WIDTH)] != block[a, j]:
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
    rows = array_at(table_at(world, h, tile, 0), world.kind, (4 * n_actions, WIDTH))
    compact.norms_of(world.factor[h], block, room[0])
    compact.softmax(logits, room[1])
    for a in range(n_actions):
        for j in range(padded):
            features[feature_at(padded, side_of(world), a, j, w)] = block[a, j]
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
        table = array_at(table_at(world, h, place // WIDTH, which), world.kind, (tables.shape[1], WIDTH))
        for a in range(tables.shape[1]):
            tables[which, a] = table[a, place % WIDTH]


@compiled
def nearest(world, h, block):
    """The known state of step h whose features are nearest to these [A, D], and the square of the distance; -1 for none."""
    best, least, side = -1, np.inf, side_of(world)
    for place in range(world.n_known[h]):
        features, square = array_at(world.tiles[h, place // WIDTH], world.kind, (block.size * WIDTH,)), 0.0
        for a in range(block.shape[0]):
            for j in range(block.shape[1]):
                square += (features[feature_at(block.shape[1], side, a, j, place % WIDTH)] - block[a, j]) ** 2
        if square < least:
            best, least = place, square
    return best, least
