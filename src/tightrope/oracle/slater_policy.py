"""How much room do the budgets leave? Slater's constant `gamma = max_pi min_i (b_i - V_gi(pi))`.

paper.tex, Assumption "Slater Condition": some policy has `V_g + gamma <= b` with gamma > 0. One constraint needs one dynamic
programme; several need the mixture that is least over its budgets in the worst of them (`columns`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.oracle.certificate import Slater, judge_slater
from tightrope.oracle.dynamic import best_vertex, mix
from tightrope.oracle.reading import read_budgets
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats


def slater(cmdp: LinearCMDP, budgets: Any = None) -> Slater:
    """The policy that leaves the most room in the tightest budget; budgets [m] instead of the problem's own if given.

    `gamma <= 0` says that Slater's condition fails, `gamma < 0` that no policy keeps every budget.
    """
    wanted = read_budgets(cmdp, budgets)
    if len(wanted) == 1:
        vertex = best_vertex(cmdp, cmdp.cost_weights[:, 0])
        return judge_slater(cmdp, wanted, mix(cmdp, [vertex], np.ones(1)), np.ones(1))
    return judge_slater(cmdp, wanted, *_balanced(cmdp, wanted))


def _balanced(cmdp: LinearCMDP, budgets: Floats) -> tuple[Floats, Floats]:
    from tightrope.oracle.columns import Pool, least_excess  # HiGHS is loaded where it is needed

    pool = Pool(cmdp, np.zeros((cmdp.horizon, cmdp.dim)))
    found = least_excess(pool, budgets)
    return mix(cmdp, pool.vertices, found.chances), found.multipliers
