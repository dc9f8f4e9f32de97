"""What is to be judged? A problem, or its sizes alone; the settings; the number of episodes; and the facts that follow.

Facts come from the oracle where there is a model: the multipliers of the problem in hindsight, Slater's constant, action gaps,
the counts to come. Without a model they are None, and the checks that need them say what cannot be known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tightrope import constants
from tightrope.errors import InputError
from tightrope.learners.pdpo import PDPO
from tightrope.learners.protocol import Sizes
from tightrope.losses import Adversary, BestResponse, Profiles
from tightrope.losses.profiles import fit
from tightrope.numbers_in import whole
from tightrope.oracle import best_policy, slater, start_value
from tightrope.oracle.dynamic import least_value
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats
from tightrope.theory import gaps, outlook

LARGE = 2_000_000  # numbers in features or kernel from which the counts to come are not worked out


@dataclass(frozen=True, eq=False)
class Case:
    """One learner on one problem for so many episodes."""

    learner: PDPO
    sizes: LinearCMDP | Sizes
    budgets: Floats  # [m]
    episodes: int
    losses: Any = None

    @property
    def cmdp(self) -> LinearCMDP | None:
        return self.sizes if isinstance(self.sizes, LinearCMDP) else None

    @property
    def horizon(self) -> int:
        return self.sizes.horizon

    def outer(self, i: int, total: float) -> str:
        """A cost total of an episode in the user's own units, in words; empty where they are ours."""
        units = None if self.cmdp is None else self.cmdp.units
        return "" if units is None else units.limit(i, total, self.horizon)

    @property
    def warm(self) -> bool:
        return self.learner.restart == "warm"

    @cached_property
    def offset(self) -> float:
        given = self.learner.contraction_offset
        return math.log(self.episodes) if given is None else given

    @cached_property
    def numbers(self) -> constants.Numbers:
        gamma = math.nan if self.slater is None else self.slater
        return self.learner.numbers(self.sizes, self.episodes, gamma)

    @cached_property
    def slater(self) -> float | None:
        return None if self.cmdp is None else slater(self.cmdp).gamma

    @cached_property
    def mean_losses(self) -> list[Floats]:
        """The average losses [H, d] that the hindsight problem may have; several where the losses are not settled."""
        if self.cmdp is None:
            return []
        if isinstance(self.losses, Profiles):
            return [self.losses.mean(min(self.episodes, self.losses.episodes))]
        profiles = self.losses.profiles if isinstance(self.losses, BestResponse) else self.cmdp.loss_profiles
        if profiles is None:
            return []
        return [np.mean(profiles, axis=0), *profiles]

    @cached_property
    def hindsight(self) -> tuple[Floats, Floats] | None:
        """Average losses [H, d] and their multipliers [m]: those whose largest multiplier is largest."""
        if self.cmdp is None:
            return None
        found = [(weights, np.asarray(best_policy(self.cmdp, weights).multipliers)) for weights in self.mean_losses]
        return max(found, key=lambda pair: float(pair[1].max()), default=None)

    @property
    def multipliers(self) -> Floats | None:
        """[m], lambda* of the problem in hindsight."""
        return None if self.hindsight is None else self.hindsight[1]

    @cached_property
    def dearest(self) -> Floats:
        """[m]: what an episode can cost at most; H without a model."""
        cmdp = self.cmdp
        if cmdp is None:
            return np.full(len(self.budgets), float(self.horizon))
        return np.array([-least_value(cmdp, -cmdp.cost_weights[:, i]) for i in range(cmdp.n_constraints)])

    @cached_property
    def careless(self) -> Floats | None:
        """[m]: what the policy of least loss costs, towards which a learner goes while its dual is low."""
        if self.cmdp is None or self.hindsight is None:
            return None
        from tightrope.oracle.dynamic import greedy

        cmdp, (weights, _) = self.cmdp, self.hindsight
        policy = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))
        np.put_along_axis(policy, greedy(cmdp, weights)[0][:, :, None], 1.0, axis=2)
        return np.array([start_value(cmdp, policy, cmdp.cost_weights[:, i]) for i in range(cmdp.n_constraints)])

    @cached_property
    def gaps(self) -> gaps.Gaps | None:
        if self.cmdp is None or self.hindsight is None:
            return None
        return gaps.action_gaps(self.cmdp, *self.hindsight)

    @cached_property
    def growth(self) -> outlook.Growth | None:
        cmdp = self.cmdp
        dense = cmdp is not None and cmdp.feature_table.shape[2] < np.prod(cmdp.feature_table.shape[:2])
        if cmdp is None or (dense and cmdp.n_states * cmdp.n_actions * cmdp.dim > LARGE):
            return None
        return outlook.growth(cmdp)

    @cached_property
    def epochs(self) -> Floats | None:
        """[E], the lengths of the epochs to be expected."""
        return None if self.growth is None else outlook.epoch_lengths(self.growth, self.episodes)

    @cached_property
    def stretch(self) -> float:
        """How long policy and dual live on average, seen from an episode: the run with warm restarts, else its epoch."""
        if self.warm:
            return float(self.episodes)
        if self.epochs is None:
            return self.episodes / max(1.0, constants.epochs(self.numbers)) * 2.0
        return float((self.epochs**2).sum() / self.epochs.sum())

    @property
    def life(self) -> str:
        """What `stretch` is, in words before the number."""
        if self.warm:
            return "the run has"
        return "an epoch has typically" if self.epochs is not None else "an epoch, with as many as there may be, has"


def read_case(problem: Any, learner: Any, episodes: Any, losses: Any = None, budgets: Any = None) -> Case:
    """Check what was given; budgets [m] are those of the problem unless it is given by its sizes alone."""
    if not isinstance(problem, LinearCMDP | Sizes):
        raise InputError(f"doctor: {type(problem).__name__}, wanted a LinearCMDP, Sizes or an Agent")
    if not isinstance(learner, PDPO):
        raise InputError(f"doctor: learner {type(learner).__name__}, wanted PDPO with its settings")
    count = whole("episodes", episodes, least=1)
    _check_losses(problem, losses)
    if isinstance(problem, LinearCMDP):
        budgets = problem.budgets
    elif budgets is None:
        raise InputError("doctor: budgets: missing; wanted one for each constraint, where there is no model")
    try:
        given = np.atleast_1d(np.asarray(budgets, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"doctor: budgets: {budgets!r}, wanted {problem.n_constraints} numbers") from None
    if given.shape != (problem.n_constraints,):
        raise InputError(f"doctor: budgets: shape {given.shape}, wanted [m] = ({problem.n_constraints},)")
    if not ((given >= 0) & (given <= problem.horizon)).all():
        raise InputError(f"doctor: budgets: {given.tolist()}, wanted numbers in [0, H] = [0, {problem.horizon}]")
    return Case(learner, problem, given, count, losses)


def _check_losses(problem: LinearCMDP | Sizes, losses: Any) -> None:
    """Those that a run would take."""
    if losses is None:
        return
    if not isinstance(losses, Profiles | Adversary):
        raise InputError(
            f"doctor: losses: {type(losses).__name__}, wanted Profiles, an Adversary or what losses.make returns"
        )
    if isinstance(losses, Profiles | BestResponse) and isinstance(problem, LinearCMDP):
        fit(problem, losses.profiles, "doctor: losses: profiles")


def which(i: int, budgets: Sequence[float] | Floats) -> str:
    """How a constraint is named in a finding: not at all where there is one."""
    return "" if len(budgets) == 1 else f" of constraint {i}"
