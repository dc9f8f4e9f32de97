"""Where do the kernels' arrays come from? Allocation, from plain arrays, of everything that the kernels work on."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightrope.engine.axis import AxisWorld
from tightrope.engine.clipped import ClippedDenseWorld
from tightrope.engine.dense import STEP, WIDTH, DenseWorld
from tightrope.engine.episode import Episode, Model, Record, State, Tally
from tightrope.engine.jit import ready_threads
from tightrope.engine.policy import WIDTH as ROOM

World = AxisWorld | DenseWorld


def axis_world(
    index: np.ndarray, value: np.ndarray, rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]], dim: int, m: int
) -> AxisWorld:
    """index and value [S, A]; rows: for each step the CSR arrays (start [d+1], successor, measure)."""
    horizon, n_states, pairs = len(rows), index.shape[0], m // 2 + 1
    order = axis_order(index, dim)
    steps = [
        sp.csr_array((measure, successor, start), shape=(dim, n_states))[order] for start, successor, measure in rows
    ]
    columns = [sp.csc_array(step) for step in steps]
    offsets = np.cumsum([0] + [step.nnz for step in steps])
    place = np.empty(dim, np.int64)
    place[order] = np.arange(dim)
    index = place[index.T]
    by_coordinate = np.argsort(index, axis=None, kind="stable")
    return AxisWorld(
        index=np.ascontiguousarray(index.astype(np.uint64)),
        value=np.array(value.T, order="C"),
        order=order,
        pair_start=np.searchsorted(index.ravel(), np.arange(dim + 1), sorter=by_coordinate).astype(np.uint64),
        pairs=np.stack(np.divmod(by_coordinate, n_states), axis=1).astype(np.uint64),
        row_start=_starts(steps, offsets),
        successor=np.concatenate([step.indices for step in steps]).astype(np.uint64),
        measure=np.concatenate([step.data for step in steps]),
        column_start=_starts(columns, offsets),
        source=np.concatenate([step.indices for step in columns]).astype(np.uint64),
        column_measure=np.concatenate([step.data for step in columns]),
        gram=np.ones((horizon, dim)),
        inverse=np.ones((horizon, dim)),
        sums=np.zeros(offsets[-1]),
        cost_sums=np.zeros((pairs, horizon, dim, 2)),
        gain=np.zeros((index.shape[0], horizon * n_states)),
        q=np.zeros((pairs, *index.shape, 2)),
        v=np.zeros((2, pairs, n_states, 2)),
        weights=np.zeros((pairs, dim, 2)),
        price=np.zeros((pairs, 2)),
        visits=np.zeros((2, n_states)),
    )


def axis_order(index: np.ndarray, dim: int) -> np.ndarray:
    """The engine's order of the coordinates [d], from index [S, A]: by action, then state, of the first pair that has each."""
    used, first = np.unique(index.T, return_index=True)
    return np.concatenate([used[np.argsort(first)], np.setdiff1d(np.arange(dim), used)])


def inward(world: World, weights: np.ndarray) -> np.ndarray:
    """Weights [..., d] in the world's order of coordinates: a contiguous copy, in doubles."""
    ordered = weights[..., world.order] if isinstance(world, AxisWorld) else weights
    return np.array(ordered, dtype=np.float64, order="C")


def policy_in(table: np.ndarray) -> np.ndarray:
    """A policy as the kernels lay it out: [H, S, A] becomes [A, H*S]."""
    n_actions = table.shape[2]
    return np.array(table.reshape(-1, n_actions).T, dtype=np.float64, order="C")


def policy_out(policy: np.ndarray, horizon: int) -> np.ndarray:
    """And back, also for many at once: [..., A, H*S] becomes [..., H, S, A]."""
    plain = np.moveaxis(policy, -2, -1)
    return np.ascontiguousarray(plain).reshape(*policy.shape[:-2], horizon, -1, policy.shape[-2])


def _starts(steps: list, offsets: np.ndarray) -> np.ndarray:
    """[H, n + 1] absolute positions from the relative ones of each step."""
    return np.stack([step.indptr.astype(np.uint64) + np.uint64(offset) for step, offset in zip(steps, offsets)])


def dense_world(features: np.ndarray, kernel: np.ndarray, m: int, episodes: int, clips: bool = False) -> DenseWorld:
    """features [S, A, d], kernel [H, d, S]; room for the states that so many episodes can reach."""
    ready_threads()
    n_states, n_actions, dim = features.shape
    horizon = kernel.shape[0]
    n_tiles, padded = -(-n_states // WIDTH), -(-dim // STEP) * STEP
    tiles = np.zeros((n_tiles * WIDTH, n_actions, padded))
    tiles[:n_states, :, :dim] = features
    blocks = [kernel[:, :, b : b + WIDTH].sum(axis=2) for b in range(0, n_states, WIDTH)]
    identity = np.broadcast_to(np.eye(dim), (horizon, dim, dim))
    room = min(n_states, episodes)
    kind = ClippedDenseWorld if clips else DenseWorld
    return kind(
        features=np.array(tiles.reshape(n_tiles, WIDTH, n_actions, padded).transpose(0, 2, 3, 1), order="C"),
        measure=np.array(kernel, order="C"),
        block_measure=np.stack(blocks, axis=1),
        gram=identity.copy(),
        inverse=identity.copy(),
        sums=np.zeros((horizon, room, dim)),
        reached=np.zeros((horizon, room), np.int64),
        place_of=np.full((horizon, n_states), -1, np.int64),
        n_reached=np.zeros(horizon, np.int64),
        cost_sums=np.zeros((horizon, m, dim)),
        factor=np.zeros((horizon, padded, padded)),
        v=np.zeros((2, 1 + m, n_tiles * WIDTH)),
        weights=np.zeros((1 + m, padded)),
        move=np.zeros((1, padded)),
        visits=np.zeros((2, n_tiles * WIDTH)),
        parts=np.zeros((n_tiles, padded)),
        threads=np.zeros(1, np.int64),
    )


def with_room(world: World, more: int) -> World:
    """The same world with room for so many more states to be reached at every step; the same object where there is enough."""
    if isinstance(world, AxisWorld):
        return world
    have, n_states = world.reached.shape[1], world.place_of.shape[1]
    wanted = min(n_states, int(world.n_reached.max()) + more)
    if wanted <= have:
        return world
    room = min(n_states, max(wanted, 2 * have)) - have
    sums = np.pad(world.sums, ((0, 0), (0, room), (0, 0)))
    return world._replace(sums=sums, reached=np.pad(world.reached, ((0, 0), (0, room))))


def new_state(n_actions: int, horizon: int, n_states: int, m: int) -> State:
    """The state before the first episode; the first epoch fills in policy, contraction and bonus."""
    columns = (n_actions, horizon * n_states)
    return State(
        logits=np.zeros(columns),
        policy=np.full(columns, 1.0 / n_actions),
        contraction=np.zeros(columns),
        bonus=np.zeros(columns),
        dual=np.zeros(m),
        growth=np.ones(horizon),
        ledger=np.zeros((2, m)),
        counters=np.zeros(4, np.int64),
        estimates=np.zeros(1 + m),
        room=np.empty((2, ROOM)),
    )


def new_tally(n_actions: int, horizon: int, n_states: int, dim: int) -> Tally:
    return Tally(np.zeros((n_actions, horizon * n_states)), np.empty(horizon * dim))


def new_episode(horizon: int, m: int) -> Episode:
    """Room for one episode as it is played."""
    steps = np.zeros(horizon, np.int64)
    return Episode(np.zeros(horizon + 1, np.int64), steps, steps.copy(), np.zeros((horizon, m)))


def new_record(n: int, n_actions: int, horizon: int, n_states: int, m: int, trace: bool) -> Record:
    """Room for what n episodes leave behind."""
    traced = n if trace else 0
    return Record(
        values=np.zeros((n, 1 + m)),
        estimates=np.zeros((n, 1 + m)),
        dual=np.zeros((n, m)),
        epoch=np.zeros(n, np.int64),
        states=np.zeros((traced, horizon + 1), np.int64),
        actions=np.zeros((traced, horizon), np.int64),
        costs=np.zeros((traced, horizon, m)),
        policies=np.zeros((traced, n_actions, horizon * n_states)),
    )


def new_model(
    world: World,
    start: np.ndarray,
    budgets: np.ndarray,
    cost_weights: np.ndarray,
    transition_costs: np.ndarray | None,
) -> Model:
    """start [S], budgets [m], cost_weights [H, m, d] in the problem's order, transition_costs [m, H, S, A, S] or None.

    Writable contiguous copies: the kernels are compiled for one kind of array.
    """
    on_transitions = np.zeros((0, 0, 0, 0, 0)) if transition_costs is None else transition_costs
    ordered = inward(world, cost_weights)
    channels = np.array(ordered.swapaxes(0, 1), order="C").reshape(len(budgets), -1)
    return Model(_own(start), _own(budgets), ordered, channels, _own(on_transitions))


def _own(array: np.ndarray) -> np.ndarray:
    """A writable contiguous copy, in doubles."""
    return np.array(array, dtype=np.float64, order="C")
