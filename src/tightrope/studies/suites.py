"""What is a preset tuned on, and what is it judged by? Two suites of problems times losses that share no problem.

`TRAINING` is for trying settings out; `CONFIRMING` is run to judge the settings once chosen, and nothing is ever chosen by it.
Budgets bind in all of them. One-hot and dense features, one constraint and three; losses that alternate, drift, switch
every sqrt(K) episodes, and answer the policy that is about to play.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from tightrope import losses as _losses
from tightrope import problems
from tightrope.problems.cmdp import LinearCMDP

LOSSES = ("alternating", "drift", "switching", "best-response")
EPISODES = (3_000, 10_000, 30_000, 100_000, 300_000)


@dataclass(frozen=True)
class Task:
    """A problem by name; `random-tables` is the suite's own, the others are the gallery's."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        told = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.name}({told})"

    def make(self) -> LinearCMDP:
        if self.name == "random-tables":
            return random_tables(**self.parameters)
        return problems.make(self.name, **self.parameters)


TRAINING = (
    Task("priced-jobs", {"budget": 7.0}),
    Task("streaming", {"budget": 1.6}),
    Task("random-tables", {"seed": 1, "n_states": 8, "n_actions": 3, "horizon": 6}),
    Task("random-tables", {"seed": 2, "n_states": 6, "n_actions": 2, "horizon": 8, "constraints": 3}),
    Task("machine-hall", {"budget": [3.5, 0.9, 1.3]}),
    Task("random-linear", {"seed": 0}),
    Task("random-linear", {"seed": 2, "n_actions": 3, "dim": 8, "horizon": 5, "constraints": 3}),
)
CONFIRMING = (
    Task("priced-jobs", {"budget": 6.4}),
    Task("nightly-batch", {"budget": 7.2, "jobs": 7, "hours": 8}),
    Task("streaming", {"seed": 5, "budget": 1.4}),
    Task("random-tables", {"seed": 11, "n_states": 10, "n_actions": 4, "horizon": 5}),
    Task("random-tables", {"seed": 12, "n_states": 7, "n_actions": 3, "horizon": 7, "constraints": 3}),
    Task("machine-hall", {"budget": [3.2, 1.1, 1.4], "jobs": 5}),
    Task("random-linear", {"seed": 11, "n_states": 30, "n_actions": 3, "dim": 7, "horizon": 8}),
    Task("random-linear", {"seed": 12, "n_states": 25, "n_actions": 5, "dim": 9, "horizon": 4, "constraints": 3}),
)
SUITES = {"training": TRAINING, "confirming": CONFIRMING}


def make_losses(kind: str, cmdp: LinearCMDP, episodes: int, seed: int) -> _losses.Losses:
    """Losses of a suite; those that switch do so every sqrt(K) episodes."""
    more = {"period": math.ceil(math.sqrt(episodes))} if kind == "switching" else {}
    return _losses.make(kind, cmdp, episodes, seed, **more)


@cache
def random_tables(
    seed: int, n_states: int = 8, n_actions: int = 3, horizon: int = 6, constraints: int = 1
) -> LinearCMDP:
    """A random one-hot problem: transitions Dirichlet(0.3), losses and costs against each other, so that budgets bind.

    A budget lies 40% of the way from the least total cost to the one of the policy that is best for the mean loss; with
    several constraints from the cost of the policy that is best for their sum.
    """
    from tightrope.oracle.best import best_policy
    from tightrope.oracle.certificate import policy_costs

    random = np.random.default_rng(np.random.SeedSequence(seed))
    chances = random.dirichlet(np.full(n_states, 0.3), size=(horizon, n_states, n_actions))
    chances /= chances.sum(axis=-1, keepdims=True)
    costs = random.uniform(size=(constraints, horizon, n_states, n_actions))
    profiles = 0.5 * random.uniform(size=(2, horizon, n_states, n_actions)) + 0.5 * (1.0 - costs.mean(axis=0))
    loose = np.full(constraints, float(horizon))
    free = LinearCMDP.from_tables(chances, costs, loose, 0, losses=profiles)
    assert free.loss_profiles is not None
    greedy = best_policy(free, free.loss_profiles.mean(axis=0)).costs
    least = policy_costs(free, best_policy(free, free.cost_weights.mean(axis=1)).policy)
    budgets = np.where(greedy > least, least + 0.4 * (greedy - least), least + 0.2)
    return LinearCMDP.from_tables(chances, costs, budgets, 0, losses=profiles, name="random-tables")
