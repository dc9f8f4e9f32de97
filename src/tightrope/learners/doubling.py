"""What if nobody knows how many episodes there will be? Settings for 1,000 episodes, then for 2,000, 4,000, 8,000, ...

Episode k (from 0) is played with the settings of the smallest `1,000 * 2^j` above k. Data and dual live on when they change.
So does the policy, but by the new step: its logarithm, a sum of steps times estimates, is multiplied by the ratio of the
steps, as if the new one had been taken from the beginning. Otherwise early episodes, whose steps were large, would
outweigh what the losses have become since, and the regret against drifting losses would grow with K. (Forgetting all at each
doubling, the textbook's way, is what a proof would need; nothing is proved of these settings either way.)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from tightrope.engine.episode import Options, Record
from tightrope.learners.compiled import CompiledPlayer
from tightrope.learners.pdpo import PDPO
from tightrope.learners.protocol import Episode, Sizes, read_sizes
from tightrope.problems.cmdp import LinearCMDP

FIRST = 1000  # episodes that the first settings are for


@dataclass(frozen=True)
class Doubling:
    """The practical preset without a number of episodes; what `PDPO.practical(cmdp, None)` gives."""

    sizes: Sizes
    overrides: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    name = "pdpo"

    def settings_at(self, k: int) -> PDPO:
        """The settings of episode k, counted from 0."""
        return PDPO.practical(self.sizes, horizon_at(k), **self.overrides)

    def describe(self) -> dict[str, Any]:
        """Name and settings, for the record of a run."""
        return {"name": self.name, "preset": "practical", "episodes": f"doubling from {FIRST}", **self.overrides}

    def start(self, cmdp: LinearCMDP, episodes: int) -> DoublingPlayer:
        """Begin a run; of `episodes` nothing is used but the room that they may need."""
        return DoublingPlayer(self, cmdp, episodes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Doubling, (self.sizes, dict(self.overrides))


def doubling(cmdp: LinearCMDP | Sizes, overrides: dict[str, Any]) -> Doubling:
    """The learner, its overrides checked."""
    cmdp = read_sizes(cmdp)
    made = Doubling(Sizes(cmdp.n_actions, cmdp.horizon, cmdp.dim, cmdp.n_constraints), MappingProxyType(overrides))
    made.settings_at(0)
    return made


def horizon_at(k: int) -> int:
    """The number of episodes that the settings of episode k are for."""
    return FIRST << max(0, (k // FIRST).bit_length())


class DoublingPlayer(CompiledPlayer):
    """A run whose settings change at 1,000, 2,000, 4,000, ... episodes."""

    def __init__(self, learner: Doubling, cmdp: LinearCMDP, episodes: int):
        super().__init__(learner.settings_at(0).rules(FIRST), cmdp, episodes)
        self.learner = learner

    def learn(self, episode: Episode) -> None:
        self._settle()
        super().learn(episode)

    def _begin(self) -> None:
        self._settle()
        super()._begin()

    def run(
        self, model: Any, tally: Any, profiles: Any, sequence: Any, uniforms: Any, options: Options, record: Record
    ):
        """Stretches of one setting, one after the other; see `CompiledPlayer.run`."""
        done = int(self.state.counters[0])
        for first, end in _stretches(done, len(sequence)):
            self._settle()
            rows = slice(first, end)
            part = Record(*(x[rows] for x in record))
            super().run(model, tally, profiles, sequence[rows], uniforms[rows], options, part)

    def _settle(self) -> None:
        """Take the settings of the episode that comes."""
        k, before = int(self.state.counters[0]), self.settings.alpha
        self.settings = self.learner.settings_at(k).rules(horizon_at(k)).settings(self.horizon)
        if self.settings.alpha != before and before > 0.0:
            logits, policy = self.state.logits, self.state.policy
            logits *= self.settings.alpha / before
            np.exp(logits, out=policy)  # the largest logit of a state is 0
            policy /= policy.sum(axis=0)


def _stretches(done: int, n: int) -> Iterator[tuple[int, int]]:
    """Parts of n coming episodes that have one setting each."""
    changes = [k - done for k in itertools.takewhile(lambda k: k < done + n, _changes()) if k > done]
    yield from itertools.pairwise([0, *changes, n])


def _changes() -> Iterator[int]:
    """The episodes at which settings change."""
    return (FIRST << j for j in itertools.count())
