"""The machine hall: one machine, three budgets at once (work left, peak power, wear).

The machine has `jobs` jobs to do in `hours` hours; the state is how many are left and whether it ran in the last hour. It rests
(a = 0), runs (a = 1: one job done with probability 0.9) or runs at full power (a = 2: two with 0.7, one with 0.2). Energy costs
the hour's price times the power, 0, 0.5 and 1, which is the loss; two price profiles, dear early, and cheap in the hours 3 to
6. Costs, each with its budget:

0  work left: the share of the jobs that is still there at the end of each hour, so late work costs more than early work;
1  peak power: the power drawn in the hours 3 to 6, when the building is at its limit;
2  wear: 0.6 for a start from rest, and 0.4 for every hour at full power.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import all_of, between, shown

POWER = (0.0, 0.5, 1.0)
DONE = (((0, 1.0),), ((1, 0.9), (0, 0.1)), ((2, 0.7), (1, 0.2), (0, 0.1)))  # (jobs done, probability) of each action
BUDGETS = (3.5, 0.9, 1.3)  # all bind under the mean of both prices, and all can be kept together
PEAK = (3, 4, 5, 6)  # hours, counted from 1
START, FULL = 0.6, 0.4


def machine_hall(budget: Any = BUDGETS, jobs: int = 6, hours: int = 8) -> LinearCMDP:
    """Three budgets: for work left, peak power and wear, in this order."""
    sizes = all_of({"jobs": partial(whole, "jobs", jobs, 1), "hours": partial(whole, "hours", hours, 2)})
    jobs, hours = sizes["jobs"], sizes["hours"]
    budgets = _budgets(budget, hours)
    chances, costs = _dynamics(jobs, hours)
    at = np.arange(1, hours + 1)
    losses = np.zeros((2, hours, 2 * (jobs + 1), 3))
    for loss, cheap in zip(losses, (at > hours // 2, np.isin(at, PEAK))):
        loss[:] = np.where(cheap, 0.2, 0.9)[:, None, None] * np.array(POWER)
    return LinearCMDP.from_tables(
        chances,
        costs,
        budgets,
        2 * jobs,
        losses=losses,
        name="machine-hall",
        parameters={"budget": budgets, "jobs": jobs, "hours": hours},
    )


def _budgets(given: Any, hours: int) -> list[float]:
    if not isinstance(given, list | tuple | np.ndarray) or np.ndim(given) != 1 or len(given) != len(BUDGETS):
        raise InputError(f"budget: {shown(given)}, wanted three numbers, for work left, peak power and wear")
    readers = {f"budget[{i}]": partial(between, f"budget[{i}]", b, 0.0, hours) for i, b in enumerate(given)}
    return list(all_of(readers).values())


def _dynamics(jobs: int, hours: int) -> tuple[np.ndarray, np.ndarray]:
    """Transitions [S, A, S] and costs [3, H, S, A], state 2 * (jobs left) + (1 if it ran in the last hour)."""
    n_states = 2 * (jobs + 1)
    chances = np.zeros((n_states, 3, n_states))
    costs = np.zeros((3, hours, n_states, 3))
    peak = np.isin(np.arange(1, hours + 1), PEAK)
    for s in range(n_states):
        left, ran = divmod(s, 2)
        for a, outcomes in enumerate(DONE):
            for done, chance in outcomes:
                after = max(left - done, 0)
                chances[s, a, 2 * after + (a > 0)] += chance
                costs[0, :, s, a] += chance * after / jobs
            costs[1, :, s, a] = POWER[a] * peak
            costs[2, :, s, a] = START * (a > 0 and not ran) + FULL * (a == 2)
    return chances, costs
