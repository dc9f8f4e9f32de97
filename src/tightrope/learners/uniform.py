"""Uniform: every action with the same chance, whatever happens. What any learner should beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tightrope.learners.fixed_policy import FixedPlayer
from tightrope.learners.protocol import Sizes
from tightrope.learners.shared import NumberSettings, check_settings
from tightrope.problems.cmdp import LinearCMDP


@dataclass(frozen=True, kw_only=True)
class Uniform(NumberSettings):
    """It has no settings."""

    name: ClassVar[str] = "uniform"
    declared_rate: ClassVar[float | None] = None

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> Uniform:
        check_settings(cls, given)
        return cls()

    def start(self, cmdp: LinearCMDP, episodes: int) -> FixedPlayer:
        return FixedPlayer(np.full((cmdp.horizon, cmdp.n_states, cmdp.n_actions), 1.0 / cmdp.n_actions))
