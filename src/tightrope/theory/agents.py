"""What can be said of an agent, which has no model? Its settings, and what its status shows so far.

Slater's constant, the multipliers in hindsight and the action gaps cannot be known here; where a check needs them, what could
at best be is taken instead (gaps of H, episodes that cost H). The lengths of epochs cannot be known either: they are taken from
the bound on their number (lem:cassel 8 num of epoch), and the finding says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tightrope.learners.protocol import Sizes
from tightrope.numbers_in import whole
from tightrope.theory.bound_checks import bound_checks, slater_checks
from tightrope.theory.case import Case, which
from tightrope.theory.dual_checks import dual_checks
from tightrope.theory.findings import Finding, Report, report
from tightrope.theory.primal_checks import OPEN, WARM, primal_checks, visits_to_open

ENOUGH = 100  # episodes from which a status says something
UNKNOWN = "Slater's constant, the multipliers in hindsight, the action gaps, the epochs to come"


def doctor_agent(agent: Any, episodes: int | None = None) -> Report:
    """Judge an agent by its settings and its status; episodes are those it was made for unless given."""
    status, sizes = agent.status(), agent.sizes
    planned = round(math.exp(min(agent.settings.offset, 300.0)))  # the offset of line 6 is log K
    count = max(planned, status.episodes, 1) if episodes is None else whole("episodes", episodes, least=1)
    m = len(agent.budgets)
    case = Case(agent.learner, Sizes(sizes.n_actions, sizes.horizon, sizes.dim or 1, m), agent.budgets, count)
    bounds = bound_checks(case) if sizes.dim else slater_checks(None)
    findings = [*dual_checks(case), *primal_checks(case), *_seen(case, status), *bounds]
    facts = {"episodes": f"{status.episodes:,} of {count:,}", "cannot be known without a model": UNKNOWN}
    facts |= {"status": str(status).splitlines()[0]}
    return report(findings, facts)


def _seen(case: Case, status: Any) -> Iterator[Finding]:
    """What the episodes so far show."""
    if status.episodes < ENOUGH:
        return
    yield from _dual_seen(case, status)
    yield from _visits_seen(case, status)
    yield from _mixing_seen(case, status)


def _dual_seen(case: Case, status: Any) -> Iterator[Finding]:
    k = status.episodes
    for i, (over, dual) in enumerate(zip(status.violation, status.dual)):
        if dual == 0 and over / k > 0.01 * case.horizon:
            yield Finding(
                "dual-inert",
                "warning",
                f"after {k:,} episodes {over / k:.3g} an episode{which(i, case.budgets)} was paid beyond the budget "
                f"{case.budgets[i]:g}, and the dual is 0",
                float(over / k),
                f"running violation {over:,.4g} over {k:,} episodes, Y = 0",
                f"eta = {64.0 / (case.horizon * math.sqrt(case.episodes)):.3g}, dual_drift = 0.0, dual_decay = 0.0, and a "
                "smaller beta_b if costs are underestimated; gives up the drift analysis (lem:lyap 1) and the good event",
            )


def _visits_seen(case: Case, status: Any) -> Iterator[Finding]:
    """How often a known state and action has been met on average, against the visits that open a feature."""
    wanted = visits_to_open(case)
    known = int(np.max(status.known_states)) * case.sizes.n_actions
    met = status.episodes / max(known, 1)
    if wanted >= 1.0 and met < wanted:
        yield Finding(
            "contraction-slow",
            "warning",
            f"{known:,} pairs of known states and actions at a step have been met {met:.3g} times on average, and a feature "
            f"that they do not share is switched off until its {math.ceil(wanted - 1e-9):,}th visit",
            met,
            f"episodes/(known states * A) = {met:.3g} < (beta_w/log K)^2 - 1 = {wanted:.4g}",
            OPEN.format(beta_w=0.05 * math.log(max(case.episodes, 2))),
        )


def _mixing_seen(case: Case, status: Any) -> Iterator[Finding]:
    length, period = status.episodes / max(status.epoch, 1), case.learner.mixing_period
    if not case.warm and case.learner.theta > 0 and length < period / 4.0:
        yield Finding(
            "mixing-idle",
            "warning",
            f"mixing hardly acts: it comes every {period:,} episodes, and the {status.epoch:,} epochs so far lasted "
            f"{length:,.3g} episodes on average",
            length,
            f"episodes/epochs = {length:,.3g} < mixing_period = {period:,}",
            WARM,
        )
