"""How far apart are the actions? Differences of Q for the hindsight Lagrangian, where uniform play goes.

`L = f + sum_i lambda_i g_i` with the multipliers of the problem in hindsight (paper.tex, "Problem Setting", `pi*`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.oracle import occupancy, q_values
from tightrope.oracle.dynamic import greedy, lagrangian
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

TIE = 1e-9  # a smaller gap is none


@dataclass(frozen=True)
class Gaps:
    """In units of value."""

    middle: float  # the median gap between the best action and the next, by how often uniform play is there
    widest: float  # the largest difference between two actions of a state that uniform play meets


def action_gaps(cmdp: LinearCMDP, loss_weights: Floats, multipliers: Floats) -> Gaps | None:
    """None where no state has two actions that differ."""
    weights = lagrangian(cmdp, loss_weights, multipliers)
    actions, _ = greedy(cmdp, weights)
    policy = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))
    np.put_along_axis(policy, actions[:, :, None], 1.0, axis=2)
    q = np.sort(q_values(cmdp, policy, weights), axis=2)  # [H, S, A]
    visits = occupancy(cmdp, np.full(q.shape, 1.0 / cmdp.n_actions)).sum(axis=2)
    if cmdp.n_actions < 2:
        return None
    gap, spread = q[:, :, 1] - q[:, :, 0], q[:, :, -1] - q[:, :, 0]
    met = (visits > 0) & (gap > TIE)
    if not met.any():
        return None
    order = np.argsort(gap[met])
    weight = np.cumsum(visits[met][order])
    middle = gap[met][order][np.searchsorted(weight, weight[-1] / 2.0)]
    return Gaps(float(middle), float(spread[visits > 0].max()))
