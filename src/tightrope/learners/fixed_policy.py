"""What does a learner do that does not learn? It plays one policy: the uniform one, or the best in hindsight."""

from __future__ import annotations

from dataclasses import dataclass

from tightrope.learners.protocol import Episode
from tightrope.problems.tables import Floats


@dataclass(eq=False)
class FixedPlayer:
    """One run of a policy [H, S, A] that stays."""

    shown: Floats

    def policy(self) -> Floats:
        return self.shown

    def learn(self, episode: Episode) -> None:
        pass
