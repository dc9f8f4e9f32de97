"""The same seed gives the same bytes: whatever the strides, the recording, the threads and the way losses are asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners import worlds
from tightrope.simulation import Progress, Simulation

K = 257


def run(cmdp, learner, seed=2, kind="drift", episodes=K, **more) -> tr.Run:
    losses = tr.losses.make(kind, cmdp, episodes, seed=seed)
    return tr.simulate(cmdp, losses, learner, episodes, **{"seed": seed, "trace": True} | more)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(cmdp, lively, assert_same_bytes):
    first, again, other = run(cmdp, lively()), run(cmdp, lively()), run(cmdp, lively(), seed=3)
    assert first.dual.max() > 0 and first.epoch[-1] > 3
    assert_same_bytes(first, again)
    assert not np.array_equal(first.regret, other.regret)


@pytest.mark.parametrize("kind", ["drift", "best-response"])
@pytest.mark.parametrize("strides", [[1], [7], [13, 1, 64], [K - 1, 1], [10 * K]])
def test_strides_change_no_byte(cmdp, lively, assert_same_bytes, kind, strides):
    losses = tr.losses.make(kind, cmdp, K, seed=2)
    simulation = Simulation(cmdp, losses, lively(), K, seed=2, record_every=10, trace=True)
    seen = []
    while simulation.remaining:
        simulation.advance(strides[len(seen) % len(strides)])
        seen.append(simulation.progress())
    assert seen[-1].episodes == K
    assert_same_bytes(simulation.finish(), run(cmdp, lively(), kind=kind, record_every=10))


def test_strides_longer_than_the_tables_are_cut(cmdp, lively, monkeypatch, assert_same_bytes):
    whole = run(cmdp, lively())
    monkeypatch.setattr("tightrope.simulation.LONGEST", 10)
    assert_same_bytes(run(cmdp, lively()), whole)


def test_watching_changes_no_byte_and_sees_what_the_curves_say(lively, assert_same_bytes):
    cmdp = tr.problems.make("priced-jobs", budget=5.8)
    seen: list[Progress] = []
    watched = run(cmdp, lively(), progress=seen.append, record_every=1)
    assert_same_bytes(watched, run(cmdp, lively(), record_every=1))
    assert len(seen) > 1 and seen[-1].episodes == K
    for at in seen:
        assert at.regret == pytest.approx(watched.regret[at.episodes - 1], abs=1e-9)
        assert at.violation == pytest.approx(watched.violation[at.episodes - 1].max(), abs=1e-9)
        assert at.epoch == watched.epoch[at.episodes - 1] and at.of == K


def test_asking_for_no_episode_is_refused_and_finishing_twice_is_harmless(lively, assert_same_bytes):
    cmdp = tr.problems.make("streaming")
    simulation = Simulation(cmdp, tr.losses.make("fixed", cmdp, 20), lively(), 20, trace=True)
    with pytest.raises(tr.InputError, match="episodes: 0, wanted a whole number from 1 up"):
        simulation.advance(0)
    with pytest.raises(ValueError, match="20 of 20 episodes remain"):
        simulation.finish()
    simulation.advance(30)
    simulation.advance(5)
    assert_same_bytes(simulation.finish(), simulation.finish())


@pytest.mark.parametrize("every", [1, 10, 50, K, 5 * K])
def test_recording_less_changes_no_number_that_is_recorded(cmdp, lively, every):
    full, some = run(cmdp, lively(), record_every=1), run(cmdp, lively(), record_every=every)
    assert some.episodes.tolist() == sorted({*range(every, K + 1, every), K})
    at = some.episodes - 1
    for name in ("regret", "loss", "violation", "hard_violation", "dual", "epoch"):
        assert np.array_equal(getattr(some, name), getattr(full, name)[at]), name
    for name in vars(full.extremes):
        assert np.array_equal(getattr(some.extremes, name), getattr(full.extremes, name)), name


def test_the_extremes_are_those_of_every_episode(cmdp, lively):
    dense = run(cmdp, lively(), record_every=1)
    some = run(cmdp, lively(), record_every=K).extremes
    assert np.array_equal(some.dual_max, dense.dual.max(axis=0))
    for i, curve in enumerate(dense.violation.T):
        peak = max(curve.max(), 0.0)
        assert some.violation_peak[i] == peak
        assert some.violation_peak_episode[i] == (curve.argmax() + 1 if peak > 0 else 0)
        before = np.concatenate([[0.0], curve[:-1]])
        crossed = np.flatnonzero((before > 0) & (curve <= 0)) + 1
        assert some.violation_zero_crossing[i] == (crossed[-1] if len(crossed) else 0)


def test_two_threads_give_the_bytes_of_one(lively, assert_same_bytes):
    jobs, dense = tr.problems.make("priced-jobs", budget=5.8), tr.problems.make("random-linear", seed=4)
    work = [(cmdp, seed) for seed in range(4) for cmdp in (jobs, dense)]
    alone = [run(cmdp, lively(), seed=seed) for cmdp, seed in work]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda task: run(task[0], lively(), seed=task[1]), work))
    for one, other in zip(alone, together, strict=True):
        assert_same_bytes(one, other)


def test_sharing_out_the_features_over_threads_changes_no_byte(lively, assert_same_bytes, monkeypatch):
    cmdp = tr.problems.make("random-linear", n_states=300, dim=7)
    alone = run(cmdp, lively(), episodes=20, compare=False)
    asked = []
    monkeypatch.setattr(worlds.numba, "get_num_threads", lambda: asked.append(1) or 2)
    monkeypatch.setattr(worlds, "THREADS_FROM", 1)
    assert_same_bytes(run(cmdp, lively(), episodes=20, compare=False), alone)
    assert asked


class Replayed(tr.losses.Adversary):
    """The rule of `BestResponse`, asked for in Python."""

    def __init__(self, rule: tr.losses.BestResponse):
        self.rule = rule

    def start(self, cmdp, episodes):
        self.rule.start(cmdp, episodes)

    def next(self, k, policy):
        return self.rule.next(k, policy)


def test_the_compiled_best_response_is_the_rule_in_python(cmdp, lively):
    rule = tr.losses.make("best-response", cmdp, K)
    assert isinstance(rule, tr.losses.BestResponse)
    compiled = tr.simulate(cmdp, rule, lively(), K, seed=2, trace=True)
    asked = tr.simulate(cmdp, Replayed(rule), lively(), K, seed=2, trace=True)
    assert compiled.trace is not None and asked.trace is not None
    chosen = {w.tobytes() for w in compiled.trace.loss_weights}
    assert len(chosen) == 2  # it did change its mind
    for name in ("states", "actions", "loss_weights", "policies", "dual", "values", "exact_values", "epoch_starts"):
        assert np.array_equal(getattr(compiled.trace, name), getattr(asked.trace, name)), name
    np.testing.assert_allclose(compiled.regret, asked.regret, atol=1e-9)
    assert np.array_equal(compiled.violation, asked.violation)


def test_losses_that_react_give_the_same_run_with_and_without_exact_evaluation(cmdp, lively):
    exact, paid = (run(cmdp, lively(), kind="best-response", evaluate=e) for e in (True, False))
    assert exact.trace is not None and paid.trace is not None
    for name in ("states", "actions", "loss_weights", "policies", "dual"):
        assert np.array_equal(getattr(exact.trace, name), getattr(paid.trace, name)), name
