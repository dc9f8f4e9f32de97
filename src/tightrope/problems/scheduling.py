"""Job scheduling: jobs left in a stack, process or idle (paper.tex, appendix "Numerical Experiment").

States 0..9 count the jobs left, the first is 9. Processing (a = 1) removes two jobs with probability 0.8, one with 0.1,
none otherwise; idling (a = 0) removes none. The cost `1 - (s - s')/2` is observed after the step.
"""

from __future__ import annotations

import numpy as np

from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import between

JOBS, HORIZON = 10, 10


def stack_dynamics(states: int = JOBS, horizon: int = HORIZON) -> tuple[np.ndarray, np.ndarray]:
    """Transitions [S, A, S] and costs on transitions [H, S, A, S] of a stack of up to S - 1 jobs."""
    chances = np.zeros((states, 2, states))
    for s in range(states):
        chances[s, 0, s] = 1.0
        for removed, chance in ((2, 0.8), (1, 0.1), (0, 0.1)):
            chances[s, 1, max(s - removed, 0)] += chance
    left = np.arange(states)
    cost = 1.0 - (left[:, None] - left[None, :]) / 2.0
    cost = np.where(chances > 0, cost[:, None, :], 0.0)  # impossible transitions have no cost
    return chances, np.broadcast_to(cost, (horizon, states, 2, states))


def _action_losses(idle: float, process: np.ndarray) -> np.ndarray:
    """[H, S, A] from the loss of idling and the loss of processing at each step [H]."""
    table = np.empty((HORIZON, JOBS, 2))
    table[:, :, 0] = idle
    table[:, :, 1] = process[:, None]
    return table


def job_scheduling(budget: float = 5.6) -> LinearCMDP:
    """The paper's problem, ten jobs in a stack: idling loses 1, processing 0.2 but for a few dearer steps."""
    budget = between("budget", budget, 0.0, HORIZON)
    steps = np.arange(1, HORIZON + 1)  # the paper counts steps from 1
    first = np.where(np.isin(steps, (3, 4, 5, 6)), 0.55, 0.2)
    second = np.where(np.isin(steps, (4, 5, 6)), 0.6, 0.2)
    return _stack("job-scheduling", budget, [_action_losses(1.0, first), _action_losses(1.0, second)])


def priced_jobs(budget: float = 7.0) -> LinearCMDP:
    """Jobs where idling is free and processing costs the hour's price, so that loss and constraint pull apart.

    Profile 0 is dear in the first half and cheap in the second, profile 1 the other way round.
    """
    budget = between("budget", budget, 0.0, HORIZON)
    early = np.where(np.arange(HORIZON) < HORIZON // 2, 0.9, 0.1)
    return _stack("priced-jobs", budget, [_action_losses(0.0, early), _action_losses(0.0, early[::-1])])


def _stack(name: str, budget: float, profiles: list[np.ndarray]) -> LinearCMDP:
    """A full stack at the start, and loss profiles [H, S, A]."""
    chances, costs = stack_dynamics()
    return LinearCMDP.from_tables(
        chances, costs, [budget], JOBS - 1, losses=np.stack(profiles), name=name, parameters={"budget": budget}
    )
