"""Does an episode cost the same however many there are? Time and memory of T1 at K = 10^4, 10^5, 10^6."""

from __future__ import annotations

import tracemalloc

import tightrope as tr
from benchmarks.job_scheduling import one_run
from benchmarks.timing import Row, at_most, in_turns

SIZES = (10_000, 100_000, 1_000_000)


def rows() -> list[Row]:
    one_run(0, 100)
    spent = in_turns(3, *(lambda K=K: one_run(2, K) for K in SIZES))
    each = [1e6 * s / K for s, K in zip(spent, SIZES)]
    later = each[1:]
    memory = [_peak(K) for K in SIZES]
    return [
        at_most(
            "time of an episode, K = 10⁵ to 10⁶",
            max(later) / min(later),
            1.15,
            ", ".join(f"{x:.2f} µs at K = {K:,}" for x, K in zip(each, SIZES)),
        ),
        at_most(
            "memory of simulate, K = 10⁵ to 10⁶",
            memory[-1] / memory[-2],
            1.1,
            "peak of all arrays but the losses given, 1,000 points recorded: "
            + ", ".join(f"{x:.2f} MB at K = {K:,}" for x, K in zip(memory, SIZES)),
        ),
    ]


def _peak(episodes: int) -> float:
    """MB that `simulate` allocates at its highest (NumPy reports its arrays to tracemalloc)."""
    cmdp = tr.problems.make("job-scheduling")
    losses = tr.losses.make("drift", cmdp, episodes=episodes)
    learner = tr.PDPO.experiment(cmdp, episodes)
    tracemalloc.start()
    try:
        tr.simulate(cmdp, losses, learner, episodes, record_every=episodes // 1000)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
