"""Who sets the losses, when somebody watches? Adversaries that know every policy up to the one that is about to play."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from tightrope.losses.profiles import read_profiles
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, frozen


class Adversary(abc.ABC):
    """Losses of one's own: a subclass says `next`, and may keep whatever it wants between episodes.

    A run starts with a call of `start`, so that one object can serve several runs; what `next` remembers belongs there.
    `about` says how the adversary was made, for the record of a run.
    """

    about: Mapping[str, Any] = MappingProxyType({})

    def start(self, cmdp: LinearCMDP, episodes: int) -> None:  # noqa: B027 (most adversaries have nothing to do here)
        """A run of so many episodes begins."""

    @abc.abstractmethod
    def next(self, k: int, policy: Floats) -> Floats:
        """The loss weights [H, d] of episode k (0-based), given the policy [H, S, A] that will play it.

        That policy depends only on earlier episodes, so an adversary that has seen all of them knows it (paper.tex,
        "Problem Setting": the losses of episode k may depend on the history).
        """


@dataclass(eq=False)
class BestResponse(Adversary):
    """Picks, every episode, the profile [H, d] under which the policy loses most; the first of equals.

    `simulate` runs it compiled; `next` is the same rule in Python. Values that differ by rounding alone count as different, so
    where two profiles are worth the same only on paper, the two may choose otherwise.
    """

    profiles: Floats  # [L, H, d]

    def __post_init__(self) -> None:
        self.profiles = frozen(read_profiles(self.profiles))
        self._cmdp: LinearCMDP | None = None

    def start(self, cmdp: LinearCMDP, episodes: int) -> None:
        self._cmdp = cmdp

    def next(self, k: int, policy: Floats) -> Floats:
        from tightrope.oracle.evaluation import feature_occupancy

        assert self._cmdp is not None, "start comes before next"
        mu = feature_occupancy(self._cmdp, policy)
        return self.profiles[int(np.argmax(np.einsum("lhd,hd->l", self.profiles, mu)))]
