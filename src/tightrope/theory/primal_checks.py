"""Can the policy do its work? Whether features open, whether epochs leave it time, and how far a step carries it.

Algorithm 1: contraction `sigma(-beta_w |phi|_{Lambda^{-1}} + offset)` (line 6), epochs (line 2), mixing (line 20), and the step
`pi <- pi exp(-alpha Q)` (line 25).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tightrope import constants
from tightrope.theory.case import Case
from tightrope.theory.findings import Finding
from tightrope.theory.outlook import episodes_to_open, share_closed

SHUT_ERROR, SHUT_WARNING = 0.5, 0.01  # share of the steps taken at features that are still closed
IDLE = 0.1  # mixing is idle when it acts in fewer than this share of the epochs
LOST_ERROR, LOST_WARNING = 0.5, 0.1  # share of the run that restarts cost
SLOW, SLUGGISH = 0.5, 0.2  # of the stretch that a policy lives for: the time it takes to move by one nat
JUMP_ERROR, JUMP_WARNING = 4.4, 2.0  # nats that one step moves: 4.4 takes odds of 9:1 to 1:9
WARM = (
    "restart = 'warm': policy and dual live on across epochs; gives up the policy class of lem:pol param (one Lambda a "
    "policy), on which the covering number (lem:cov V) and so E2 rest, and Y = 0 at every epoch's start (lem:Yk bound)"
)
OPEN = (
    "beta_b = 0.05 and beta_w = {beta_w:.3g}, with which a feature is open from its first visit; "
    "gives up the good event (lem:good event), so optimism (lem:optimism) no longer holds with probability 1 - delta"
)


def primal_checks(case: Case) -> Iterator[Finding]:
    frozen = list(_frozen(case))
    yield from frozen
    yield from _contraction(case, bool(frozen))
    yield from _mixing(case)
    yield from _epochs(case)
    yield from _steps(case)


def visits_to_open(case: Case) -> float:
    """Visits to a feature of length 1 until its contraction passes 1/2: `(beta_w/offset)^2 - 1`."""
    if case.offset <= 0:
        return math.inf if case.learner.beta_w > 0 else 0.0
    return max(0.0, (case.learner.beta_w / case.offset) ** 2 - 1.0)


def _frozen(case: Case) -> Iterator[Finding]:
    """`beta_w >= sqrt(1 + K) log K`: even a pair met in every episode stays closed."""
    longest = 1.0 if case.cmdp is None else float(case.cmdp.feature_table.norms().max())
    least = longest / math.sqrt(
        1.0 + case.episodes * longest**2
    )  # the smallest |phi| in the norm that K visits can give
    if case.learner.beta_w == 0 or case.learner.beta_w * least < case.offset:
        return
    limit = case.offset / least
    yield Finding(
        "policy-frozen",
        "error",
        f"the policy never leaves the uniform one: no feature opens within {case.episodes:,} episodes, "
        f"not even one that is met in each of them (it would take {visits_to_open(case):,.3g} visits)",
        case.learner.beta_w,
        f"beta_w = {case.learner.beta_w:,.4g} >= sqrt(1 + K) log K = {limit:,.4g}",
        OPEN.format(beta_w=0.05 * math.log(case.episodes)),
    )


def _contraction(case: Case, frozen: bool) -> Iterator[Finding]:
    visits = visits_to_open(case)
    if frozen or visits < 1.0:
        return
    share = None
    if case.growth is not None and case.learner.beta_w > 0:
        opening = episodes_to_open(case.growth, case.offset / case.learner.beta_w)
        share = share_closed(case.growth, opening, case.episodes)
    measured = min(1.0, visits / case.episodes) if share is None else share
    severity = "error" if measured > SHUT_ERROR else "warning" if measured > SHUT_WARNING else "info"
    where = "" if share is None else f"; under uniform play {100 * share:.3g}% of all steps are taken before that"
    yield Finding(
        "contraction-slow",
        severity,
        f"a feature is switched off until its {math.ceil(visits - 1e-9):,}th visit{where}",
        float(math.ceil(visits - 1e-9)),
        f"(beta_w/log K)^2 - 1 = ({case.learner.beta_w:.4g}/{case.offset:.4g})^2 - 1 = {visits:,.4g} visits",
        OPEN.format(beta_w=0.05 * math.log(max(case.episodes, 2))),
    )


def _mixing(case: Case) -> Iterator[Finding]:
    """Mixing a uniform policy does nothing, so it acts only in epochs that outlast the period."""
    learner, K = case.learner, case.episodes
    if learner.theta == 0:
        return
    period = learner.mixing_period
    if case.warm or case.epochs is None:
        acts, of, lengths = max(0, math.ceil(K / period) - 1), 1, f"the run has {K:,} episodes"
        share = float(acts)
    else:
        acts, of = int((case.epochs > period).sum()), len(case.epochs)
        lengths = f"the longest of some {of:,} epochs to be expected has {case.epochs.max():,.0f}"
        share = acts / of
    if share >= IDLE:
        return
    shorter = max(1, int(case.stretch // 8))
    yield Finding(
        "mixing-idle",
        "warning",
        f"mixing hardly acts: it comes every {period:,} episodes, and {lengths}; an epoch's first episode mixes the uniform "
        "policy, which changes nothing",
        share,
        f"epochs longer than mixing_period = {period:,}: {acts} of {of:,} expected, fewer than one in ten",
        f"mixing_period = {shorter:,}, which gives up mixings <= K^(1/4) and so the size of beta_p (lem:cov V); "
        f"or {WARM}",
    )


def _epochs(case: Case) -> Iterator[Finding]:
    """What restarts cost: the start of every epoch is spent on the way back from the uniform policy."""
    if case.warm or case.epochs is None or case.gaps is None or case.learner.alpha == 0:
        return
    back = 1.0 / (case.learner.alpha * case.gaps.middle)
    lost = float(np.minimum(case.epochs, back).sum()) / case.episodes
    if lost <= LOST_WARNING / 10:
        return
    bound = constants.epochs(case.numbers)
    severity = "error" if lost > LOST_ERROR else "warning" if lost > LOST_WARNING else "info"
    yield Finding(
        "epochs-short",
        severity,
        f"some {len(case.epochs):,} epochs are to be expected (at most {bound:,.0f}), half of them shorter than "
        f"{np.median(case.epochs):,.0f} episodes; each starts again from the uniform policy, and the way back takes some "
        f"{back:,.0f} episodes: {100 * lost:.3g}% of the run",
        lost,
        f"sum over epochs of min(length, 1/(alpha * gap)) = {lost * case.episodes:,.0f} of K = {case.episodes:,}",
        WARM,
    )


def _steps(case: Case) -> Iterator[Finding]:
    """How many episodes move the policy by one nat at the problem's action gaps; how far one episode carries it."""
    if case.cmdp is None:
        yield from _steps_at_best(case)
    if case.gaps is None:
        return
    alpha, gap = case.learner.alpha, case.gaps.middle
    needed = math.inf if alpha == 0 else 1.0 / (alpha * gap)
    share = needed / case.stretch
    if share > SLUGGISH:
        yield Finding(
            "step-slow",
            "error" if share > SLOW else "warning",
            f"the policy needs {needed:,.0f} episodes to move by one nat at the problem's action gap {gap:.3g}, "
            f"and {case.life} {case.stretch:,.0f}",
            needed,
            f"1/(alpha * gap) = {needed:,.4g} > {SLUGGISH:g} * {case.stretch:,.0f}",
            f"alpha = {20.0 / (gap * case.stretch):.3g}{'' if case.warm else ', or ' + WARM}; "
            "gives up alpha = H^-1 K^-3/4 and with it the order of term (III) (lem:omd with mixing)",
        )
    jump = alpha * gap
    if jump > JUMP_WARNING:
        yield Finding(
            "step-jumpy",
            "error" if jump > JUMP_ERROR else "warning",
            f"one episode moves the policy by {jump:.3g} nats at the problem's action gap {gap:.3g}"
            + (", enough to turn odds of 9:1 round" if jump > JUMP_ERROR else ""),
            jump,
            f"alpha * gap = {alpha:.3g} * {gap:.3g} = {jump:.3g} > {JUMP_WARNING:g}",
            f"alpha = {0.5 / gap:.3g}; gives up nothing: the paper's alpha = H^-1 K^-3/4 is smaller still",
        )


def _steps_at_best(case: Case) -> Iterator[Finding]:
    """Without a model: whether the policy could move at the largest gap that losses in [0, 1] can have."""
    alpha, H = case.learner.alpha, case.horizon
    needed = math.inf if alpha == 0 else 1.0 / (alpha * H)
    if needed <= SLOW * case.stretch:
        return
    yield Finding(
        "step-slow",
        "error",
        f"even at the largest gap that there can be, H = {H}, the policy needs {needed:,.0f} episodes to move by one nat, and "
        f"{case.life} {case.stretch:,.0f}",
        needed,
        f"1/(alpha * H) = {needed:,.4g} > {SLOW:g} * {case.stretch:,.0f}",
        f"alpha = {64.0 * math.sqrt(math.log(max(case.sizes.n_actions, 2))) / (H * math.sqrt(case.episodes)):.3g}; "
        "gives up alpha = H^-1 K^-3/4 and with it the order of term (III) (lem:omd with mixing)",
    )
