"""How do many play with one policy and one learns from all? Forks play a frozen policy; what they saw adds up.

A fork needs no tables: the compact parameters of the policy are enough (`engine.compact`), so it is small and can be pickled
to another process. What it hands in is what Algorithm 1 keeps of a history: gram matrices, cost sums, and for each state the
sum of the features that led to it (paper.tex, Algorithm 1, lines 12 to 16). Those of many forks are simply added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope.agent.play import Played, Playing
from tightrope.agent.reading import Sizes
from tightrope.engine import compact
from tightrope.engine.episode import Settings
from tightrope.errors import InputError
from tightrope.problems.tables import Floats


@dataclass(eq=False)
class Increment:
    """What some episodes of one frozen policy add to what is known; increments of the same policy can be added."""

    snapshot: tuple[int, ...]  # which policy they were played with
    episodes: int
    gram: Floats  # [H, d, d]
    cost_sums: Floats  # [H, m, d]
    states: list[Floats]  # [H] of [n, A, D]: what was reached at each step, each state once
    sums: list[Floats]  # [H] of [n, D]: the features that led there, added; at step 0 how often an episode began there
    violation: Floats  # [m] what was paid beyond the budgets
    squares: Floats  # [m] of that, episode by episode
    hard_violation: Floats  # [m]

    def __add__(self, other: Increment) -> Increment:
        if not isinstance(other, Increment):
            return NotImplemented
        if self.snapshot != other.snapshot or self.gram.shape != other.gram.shape:
            raise InputError("increment: these two were played with different policies and cannot be added")
        merged = [
            _merge(np.concatenate(pair), np.concatenate(sums))
            for pair, sums in zip(zip(self.states, other.states), zip(self.sums, other.sums))
        ]
        return Increment(
            self.snapshot,
            self.episodes + other.episodes,
            self.gram + other.gram,
            self.cost_sums + other.cost_sums,
            [states for states, _ in merged],
            [sums for _, sums in merged],
            self.violation + other.violation,
            self.squares + other.squares,
            self.hard_violation + other.hard_violation,
        )

    __radd__ = None  # sum() needs a start: sum(rest, first)


def increment_of(batch: Sequence[Played], snapshot: tuple[int, ...], sizes: Sizes, budgets: Floats) -> Increment:
    """What finished episodes add up to."""
    H, m, d = sizes.horizon, sizes.n_constraints, sizes.dim or 0
    gram, cost_sums = np.zeros((H, d, d)), np.zeros((H, m, d))
    states: list[list[Floats]] = [[] for _ in range(H)]
    sums: list[list[Floats]] = [[] for _ in range(H)]
    for played in batch:
        ones = np.zeros(played.blocks[0].shape[1])
        ones[0] = 1.0
        states[0].append(played.blocks[0])
        sums[0].append(ones)
        for h, (block, action, cost) in enumerate(zip(played.blocks, played.actions, played.costs)):
            row = block[action]
            gram[h] += np.outer(row[:d], row[:d])
            cost_sums[h] += np.outer(cost, row[:d])
            if h + 1 < len(played.blocks):
                states[h + 1].append(played.blocks[h + 1])
                sums[h + 1].append(row)
    shape = batch[0].blocks[0].shape
    joined = [_merge(np.array(s).reshape(-1, *shape), np.array(x).reshape(-1, shape[1])) for s, x in zip(states, sums)]
    excess = np.array([np.sum(played.costs, axis=0) for played in batch]).reshape(-1, m) - budgets
    return Increment(
        snapshot,
        len(batch),
        gram,
        cost_sums,
        [s for s, _ in joined],
        [x for _, x in joined],
        excess.sum(axis=0),
        (excess**2).sum(axis=0),
        np.maximum(excess, 0.0).sum(axis=0),
    )


def _merge(states: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Equal states [n, A, D] once, in the order of their first appearance, their sums [n, D] added."""
    places: dict[bytes, int] = {}
    which = [places.setdefault(state.tobytes(), len(places)) for state in states]
    first = np.zeros(len(places), np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    total = np.zeros((len(places), sums.shape[1]))
    np.add.at(total, which, sums)
    return states[first], total


class Fork(Playing):
    """Plays with the policy that an agent had when it was forked, and keeps what it sees for `increment`."""

    def __init__(
        self,
        features: Callable[[Any], Any],
        sizes: Sizes,
        seed: int,
        settings: Settings,
        segments: compact.Segments,
        block: Callable[[Floats], Floats],
        snapshot: tuple[int, ...],
        budgets: Floats,
    ):
        super().__init__(features, sizes, seed)
        self.settings, self.segments, self.snapshot, self.budgets = settings, segments, snapshot, budgets
        self._block = block
        self.batch: list[Played] = []

    def _meet(self, h: int, features: Floats, obs: Any) -> tuple[Floats, int, Floats]:
        block = self._block(features)
        logits = np.empty(len(block))
        compact.log_policy(self.segments, self.settings, h, block, logits)
        policy = np.exp(logits)
        return block, -1, policy / policy.sum()

    def set_aside(self) -> None:
        """The episode is over; keep it for `increment`."""
        self.batch.append(self._whole("set_aside"))
        self.current = None

    def increment(self) -> Increment:
        """What the episodes set aside since the last call add up to."""
        if not self.batch:
            raise InputError("increment: no episode has been set aside")
        made = increment_of(self.batch, self.snapshot, self.sizes, self.budgets)
        self.batch = []
        return made
