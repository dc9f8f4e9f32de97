"""Can the dual do its work? Whether it can leave zero, what budget it enforces, how long it takes, whether it gets there.

Algorithm 1, line 27: `Y <- max(0, (1 - dual_decay) Y + eta(V_g - b) - dual_drift)`. At a dual Y it rises only where
`V_g > b + dual_drift/eta + (dual_decay/eta) Y`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tightrope.theory.case import Case, which
from tightrope.theory.findings import Finding

ERROR_SLACK, WARNING_SLACK = 0.05, 0.005  # of H: an enforced budget that is this much larger than the real one
SLOW, SLUGGISH = 0.5, 0.1  # of the stretch that a dual lives for: the time it takes to reach lambda*
NO_DRIFT = (
    "dual_drift = 0.0 and dual_decay = 0.0; gives up the drift analysis (lem:lyap 1), and with it the bound on the dual "
    "(lem:Yk bound) and on the violation (thm:main)"
)


def dual_checks(case: Case) -> Iterator[Finding]:
    """Each constraint by itself."""
    for i in range(len(case.budgets)):
        if float(case.dearest[i]) <= case.budgets[i] + 1e-9:
            yield _nothing_to_do(case, i)
            continue
        inert = list(_inert(case, i))
        yield from inert
        yield from _effective(case, i)
        if not inert:
            yield from _reach(case, i)


def _nothing_to_do(case: Case, i: int) -> Finding:
    """A dual at zero is right where the budget cannot be exceeded."""
    b, dearest = float(case.budgets[i]), float(case.dearest[i])
    most = f"{dearest:.4g}{case.outer(i, dearest)}"
    return Finding(
        "dual-inert",
        "info",
        f"the dual{which(i, case.budgets)} has nothing to do: no policy costs more than {most}, so the budget "
        f"{b:g}{case.outer(i, b)} holds by itself",
        b - dearest,
        f"max V_g = {dearest:.4g} <= b = {b:g}",
        f"a budget below {most}, if it is to bind; gives up nothing",
    )


def _inert(case: Case, i: int) -> Iterator[Finding]:
    learner, b, H = case.learner, float(case.budgets[i]), case.horizon
    if learner.eta == 0:
        yield Finding(
            "dual-inert",
            "error",
            f"eta = 0: the dual{which(i, case.budgets)} never moves, and nothing enforces the budget {b:g}{case.outer(i, b)}",
            0.0,
            "eta > 0",
            f"eta = {64.0 / (H * math.sqrt(case.episodes)):.3g}; gives up nothing, the paper's dual has eta > 0",
        )
        return
    room, shift = H - b, learner.dual_drift / learner.eta
    dearest = float(case.dearest[i])
    if room > shift and dearest > b + shift:
        return
    what = (
        f"no episode costs more than H = {H}"
        if room <= shift
        else f"no policy costs more than {dearest:.4g}{case.outer(i, dearest)}"
    )
    yield Finding(
        "dual-inert",
        "error",
        f"the dual{which(i, case.budgets)} stays at 0, so the budget {b:g}{case.outer(i, b)} is never enforced: it rises only "
        f"for an episode that costs more than b + dual_drift/eta = {b + shift:,.4g}, and {what}",
        shift,
        f"H - b = {room:.4g} <= dual_drift/eta = {shift:,.4g}"
        if room <= shift
        else f"{dearest:.4g} <= {b + shift:.4g}",
        NO_DRIFT,
    )


def _effective(case: Case, i: int) -> Iterator[Finding]:
    learner, b, H = case.learner, float(case.budgets[i]), case.horizon
    if learner.eta == 0 or (learner.dual_drift == 0 and learner.dual_decay == 0):
        return
    known = case.multipliers is not None
    dual = 0.0 if case.multipliers is None else float(case.multipliers[i])
    enforced = b + learner.dual_drift / learner.eta + learner.dual_decay / learner.eta * dual
    slack = (enforced - b) / H
    if slack <= 1e-9:
        return
    severity = "error" if slack > ERROR_SLACK else "warning" if slack > WARNING_SLACK else "info"
    at = f"the multiplier of the problem in hindsight, Y = {dual:.3g}" if known else "Y = 0"
    beyond = f", more than any episode can cost (H = {H})" if enforced >= H else ""
    yield Finding(
        "budget-effective",
        severity,
        f"the budget that is enforced{which(i, case.budgets)} is {enforced:,.4g}{case.outer(i, enforced)} at {at}, not "
        f"{b:g}{case.outer(i, b)}{beyond}",
        enforced,
        f"b + dual_drift/eta + (dual_decay/eta) Y = {b:g} + {learner.dual_drift / learner.eta:,.4g} + "
        f"{learner.dual_decay / learner.eta:,.4g} * {dual:.3g} > b",
        NO_DRIFT,
    )


def _reach(case: Case, i: int) -> Iterator[Finding]:
    """How long from 0 to lambda*, and whether it can be reached at all."""
    if case.cmdp is None:
        yield from _reach_at_best(case, i)
    if case.multipliers is None or case.multipliers[i] <= 1e-9:
        return
    learner, b, wanted = case.learner, float(case.budgets[i]), float(case.multipliers[i])
    most = (
        learner.eta * (float(case.dearest[i]) - b + float(learner.largest_margin(case.budgets)[i])) - learner.dual_drift
    )
    ceiling = most / learner.dual_decay if learner.dual_decay > 0 else math.inf
    cap = getattr(learner, "dual_cap", None)
    ceiling = ceiling if cap is None else min(ceiling, cap)
    if ceiling < wanted:
        reason = "dual_cap" if cap is not None and cap <= ceiling else "(eta(max V_g - b) - dual_drift)/dual_decay"
        yield Finding(
            "dual-saturated",
            "error",
            f"the dual{which(i, case.budgets)} cannot pass {ceiling:.4g}, and the problem in hindsight needs {wanted:.4g}",
            ceiling,
            f"{reason} = {ceiling:.4g} < lambda* = {wanted:.4g}",
            NO_DRIFT if reason != "dual_cap" else f"dual_cap = {4 * wanted:.3g} or none; gives up nothing of the paper",
        )
        return
    careless = float(case.dearest[i]) if case.careless is None else float(case.careless[i])
    speed = learner.eta * ((careless if careless > b else float(case.dearest[i])) - b) - learner.dual_drift
    needed = _episodes_to(wanted, speed, learner.dual_decay)
    share = needed / case.stretch
    if share <= SLUGGISH:
        return
    life = "the whole run of" if case.warm else "an epoch of typically"
    eta = learner.eta * share / (SLUGGISH / 2.0)
    yield Finding(
        "dual-slow",
        "error" if share > SLOW else "warning",
        f"the dual{which(i, case.budgets)} needs {_count(needed)} episodes to reach the multiplier {wanted:.3g} of the problem "
        f"in hindsight, and lives for {life} {case.stretch:,.0f}",
        needed,
        f"lambda*/(eta(V_g - b) - dual_drift) = {_count(needed)} > {SLUGGISH:g} * {case.stretch:,.0f}",
        f"eta = {eta:.3g} (and {'' if case.warm else 'restart = warm, '}dual_drift = 0.0, dual_decay = 0.0); "
        "gives up eta = H^-2 K^-3/4 and with it the orders of terms (II) and (V) (lem:proj gd, lem:violation optimism)",
    )


def _reach_at_best(case: Case, i: int) -> Iterator[Finding]:
    """Without a model: how long until a cost counts as much as a loss (Y = 1), if every episode cost H."""
    learner, b, H = case.learner, float(case.budgets[i]), case.horizon
    needed = _episodes_to(1.0, learner.eta * (H - b) - learner.dual_drift, learner.dual_decay)
    if needed <= SLOW * case.stretch:
        return
    yield Finding(
        "dual-slow",
        "error" if needed > case.stretch else "warning",
        f"even if every episode cost H = {H}, the dual{which(i, case.budgets)} would need {_count(needed)} episodes until a "
        f"cost counts as much as a loss, and {case.life} {case.stretch:,.0f}",
        needed,
        f"1/(eta(H - b) - dual_drift) = {_count(needed)} > {SLOW:g} * {case.stretch:,.0f}",
        f"eta = {64.0 / (H * math.sqrt(case.episodes)):.3g}; "
        "gives up eta = H^-2 K^-3/4 and with it the orders of terms (II) and (V) (lem:proj gd, lem:violation optimism)",
    )


def _episodes_to(wanted: float, speed: float, decay: float) -> float:
    """Episodes of `Y <- (1 - decay) Y + speed` from 0 to `wanted`."""
    if speed <= 0:
        return math.inf
    if decay <= 0:
        return wanted / speed
    left = 1.0 - decay * wanted / speed
    if left <= 0:
        return math.inf
    return math.log(left) / math.log1p(-decay) if decay < 1 else 1.0


def _count(number: float) -> str:
    return "infinitely many" if math.isinf(number) else f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
