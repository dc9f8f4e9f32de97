"""What does learning save in a data centre? A year of nights, many machines, one policy a night, learnt between nights.

Every machine has its own batch and its own luck; all share the night's prices, which nobody knows before it is over. In the
evening they get one policy; in the morning the learner takes in all of them at once (a batch, which counts as one episode).
Money is what was paid at the real prices; the losses that the learner sees are scaled and clipped (`losses.prices`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope.learners.pdpo import PDPO
from tightrope.learners.protocol import Episode
from tightrope.losses.price_nights import Nights, PriceLosses
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.nightly import RUN, jobs_left, nightly_batch
from tightrope.problems.reading import between
from tightrope.problems.tables import Floats, Ints
from tightrope.studies.night_plans import AT_ONCE, BEST_FIXED, Ledger, ledgers

RESERVE = 0.0075  # of the budget; chosen on synthetic prices
PLAY_KEY = 1  # as in `simulation`
LEARNER = "learning (tightrope)"


@dataclass(frozen=True, eq=False)
class Study:
    """The learner's nights, and the plans that it is compared with, over the year and over its second half."""

    cmdp: LinearCMDP
    nights: Nights
    machines: int
    learner: Ledger
    year: list[Ledger]  # the four plans
    half: list[Ledger]
    dual: Floats  # [n] of each night

    @property
    def second(self) -> slice:
        """The second half of the nights."""
        return slice(len(self.nights.dates) // 2, None)


def nightly_batch_study(
    cmdp: LinearCMDP,
    losses: PriceLosses,
    machines: int = 200,
    seed: int = 0,
    learner: PDPO | None = None,
    reserve: float = RESERVE,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Let a learner (the practical preset by default) live through all nights, and compare.

    It plans with a share `reserve` less than the budget, so that the swings of a year as short as this stay within it.
    """
    assert losses.nights is not None
    n = losses.episodes
    nights = Nights(losses.nights.dates[:n], losses.nights.prices[:n], losses.nights.report)
    chosen = PDPO.practical(cmdp, n) if learner is None else learner
    budget = (1.0 - between("reserve", reserve, 0.0, 1.0)) * float(cmdp.budgets[0])
    player = chosen.start(nightly_batch(budget, cmdp.n_states - 1, cmdp.horizon), n)
    random = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, 0), spawn_key=(PLAY_KEY,)))
    machines = whole("machines", machines, 1)
    money, cost, dual = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        dual[k] = player.dual[0]
        states, actions = play(cmdp, player.policy(), machines, random)
        costs = 1.0 - (states[:, :-1] - states[:, 1:]) / 2.0
        money[k] = ((actions == RUN) * nights.prices[k]).sum() / machines
        cost[k] = costs.sum() / machines
        player.learn(Episode(k, states, actions, costs[:, :, None], losses.profiles[losses.sequence[k]]))
        if progress is not None:
            progress(k + 1, n)
    half = slice(n // 2, None)
    plans = ledgers(cmdp, nights, slice(0, n)), ledgers(cmdp, nights, half)
    return Study(cmdp, nights, machines, Ledger(LEARNER, money, cost), *plans, dual)


def play(cmdp: LinearCMDP, policy: Floats, machines: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """A night of all machines: states [B, H+1] and actions [B, H]."""
    states = np.empty((machines, cmdp.horizon + 1), np.int64)
    actions = np.empty((machines, cmdp.horizon), np.int64)
    states[:, 0] = _draw(np.broadcast_to(cmdp.initial_distribution, (machines, cmdp.n_states)), random)
    for h in range(cmdp.horizon):
        step: Any = cmdp.transitions(h)
        here = states[:, h]
        actions[:, h] = _draw(policy[h, here], random)
        states[:, h + 1] = _draw(step[here * cmdp.n_actions + actions[:, h]].toarray(), random)
    return states, actions


def _draw(chances: Floats, random: np.random.Generator) -> Ints:
    """One outcome a row of chances [B, n]."""
    reached = np.cumsum(chances, axis=1)
    return (random.random((len(chances), 1)) * reached[:, -1:] >= reached).sum(axis=1)


def findings(study: Study) -> dict[str, Any]:
    """The study's numbers: for each plan money a machine and night, jobs left, and the share of the gap that is closed."""
    cmdp, n = study.cmdp, len(study.nights.dates)
    found: dict[str, Any] = {
        "nights": n,
        "from": str(study.nights.dates[0]),
        "to": str(study.nights.dates[-1]),
        "machines": study.machines,
        "budget": float(cmdp.budgets[0]),
        "jobs": cmdp.n_states - 1,
        "jobs_left_allowed": jobs_left(cmdp, float(cmdp.budgets[0])),
        "report": list(study.nights.report),
    }
    for word, part, plans in (("year", slice(0, n), study.year), ("second_half", study.second, study.half)):
        mine = Ledger(LEARNER, study.learner.money[part], study.learner.cost[part])
        paid = {plan.name: float(plan.money.mean()) for plan in plans}
        dear, good = paid[AT_ONCE], paid[BEST_FIXED]
        rows = [_row(cmdp, plan, dear, good) for plan in [mine, *plans]]
        found[word] = {row["plan"]: row for row in rows}
    return found


def _row(cmdp: LinearCMDP, plan: Ledger, dear: float, good: float) -> dict[str, Any]:
    money, cost = float(plan.money.mean()), float(plan.cost.mean())
    return {
        "plan": plan.name,
        "money": money,
        "saved": 1.0 - money / dear if dear > 0 else None,
        "gap_closed": (dear - money) / (dear - good) if dear > good else None,
        "cost": cost,
        "jobs_left": jobs_left(cmdp, cost),
        "within_budget": cost <= float(cmdp.budgets[0]) + 1e-9,
    }


def first_sentence(found: dict[str, Any]) -> str:
    """What a reader wants: what share of the bill was saved, at what unfinished work."""
    mine = found["second_half"][LEARNER]
    saved = "no share" if mine["saved"] is None else f"{mine['saved']:.0%}"
    kept = "were allowed" if mine["within_budget"] else "were allowed: the budget was not kept"
    return (
        f"Learning night by night saved {saved} of the electricity bill of processing at once, with {mine['jobs_left']:.2f} of "
        f"{found['jobs']} jobs left undone a night, where {found['jobs_left_allowed']:.2f} {kept} "
        "(second half of the nights, once it had learnt)."
    )
