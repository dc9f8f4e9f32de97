"""Every problem of the gallery is a Gymnasium environment that passes Gymnasium's own checks, and costs come with each step."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tightrope as tr

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra tightrope[gymnasium]")
NAMES = [*tr.problems.names(), *tr.problems.ENDLESS]


def made(name: str, **more: Any) -> Any:
    return tr.problems.environment(name, **more)


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_passes_the_environment_checker(name):
    from gymnasium.utils.env_checker import check_env

    check_env(made(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_an_episode_ends_at_the_horizon_and_tells_costs(name):
    env = made(name)
    own = env.unwrapped
    env.reset(seed=1)
    env.action_space.seed(1)
    for h in range(own.horizon):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(obs)
        cost = np.atleast_1d(info["cost"])
        assert cost.shape == own.budgets.shape and cost.min() >= 0 and cost.max() <= 1
        assert isinstance(info["cost"], float) == (len(own.budgets) == 1)
        assert 0 <= info["loss"] <= 1 and reward == -info["loss"]
        assert (terminated, truncated) == (h + 1 == own.horizon, False)
    if name != "cart-pole":
        assert info["loss_weights"].shape[0] == own.horizon
    with pytest.raises(tr.InputError, match="the episode is over"):
        env.unwrapped.step(0)


def test_the_ids_are_those_of_the_names():
    assert gymnasium.make("tightrope/JobScheduling-v0", budget=5.0).unwrapped.budgets[0] == 5.0
    code = 'import gymnasium, tightrope; print(gymnasium.make("tightrope/PricedJobs-v0").unwrapped.cmdp.name)'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "priced-jobs"


@pytest.mark.parametrize("obs", [-1, 1.7, 99, "a", None, float("nan")])
def test_the_features_of_an_environment_refuse_what_is_no_state(obs):
    with pytest.raises(tr.InputError, match=r"observation: .*, wanted a state in 0\.\.9"):
        made("job-scheduling").unwrapped.features(obs)
    with pytest.raises(tr.InputError, match="observation: "):
        made("latent-levels").unwrapped.features("a" if obs == 99 else -1 if obs is None else obs if obs != 1.7 else {})


def test_a_finite_environment_moves_as_its_problem_says():
    cmdp = tr.problems.make("random-linear", n_states=4, dim=3, n_actions=2, horizon=2, seed=1)
    env = tr.problems.environment("random-linear", n_states=4, dim=3, n_actions=2, horizon=2, seed=1)
    counts = np.zeros(4)
    env.reset(seed=0)
    for _ in range(4000):
        env.reset(options={"state": 2})
        counts[env.step(1)[0]] += 1
    wanted = cmdp.features[2, 1] @ cmdp.kernel[0]
    assert np.abs(counts / 4000 - wanted).max() < 4 * np.sqrt(0.25 / 4000)


def test_losses_follow_their_sequence():
    cmdp = tr.problems.make("priced-jobs")
    losses = tr.losses.make("switching", cmdp, 6, period=2)
    env = made("priced-jobs", losses=losses)
    seen = []
    for k in range(8):
        env.reset(seed=3 if k == 0 else None)
        for _ in range(10):
            info = env.step(1)[4]
        seen.append(int(np.array_equal(info["loss_weights"], np.asarray(cmdp.loss_profiles)[1])))
    assert seen == [0, 0, 1, 1, 0, 0, 0, 0]  # and from the beginning again


def test_the_latent_levels_are_linear_to_the_last_digit():
    problem = made("latent-levels").unwrapped.problem
    x = np.linspace(0, 1, 101)
    for level in x:
        block = problem(np.array([level]))
        assert block.min() >= 0 and np.allclose(block.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(block @ problem.cost_weights[0, 0], level, atol=1e-12)  # the cost is the level
    losses = np.array([problem(np.array([v])) @ problem.loss_profiles[0, 0] for v in x])
    np.testing.assert_allclose(losses, np.broadcast_to(0.9 * np.array([0, 0.5, 1.0]), losses.shape), atol=1e-12)


def test_the_latent_levels_move_as_their_features_say():
    """The mean of the next level is phi(x, a) . (the means of the latent points): a linear function of the features."""
    problem = made("latent-levels").unwrapped.problem
    random = np.random.default_rng(0)
    means = problem.shapes[0] / (problem.shapes[0] + problem.shapes[1])
    for level, a in ((0.9, 2), (0.35, 0), (0.6, 1)):
        drawn = np.array([problem.next_level(random, level, a) for _ in range(4000)])
        wanted = float(problem(np.array([level]))[a] @ means)
        assert abs(drawn.mean() - wanted) < 4 * drawn.std() / np.sqrt(4000)


def test_finer_grids_of_the_latent_levels_agree_on_what_is_best():
    problem = made("latent-levels").unwrapped.problem
    values = [tr.oracle.best_policy(problem.on_grid(n), problem.loss_profiles[0]).value for n in (40, 80, 160)]
    assert abs(values[2] - values[1]) < abs(values[1] - values[0]) < 0.05
    best = tr.oracle.best_policy(problem.on_grid(80), problem.loss_profiles[0])
    assert best.multipliers[0] > 0.1  # the budget binds


def test_cart_pole_is_gymnasiums_own_until_it_falls():
    env, own = made("cart-pole").unwrapped, gymnasium.make("CartPole-v1").unwrapped
    obs, _ = env.reset(seed=4)
    own.reset(seed=0)
    own.state = env._cart.state
    fallen = []
    for _ in range(50):
        was = bool(obs[4])
        obs, reward, _, _, info = env.step(1)
        fallen.append(bool(obs[4]))
        if not was:
            state, _, ended, _, _ = own.step(1)
            np.testing.assert_allclose(obs[0], state[0] / 2.4, atol=1e-6)
            assert fallen[-1] == ended
        assert reward == -float(was) and (not was or info["cost"] == 1.0)
    assert fallen[-1] and not fallen[0]
    assert "NOT a linear" in (sys.modules[type(env).__module__].__doc__ or "")


def test_costs_travel_to_six_results_and_back():
    env = tr.problems.ToSafety(made("priced-jobs"))
    env.reset(seed=0)
    told = env.step(1)
    assert len(told) == 6 and told[2] == told[5]["cost"]
    back = tr.problems.FromSafety(env, largest=2.0)
    back.reset(seed=0)
    obs, reward, _, _, info = back.step(1)
    assert info["cost"] == told[2] / 2.0 and obs == told[0] and reward == told[1]
    small = tr.problems.FromSafety(env, largest=0.1)
    small.reset(seed=0)
    with pytest.raises(tr.InputError, match="wanted a number from 0 to largest"):
        for _ in range(10):
            small.step(0)
    for largest in (0, -1.0, float("nan"), "x", True):
        with pytest.raises(tr.InputError, match="largest: "):
            tr.problems.FromSafety(env, largest=largest)  # pyright: ignore[reportArgumentType]
    with pytest.raises(tr.InputError, match="5 results, wanted six"):
        plain = tr.problems.FromSafety(made("priced-jobs"))
        plain.reset()
        plain.step(0)


def test_endless_problems_are_no_tables():
    with pytest.raises(tr.InputError, match="states that cannot be listed"):
        tr.problems.make("latent-levels")
    with pytest.raises(tr.InputError, match="did you mean 'latent-levels'"):
        tr.problems.environment("latent-level")
    for given, said in (({"degree": 0}, "degree: 0"), ({"budget": "x"}, "budget: 'x'")):
        with pytest.raises(tr.InputError, match=said):
            tr.problems.environment("latent-levels", **given)
    with pytest.raises(tr.InputError, match=r"losses: shape \(1, 2, 3\)"):
        tr.problems.environment("priced-jobs", losses=np.zeros((2, 3)))


@pytest.mark.parametrize("imports", ["import gymnasium, tightrope", "import tightrope, gymnasium"])
def test_importing_both_in_any_order_is_enough_for_gymnasium_to_know_the_gallery(imports):
    code = f"{imports}; print(gymnasium.make('tightrope/JobScheduling-v0').spec.id, gymnasium.__spec__.loader)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tightrope/JobScheduling-v0 ")
    assert "tightrope" not in done.stdout.split(" ", 1)[1]  # nothing of ours is left in the way


@pytest.mark.parametrize("name", ["priced-jobs", "machine-hall", "latent-levels"])
def test_budgets_are_scaled_with_the_costs_of_six_results(name):
    from gymnasium.utils.env_checker import check_env

    own = made(name)
    back = tr.problems.FromSafety(tr.problems.ToSafety(made(name)), largest=2.0)
    back.spec = None  # else the checker makes what is inside anew, which gives six results
    check_env(back, skip_render_check=True)
    one, other = (tr.train(env, None, 12, progress=False, seed=3) for env in (own, gymnasium.Wrapper(back)))
    assert np.array_equal(other.agent.budgets, one.agent.budgets / 2)
    assert other.agent.sizes.horizon == own.unwrapped.horizon and other.agent.sizes.dim == one.agent.sizes.dim
    assert other.costs[0].tolist() == (one.costs[0] / 2).tolist()
    with pytest.raises(AttributeError, match="no attribute 'cmdp'"):
        _ = back.cmdp
