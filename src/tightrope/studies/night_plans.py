"""What else could one do every night? Four plans to compare with, each as a policy [H, S, A] for every night, valued exactly.

`always`: process at once, until no job is left. `cheapest`: run in the hours that were cheapest in the last seven nights, as
many as are needed to keep the budget. `best_fixed`: the one policy that would have been cheapest over the whole period, of
those that keep the budget; known only in hindsight. `clairvoyant`: the cheapest policy of each night, with its prices
known beforehand and the budget kept every night; nobody can have it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.losses.price_nights import Nights, night_weights
from tightrope.oracle.best import best_policy
from tightrope.oracle.certificate import policy_costs
from tightrope.oracle.evaluation import feature_occupancy
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.nightly import RUN
from tightrope.problems.tables import Floats

WEEK = 7
AT_ONCE, BEST_FIXED = "process at once", "best fixed, hindsight"


@dataclass(frozen=True, eq=False)
class Ledger:
    """What a plan paid and left, night by night; of one machine, in the mean."""

    name: str
    money: Floats  # [n]
    cost: Floats  # [n], what counts against the budget


def always(cmdp: LinearCMDP) -> Floats:
    """Run while there are jobs."""
    policy = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))
    policy[:, 1:, RUN] = 1.0
    policy[:, 0, 0] = 1.0
    return policy


def in_hours(cmdp: LinearCMDP, hours: np.ndarray) -> Floats:
    """Run in these hours [H] (booleans) while there are jobs."""
    policy = always(cmdp)
    policy[~hours] = 0.0
    policy[~hours, :, 0] = 1.0
    return policy


def cheapest(cmdp: LinearCMDP, prices: Floats) -> list[Floats]:
    """For each night [n], the policy that runs in last week's cheapest hours; the first night knows no prices."""
    plans = []
    for night in range(len(prices)):
        seen = prices[max(0, night - WEEK) : night].mean(axis=0) if night else np.zeros(cmdp.horizon)
        plans.append(_fewest(cmdp, np.argsort(seen, kind="stable")))
    return plans


def _fewest(cmdp: LinearCMDP, order: np.ndarray) -> Floats:
    """Run in the first hours of the order, as few as keep the budget."""
    for n in range(cmdp.horizon + 1):
        policy = in_hours(cmdp, np.isin(np.arange(cmdp.horizon), order[:n]))
        if (policy_costs(cmdp, policy) <= cmdp.budgets).all():
            return policy
    return always(cmdp)


def ledgers(cmdp: LinearCMDP, nights: Nights, part: slice) -> list[Ledger]:
    """All four over a part of the nights."""
    prices = nights.prices
    weights = night_weights(cmdp, prices)
    n = len(prices)
    fixed = np.asarray(best_policy(cmdp, weights[part].mean(axis=0)).policy)
    plans = {
        AT_ONCE: [always(cmdp)] * n,
        "last week's cheapest": cheapest(cmdp, prices),
        BEST_FIXED: [fixed] * n,
        "hourly clairvoyant": [np.asarray(best_policy(cmdp, weights[i]).policy) for i in range(n)[part]],
    }
    return [_valued(cmdp, name, plan[-len(range(n)[part]) :], weights[part]) for name, plan in plans.items()]


def _valued(cmdp: LinearCMDP, name: str, policies: list[Floats], weights: Floats) -> Ledger:
    money, cost = np.empty(len(weights)), np.empty(len(weights))
    last, mu = None, np.zeros((cmdp.horizon, cmdp.dim))
    for i, policy in enumerate(policies):
        if policy is not last:
            last, mu = policy, feature_occupancy(cmdp, policy)
        money[i] = float(np.vdot(weights[i], mu))
        cost[i] = float(np.vdot(cmdp.cost_weights[:, 0], mu))
    return Ledger(name, money, cost)
