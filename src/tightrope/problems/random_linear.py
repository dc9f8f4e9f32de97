"""Random linear CMDPs: features and measures drawn from Dirichlet(0.1), weights uniform, scaled to maximum 1."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import all_of, between, shown
from tightrope.problems.tables import features_from_dense


def random_linear(
    n_states: int = 20,
    n_actions: int = 4,
    dim: int = 6,
    horizon: int = 6,
    constraints: int = 1,
    budget: float | list[float] | None = None,
    seed: int = 0,
) -> LinearCMDP:
    """A random problem with dense features, of any size and with any number of constraints.

    Features are points of a simplex, measures are distributions, so every mixture of them is a distribution. Without a
    `budget` each constraint gets one half-way between what it costs under the policy that is best for the sum of all costs
    and what it costs under uniform play, so that all can be kept together.
    """
    given = {"n_states": n_states, "n_actions": n_actions, "dim": dim, "horizon": horizon, "constraints": constraints}
    readers: dict[str, Any] = {name: partial(whole, name, value, 1) for name, value in given.items()}
    sizes = all_of(readers | {"seed": partial(whole, "seed", seed, 0)})
    n_states, n_actions, dim, horizon, constraints, seed = sizes.values()
    wanted = None if budget is None else _read_budgets(budget, constraints, horizon)
    random = np.random.default_rng(np.random.SeedSequence(seed))
    features = features_from_dense(_simplex(random, (n_states, n_actions), dim))
    kernel = _simplex(random, (horizon, dim), n_states)
    weights = random.uniform(size=(constraints + 2, horizon, dim))
    for row in (
        weights
    ):  # scaled so that the largest value is 1, or a norm sqrt(d) where few features would let it grow beyond
        row /= max(features.apply(row).max(), np.linalg.norm(row, axis=1).max() / np.sqrt(dim))
    cost_weights, profiles = weights[:constraints].swapaxes(0, 1), weights[constraints:]
    budgets = _default_budgets(features, kernel, cost_weights) if wanted is None else wanted
    return LinearCMDP(
        features,
        kernel,
        cost_weights,
        budgets,
        0,
        loss_profiles=profiles,
        name="random-linear",
        parameters=sizes | {"budget": budgets},
    )


def _read_budgets(given: Any, constraints: int, horizon: int) -> list[float]:
    """One budget for all constraints, or one for each."""
    if not isinstance(given, list | tuple | np.ndarray) or np.ndim(given) == 0:
        return [between("budget", given, 0.0, horizon)] * constraints
    if len(given) != constraints:
        raise InputError(f"budget: {shown(given)}, wanted a number or a list of {constraints}, one for each constraint")
    names = [f"budget[{i}]" for i in range(constraints)]
    return list(all_of({name: partial(between, name, b, 0.0, horizon) for name, b in zip(names, given)}).values())


def _simplex(random: np.random.Generator, lead: tuple[int, ...], size: int) -> np.ndarray:
    """Dirichlet(0.1) rows; their sums are made 1 to the last digit."""
    rows = random.dirichlet(np.full(size, 0.1), size=lead)
    return rows / rows.sum(axis=-1, keepdims=True)


def _default_budgets(features, kernel: np.ndarray, cost_weights: np.ndarray) -> list[float]:
    """Half-way between the cost of the policy that is greedy for the sum of the costs and the cost of uniform play."""
    horizon, m, _ = cost_weights.shape
    n_states = kernel.shape[2]
    least, uniform = np.zeros((m, n_states)), np.zeros((m, n_states))
    for h in range(horizon - 1, -1, -1):
        q = features.apply(cost_weights[h] + least @ kernel[h].T)  # [m, S, A]
        best = q.sum(axis=0).argmin(axis=1)
        least = np.take_along_axis(q, best[None, :, None], axis=2)[:, :, 0]
        uniform = features.apply(cost_weights[h] + uniform @ kernel[h].T).mean(axis=2)
    return [float(x) for x in (least[:, 0] + uniform[:, 0]) / 2.0]
