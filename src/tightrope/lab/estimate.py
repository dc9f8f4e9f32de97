"""How much will a spec cost? How many runs, how long from a short measurement, and how much disk at most."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tightrope.lab.runner import Options, jobs_of
from tightrope.lab.spec_checks import Spec
from tightrope.lab.store import Store
from tightrope.lab.work import Job
from tightrope.recorder import every_by_default, recorded_episodes
from tightrope.run_files import in_gallery
from tightrope.simulation import Simulation

MEASURED = 6  # kinds of runs that are tried; the others are taken to cost the mean of these
SECONDS = 0.5  # each
BLOCK = 4096  # bytes by which a disk counts
PLAIN = 3  # files of a few thousand bytes: manifest, host facts, what rounding up adds


@dataclass(frozen=True)
class Estimate:
    runs: int
    there: int  # finished already
    begun: int  # with a checkpoint
    episodes: int  # of the runs that are not there
    workers: int
    seconds: float  # from now to the end, on this machine
    disk: int  # bytes at most, of the runs that are not there
    measured: int  # kinds of runs
    kinds: int


def estimate(specs: Sequence[Spec], store: Store, options: Options) -> Estimate:
    """Look what is there, and try a few episodes of each kind of run, up to some."""
    jobs = jobs_of(specs)
    missing = [job for job in jobs if not store.holds(job.key)]
    workers = options.workers or min(os.cpu_count() or 1, max(len(missing), 1))
    kinds: dict[str, list[Job]] = {}
    for job in missing:
        kinds.setdefault(_kind(job.spec), []).append(job)
    costs = {kind: _cost(alike[0]) for kind, alike in list(kinds.items())[:MEASURED]}
    mean = [sum(cost[i] for cost in costs.values()) / max(len(costs), 1) for i in (0, 1)]
    seconds = 0.0
    for kind, alike in kinds.items():
        begin, each = costs.get(kind, mean)
        seconds += sum(begin + each * job.episodes for job in alike)
    begun = store.checkpoints.run_keys()
    return Estimate(
        runs=len(jobs),
        there=len(jobs) - len(missing),
        begun=sum(job.key in begun for job in missing),
        episodes=sum(job.episodes for job in missing),
        workers=workers,
        seconds=seconds / workers,
        disk=sum(_bytes(job.spec) for job in missing),
        measured=len(costs),
        kinds=len(kinds),
    )


def _kind(spec: Spec) -> str:
    """Runs that should take as long an episode."""
    return f"{spec.cmdp.digest} {spec.losses_kind} {getattr(spec.learner, 'name', '')} {spec.document.trace}"


def _cost(job: Job) -> tuple[float, float]:
    """Seconds to begin a run, and of an episode: both of a second simulation, when everything is compiled."""
    _simulation(job).advance(1)
    begun = time.perf_counter()
    simulation = _simulation(job)
    begin = time.perf_counter() - begun
    while simulation.remaining and time.perf_counter() - begun < begin + SECONDS:
        simulation.advance()
    return begin, (time.perf_counter() - begun - begin) / simulation.done


def _simulation(job: Job) -> Simulation:
    spec, document = job.spec, job.spec.document
    losses = spec.losses(job.seed)
    return Simulation(spec.cmdp, losses, spec.learner, document.episodes, job.seed, document.record_every)


def _bytes(spec: Spec) -> int:
    """What a run takes on the disk when nothing is gained by compressing it."""
    cmdp, document = spec.cmdp, spec.document
    H, S, A, d, m, K = cmdp.horizon, cmdp.n_states, cmdp.n_actions, cmdp.dim, cmdp.n_constraints, document.episodes
    every = document.record_every or every_by_default(K)
    curves = len(recorded_episodes(K, every)) * (4 + 3 * m)
    policies = 3 * H * S * A + H * d
    trace = K * (2 * H + 1 + H * m + H * d + 2 + 3 * m + H * S * A) if document.trace else 0
    problem = 0 if in_gallery(cmdp) else S * A * d + H * d * (S + m)
    return 8 * (curves + policies + trace + problem) + PLAIN * BLOCK
