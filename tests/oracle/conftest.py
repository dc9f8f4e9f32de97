"""Random problems of every size and kind, drawn from a seed, with budgets that bind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tightrope as tr


def random_tables(seed: int, m: int = 1, states: int = 5, actions: int = 3, horizon: int = 4) -> tr.LinearCMDP:
    """One-hot features; a third of the transitions impossible; budgets between the least costs and those of uniform play."""
    random = np.random.default_rng(seed)
    chances = random.dirichlet(np.ones(states), (horizon, states, actions)) * (
        random.random((horizon, states, actions, states)) > 1 / 3
    )
    chances[..., 0] += 0.05
    chances /= chances.sum(axis=-1, keepdims=True)
    costs, losses = random.random((m, horizon, states, actions)), random.random((2, horizon, states, actions))
    start = random.dirichlet(np.ones(states))
    loose = tr.LinearCMDP.from_tables(chances, costs if m > 1 else costs[0], [horizon] * m, start, losses=losses)
    return with_budgets(loose, random.uniform(0.15, 0.6))


def with_budgets(cmdp: tr.LinearCMDP, share: float) -> tr.LinearCMDP:
    """The same problem with budgets that far from the costs of the most cautious policy to those of uniform play."""
    low = tr.oracle.slater(cmdp).costs
    uniform = np.full((cmdp.horizon, cmdp.n_states, cmdp.n_actions), 1 / cmdp.n_actions)
    even = np.array([tr.oracle.start_value(cmdp, uniform, w) for w in cmdp.cost_weights.swapaxes(0, 1)])
    return tr.LinearCMDP(
        cmdp.feature_table,
        cmdp.kernel_table,
        cmdp.cost_weights,
        low + share * (even - low),
        cmdp.initial_distribution,
        loss_profiles=cmdp.loss_profiles,
    )


def random_dense(seed: int, m: int = 1) -> tr.LinearCMDP:
    return tr.problems.make("random-linear", n_states=12, n_actions=3, dim=5, horizon=4, constraints=m, seed=seed)


@pytest.fixture
def tables() -> Callable[..., tr.LinearCMDP]:
    return random_tables


@pytest.fixture(params=["tables", "dense"])
def draw(request) -> Callable[..., tr.LinearCMDP]:
    """A maker of random problems (seed, m), of each kind of features."""
    return random_tables if request.param == "tables" else random_dense


@pytest.fixture
def two_ways() -> tr.LinearCMDP:
    """One state, H = 4: the first action loses 1 and costs nothing, the second loses nothing and costs 1; budget 1.5."""
    costs, losses = np.zeros((4, 1, 2)), np.zeros((1, 4, 1, 2))
    costs[:, :, 1], losses[:, :, :, 0] = 1.0, 1.0
    return tr.LinearCMDP.from_tables(np.ones((1, 2, 1)), costs, [1.5], losses=losses)
