"""Ghosh et al. 2024: the composite softmax with optimistic utilities and no safe policy; hard violation of order sqrt(K).

Paper: "Towards Achieving Sub-linear Regret and Hard Constraint Violation in Model-free RL" (2024); read from the
text of the public code of Kitamura et al. (2025), who compare with it. Settings and steps are those of `opse`, but
utilities are optimistic, there is no entropy in the value and no value of bonuses, and where even the largest multiplier is not
estimated to keep the limit it plays all the same.

Guaranteed by the paper: regret and hard violation of order sqrt(K), for losses that do not change.

Departures: those of `opse`, and its preset `practical`, in which kappa and rho are scaled; without that regret is linear.
There the bonus on rewards has width 2: nothing else makes it explore, and with 1 it was caught on `streaming` by an unlucky
first impression for 20,000 episodes, with two seeds of ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tightrope.learners.opse import Composite


@dataclass(frozen=True, kw_only=True)
class Ghosh2024(Composite):
    """Settings; see the preset `practical`."""

    name: ClassVar[str] = "ghosh2024"
    pessimistic: ClassVar[bool] = False
    exploring: ClassVar[float] = 2.0
