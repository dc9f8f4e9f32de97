"""Can these settings work on this problem, for this number of episodes? Said before anything runs.

Every finding has its number, the inequality behind it, a severity, and a remedy that is a concrete setting and says what
guarantee of the paper it gives up. What the ids mean stands in `docs/doctor.md`.
"""

from __future__ import annotations

from typing import Any

from tightrope import constants
from tightrope.errors import InputError
from tightrope.learners import PDPO, Learner, describe
from tightrope.oracle import slater
from tightrope.problems.cmdp import LinearCMDP
from tightrope.theory.agents import doctor_agent
from tightrope.theory.bound_checks import bound_checks, slater_checks
from tightrope.theory.case import Case, read_case
from tightrope.theory.dual_checks import dual_checks
from tightrope.theory.findings import Report, report
from tightrope.theory.primal_checks import primal_checks


def doctor(
    problem: Any, learner: Any = None, episodes: int | None = None, losses: Any = None, *, budgets: Any = None
) -> Report:
    """Judge settings on a problem, or an agent by its settings and its status.

    Parameters
    ----------
    problem: a `LinearCMDP`; `Sizes`, for a problem without a model; or an `Agent`, which brings settings and episodes.
    learner: `PDPO` with its settings; of any other learner only the problem's part is judged.
    losses: what `losses.make` returns; without them, the problem's own profiles and their mean.
    budgets: [m], where there is no model.
    """
    if hasattr(problem, "status") and hasattr(problem, "sizes"):
        if learner is not None:
            given = type(learner).__name__
            raise InputError(
                f"doctor: learner: {given}, wanted none: an Agent brings its own; doctor(agent, episodes=K)"
            )
        return doctor_agent(problem, episodes)
    if isinstance(problem, LinearCMDP) and isinstance(learner, Learner) and not isinstance(learner, PDPO):
        return _stranger(problem, learner)
    return judge(read_case(problem, learner, episodes, losses, budgets))


def _stranger(problem: LinearCMDP, learner: Learner) -> Report:
    """What can be said of a learner whose rules the paper does not analyse."""
    gamma = slater(problem).gamma
    told = {
        "learner": f"{describe(learner)['name']}, whose settings are not judged",
        "Slater's constant": f"{gamma:.4g}",
    }
    return report(list(slater_checks(gamma)), told, judged=False)


def judge(case: Case) -> Report:
    """All checks on one case."""
    findings = [*dual_checks(case), *primal_checks(case), *bound_checks(case)]
    return report(findings, facts(case))


def facts(case: Case) -> dict[str, str]:
    """What the findings rest on, in words."""
    told = {"episodes": f"{case.episodes:,}", "horizon": str(case.horizon)}
    told["budgets"] = ", ".join(f"{b:g}{case.outer(i, float(b))}" for i, b in enumerate(case.budgets))
    if case.cmdp is not None and case.cmdp.units is not None and case.cmdp.units.sentence:
        told["units"] = case.cmdp.units.sentence
    if case.slater is not None:
        told["Slater's constant"] = f"{case.slater:.4g}, exact, from the oracle"
    if case.multipliers is not None:
        told["multipliers in hindsight"] = ", ".join(f"{x:.3g}" for x in case.multipliers)
    if case.gaps is not None:
        told["action gaps"] = f"median {case.gaps.middle:.3g}, widest {case.gaps.widest:.3g}"
    if case.epochs is not None:
        most, longest = constants.epochs(case.numbers), case.epochs.max()
        told["epochs to be expected"] = (
            f"{len(case.epochs):,} (at most {most:,.0f}), the longest {longest:,.0f} episodes"
        )
    return told
