"""Is the answer right? Two exact values that must meet, whatever solver the answer came from.

Weak duality (paper.tex, "Problem Setting", the definition of `pi*`): for every feasible policy and every lambda >= 0,

    V_f(policy)  >=  min_pi V_f(pi) + lambda . V_g(pi)  -  lambda . b,

the right side by dynamic programming. Where both agree, policy and multipliers are both optimal. Nothing that a
solver reports about itself is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.errors import CertificateError
from tightrope.oracle.dynamic import lagrangian, least_value
from tightrope.oracle.evaluation import feature_occupancy, start_value
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, frozen

TOLERANCE = 1e-8  # largest gap and largest excess over a budget, in units of an episode's value


@dataclass(frozen=True, eq=False)
class BestPolicy:
    """The best feasible policy, with the multipliers that prove it."""

    value: float  # V_f of the policy
    policy: Floats  # [H, S, A]
    costs: Floats  # [m], V_g of the policy
    multipliers: Floats  # [m], lambda >= 0
    gap: float  # |V_f - dual bound|
    residual: float  # largest excess of a cost over its budget, or 0
    method: str  # "lp", "bisection" or "columns"

    @property
    def certified(self) -> bool:
        return self.gap <= TOLERANCE and self.residual <= TOLERANCE


@dataclass(frozen=True, eq=False)
class Slater:
    """The policy with the most room below the budgets, with the weights that prove it."""

    gamma: float  # min_i b_i - V_gi of the policy; not positive when Slater's condition fails
    policy: Floats  # [H, S, A]
    costs: Floats  # [m]
    multipliers: Floats  # [m], y >= 0 with sum 1
    gap: float  # |gamma - (y . b - min over policies of y . V_g)|


def judge(
    cmdp: LinearCMDP,
    loss_weights: Floats,
    budgets: Floats,
    policy: Floats,
    multipliers: Floats,
    method: str,
    meant: Floats | None = None,
) -> BestPolicy:
    """Value, costs, gap and residual of a policy; `meant` [m] are the budgets of the dual bound where rounding raised them."""
    value = start_value(cmdp, policy, loss_weights)
    costs = policy_costs(cmdp, policy)
    bound = least_value(cmdp, lagrangian(cmdp, loss_weights, multipliers))
    bound -= float(multipliers @ (budgets if meant is None else meant))
    residual = max(0.0, float((costs - budgets).max()))
    return BestPolicy(value, frozen(policy), frozen(costs), frozen(multipliers), abs(value - bound), residual, method)


def insist(answer: BestPolicy) -> BestPolicy:
    """Return the answer if it is certified, else raise."""
    if not answer.certified:
        raise CertificateError(
            f"best policy by {answer.method!r}: duality gap {answer.gap:.3g} and excess over a budget {answer.residual:.3g}, "
            f"wanted both at most {TOLERANCE:g}"
        )
    return answer


def judge_slater(cmdp: LinearCMDP, budgets: Floats, policy: Floats, multipliers: Floats) -> Slater:
    """The room a policy leaves, and its certificate; raises where the two sides do not meet."""
    costs = policy_costs(cmdp, policy)
    gamma = float((budgets - costs).min())
    least = least_value(cmdp, lagrangian(cmdp, np.zeros((cmdp.horizon, cmdp.dim)), multipliers))
    gap = abs(float(multipliers @ budgets) - least - gamma)
    if gap > TOLERANCE:
        raise CertificateError(f"Slater's constant {gamma:.9g}: duality gap {gap:.3g}, wanted at most {TOLERANCE:g}")
    return Slater(gamma, frozen(policy), frozen(costs), frozen(multipliers), gap)


def policy_costs(cmdp: LinearCMDP, policy: Floats) -> Floats:
    """V_g of a policy, [m], in one pass forwards."""
    return np.einsum("hid,hd->i", cmdp.cost_weights, feature_occupancy(cmdp, policy))
