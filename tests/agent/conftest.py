"""What the agent's tests share: finite problems driven through an agent, step by step, on the randomness of `simulate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tightrope as tr

SETTINGS: dict[str, Any] = {"alpha": 0.3, "eta": 0.2, "theta": 0.1, "beta_b": 0.02, "beta_w": 8.0}


def uniforms(seed: int, episodes: int, horizon: int) -> np.ndarray:
    """[K, 1+2H], as `simulate` draws them."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,))).random((episodes, 1 + 2 * horizon))


def inverse(chances: np.ndarray, u: float) -> int:
    """The first outcome whose distribution function exceeds u."""
    return min(int(np.searchsorted(np.cumsum(chances), u, side="right")), int(np.flatnonzero(chances > 0)[-1]))


class Table:
    """The features of a finite problem, as a map of the state's number."""

    def __init__(self, cmdp: tr.LinearCMDP):
        self.table, self.dim, self.n_actions = cmdp.features, cmdp.dim, cmdp.n_actions

    def __call__(self, s: int) -> np.ndarray:
        return self.table[s]


def make_agent(cmdp: tr.LinearCMDP, learner: tr.PDPO, episodes: int, **more: Any) -> tr.Agent:
    """An agent for a finite problem."""
    sizes = (cmdp.horizon, cmdp.n_actions, cmdp.budgets)
    return tr.Agent(learner, Table(cmdp), *sizes, episodes=episodes, **more)


def step(cmdp: tr.LinearCMDP, h: int, s: int, a: int, u: float) -> tuple[np.ndarray, int]:
    """The cost [m] and the next state."""
    arrived = inverse(cmdp.features[s, a] @ cmdp.kernel[h], u)
    if cmdp.transition_costs is not None:
        return cmdp.transition_costs[:, h, s, a, arrived], arrived
    return cmdp.cost_weights[h] @ cmdp.features[s, a], arrived


def play_episode(player: Any, cmdp: tr.LinearCMDP, u: np.ndarray, seen: Callable[[int, int], None] | None = None):
    """One episode with an agent or a fork, up to the last step; u [1+2H] as in `simulate`. Returns states and actions."""
    s = inverse(cmdp.initial_distribution, u[0])
    states, actions = [s], []
    player.begin(s)
    for h in range(cmdp.horizon):
        if seen is not None:
            seen(h, s)
        actions.append(player.act(u[1 + 2 * h]))
        cost, s = step(cmdp, h, s, actions[-1], u[2 + 2 * h])
        player.observe(cost, s)
        states.append(s)
    return states, actions


@pytest.fixture(scope="session")
def wide() -> tr.LinearCMDP:
    """Many states beside few episodes, so that new ones keep coming."""
    return tr.problems.make("random-linear", n_states=150, dim=5, horizon=4, seed=4)
