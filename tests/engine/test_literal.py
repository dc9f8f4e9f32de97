"""The engine does what Algorithm 1 says: equal, number by number, to the literal twin under the same uniforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tightrope as tr

K = 400
TOLERANCE = 1e-9
SETTINGS: dict[str, Any] = {"alpha": 0.3, "eta": 0.2, "theta": 0.1, "beta_b": 0.02, "beta_w": 8.0}
NEVER = 10 * K  # a mixing period that is never reached again


def uniforms(seed: int, episodes: int, horizon: int) -> np.ndarray:
    """[K, 1+2H], as `simulate` draws them."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,))).random((episodes, 1 + 2 * horizon))


def both(algorithm1, cmdp, learner, seed: int = 3, kind: str = "alternating"):
    """The engine's run and the twin's."""
    losses = tr.losses.make(kind, cmdp, K)
    assert isinstance(losses, tr.losses.Profiles)
    run = tr.simulate(cmdp, losses, learner, K, seed=seed, trace=True)
    weights = losses.profiles[losses.sequence]
    return run, algorithm1(cmdp, weights, learner, uniforms(seed, K, cmdp.horizon))


def assert_same(run, twin) -> None:
    trace = run.trace
    assert np.array_equal(trace.states, twin.states)
    assert np.array_equal(trace.actions, twin.actions)
    assert trace.epoch_starts.tolist() == twin.epoch_starts
    for engine, literal in (
        (trace.costs, twin.costs),
        (trace.policies, twin.policies),
        (np.asarray(run.policy), twin.last_policy),
        (trace.dual, twin.dual),
        (trace.values, twin.values),
    ):
        assert engine.shape == literal.shape
        np.testing.assert_allclose(engine, literal, rtol=TOLERANCE, atol=TOLERANCE)


def assert_eventful(twin, mixes: bool, restart: str = "paper") -> None:
    """No still life: several epochs, duals at work, a contraction that contracts, mixing that mixes, restarts that reset."""
    assert len(twin.epoch_starts) > 2
    at_work = twin.dual.max(axis=0) > 0.05
    assert at_work.sum() >= max(1, len(at_work) - 1)
    contractions = np.stack(twin.contractions)
    assert ((contractions > 0.05) & (contractions < 0.8)).any()
    assert np.ptp(contractions, axis=0).max() > 0.1
    assert np.ptp(twin.policies, axis=0).max() > 0.2
    assert bool(twin.mixed_apart) == mixes
    ended_above = [k for k in twin.epoch_starts[1:] if twin.dual[k - 1].max() > 0.01]
    kept = [k for k in ended_above if twin.dual[k].max() > 0.0]
    assert ended_above and bool(kept) == (restart == "warm")


def axis_with_values(seed: int = 0) -> tr.LinearCMDP:
    """Features value * e_j with values other than 1, one of them negative; pairs share coordinates, three have no pair."""
    random = np.random.default_rng(seed)
    S, A, H, used, d = 5, 3, 4, 6, 10
    value = np.array([0.8, 0.9, -0.85, 0.95, 1.0, 0.75])
    index = random.integers(0, used, (S, A))
    index.ravel()[random.permutation(S * A)[:used]] = np.arange(used)
    features = np.zeros((S, A, d))
    np.put_along_axis(features, index[:, :, None], value[index][:, :, None], axis=2)
    kernel = np.zeros((H, d, S))
    chances = random.dirichlet(np.full(S, 0.7), size=(H, used)) * (random.random((H, used, S)) > 0.3)
    chances[..., 0] += 1e-3
    kernel[:, :used] = chances / chances.sum(axis=2, keepdims=True) / value[:, None]
    weights = np.zeros((4, H, d))
    weights[:, :, :used] = random.random((4, H, used)) / value
    start = random.dirichlet(np.ones(S))
    cmdp = tr.LinearCMDP(features, kernel, weights[:2].swapaxes(0, 1), [H, H], start, loss_profiles=weights[2:])
    costs = tr.oracle.slater(cmdp).costs
    uniform = np.full((H, S, A), 1 / A)
    even = [tr.oracle.start_value(cmdp, uniform, cmdp.cost_weights[:, i]) for i in range(2)]
    budgets = [(low + high) / 2 for low, high in zip(costs, even)]
    return tr.LinearCMDP(features, kernel, cmdp.cost_weights, budgets, start, loss_profiles=weights[2:])


def streaming_from_anywhere() -> tr.LinearCMDP:
    """Streaming, its costs slow and fast alike deterministic, started from a random buffer and under a tighter budget."""
    made = tr.problems.make("streaming", budget=0.8)
    start = np.array([0.4, 0.1, 0.0, 0.3, 0.2, 0.0])
    return tr.LinearCMDP(
        made.feature_table, made.kernel_table, made.cost_weights, [0.8], start, loss_profiles=made.loss_profiles
    )


AXIS = {
    "job-scheduling": lambda: tr.problems.make("job-scheduling"),
    "priced-jobs": lambda: tr.problems.make("priced-jobs", budget=5.6),
    "streaming from anywhere": streaming_from_anywhere,
    "axis with values": axis_with_values,
}


@pytest.mark.parametrize("constraints", [1, 3])
@pytest.mark.parametrize("mixing_period", [7, NEVER], ids=["mixing", "not mixing"])
@pytest.mark.parametrize("restart", ["paper", "warm"])
def test_dense_random_features_give_the_literal_run(algorithm1, constraints, mixing_period, restart):
    cmdp = tr.problems.make("random-linear", constraints=constraints, seed=4)
    assert "dense" in repr(cmdp)
    run, twin = both(algorithm1, cmdp, tr.PDPO(**SETTINGS, mixing_period=mixing_period, restart=restart))
    assert_eventful(twin, mixes=mixing_period < K, restart=restart)
    assert_same(run, twin)


@pytest.mark.parametrize("name", AXIS)
@pytest.mark.parametrize(("mixing_period", "restart"), [(3, "paper"), (NEVER, "paper"), (7, "warm")])
def test_features_with_one_non_zero_give_the_literal_run(algorithm1, name, mixing_period, restart):
    cmdp = AXIS[name]()
    assert "axis" in repr(cmdp)
    run, twin = both(algorithm1, cmdp, tr.PDPO(**SETTINGS, mixing_period=mixing_period, restart=restart))
    if name != "job-scheduling":  # there loss and constraint pull the same way, and the dual stays 0
        assert_eventful(twin, mixes=mixing_period < K, restart=restart)
    assert_same(run, twin)


@pytest.mark.parametrize("name", ["random-linear", "priced-jobs"])
def test_offset_decay_and_drift_of_ones_own_are_those_of_the_literal_run(algorithm1, name):
    cmdp = tr.problems.make(name, seed=4) if name == "random-linear" else AXIS[name]()
    regularised = tr.PDPO(
        **SETTINGS, mixing_period=5, contraction_offset=7.5, dual_decay=0.02, dual_drift=0.002, restart="warm"
    )
    run, twin = both(algorithm1, cmdp, regularised, seed=8, kind="sinusoid")
    assert_eventful(twin, mixes=True, restart="warm")
    assert_same(run, twin)
    plain, _ = both(algorithm1, cmdp, regularised.replace(dual_decay=0.0), seed=8, kind="sinusoid")
    assert np.abs(plain.dual - run.dual).max() > 0.01


@pytest.mark.parametrize("name", ["random-linear", "axis with values"])
def test_a_tightened_budget_is_undercut_as_the_literal_run_does(algorithm1, name):
    cmdp = tr.problems.make(name, seed=4, constraints=3) if name == "random-linear" else AXIS[name]()
    tight = tr.PDPO(**SETTINGS, mixing_period=7, restart="warm", tighten=200, guard=1.5)
    run, twin = both(algorithm1, cmdp, tight)
    assert_eventful(twin, mixes=True, restart="warm")
    assert_same(run, twin)
    plain, _ = both(algorithm1, cmdp, tight.replace(tighten=0.0))
    assert (run.violation[-1] < plain.violation[-1] - 1.0).all()


@pytest.mark.parametrize("restart", ["paper", "warm"])
@pytest.mark.parametrize("name", ["random-linear", *AXIS])
def test_a_larger_bonus_on_the_losses_is_taken_off_at_every_step_but_the_last_as_in_the_literal_run(
    algorithm1, name, restart
):
    cmdp = tr.problems.make(name, seed=4, constraints=3) if name == "random-linear" else AXIS[name]()
    bold = tr.PDPO(**SETTINGS, mixing_period=7, restart=restart, optimism=9.0)
    run, twin = both(algorithm1, cmdp, bold)
    assert_same(run, twin)
    plain, _ = both(algorithm1, cmdp, bold.replace(optimism=1.0))
    assert plain.trace is not None and run.trace is not None
    assert np.abs(plain.trace.policies - run.trace.policies).max() > 0.01


@pytest.mark.parametrize("preset", ["theory", "experiment", "practical"])
def test_the_presets_give_the_literal_run(algorithm1, preset):
    for name in ("random-linear", "job-scheduling"):
        cmdp = tr.problems.make(name)
        run, twin = both(algorithm1, cmdp, tr.learners.make("pdpo", cmdp, K, preset), kind="drift")
        assert_same(run, twin)


def test_the_comparison_would_see_an_episode_used_too_early(algorithm1):
    """The twin itself, told to compare with a shifted loss sequence, is not the same run: the comparison can fail."""
    cmdp = tr.problems.make("random-linear")
    losses = tr.losses.make("alternating", cmdp, K)
    assert isinstance(losses, tr.losses.Profiles)
    learner = tr.PDPO(**SETTINGS, mixing_period=7)
    run = tr.simulate(cmdp, losses, learner, K, seed=3, trace=True)
    late = losses.profiles[np.roll(losses.sequence, 1)]
    with pytest.raises(AssertionError):
        assert_same(run, algorithm1(cmdp, late, learner, uniforms(3, K, cmdp.horizon)))


def plain(name: str) -> Any:
    """A rival with settings that make it move."""
    from tightrope.learners.cfpo import CFPO
    from tightrope.learners.ghosh2022 import Ghosh2022
    from tightrope.learners.naive import Naive

    return {
        "ghosh2022": Ghosh2022(alpha=2.0, eta=0.2, beta=0.1, xi=0.2),
        "naive": Naive(alpha=0.3, eta=0.2, theta=0.1, beta=0.1),
        "cfpo": CFPO(alpha=0.3, beta_b=0.02, beta_w=8.0),
        "pdpo, capped": tr.PDPO(**SETTINGS, mixing_period=7, restart="warm", dual_cap=0.15),
    }[name]


@pytest.mark.parametrize("rival", ["ghosh2022", "naive", "cfpo", "pdpo, capped"])
@pytest.mark.parametrize("name", ["random-linear", *list(AXIS)[1:]])
def test_a_rival_by_rules_gives_the_literal_run(algorithm1, rival, name):
    cmdp = tr.problems.make(name, constraints=3, seed=4) if name == "random-linear" else AXIS[name]()
    run, twin = both(algorithm1, cmdp, plain(rival))
    at_work = twin.dual.max()
    assert at_work == 0.0 if rival == "cfpo" else at_work > 0.05
    if rival in ("ghosh2022", "pdpo, capped"):  # every cap is met
        assert at_work == plain(rival).rules(K).dual_cap
    assert np.ptp(twin.policies, axis=0).max() > 0.2
    assert_same(run, twin)
