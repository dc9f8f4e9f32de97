"""What is the best policy under one budget, from dynamic programming alone? The multiplier by secants of the dual function.

The dual function of paper.tex's `pi*`, `D(lambda) = min_pi V_f(pi) + lambda (V_g(pi) - b)`, is concave and piecewise
linear: each deterministic policy is one line with slope `V_g - b`. Keep the best line known with positive slope (over
budget) and the best with slope at most zero; where they cross, D is below or equal to the crossing. Equal: the crossing
is the maximum, and the mixture of the two policies that spends exactly b is best. Below: the minimiser's line replaces
one of the two. Each round adds a line not seen before, so the search ends.
"""

from __future__ import annotations

import numpy as np

from tightrope.oracle.dynamic import Vertex, best_vertex, lagrangian, mix
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

ROUNDS = 500
LEVEL = 1e-12  # times H: how far over the budget a cost counts as on it; times 1 + lambda: how near to D a crossing meets it


def solve(cmdp: LinearCMDP, loss_weights: Floats, budgets: Floats) -> tuple[Floats, Floats] | None:
    """The policy [H, S, A] and multipliers [1], or None when even the least cost is over the budget."""
    budget = float(budgets[0])
    cost_weights = cmdp.cost_weights[:, 0]
    over = best_vertex(cmdp, loss_weights)
    level = LEVEL * cmdp.horizon
    if over.value(cost_weights) <= budget + level:
        return mix(cmdp, [over], np.ones(1)), np.zeros(1)
    under = best_vertex(cmdp, cost_weights)
    if under.value(cost_weights) > budget + level:
        return None
    for _ in range(ROUNDS):
        slope_over, slope_under = over.value(cost_weights) - budget, under.value(cost_weights) - budget
        multiplier = max(0.0, (under.value(loss_weights) - over.value(loss_weights)) / (slope_over - slope_under))
        found = best_vertex(cmdp, lagrangian(cmdp, loss_weights, np.array([multiplier])))
        slope = found.value(cost_weights) - budget
        crossing = over.value(loss_weights) + multiplier * slope_over
        if crossing - (found.value(loss_weights) + multiplier * slope) <= LEVEL * (1.0 + multiplier):
            break
        if slope > level:
            over = found
        else:
            under = found
    return _spend(cmdp, over, under, budget), np.array([multiplier])


def _spend(cmdp: LinearCMDP, over: Vertex, under: Vertex, budget: float) -> Floats:
    """The mixture of two vertices that costs exactly the budget."""
    dear, cheap = over.costs(cmdp)[0], under.costs(cmdp)[0]
    chance = float(np.clip((budget - cheap) / (dear - cheap), 0.0, 1.0))
    return mix(cmdp, [under, over], np.array([1.0 - chance, chance]))
