"""How fast are the rivals? Those on the engine beside Algorithm 1, in turns; the others, in episodes a second."""

from __future__ import annotations

import time
from typing import Any

import tightrope as tr
from benchmarks.timing import Row, at_least, at_most, in_turns
from tightrope.simulation import Simulation

EPISODES, ROUNDS = 50_000, 5
SHARED = ("ghosh2022", "naive", "cfpo")
PROGRAMMES = {"ucpd": 300, "dope": 300, "opse": 2000, "ghosh2024": 2000}  # episodes of each


def learning(cmdp: tr.LinearCMDP, learner: Any, episodes: int) -> float:
    """Seconds of the processor in this thread, exact evaluation included."""
    simulation = Simulation(cmdp, tr.losses.make("alternating", cmdp, episodes), learner, episodes, compare=False)
    begun = time.thread_time()
    simulation.advance(episodes)
    return time.thread_time() - begun


def rows() -> list[Row]:
    cmdp, found = tr.problems.make("job-scheduling"), []
    makers = {name: tr.learners.make(name, cmdp, EPISODES) for name in ("pdpo", *SHARED)}
    for learner in makers.values():
        learning(cmdp, learner, 100)  # compiled from here on
    works = [lambda made=made: learning(cmdp, made, EPISODES) for made in makers.values()]
    own, *others = in_turns(ROUNDS, *works)
    for name, spent in zip(SHARED, others):
        how = f"{spent:.3f} s for {EPISODES:,} episodes of job scheduling, pdpo {own:.3f} s; least of {ROUNDS}"
        found.append(at_most(f"{name} beside pdpo", spent / own, 1.5, how))
    for name, episodes in PROGRAMMES.items():
        made = tr.learners.make(name, cmdp, episodes)
        learning(cmdp, made, 20)
        pace = episodes / learning(cmdp, made, episodes)
        found.append(
            at_least(f"{name}, episodes a second", pace, 20.0, f"job scheduling, {episodes} episodes", unit="/s")
        )
    return found
