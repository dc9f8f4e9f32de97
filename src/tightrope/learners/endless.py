"""How does Algorithm 1 play where states cannot be listed? They enter the tables when first seen; nothing is checked here.

`Agent` is the door to this. The order inside an episode is that of design section 3: `begin` is the epoch test, `meet` serves
play, `learn` is fit, values, mixing, improvement and dual, `absorb` comes last.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from tightrope.engine import compact, endless, endless_epochs, endless_states, endless_tiles
from tightrope.engine.episode import DOUBLED, Settings
from tightrope.engine.growing import GrowingTables
from tightrope.learners import worlds
from tightrope.problems.tables import Floats

MOST_SEGMENTS = 512


class EndlessPlayer:
    """One run of Algorithm 1 on growing tables.

    Parameters
    ----------
    most_states: how many states may be known, all steps together; None for no limit.
    most_segments: how many segments the compact policy may have before the lightest are folded.
    """

    def __init__(
        self,
        settings: Settings,
        n_actions: int,
        dim: int,
        horizon: int,
        budgets: Floats,
        dtype: np.dtype,
        most_states: int | None = None,
        most_segments: int = MOST_SEGMENTS,
    ):
        self.settings, self.budgets = settings, budgets
        self.most_states, self.most_segments = most_states, most_segments
        self.tables = GrowingTables(n_actions, dim, horizon, len(budgets), dtype)
        self.episodes = self.epoch_start = self.epochs = self.mixing_from = 0
        self.updates = 0
        self.folded = 0.0
        self.factor_of = 0  # the epoch whose factor the last segment has
        self.estimates = np.zeros(1 + len(budgets))

    # ---- reading ---------------------------------------------------------------------------------------------------

    @property
    def world(self) -> endless_tiles.EndlessWorld:
        return self.tables.world

    @property
    def full(self) -> bool:
        return self.most_states is not None and int(self.world.n_known.sum()) >= self.most_states

    @property
    def blocks(self) -> Blocks:
        """What turns features into what the kernels take."""
        return Blocks(self.tables.n_actions, self.tables.dim, self.tables.padded, self.tables.dtype)

    def block(self, features: Floats) -> Floats:
        """[A, D] from features [A, d]."""
        return self.blocks(features)

    def log_policy(self, h: int, block: Floats) -> Floats:
        """[A], the largest 0, from the compact parameters alone."""
        logits = np.empty(len(block))
        compact.log_policy(self.tables.segments, self.settings, h, block, logits)
        return logits

    def policy(self, h: int, block: Floats) -> Floats:
        """[A], from the compact parameters alone."""
        policy = np.exp(self.log_policy(h, block))
        return policy / policy.sum()

    def norms(self, h: int, block: Floats) -> tuple[Floats, Floats]:
        """[A] and [A]: the length of the features in this epoch's norm, and the contraction."""
        norms = np.linalg.norm(block @ self.world.factor[h].T, axis=1)
        exponent = np.minimum(self.settings.beta_w * norms - self.settings.offset, 700.0)
        return norms, 1.0 / (1.0 + np.exp(exponent))

    def segments_copy(self) -> compact.Segments:
        """The parameters of the policy of now, for somebody else."""
        return compact.Segments(*(part.copy() for part in self.tables.segments))

    def policy_digest(self, start: int) -> int:
        """32 bits of the parameters of the policy of now."""
        segments, (n, e) = self.tables.segments, self.tables.segments.count
        for part in (
            segments.theta[:n],
            segments.beta[:n],
            segments.weights[:n],
            segments.epoch[:n],
            segments.factors[:e],
        ):
            start = zlib.crc32(part.tobytes(), start)
        return start

    def nearest(self, h: int, block: Floats) -> tuple[int, float]:
        """The known state of step h with the nearest features, and how far it is; -1 when none is known."""
        place, square = endless_states.nearest(self.world, h, block)
        return int(place), float(np.sqrt(square))

    def find(self, h: int, block: Floats) -> int:
        """The place of a known state, or -1."""
        return endless_states.find(self.world, h, block, _fingerprint(block))

    def read(self, h: int, place: int) -> Floats:
        """[4, A]: log-policy, policy, contraction and bonus of a known state."""
        tables = np.empty((4, self.tables.n_actions))
        endless_states.read(self.world, h, place, tables)
        return tables

    # ---- an episode ------------------------------------------------------------------------------------------------

    @property
    def epoch_is_due(self) -> bool:
        return self.epochs == 0 or bool((self.world.growth >= DOUBLED).any())

    def begin(self) -> None:
        """Lines 2 to 7."""
        if not self.epoch_is_due:
            return
        forget = self.epochs == 0 or not self.settings.warm
        if forget:
            self.mixing_from = self.updates
            self.tables.segments.count[:] = 0
            self.folded = 0.0
            self.factor_of = 0
        self.epoch_start = self.updates
        self.epochs += 1
        with self._threads():
            endless_epochs.begin_epoch(self.world, self.settings, forget)

    def meet(self, h: int, block: Floats) -> tuple[int, Floats]:
        """A state of step h: its place, -1 where there is no room for it, and its policy [A]. It is known from now on."""
        welcome = not self.full
        if welcome:
            self.tables.make_room(h)
        told, tables = (block, _fingerprint(block), welcome), np.empty((2, len(block)))
        place = endless_states.meet(self.world, self.tables.segments, self.settings, h, *told, tables)
        return int(place), tables[1]

    def book(self, violation: Floats, squares: Floats) -> None:
        """What episodes cost beyond the budgets [m], and its squares; before `learn`, which may want to win it back."""
        self.world.ledger[0] += violation
        self.world.ledger[1] += squares

    def learn(self, loss: Floats, blocks: Floats, policies: Floats, shares: Floats) -> None:
        """Lines 11 to 27: loss [H, d]; features [B, A, D], policies [B, A] and shares [B] of the first states."""
        mixes = (self.updates - self.mixing_from) % self.settings.mixing_period == 0
        theta = self.settings.theta if mixes else 0.0
        if self.factor_of != self.epochs or theta > 0.0:
            if self.tables.segments.count[0] >= self.most_segments:
                # No action's exponent moves by more than what is folded; after normalising that is twice as much at most.
                self.folded += 2.0 * self.tables.fold()
            self.tables.new_segment(theta, self.factor_of != self.epochs)
            self.factor_of = self.epochs
        played = (loss, theta, blocks, policies, shares, self.estimates)
        with self._threads():
            endless.learn(self.world, self.tables.segments, self.settings, self.budgets, *played)
        self.updates += 1

    def absorb(self, rows: Floats, places: np.ndarray, costs: Floats) -> None:
        """Line 12 for one episode of n steps: rows [n, d], places [n] of the states they led to (-1: none), costs [n, m]."""
        endless.absorb(self.world, rows, places, costs)
        self.episodes += 1

    def absorb_sums(self, gram: Floats, cost_sums: Floats, episodes: int) -> None:
        """The same for many episodes at once: gram [H, d, d] and cost sums [H, m, d] are added."""
        world = self.world
        before = np.linalg.slogdet(world.gram)[1]
        world.gram[...] += gram
        world.growth[...] *= np.exp(np.linalg.slogdet(world.gram)[1] - before)
        world.inverse[...] = np.linalg.inv(world.gram)
        world.cost_sums[...] += cost_sums
        self.episodes += episodes

    def add_sum(self, h: int, place: int, row: Floats) -> None:
        """The features [D] that led to a known state of step h."""
        endless_tiles.add_sum(self.world, h, place, row)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        numbers = int(self.world.n_known.max()) * self.tables.n_actions * self.tables.padded
        with worlds.threads_if(numbers >= worlds.THREADS_FROM, self.world.threads):
            yield


def ready_kernels(settings: Settings, dtype: np.dtype) -> None:
    """Have every kernel compiled, or loaded from disk, before somebody waits for a decision: an episode of one state.

    The forms compiled depend on the kinds of numbers in settings and tables, not on sizes.
    """
    player = EndlessPlayer(settings, 1, 1, 2, np.ones(1), dtype)
    block = player.block(np.zeros((1, 1)))
    player.begin()
    place, policy = player.meet(0, block)
    player.tables.make_room(1)
    for ask in (player.find, player.nearest, player.log_policy):
        ask(0, block)
    player.read(0, place)
    endless_states.rehash(player.world.slots, player.world.slots.copy())
    player.learn(np.zeros((2, 1)), block[None], policy[None], np.ones(1))
    player.absorb(np.zeros((2, 1)), np.array([player.meet(1, block)[0], -1]), np.zeros((2, 1)))
    player.add_sum(1, 0, np.zeros(1))


@dataclass(frozen=True)
class Blocks:
    """Turns features [A, d] into what the kernels take: [A, D], rounded to what the tables can hold."""

    n_actions: int
    dim: int
    padded: int
    dtype: np.dtype

    def __call__(self, features: Floats) -> Floats:
        out = np.zeros((self.n_actions, self.padded))
        out[:, : self.dim] = features.astype(self.dtype)
        out += 0.0  # -0.0 and 0.0 are one number
        return out


def _fingerprint(block: Floats) -> np.uint64:
    return np.uint64(zlib.crc32(block.data))
