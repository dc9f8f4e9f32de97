"""T2: dense features. Episode updates and epoch starts, timed apart, against the NumPy twin on the same episodes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import tightrope as tr
from benchmarks.numpy_twin import NumpyTwin
from benchmarks.timing import Row, at_least, at_most
from tightrope.engine import tables
from tightrope.engine.episode import begin_epoch_if_due
from tightrope.engine.learn import learn_batch
from tightrope.learners import worlds

EPISODES, ROUNDS = 300, 3
SIZES: dict[str, Any] = {"dim": 64, "n_states": 2000, "n_actions": 8, "horizon": 10}
Spent = tuple[float, float]  # seconds on episode updates and on epoch starts


def rows() -> list[Row]:
    cmdp = tr.problems.make("random-linear", **SIZES)
    learner = tr.PDPO.practical(
        cmdp, EPISODES, mixing_period=7, optimism=1.0
    )  # policies move, mixing acts; as the twin does
    losses = tr.losses.make("alternating", cmdp, EPISODES)
    assert isinstance(losses, tr.losses.Profiles)
    run = tr.simulate(cmdp, losses, learner, EPISODES, trace=True, compare=False, evaluate=False)
    weights = losses.profiles[losses.sequence]
    spent, apart = [], 0.0
    for _ in range(ROUNDS):
        ours, policy = _engine(cmdp, learner, weights, run.trace)
        theirs, other = _twin(cmdp, learner, weights, run.trace)
        spent.append((ours, theirs))
        apart = max(apart, float(np.abs(policy - other).max()))
    (update, start), (slow_update, slow_start) = (
        [min(round_[who][part] for round_ in spent) for part in (0, 1)] for who in (0, 1)
    )
    epochs, size = int(run.epoch[-1]), ", ".join(f"{name} = {value}" for name, value in SIZES.items())
    return [
        at_least(
            "T2, episode updates beside NumPy",
            slow_update / update,
            2.0,
            f"{1e3 * update / EPISODES:.2f} ms an episode, NumPy {1e3 * slow_update / EPISODES:.2f} ms; {size}",
        ),
        at_least(
            "T2, epoch starts beside NumPy",
            slow_start / start,
            2.0,
            f"{1e3 * start / epochs:.1f} ms an epoch, NumPy {1e3 * slow_start / epochs:.1f} ms; {epochs} epochs",
        ),
        at_most("T2, largest difference of policies", apart, 1e-9, "after the last episode", unit=""),
    ]


def _engine(cmdp: tr.LinearCMDP, learner: tr.PDPO, weights: np.ndarray, trace: Any) -> tuple[Spent, np.ndarray]:
    player = learner.start(cmdp, EPISODES)
    updates = starts = 0.0
    loss = tables.inward(player.world, weights)
    with worlds.threads_for(player.world):
        for k in range(EPISODES):
            begun = time.perf_counter()
            begin_epoch_if_due(player.world, player.state, player.settings)
            middle = time.perf_counter()
            played = (loss[k], trace.states[k : k + 1], trace.actions[k : k + 1], trace.costs[k : k + 1])
            learn_batch(player.world, player.state, player.settings, player.budgets, *played)
            starts, updates = starts + middle - begun, updates + time.perf_counter() - middle
    return (updates, starts), player.last_policy


def _twin(cmdp: tr.LinearCMDP, learner: tr.PDPO, weights: np.ndarray, trace: Any) -> tuple[Spent, np.ndarray]:
    twin = NumpyTwin(cmdp, learner, EPISODES)
    updates = starts = 0.0
    for k in range(EPISODES):
        begun = time.perf_counter()
        if twin.due:
            twin.begin_epoch()
        middle = time.perf_counter()
        twin.learn(weights[k], trace.states[k], trace.actions[k], trace.costs[k])
        starts, updates = starts + middle - begun, updates + time.perf_counter() - middle
    return (updates, starts), twin.policy.swapaxes(1, 2)
