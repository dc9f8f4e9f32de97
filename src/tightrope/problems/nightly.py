"""The nightly batch: jobs to be done before the morning, at electricity prices that change by the hour.

Each machine starts the night with `jobs` jobs and has `hours` hours. In an hour it runs (a = 1: two jobs done with
probability 0.8, one with 0.1) or waits (a = 0). Running loses the hour's price, scaled to [0, 1] (`losses.prices`); waiting is
free. The cost of an hour is `1 - (jobs done)/2`, seen when it is over, so a night's total is `hours - (jobs done)/2` and a
budget b leaves at most `jobs - 2 (hours - b)` jobs undone in the mean.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import all_of, between
from tightrope.problems.scheduling import stack_dynamics

RUN = 1  # the action that pays the hour's price
# Two price shapes for whoever brings none, as shares of a dear hour, stretched over the window: a summer night, dear in the
# evening, and a winter night, dear before dawn.
SUMMER = (0.90, 0.62, 0.45, 0.34, 0.28, 0.24, 0.22, 0.22, 0.25, 0.32)
WINTER = (0.45, 0.36, 0.30, 0.28, 0.28, 0.31, 0.38, 0.52, 0.78, 0.95)


def nightly_batch(budget: float = 7.0, jobs: int = 9, hours: int = 10) -> LinearCMDP:
    """One machine's night; by itself it comes with two price shapes, `losses.prices` brings those of a file."""
    sizes = all_of({"jobs": partial(whole, "jobs", jobs, 1), "hours": partial(whole, "hours", hours, 1)})
    jobs, hours = sizes["jobs"], sizes["hours"]
    budget = between("budget", budget, 0.0, hours)
    chances, costs = stack_dynamics(jobs + 1, hours)
    at = np.linspace(0.0, 1.0, hours)
    shapes = [np.interp(at, np.linspace(0.0, 1.0, len(shape)), shape) for shape in (SUMMER, WINTER)]
    losses = np.zeros((2, hours, jobs + 1, 2))
    for loss, shape in zip(losses, shapes):
        loss[:, :, RUN] = shape[:, None]
    return LinearCMDP.from_tables(
        chances,
        costs,
        [budget],
        jobs,
        losses=losses,
        name="nightly-batch",
        parameters={"budget": budget, "jobs": jobs, "hours": hours},
    )


def jobs_left(cmdp: LinearCMDP, cost: float) -> float:
    """How many jobs a night leaves undone whose total cost is `cost`."""
    return cmdp.n_states - 1 - 2.0 * (cmdp.horizon - cost)
