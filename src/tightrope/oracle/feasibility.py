"""Can the budgets be kept at all, and if not, which could be?"""

from __future__ import annotations

import math

import numpy as np

from tightrope.errors import InfeasibleError
from tightrope.oracle.dynamic import least_value
from tightrope.oracle.slater_policy import slater
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

ROUNDING = 1e-9  # a budget this little below the smallest feasible one is read as that one


def feasible_budgets(cmdp: LinearCMDP, budgets: Floats) -> Floats:
    """Return budgets [m] that some policy keeps, raised by no more than `ROUNDING`; raise `InfeasibleError` otherwise."""
    least = np.array([least_value(cmdp, cmdp.cost_weights[:, i]) for i in range(len(budgets))])
    if (least > budgets + ROUNDING).any():
        lines = [_alone(cmdp, i, b, c) for i, (b, c) in enumerate(zip(budgets, least)) if c > b + ROUNDING]
        raise InfeasibleError("; ".join(lines), least.tolist())
    if len(budgets) == 1:
        return np.maximum(budgets, least)
    excess = max(0.0, -slater(cmdp, budgets).gamma)
    if excess > ROUNDING:
        raised = budgets + excess
        given = ", ".join(f"{b:.9g}" for b in budgets)
        raise InfeasibleError(
            f"budgets: [{given}] can each be kept alone but not together; the smallest feasible budgets that are all raised "
            f"alike are [{', '.join(_up(b) for b in raised)}], {_up(excess)} more "
            f"(smallest alone: {', '.join(_up(c) for c in least)})",
            raised.tolist(),
        )
    return budgets + excess


def _alone(cmdp: LinearCMDP, i: int, budget: float, least: float) -> str:
    line = f"budgets[{i}]: {budget:.9g} is below the smallest feasible budget {_up(least)}"
    scale = None if cmdp.units is None else cmdp.units.costs[i]
    if scale is None or scale.plain:
        return line
    limit, most = (scale.total_outward(total, cmdp.horizon) for total in (budget, least))
    return f"limits[{i}]: {limit:.12g} is above the largest attainable total {_down(most, scale.width)} ({line})"


def _up(number: float) -> str:
    """Six decimals, rounded up, so that the number said is itself feasible."""
    return f"{math.ceil(number * 1e6 - 1e-3) / 1e6:.6f}"


def _down(total: float, width: float) -> str:
    """A total in the user's units, rounded down at the sixth digit of `width`, so that the number said can be attained."""
    decimals = max(0, 6 - math.floor(math.log10(width)))
    return f"{math.floor(total * 10.0**decimals + 1e-3) / 10.0**decimals:.{decimals}f}"
