"""Endless states: an update beside memory bandwidth and NumPy, growth, float32, the time of a decision, and memory."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np

import tightrope as tr
from benchmarks.timing import Row, at_least, at_most, in_turns
from tightrope.learners.endless import EndlessPlayer

N, A, D, H, ROUNDS = 10_000, 4, 32, 10, 25
SEGMENTS = 20
LEARNER = tr.PDPO(
    alpha=0.05, eta=0.1, theta=0.1, beta_b=0.05, beta_w=0.5, mixing_period=10**6, restart="warm", contraction_offset=9.0
)


@numba.njit(parallel=True, fastmath=True)
def _sum(numbers: np.ndarray) -> float:
    total = 0.0
    for i in numba.prange(numbers.shape[0]):
        total += numbers[i]
    return total


class Filled:
    """A player that knows n states a step, each led to by some features, and what an update of it takes."""

    def __init__(self, n: int = N, d: int = D, dtype: str = "float64", seed: int = 0):
        random = np.random.default_rng(seed)
        self.player = EndlessPlayer(LEARNER.rules(1).settings(), A, d, H, np.array([2.0]), np.dtype(dtype))
        self.player.begin()
        self.player.world.gram[:] += 200.0 * np.eye(d)  # as after some thousand episodes
        self.player.begin()
        for h in range(H):
            for _ in range(n):
                block = self.player.block(_unit(random.random((A, d))))
                place, _ = self.player.meet(h, block)
                if h:
                    self.player.add_sum(h, place, block[place % A] / n)
        self.first = block[None], np.full((1, A), 1.0 / A), np.ones(1)
        self.losses = random.random((64, H, d)) / d
        self.k = 0

    def update(self) -> None:
        self.k += 1
        self.player.learn(self.losses[self.k % 64], *self.first)

    @property
    def traffic(self) -> int:
        """Bytes an update must move: every table read, log-policy and policy written as well."""
        itemsize = self.player.tables.dtype.itemsize
        states, padded = int(self.player.world.n_known.sum()), self.player.tables.padded
        tables = (A * padded + 4 * A + 2 * A) * itemsize  # features, the four tables, two of them written
        return states * tables + (states - int(self.player.world.n_known[0])) * padded * 8  # and the next-state sums


def _unit(block: np.ndarray) -> np.ndarray:
    return block / (1.001 * np.linalg.norm(block, axis=-1, keepdims=True))


class Twin:
    """The same update in careful NumPy: features [H, d, A*n], every product left to BLAS, everything in place."""

    def __init__(self, n: int = N, d: int = D):
        random = np.random.default_rng(1)
        self.phi = random.random((H, d, A * n)) / d
        self.sums = random.random((H, n, d)) / n
        self.inverse = np.broadcast_to(np.eye(d) / 200.0, (H, d, d)).copy()
        self.cost_sums = np.zeros((H, 1, d))
        self.contraction, self.bonus = np.full((H, A, n), 0.9), np.full((H, A, n), 0.01)
        self.logits, self.policy = np.zeros((H, A, n)), np.full((H, A, n), 1.0 / A)
        self.q, self.dual, self.loss, self.n = np.empty((2, A, n)), 0.5, random.random((H, d)) / d, n

    def update(self) -> None:
        v = np.zeros((2, self.n))
        for h in range(H - 1, -1, -1):
            total = np.zeros((2, self.loss.shape[1])) if h == H - 1 else v @ self.sums[h + 1]
            total[1:] += self.cost_sums[h]
            weights = total @ self.inverse[h]
            weights[0] += self.loss[h]
            q, policy, logits = self.q, self.policy[h], self.logits[h]
            np.dot(weights, self.phi[h], out=q.reshape(2, -1))
            q *= self.contraction[h]
            q -= self.bonus[h]
            v = np.einsum("an,can->cn", policy, q)
            q[1] *= self.dual
            q[0] += q[1]
            q[0] *= LEARNER.alpha
            logits -= q[0]
            logits -= logits.max(axis=0)
            np.exp(logits, out=policy)
            policy /= policy.sum(axis=0)


def rows() -> list[Row]:
    full, half = Filled(), Filled(dtype="float32")
    twin, large = Twin(), np.ones(60_000_000)

    def sweep() -> None:
        _sum(large)

    works = (sweep, full.update, twin.update, half.update)
    for work in works:
        work()
    plain, ours, theirs, small = in_turns(ROUNDS, *works)
    bandwidth, reached = large.nbytes / plain, full.traffic / ours
    sizes = f"n = {N:,} a step, A = {A}, d = {D}, H = {H}, {numba.get_num_threads()} threads, least of {ROUNDS}"
    return [
        at_least(
            "endless, update beside memory bandwidth",
            reached / bandwidth,
            0.7,
            f"{reached / 1e9:.1f} GB/s of {bandwidth / 1e9:.1f} by a plain sum; {1e3 * ours:.2f} ms, {sizes}",
        ),
        at_least(
            "endless, update beside NumPy", theirs / ours, 3.0, f"{1e3 * ours:.2f} ms, NumPy {1e3 * theirs:.2f} ms"
        ),
        at_least(
            "endless, float32 beside float64", ours / small, 1.6, f"{1e3 * small:.2f} ms beside {1e3 * ours:.2f} ms"
        ),
        at_most("endless, float32 policies off by", _apart(), 1e-4, "a recorded epoch of 300 episodes, 600 states", ""),
        *_growth(),
        _memory(full),
        _decision(),
    ]


def _growth() -> list[Row]:
    few, many = Filled(n=5_000), Filled(n=20_000)  # both beyond every cache
    narrow, wide = Filled(n=8_000, d=16), Filled(n=8_000, d=64)
    works = [player.update for player in (few, many, narrow, wide)]
    for work in works:
        work()
    two, ten, low, high = in_turns(ROUNDS, *works)
    before = in_turns(ROUNDS, few.update)[0]
    d = few.player.tables.dim
    nowhere = np.full(H, -1, np.int64)
    for _ in range(20_000):  # episodes that bring no new state
        few.player.absorb(np.full((H, d), 0.01), nowhere, np.zeros((H, 1)))
    later = in_turns(ROUNDS, few.update)[0]
    return [
        at_most(
            "endless, time a state, n = 5,000 to 20,000", ten / two / 4.0, 1.3, f"{1e3 * two:.2f}, {1e3 * ten:.2f} ms"
        ),
        at_most(
            "endless, time a coordinate, d = 16 to 64", high / low / 4.0, 1.3, f"{1e3 * low:.2f}, {1e3 * high:.2f} ms"
        ),
        at_most("endless, after 20,000 more episodes", later / before, 1.15, "the same states: nothing looks back"),
    ]


def _apart() -> float:
    """The largest difference of policies after the same recorded episodes, learnt in float32 and in float64."""
    told = []
    for dtype in ("float64", "float32"):
        random, player = (
            np.random.default_rng(3),
            EndlessPlayer(LEARNER.rules(1).settings(), A, D, 2, np.array([1.0]), np.dtype(dtype)),
        )
        player.begin()
        blocks = _unit(random.random((600, A, D)) - 0.3 * random.random((600, A, D)))
        blocks = [player.block(block.astype(np.float32).astype(np.float64)) for block in blocks]
        for k in range(300):
            places = [player.meet(h, blocks[2 * k + h]) for h in range(2)]
            first = blocks[2 * k][None], places[0][1][None], np.ones(1)
            player.learn(random.random((2, D)) / D**0.5, *first)
            rows = np.array([blocks[2 * k][0, :D], blocks[2 * k + 1][1, :D]])
            player.absorb(rows, np.array([places[1][0], -1]), random.random((2, 1)))
        told.append(
            np.array([player.read(h, player.find(h, blocks[2 * k + h]))[1] for k in range(300) for h in range(2)])
        )
    return float(np.abs(told[0] - told[1]).max())


def _memory(full: Filled) -> Row:
    """Beside the tables of the design: features, contraction, bonus, log-policy and next-state sums of every known state."""
    states = int(full.player.world.n_known.sum())
    least = states * (A * D + 3 * A + D) * 8
    held = full.player.tables.bytes
    return at_most("endless, memory beside its tables", held / least, 1.4, f"{held / 1e6:.1f} MB for {states:,} states")


def _decision() -> Row:
    """From an observation's features to an action, in a state never seen, with so many segments of a policy mixed each time."""
    random = np.random.default_rng(5)
    blocks = iter(_unit(random.random((4_000, A, D))))
    learner = LEARNER.replace(mixing_period=1)
    agent = tr.Agent(learner, lambda obs: next(blocks), 1, A, [1.0], dim=D)
    for _ in range(SEGMENTS):
        agent.begin(None)
        agent.act()
        agent.observe(0.5)
        agent.finish(random.random((1, D)) / D)
    spent: list[Any] = []
    for _ in range(3_000):
        begun = time.perf_counter()
        agent.begin(None)
        agent.act()
        spent.append(time.perf_counter() - begun)
        agent.abandon()
    assert agent.status().segments == SEGMENTS
    return at_most(
        "endless, a decision",
        1e6 * float(np.median(spent)),
        50.0,
        f"median of begin and act in new states, features made beforehand; {SEGMENTS} segments, A = {A}, d = {D}",
        "µs",
    )
