"""What does the main theorem say of this run, with all its constants? Its hypotheses, its bounds, Slater's constant."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tightrope import constants
from tightrope.learners.pdpo import PDPO
from tightrope.theory.case import Case
from tightrope.theory.findings import Finding

LARGEST_POWER = 120  # K = 10^120 is where the search for a K at which the bounds say something ends


def bound_checks(case: Case) -> Iterator[Finding]:
    yield from _hypotheses(case)
    yield from slater_checks(case.slater)
    yield from _bounds(case)


def _hypotheses(case: Case) -> Iterator[Finding]:
    gamma = math.nan if case.slater is None else case.slater
    broken = case.learner.unmet(case.sizes, case.episodes, gamma)
    if not broken:
        return
    yield Finding(
        "hypotheses",
        "info",
        f"the main theorem does not speak of these settings: {len(broken)} of its hypotheses fail",
        float(len(broken)),
        "; ".join(broken),
        "preset = 'theory' meets those that are settings; gives up nothing of the paper, but see what it does in practice",
    )


def slater_checks(gamma: float | None) -> Iterator[Finding]:
    """gamma is Slater's constant, None where it is not known."""
    if gamma is None:
        yield Finding(
            "slater-unknown",
            "info",
            "Slater's constant is not known without a model: whether the budgets leave any room, and how large the dual may "
            "grow, cannot be said",
            math.nan,
            "gamma > 0 with V_g(pi) + gamma <= b for some policy",
            "estimate it from a safe policy of your own: gamma >= b - (what that policy costs)",
        )
    elif gamma <= 1e-9:
        yield Finding(
            "slater-unknown",
            "error" if gamma < -1e-9 else "warning",
            f"Slater's condition fails: the policy with the most room leaves {gamma:.3g}, so the dual has no bound",
            gamma,
            f"gamma = max_pi min_i (b_i - V_gi(pi)) = {gamma:.3g} <= 0",
            "a larger budget; nothing is given up",
        )


def _bounds(case: Case) -> Iterator[Finding]:
    """The theorem at this K, with the theorem's own settings, against H K."""
    gamma = case.slater
    if gamma is None or gamma <= 0 or len(case.budgets) > 1:
        return
    numbers = theorem_numbers(case, case.episodes, gamma)
    trivial = float(case.horizon) * case.episodes
    regret, violation = raw_bounds(numbers)
    if max(regret, violation) < trivial:
        return
    first = first_episodes(case, gamma)
    when = "no K up to 10^120" if first is None else f"K = {_power(first)}"
    yield Finding(
        "bound-vacuous",
        "info",
        f"the main theorem's bounds, with all constants, are {_power(regret)} for regret and {_power(violation)} for "
        f"violation, and nothing can be worse than H K = {trivial:,.4g}; the first K at which both say anything is {when}",
        max(regret, violation) / trivial,
        f"max(regret bound, violation bound) = {_power(max(regret, violation))} >= H K = {trivial:,.4g} "
        f"(theory's settings, gamma = {gamma:.4g}, delta = {numbers.delta:g})",
        "no setting of this size makes them speak; judge by runs: `tightrope certify` and `tightrope rates`",
    )


def theorem_numbers(case: Case, episodes: int, gamma: float) -> constants.Numbers:
    """The theorem's own settings at another K."""
    return PDPO.theory(case.sizes, episodes).numbers(case.sizes, episodes, gamma)


def raw_bounds(n: constants.Numbers) -> tuple[float, float]:
    """The two bounds before they are capped at H K."""
    dual = constants.dual_bound(n)
    shared = constants.cost_of_optimism(n)
    regret = shared + constants.dual_term(n, dual) + constants.primal_term(n, dual)
    return regret, shared + constants.violation_term(n, dual)


def first_episodes(case: Case, gamma: float) -> int | None:
    """The smallest K, to three digits, from which both bounds are below H K."""

    def speaks(power: float) -> bool:
        episodes = int(10.0**power)
        numbers = theorem_numbers(case, episodes, gamma)
        return max(raw_bounds(numbers)) < case.horizon * float(episodes) and numbers.beta_w <= numbers.K

    low, high = 0.0, 1.0
    while high <= LARGEST_POWER and not speaks(high):
        low, high = high, 2.0 * high
    if high > LARGEST_POWER:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (low, middle) if speaks(middle) else (middle, high)
    return int(10.0**high)


def _power(number: float) -> str:
    if number < 1e6:
        return f"{number:,.4g}"
    power = math.floor(math.log10(number))
    return f"{number / 10.0**power:.2f}e{power}"
