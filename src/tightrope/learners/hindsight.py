"""Hindsight: the best feasible policy for the average loss of all episodes, played from the first. Its regret is 0.

It is the comparator of every run (paper.tex, "Problem Setting", the definition of `pi*`) made a player for tables and
figures. It knows the model and all losses beforehand: losses that react to it cannot be known, and are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tightrope.errors import InputError
from tightrope.learners.fixed_policy import FixedPlayer
from tightrope.learners.knowledge import need_model
from tightrope.learners.protocol import Sizes
from tightrope.learners.shared import NumberSettings, check_settings
from tightrope.losses.profiles import Profiles
from tightrope.oracle.best import best_policy
from tightrope.problems.cmdp import LinearCMDP


@dataclass(frozen=True, kw_only=True)
class Hindsight(NumberSettings):
    """It has no settings."""

    knowledge: str = "oracle"  # the model, and the losses of all episodes

    name: ClassVar[str] = "hindsight"
    declared_rate: ClassVar[float | None] = None

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> Hindsight:
        need_model(cls.name, cmdp, "the model and the losses")
        check_settings(cls, given)
        return cls(**given)

    def start(self, cmdp: LinearCMDP, episodes: int) -> FixedPlayer:
        raise InputError("learner: 'hindsight' needs to know the losses; run it with `simulate`")

    def start_knowing(self, cmdp: LinearCMDP, episodes: int, losses: Any) -> FixedPlayer:
        """Begin a run with losses that are settled beforehand."""
        if not isinstance(losses, Profiles):
            raise InputError(
                f"learner: 'hindsight' plays the best policy for losses settled beforehand; {type(losses).__name__} react"
            )
        return FixedPlayer(best_policy(cmdp, losses.mean(episodes)).policy)
