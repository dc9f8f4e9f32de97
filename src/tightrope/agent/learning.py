"""How does an agent learn? From each episode, from several at once, and from what its forks saw; one update each time."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tightrope.agent import reading
from tightrope.agent.increments import Fork, Increment
from tightrope.agent.knowing import Knowing
from tightrope.agent.losses import LossValues, check_range
from tightrope.agent.play import Played
from tightrope.errors import InputError
from tightrope.numbers_in import whole
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats


class Learning(Knowing):
    """Plays, knows states, and learns from episodes that are over."""

    def __init__(self, *parts: Any):
        super().__init__(*parts)
        self._batch: list[Played] = []
        self._merged: Increment | None = None
        self._hard_violation = np.zeros(len(self.budgets))

    def finish(self, loss: Any) -> None:
        """The episode is over, and what was lost is known: learn from it, and from those set aside.

        `loss`: the weights [H, d] of the episode's losses, in [0, 1] wherever it has been; or a function
        `loss(h, obs, action)`; or values from which the weights can be told (see `tr.LossValues`).
        """
        self._learn("finish", loss, self._whole("finish"))

    def set_aside(self) -> None:
        """The episode is over, but what is to be learnt from it waits: several episodes of one policy, then `learn`."""
        self._batch.append(self._whole("set_aside"))
        self.current = None

    def learn(self, loss: Any) -> None:
        """Learn from the episodes set aside or merged, all played with one policy: one update of policy and dual.

        The dual goes by the mean of the estimated costs from their first states; with a single episode this is `finish`.
        """
        if self.current is not None:
            raise InputError("learn: an episode is under way; finish it, set it aside or abandon it first")
        if not self._batch and self._merged is None:
            raise InputError("learn: no episode has been set aside or merged")
        self._learn("learn", loss, None)

    def _learn(self, what: str, loss: Any, last: Played | None) -> None:
        batch = [*self._batch, last] if last is not None else self._batch
        player, merged = self._ready(), self._merged
        weights, residual = self._read_loss(f"{what}: loss", loss, batch)
        places: list[list[int]] = []  # of what the forks saw
        if merged is not None:
            self._check_room(what, merged)
            places = [[self._enter(h, block)[0] for block in states] for h, states in enumerate(merged.states)]
        self._book(batch)
        player.learn(weights, *self._firsts(batch))
        for played in batch:
            d, n = player.tables.dim, played.steps
            rows = np.array([block[a, :d] for block, a in zip(played.blocks, played.actions)])
            led_to = np.array([*played.places[1:], *[-1] * (1 + n - len(played.places))], np.int64)
            player.absorb(rows, led_to, np.array(played.costs))
        if merged is not None:
            self._absorb(merged, places)
        self._losses.residual = residual
        self._batch, self._merged = [], None
        self.current = None if last is not None else self.current

    def _read_loss(self, name: str, loss: Any, batch: list[Played]) -> tuple[Floats, float]:
        """The weights [H, d], and the share of the losses that they leave over."""
        if not isinstance(loss, LossValues):
            weights, residual = self._losses.read(name, loss)
            if not callable(loss):
                merged = [] if self._merged is None else [self._merged.states]
                seen = [*(played.blocks for played in batch), *merged]
                check_range(name, weights, seen, np.dtype(self.options["dtype"]))
            return weights, residual
        return self._losses.read_values(name, loss, lambda obs: reading.read_features(self.features, obs, self.sizes))

    def _book(self, batch: list[Played]) -> None:
        """What the episodes cost beyond the budgets."""
        player, merged = self._ready(), self._merged
        for played in batch:
            excess = np.sum(played.costs, axis=0) - self.budgets
            player.book(excess, excess**2)
            self._hard_violation += np.maximum(excess, 0.0)
        if merged is not None:
            player.book(merged.violation, merged.squares)
            self._hard_violation += merged.hard_violation

    def _firsts(self, batch: list[Played]) -> tuple[Floats, Floats, Floats]:
        """The states that episodes began in: features [B, A, D], policies [B, A], and their shares [B]."""
        blocks = [played.blocks[0] for played in batch]
        policies = [played.policies[0] for played in batch]
        counts = [1.0] * len(batch)
        if self._merged is not None:
            for block, count in zip(self._merged.states[0], self._merged.sums[0][:, 0]):
                blocks.append(block)
                policies.append(self._ready().policy(0, block))
                counts.append(float(count))
        return np.array(blocks), np.array(policies), np.array(counts) / sum(counts)

    # ---- forks -----------------------------------------------------------------------------------------------------

    @property
    def _snapshot(self) -> tuple[int, ...]:
        """How many updates and epochs, and a digest of the policy and of what increments of it must agree on."""
        player = self._ready()
        kinds = repr((self.sizes, self.settings, self.options["dtype"])).encode()
        return (
            player.updates,
            player.epochs,
            player.policy_digest(zlib.crc32(self.budgets.tobytes(), zlib.crc32(kinds))),
        )

    def fork(self, seed: int = 0) -> Fork:
        """One that plays with the policy of now, without learning; it can be sent to another process."""
        player = self._ready()
        player.begin()
        segments = player.segments_copy()
        sizes = reading.Sizes(**vars(self.sizes))
        of = (self.settings, segments, player.blocks, self._snapshot, self.budgets.copy())
        return Fork(self.features, sizes, whole("seed", seed, 0), *of)

    def merge(self, increment: Increment) -> None:
        """Take in what a fork saw; it counts from the next `learn` or `finish` on, with whatever else is waiting."""
        if not isinstance(increment, Increment):
            raise InputError(f"merge: {shown(increment)}, wanted an increment of one of this agent's forks")
        player = self._ready()
        player.begin()
        if increment.snapshot[:2] != self._snapshot[:2]:
            raise InputError(
                f"merge: the increment was played with the policy after {increment.snapshot[0]} updates, "
                f"this agent has made {player.updates}"
            )
        if increment.snapshot != self._snapshot:
            raise InputError("merge: the increment was played with the policy of another agent")
        merged = increment if self._merged is None else self._merged + increment
        self._check_room("merge", merged)
        self._merged = merged

    def _check_room(self, what: str, merged: Increment) -> None:
        """Where full tables refuse: all of what the forks saw finds room, or none of it is taken in."""
        most, player = self.options["max_states"], self._ready()
        if self.options["when_full"] != "refuse" or most is None:
            return
        new = sum(player.find(h, block) < 0 for h, states in enumerate(merged.states) for block in states)
        room = most - int(player.world.n_known.sum())
        if new > room:
            raise InputError(f"{what}: max_states: {new:,} states are new, there is room for {room:,} of {most:,}")

    def _absorb(self, merged: Increment, places: list[list[int]]) -> None:
        player = self._ready()
        player.absorb_sums(merged.gram, merged.cost_sums, merged.episodes)
        for h in range(1, self.sizes.horizon):
            for place, total in zip(places[h], merged.sums[h]):
                player.add_sum(h, place, total)
