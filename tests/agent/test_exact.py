"""An agent does what `simulate` does: a finite problem driven through it is the same run, number by number."""

from __future__ import annotations

import importlib
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope import engine
from tightrope.learners import worlds

from .conftest import SETTINGS, make_agent, play_episode, uniforms

TOLERANCE = 1e-9
NEVER = 10_000


def current(agent: tr.Agent) -> Any:
    """The episode under way."""
    assert agent.current is not None
    return agent.current


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)


def simulated(cmdp: tr.LinearCMDP, learner: tr.PDPO, episodes: int, seed: int = 3) -> tuple[Any, np.ndarray]:
    losses = tr.losses.make("alternating", cmdp, episodes)
    assert isinstance(losses, tr.losses.Profiles)
    run = tr.simulate(cmdp, losses, learner, episodes, seed=seed, trace=True, compare=False)
    assert run.trace is not None
    return run, losses.profiles[losses.sequence]


PROBLEMS = {
    "dense, one constraint": lambda: tr.problems.make("random-linear", seed=4),
    "dense, three constraints": lambda: tr.problems.make("random-linear", constraints=3, seed=4),
    "one-hot": lambda: tr.problems.make("priced-jobs", budget=5.6),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("restart", ["paper", "warm"])
@pytest.mark.parametrize("mixing_period", [7, NEVER], ids=["mixing", "not mixing"])
def test_a_finite_problem_through_the_agent_is_the_simulated_run(name, restart, mixing_period):
    K = 300
    cmdp = PROBLEMS[name]()
    tighten = 100.0 if restart == "warm" else 0.0
    rest = {"tighten": tighten, "guard": 0.5, "optimism": 1.0 if mixing_period == NEVER else 6.0}
    learner = tr.PDPO(**SETTINGS, mixing_period=mixing_period, restart=restart, **rest)
    run, weights = simulated(cmdp, learner, K)
    agent, u = make_agent(cmdp, learner, K), uniforms(3, K, cmdp.horizon)
    trace = run.trace
    for k in range(K):
        close(agent.dual, trace.dual[k])
        states, actions = play_episode(
            agent, cmdp, u[k], lambda h, s, k=k: close(current(agent).policies[h], trace.policies[k, h, s])
        )
        assert states == trace.states[k].tolist() and actions == trace.actions[k].tolist()
        agent.finish(weights[k])
        close(agent.estimates, trace.values[k])
    assert agent.status().epoch == run.epoch[-1]
    assert len(trace.epoch_starts) > 2
    paid = trace.costs.sum(axis=1) - cmdp.budgets
    close(agent.status().violation, paid.sum(axis=0))
    close(agent.status().hard_violation, np.maximum(paid, 0).sum(axis=0))


@pytest.mark.parametrize("restart", ["paper", "warm"])
def test_a_state_first_seen_mid_epoch_has_the_policy_it_would_have_had(wide, restart):
    """`simulate` knows every state from the start; the agent meets them late, after several mixing segments."""
    K = 400
    learner = tr.PDPO(**SETTINGS, mixing_period=6, restart=restart, optimism=4.0)
    run, weights = simulated(wide, learner, K)
    agent, u, trace = make_agent(wide, learner, K), uniforms(3, K, wide.horizon), run.trace
    late, known, mixed = 0, set(), 0

    def seen(h: int, s: int) -> None:
        nonlocal late, mixed
        close(current(agent).policies[h], trace.policies[k, h, s])
        if (h, s) not in known and k - trace.epoch_starts[trace.epoch_starts <= k][-1] > 18:
            late += 1
            mixed = max(mixed, agent.status().segments)
        known.add((h, s))

    for k in range(K):
        play_episode(agent, wide, u[k], seen)
        if k % 20 == 19:  # and everywhere else, known or not, from the compact parameters alone
            for h in range(wide.horizon):
                for s in range(0, wide.n_states, 7):
                    close(agent.policy(h, s), trace.policies[k, h, s])
        agent.finish(weights[k])
    assert late > 20 and mixed >= 4
    assert agent.status().known_states.sum() == len(known)
    assert np.ptp(trace.policies[-1], axis=1).max() > 0.2


@pytest.mark.parametrize("restart", ["paper", "warm"])
def test_tables_and_compact_parameters_say_the_same(wide, restart):
    K = 300
    learner = tr.PDPO(**SETTINGS, mixing_period=11, restart=restart)
    losses = tr.losses.make("alternating", wide, K)
    assert isinstance(losses, tr.losses.Profiles)
    agent, u = make_agent(wide, learner, K), uniforms(1, K, wide.horizon)
    for k in range(K):
        play_episode(agent, wide, u[k])
        agent.finish(losses.profiles[losses.sequence[k]])
    found = 0
    player = agent._player
    assert player is not None
    player.begin()
    for h in range(wide.horizon):
        for s in range(wide.n_states):
            block = player.block(wide.features[s])
            place = player.find(h, block)
            if place >= 0:
                found += 1
                close(player.read(h, place)[1], agent.policy(h, s))
                norms, contraction = player.norms(h, block)
                close(player.read(h, place)[2], contraction)
                close(player.read(h, place)[3], learner.beta_b * contraction * norms)
    assert found == agent.status().known_states.sum() > 200


def test_threads_change_no_bit(wide, monkeypatch):
    learner = tr.PDPO(**SETTINGS, mixing_period=5, restart="warm")
    told, asked = [], []
    monkeypatch.setattr(worlds.numba, "get_num_threads", lambda: asked.append(1) or 2)
    for numbers in (10**12, 0):
        assert not asked  # the first goes without threads
        monkeypatch.setattr(worlds, "THREADS_FROM", numbers)
        agent, u = make_agent(wide, learner, 120), uniforms(2, 120, wide.horizon)
        assert wide.loss_profiles is not None
        for k in range(120):
            play_episode(agent, wide, u[k])
            agent.finish(wide.loss_profiles[k % 2])
        player = agent._player
        assert player is not None
        told.append(player.tables.arrays())
    assert len(asked) >= 120
    for name, array in told[0].items():
        assert array.tobytes() == told[1][name].tobytes(), name


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_agent_that_has_been_made_compiles_nothing_more(wide, dtype):
    """Every kernel an agent, its forks and their merging can call has its form before the first state is seen."""
    modules = [importlib.import_module(f"tightrope.engine.{found.name}") for found in iter_modules(engine.__path__)]
    kernels = [x for module in modules for x in vars(module).values() if hasattr(x, "signatures")]
    assert len(kernels) > 40
    agent = make_agent(wide, tr.PDPO(**SETTINGS, mixing_period=4), 100, dtype=dtype, max_states=40)
    before = [len(kernel.signatures) for kernel in kernels]
    with pytest.warns(UserWarning, match="max_states"):
        for k, u in enumerate(uniforms(0, 30, wide.horizon)):
            play_episode(agent, wide, u)
            agent.finish(np.asarray(wide.loss_profiles)[k % 2])
    fork = agent.fork()
    play_episode(fork, wide, u)
    fork.set_aside()
    agent.merge(fork.increment())
    agent.learn(np.zeros((wide.horizon, wide.dim)))
    assert agent.explain(1, 5).policy.shape == agent.policy(1, 5).shape
    assert [len(kernel.signatures) for kernel in kernels] == before
