"""T1: the paper's experiment against hand-specialised C, and on two cores against one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tightrope as tr
from benchmarks.timing import ROOT, Row, at_least, at_most, elsewhere, in_turns, told

EPISODES, SEEDS, ROUNDS = 100_000, 10, 9
LIMIT = ROOT.parent / "shared" / "bench" / "limit.c"
FLAGS = ("-O3", "-march=native", "-ffast-math")
MEMORY = """
import json, resource
from benchmarks.job_scheduling import ten_seeds
ten_seeds(2)
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
"""


def one_run(seed: int, episodes: int = EPISODES) -> float:
    """Seconds of learning, exact evaluation of every episode included."""
    cmdp = tr.problems.make("job-scheduling")
    losses = tr.losses.make("drift", cmdp, episodes=episodes, seed=seed)
    run = tr.simulate(cmdp, losses, tr.PDPO.experiment(cmdp, episodes), episodes, seed=seed)
    return float(run.seconds["learning"])


def ten_seeds(workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one_run, range(SEEDS)))


def rows() -> list[Row]:
    one_run(0, 100)  # compiled from here on
    found = [_against_c()]
    one, two = in_turns(3, lambda: ten_seeds(1), lambda: ten_seeds(2))
    found.append(at_least("ten seeds on two cores", one / two, 1.75, f"{one:.2f} s on one core, {two:.2f} s on two"))
    found.append(at_most("resident memory of that", elsewhere(MEMORY), 400.0, "peak of the process", "MB"))
    return found


def _against_c() -> Row:
    compiler = shutil.which("gcc")
    if compiler is None or not LIMIT.exists():
        missing = "gcc" if compiler is None else str(LIMIT)
        own = min(one_run(seed) for seed in range(3))
        return told("T1 beside limit.c", own, f"seconds of one run; no comparison: {missing} is not here", "s")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limit"
        subprocess.run([compiler, *FLAGS, "-o", program, LIMIT, "-lm"], check=True)
        ours, theirs = in_turns(ROUNDS, lambda: one_run(1), lambda: _c_seconds(program))
    how = f"{ours:.3f} s for {EPISODES:,} episodes on one thread, limit.c {theirs:.3f} s; least of {ROUNDS}"
    return at_most("T1 beside limit.c", ours / theirs, 2.0, how)


def _c_seconds(program: Path) -> float:
    said = subprocess.run([program, str(EPISODES)], capture_output=True, text=True, check=True).stdout
    return float(said.split()[0])
