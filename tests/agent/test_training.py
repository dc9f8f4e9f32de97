"""`train` runs an agent on any finite-horizon environment, early ends and random starts included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.agent.training import agent_for

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra tightrope[gymnasium]")


class Corridor(gymnasium.Env):
    """Five cells; right is on, and out at the end is an early end. Nothing here is ours."""

    def __init__(self, limit: int = 100):
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(5), gymnasium.spaces.Discrete(2, start=3)
        self.limit = limit

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = int(self.np_random.integers(3)), 0
        return self.at, {}

    def step(self, action):
        assert action in (3, 4)
        self.at, self.steps = self.at + (action == 4), self.steps + 1
        return min(self.at, 4), -1.0, self.at > 4, self.steps >= self.limit, {"cost": float(action == 4)}


def test_a_foreign_environment_with_early_ends_and_random_starts():
    kept = tr.train(Corridor(), None, 60, lambda h, s, a: 0.5, budgets=[3.0], horizon=8, progress=False, seed=1)
    status = kept.agent.status()
    assert status.episodes == 60 and kept.lengths.min() < 8 == kept.lengths.max()
    assert status.known_states[0] == 3
    assert np.array_equal(kept.rewards, -kept.lengths)
    np.testing.assert_allclose(status.violation, (kept.costs - 3.0).sum(axis=0))
    np.testing.assert_allclose(kept.violation[-1], status.violation)


def test_a_time_limit_short_of_the_horizon_is_warned_about():
    with pytest.warns(UserWarning, match="truncated an episode after 4 of 8 steps"):
        tr.train(Corridor(limit=4), None, 2, lambda h, s, a: 0.0, budgets=[3.0], horizon=8, progress=False)


def test_the_latent_levels_are_learnt_within_their_budget():
    """States never repeat, and the optimum is known from a fine grid: what is lost and overspent an episode stays small."""
    K = 4000
    env = tr.problems.environment("latent-levels", degree=3, horizon=4, budget=2.1)
    kept = tr.train(env, None, K, progress=False)
    problem = env.unwrapped.problem
    assert kept.agent.status().known_states.tolist() == [K] * 4  # never twice the same
    best = tr.oracle.best_policy(problem.on_grid(60), problem.loss_profiles.mean(axis=0))
    late = slice(K // 2, None)
    assert -kept.rewards[late].mean() < best.value + 0.15
    assert kept.costs[late].mean() < 2.1 + 0.1
    uniform = np.full((4, 60, 3), 1 / 3)
    grid, losses = problem.on_grid(60), problem.loss_profiles.mean(axis=0)
    assert (
        tr.oracle.start_value(grid, uniform, problem.cost_weights[:, 0]) > 2.1 + 0.3
    )  # uniform play breaks the budget
    assert -kept.rewards[late].mean() < tr.oracle.start_value(grid, uniform, losses) - 0.05  # and loses more


def test_cart_pole_runs_on_fourier_features():
    env = tr.problems.environment("cart-pole", horizon=12)
    kept = tr.train(env, None, 15, progress=False, features="fourier")
    assert kept.agent.status().loss_residual < 1e-9  # the flag of a fallen pole is linear in the cosines
    assert kept.costs.shape == (15, 1)


def test_the_losses_of_each_episode_can_be_a_function_of_its_number():
    env = tr.problems.environment("priced-jobs")
    profiles = env.unwrapped.cmdp.loss_profiles
    asked = []

    def losses(k: int) -> Any:
        asked.append(k)
        return profiles[k % 2]

    one = tr.train(env, None, 6, losses=losses, progress=False)
    other = tr.train(tr.problems.environment("priced-jobs"), None, 6, progress=False)  # takes them in turn by itself
    assert asked == list(range(6))
    assert np.array_equal(one.agent.estimates, other.agent.estimates)


def test_what_does_not_fit_is_refused():
    env, corridor = tr.problems.environment("priced-jobs"), Corridor()
    agent = agent_for(env, 10)
    with pytest.raises(tr.InputError, match="budgets: missing") as told:
        tr.train(corridor, None, 2)
    assert "horizon: missing" in str(told.value)
    short = agent_for(tr.problems.environment("latent-levels", horizon=3), 10)
    with pytest.raises(tr.InputError, match="horizon = 3, the environment has 8"):
        tr.train(tr.problems.environment("latent-levels"), short)
    with pytest.raises(tr.InputError, match="n_actions = 2, the environment has 3"):
        tr.train(tr.problems.environment("latent-levels"), agent)
    for more, said in (
        ({"features": 3}, "features: 3, wanted a map, or the name of one: fourier"),
        ({"features": "foo"}, "kind: unknown 'foo'"),
        ({"max_state": 3}, "max_state: not a setting of an agent; did you mean 'max_states'"),
        ({"losses": 3}, "losses: 3, wanted a function"),
        ({"agent": 3}, "agent: 3, wanted an Agent"),
        ({"seed": "a"}, "seed: 'a'"),
    ):
        with pytest.raises(tr.InputError, match=said):
            given: Any = {"loss": lambda h, s, a: 0.5, "budgets": [3.0], "horizon": 8, "progress": False}
            tr.train(corridor, **(given | more))
    with pytest.raises(tr.InputError, match="env: None, wanted a Gymnasium environment"):
        tr.train(None)
    acrobot = gymnasium.make("Acrobot-v1")
    with pytest.raises(tr.InputError, match=r"features: d = 187,500; .* takes 5,625\.0 GB"):
        tr.train(acrobot, budgets=[3.0], horizon=20, features="tiles")
    with pytest.raises(tr.InputError, match="given for an agent that is made already"):
        tr.train(env, agent, horizon=3)
    with pytest.raises(tr.InputError, match="loss: missing"):
        tr.train(corridor, None, 2, budgets=[3.0], horizon=8)
    pendulum = gymnasium.make("Pendulum-v1")
    with pytest.raises(tr.InputError, match="wanted a Discrete one"):
        tr.train(pendulum, None, 2, budgets=[3.0], horizon=8)
    with pytest.raises(tr.InputError, match='no "cost" at step 0'):
        mountain = gymnasium.make("MountainCar-v0")
        tr.train(mountain, None, 2, lambda h, s, a: 0.0, budgets=[3.0], horizon=8)


def test_a_training_that_fails_leaves_an_agent_that_can_go_on():
    agent = agent_for(Corridor(), 10, budgets=[3.0], horizon=8)
    for losses in (lambda k: "x" if k else np.zeros((8, 10)), lambda k: 1 / 0):
        with pytest.raises((tr.InputError, ZeroDivisionError)):
            tr.train(Corridor(), agent, 3, losses=losses, progress=False)
        assert agent.current is None and agent.status().updates == 1
    tr.train(Corridor(), agent, 3, lambda h, s, a: 0.5, progress=False)
    assert agent.status().updates == 4
    agent.begin(0)
    with pytest.raises(tr.InputError, match="agent: an episode is under way"):
        tr.train(Corridor(), agent, 3, lambda h, s, a: 0.5, progress=False)
    assert agent.current is not None
