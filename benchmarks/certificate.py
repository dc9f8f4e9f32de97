"""How long does the certificate take, and what does keeping a trace cost? Job scheduling, the paper's settings."""

from __future__ import annotations

import tightrope as tr
from benchmarks.timing import Row, at_most, elsewhere, in_turns, seconds, told

EPISODES, ROUNDS = 20_000, 3
MEMORY = """
import json, resource
from benchmarks.certificate import certificate, traced
certificate(traced())
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
"""


def traced(trace: bool = True) -> tr.Run:
    cmdp = tr.problems.make("job-scheduling")
    losses = tr.losses.make("drift", cmdp, episodes=EPISODES)
    return tr.simulate(cmdp, losses, tr.PDPO.experiment(cmdp, EPISODES), EPISODES, trace=trace)


def certificate(run: tr.Run) -> tr.theory.Certificate:
    found = tr.theory.certify(run)
    assert found.ok
    return found


def rows() -> list[Row]:
    traced()  # compiled from here on
    run = traced()
    taken = seconds(lambda: certificate(run))
    off, on = in_turns(ROUNDS, lambda: traced(False).seconds["learning"], lambda: traced().seconds["learning"])
    cmdp = tr.problems.make("job-scheduling")
    asked = seconds(lambda: tr.doctor(cmdp, tr.PDPO.experiment(cmdp, EPISODES), EPISODES))
    return [
        at_most(f"certificate of {EPISODES:,} episodes", taken, 60.0, "every row, from a run in memory", "s"),
        told(
            "its memory, the run's trace included", elsewhere(MEMORY), "peak of a process that runs and certifies", "MB"
        ),
        told("learning with a trace against without", on / off, "the engine has no monitors beside the trace", "x"),
        told("the doctor", asked, "the same problem and settings", "s"),
    ]
