"""States that enter when first seen: the tables that grow, one a step, in tiles of memory known by their addresses.

Tiles are blocks of memory of their own, so that tables grow without being copied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tightrope.engine.dense import WIDTH
from tightrope.engine.jit import compiled
from tightrope.engine.lanes import MANY, REGISTER
from tightrope.engine.memory import array_at


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
def table_at(world, h, tile, which):
    """The address of a table [A, WIDTH]: 0 the log-policy, 1 the policy, 2 the contraction, 3 the bonus; 4 of the sums."""
    rows = world.room.shape[1] * (world.factor.shape[1] + which)
    return world.tiles[h, tile] + np.uint64(rows * WIDTH * world.kind.itemsize)


@compiled(inner=True, forceinline=True)
def side_of(world):
    """How many states lie side by side: as many as `lanes` takes at a time."""
    return MANY * REGISTER // world.kind.itemsize


@compiled(inner=True, forceinline=True)
def feature_at(padded, side, a, j, w):
    """Where phi_j(s, a) of the state in column w stands in its tile."""
    return ((a * (WIDTH // side) + w // side) * padded + j) * side + w % side


@compiled
def add_sum(world, h, place, row):
    """Add the features that led to a known state of step h to its next-state sum."""
    sums = array_at(table_at(world, h, place // WIDTH, 4), world.parts, (WIDTH, world.factor.shape[1]))
    for j in range(row.shape[0]):
        sums[place % WIDTH, j] += row[j]
