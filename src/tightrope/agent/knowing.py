"""Which states does an agent know? Each is entered in the tables when first met, or given a stand-in where they are full."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tightrope.agent import reading
from tightrope.agent.losses import LossReader
from tightrope.agent.play import Playing
from tightrope.engine.episode import Settings
from tightrope.errors import InputError
from tightrope.learners.endless import EndlessPlayer
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats


class Knowing(Playing):
    """Plays with tables of known states behind it."""

    def __init__(
        self,
        features: Callable[[Any], Any],
        sizes: reading.Sizes,
        seed: int,
        settings: Settings,
        budgets: Floats,
        options: dict[str, Any],
    ):
        super().__init__(features, sizes, seed)
        self.settings, self.budgets, self.options = settings, budgets, options
        self._player: EndlessPlayer | None = None
        self._losses = LossReader(self.sizes)
        self._turned_away, self._farthest = 0, 0.0

    def _ready(self, dim: int | None = None) -> EndlessPlayer:
        """The player, made as soon as d is known."""
        if self._player is None:
            d = self.sizes.dim or dim
            if d is None:
                raise InputError(
                    "the agent has seen no state and does not know the size of the features; give it dim=d"
                )
            self.sizes.dim = d
            s, options = self.sizes, self.options
            limits = (options["max_states"], options["max_segments"])
            dtype = np.dtype(options["dtype"])
            try:
                self._player = EndlessPlayer(self.settings, s.n_actions, d, s.horizon, self.budgets, dtype, *limits)
            except MemoryError:
                numbers = 8e-9 * s.horizon * d * d
                raise InputError(
                    f"features: d = {d:,}; at H = {s.horizon} each of the gram matrices, their inverses and their factors "
                    f"takes {numbers:,.1f} GB, more than there is: wanted fewer features"
                ) from None
        return self._player

    def _look(self, h: Any, obs: Any) -> tuple[EndlessPlayer, Floats]:
        """Before anything is said of a state of step h."""
        reading.read_step(h, self.sizes.horizon)
        features = reading.read_features(self.features, obs, self.sizes)
        player = self._ready(features.shape[1])
        player.begin()
        return player, player.block(features)

    def _meet(self, h: int, features: Floats, obs: Any) -> tuple[Floats, int, Floats]:
        player = self._ready(features.shape[1])
        block = player.block(features)
        self._welcome(h, block, obs)
        if h == 0:
            player.begin()
        place, policy = self._enter(h, block)
        self._losses.sample(h, block, obs)
        return block, place, policy

    def _welcome(self, h: int, block: Floats, obs: Any) -> None:
        """Refuse a new state where full tables do."""
        player = self._ready()
        if self.options["when_full"] == "refuse" and player.full and player.find(h, block) < 0:
            most = self.options["max_states"]
            raise InputError(
                f"max_states: all {most:,} states are known, and the one of step {h} ({shown(obs)}) is new"
            )

    def _enter(self, h: int, block: Floats) -> tuple[int, Floats]:
        """The place and the policy [A] of a state, known from now on; where there is no room, the place of the nearest."""
        player = self._ready()
        place, policy = player.meet(h, block)
        if place < 0:
            place, distance = player.nearest(h, block)
            if self._turned_away == 0:
                warnings.warn(
                    f"max_states: all {self.options['max_states']:,} states are known; what leads to new ones is entered "
                    "for the nearest known ones from now on (status() goes on telling)",
                    stacklevel=2,
                )
            self._turned_away += 1
            self._farthest = max(self._farthest, distance)
        return place, policy
