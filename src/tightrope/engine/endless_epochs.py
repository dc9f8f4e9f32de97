"""States that enter when first seen, at an epoch's start: contraction and bonus of all that are known."""

from __future__ import annotations

import numba
import numpy as np

from tightrope.engine import policy as _policy
from tightrope.engine.dense import WIDTH
from tightrope.engine.dense_epochs import invert, norm_tile
from tightrope.engine.endless_tiles import feature_at, side_of, table_at
from tightrope.engine.jit import compiled
from tightrope.engine.memory import array_at


@compiled(inner=True, allocates=True)
def _begin_tile(world, h, tile, beta_b, beta_w, offset, forget):
    n_actions, padded = world.room.shape[1], world.factor.shape[1]
    n = min(WIDTH, world.n_known[h] - tile * WIDTH)
    packed = array_at(world.tiles[h, tile], world.kind, (n_actions * padded * WIDTH,))
    features, side = np.empty((1, n_actions, padded, WIDTH)), side_of(world)  # as `norm_tile` takes them
    for a in range(n_actions):
        for j in range(padded):
            for w in range(n):
                features[0, a, j, w] = packed[feature_at(padded, side, a, j, w)]
    logits = array_at(table_at(world, h, tile, 0), world.kind, (n_actions, WIDTH))
    policy = array_at(table_at(world, h, tile, 1), world.kind, (n_actions, WIDTH))
    contraction = array_at(table_at(world, h, tile, 2), world.kind, (n_actions, WIDTH))
    bonus = array_at(table_at(world, h, tile, 3), world.kind, (n_actions, WIDTH))
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
