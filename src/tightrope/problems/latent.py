"""A level between 0 and 1 that never repeats, and is linear to the last digit: features are the weights of latent points.

paper.tex, "Problem Setting": a linear MDP. The level x has the Bernstein polynomials `B_z(x) = C(n, z) x^z (1-x)^(n-z)`, which
are not negative and sum to 1, as its weights on n + 1 latent points; `phi(x, a) = e_a (x) B(x)` is a point of a simplex, so its
length is at most 1. From latent point z under action a the next level is drawn from a Beta distribution of its own, so the next
level's distribution is `sum_z B_z(x) beta_(a,z)`: linear in phi, exactly. The cost is the level itself, which Bernstein
polynomials give back exactly: `sum_z B_z(x) z/n = x`. The loss is the hour's price times the effort of the action.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from tightrope.errors import InputError
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.environments import CostedEnv, LossSequence
from tightrope.problems.reading import all_of, between, read_observation, shown
from tightrope.problems.tables import Floats

EFFORTS = np.array([0.0, 0.5, 1.0])  # of idling, working, working fast
SPEED = 0.3  # by which full effort lowers the level, on average
INFLOW = 0.04  # by which it rises without
CONCENTRATION = 30.0  # of the Beta distributions: the larger, the less noise
FIRST = (0.6, 1.0)  # levels that episodes begin at


class LatentLevels:
    """The problem itself: features, weights, and how levels move."""

    def __init__(self, degree: int, horizon: int, budget: float):
        self.degree, self.horizon, self.budgets = degree, horizon, np.array([budget])
        self.size, self.n_actions = degree + 1, len(EFFORTS)
        self.dim = self.n_actions * self.size
        self._binomials = np.array([math.comb(degree, z) for z in range(self.size)], dtype=float)
        points = np.arange(self.size) / degree
        self.cost_weights = np.broadcast_to(np.tile(points, self.n_actions), (horizon, 1, self.dim)).copy()  # [H, 1, d]
        early = np.where(np.arange(horizon) < horizon // 2, 0.9, 0.1)  # dear hours first, or last
        effort = np.repeat(EFFORTS, self.size)
        self.loss_profiles = np.stack([np.outer(prices, effort) for prices in (early, early[::-1])])  # [2, H, d]
        mean = np.clip(points[None, :] + INFLOW - SPEED * EFFORTS[:, None], 0.02, 0.98).ravel()
        self.shapes = CONCENTRATION * mean, CONCENTRATION * (1.0 - mean)  # of the Beta distributions, each [d]

    def weights_of(self, level: Any) -> Floats:
        """[..., n+1], the Bernstein polynomials."""
        x = np.asarray(level, dtype=float)[..., None]
        z = np.arange(self.size)
        return self._binomials * x**z * (1.0 - x) ** (self.degree - z)

    def __call__(self, obs: Any) -> Floats:
        """The feature map: [A, d] of a level."""
        x = read_observation(obs)
        if x.shape != (1,) or not 0.0 <= x[0] <= 1.0:
            raise InputError(f"observation: {shown(obs)}, wanted a level in [0, 1]")
        out = np.zeros((self.n_actions, self.dim))
        weights = self.weights_of(x[0])
        for a in range(self.n_actions):
            out[a, a * self.size : (a + 1) * self.size] = weights
        return out

    def next_level(self, random: np.random.Generator, level: float, action: int) -> float:
        """A latent point by its weight, then the level from its distribution."""
        weights = self.weights_of(level)
        j = action * self.size + int(random.choice(self.size, p=weights / weights.sum()))
        return float(random.beta(self.shapes[0][j], self.shapes[1][j]))

    def on_grid(self, points: int = 200) -> LinearCMDP:
        """The same with so many levels, a linear CMDP too: each stands for its cell, whose chances are exact.

        As the grid gets finer its optimum comes near that of the endless problem, so it says what would have been best.
        """
        from scipy.stats import beta

        n = whole("points", points, 2)
        edges = np.linspace(0.0, 1.0, n + 1)
        levels = (edges[:-1] + edges[1:]) / 2.0
        features = np.zeros((n, self.n_actions, self.dim))
        for a in range(self.n_actions):
            features[:, a, a * self.size : (a + 1) * self.size] = self.weights_of(levels)
        chances = np.diff(beta.cdf(edges[None, :], self.shapes[0][:, None], self.shapes[1][:, None]), axis=1)  # [d, n]
        chances /= chances.sum(axis=1, keepdims=True)
        start = np.clip(np.minimum(edges[1:], FIRST[1]) - np.maximum(edges[:-1], FIRST[0]), 0.0, None)
        kernel = np.broadcast_to(chances, (self.horizon, *chances.shape))
        return LinearCMDP(
            features,
            kernel,
            self.cost_weights,
            self.budgets,
            start / start.sum(),
            loss_profiles=self.loss_profiles,
            name="latent-levels",
            parameters={"degree": self.degree, "horizon": self.horizon, "budget": float(self.budgets[0]), "points": n},
        )


class LatentLevelsEnv(CostedEnv):
    """The level as a Gymnasium environment; `losses` as in `CMDPEnv`."""

    def __init__(self, degree: int = 6, horizon: int = 8, budget: float = 4.0, losses: Any = None):
        read = all_of(
            {
                "degree": partial(whole, "degree", degree, 1),
                "horizon": partial(whole, "horizon", horizon, 1),
                "budget": partial(between, "budget", budget, 0.0, 1e9),
            }
        )
        self.problem = LatentLevels(**read)
        super().__init__(self.problem.horizon, self.problem.budgets)
        self.losses = LossSequence(losses, self.problem.loss_profiles, (self.horizon, self.problem.dim))
        self.observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
        self.action_space = spaces.Discrete(self.problem.n_actions)
        self.features = self.problem
        self._level = 1.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """A level drawn from the upper part, or `options={"level": x}`."""
        given = (options or {}).get("level")
        if given is not None:
            given = between("options: level", given, 0.0, 1.0)
        self._begin(seed)
        self._level = float(self.np_random.uniform(*FIRST)) if given is None else given
        return np.array([self._level]), {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        a, weights, level = self._check(action), self.losses.of(self.k), self._level
        phi = self.problem(level)[a]
        cost, loss = self.problem.cost_weights[self.h] @ phi, float(weights[self.h] @ phi)
        self._level = self.problem.next_level(self.np_random, level, a)
        reward, last, info = self._info(cost, loss, weights)
        return np.array([self._level]), reward, last, False, info
