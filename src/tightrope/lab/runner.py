"""How do specs become finished runs? What the store holds is kept, the rest is made by an engine, local or Ray.

Finished runs are not repeated, unfinished ones go on from their checkpoints, a run that fails is told while the others
finish, and an interruption puts everything away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tightrope.errors import InputError, TightropeError
from tightrope.lab import lock
from tightrope.lab.board import Board, Failure
from tightrope.lab.disk import storage
from tightrope.lab.local_engine import Local
from tightrope.lab.making import Options, Show
from tightrope.lab.spec_checks import Spec
from tightrope.lab.store import Store
from tightrope.lab.work import Job
from tightrope.run import Run


class RunsInterruptedError(Exception):
    """Somebody stopped the program; `kept` of `of` runs are finished and stored, `started` more have a checkpoint."""

    def __init__(self, kept: int, of: int, started: int = 0):
        super().__init__(f"{kept} of {of} runs are finished")
        self.kept, self.of, self.started = kept, of, started


@dataclass(frozen=True, eq=False)
class Results:
    """The runs of specs, in the order of the specs and of the seeds of each; failed ones are left out."""

    store: Store
    keys: Sequence[str]
    reused: int
    seconds: float
    failures: Sequence[Failure] = ()
    notes: Sequence[str] = ()  # that were not shown while the runs were made

    @cached_property
    def runs(self) -> Sequence[Run]:
        """Read from the store when first asked for."""
        return [self.store.load(key) for key in self.keys]


def run_spec(spec: Spec, store: Store, show: Show | None = None, workers: int | None = None) -> Results:
    """Make the runs of one spec that the store does not hold yet; the first failure of one is raised when all have ended."""
    results = run_specs([spec], store, show, Options(workers=workers))
    if results.failures:
        first = results.failures[0]
        raise (InputError if first.is_input else TightropeError)(f"{first.what}: {first.error}")
    return results


def run_specs(
    specs: Sequence[Spec], store: Store, show: Show | None = None, options: Options | None = None, **kept: Any
) -> Results:
    """Make the runs of several specs that the store does not hold yet; `show` is called now and then with the board.

    Runs that several specs ask for are made once. `kept`: what is put on record of the specs as they were asked for.
    """
    options = options or Options()
    jobs = jobs_of(specs)
    board = Board(len(jobs), sum(job.episodes for job in jobs))
    try:
        with storage(store.folder, lambda: f"{_kept(store, jobs)} of {len(jobs)} runs are finished and whole"):
            store.open()
            with lock.owned(store.inner, options.waits, board.notes_once if show is None else _tell(board, show)):
                _work(jobs, store, board, show, options, kept)
    except KeyboardInterrupt:
        started = {job.key for job in jobs} & store.checkpoints.run_keys()
        raise RunsInterruptedError(_kept(store, jobs), len(jobs), len(started)) from None
    failed = {failure.key for failure in board.failures}
    keys = [job.key for job in jobs if job.key not in failed]
    return Results(
        store, keys, board.reused, board.seconds, tuple(board.failures), tuple(board.notes[board.notes_told :])
    )


def jobs_of(specs: Sequence[Spec]) -> list[Job]:
    """One for each different run, in the order of the specs and of the seeds of each."""
    jobs: dict[str, Job] = {}
    for spec in specs:
        for seed in spec.document.seed_list():
            key = spec.key(seed)
            if key not in jobs:
                jobs[key] = Job(len(jobs), spec, seed, key)
    return list(jobs.values())


def _tell(board: Board, show: Show) -> Callable[[str], None]:
    def tell(text: str) -> None:
        board.notes_once(text)
        show(board)

    return tell


def _kept(store: Store, jobs: Sequence[Job]) -> int:
    return sum(store.holds(job.key) for job in jobs)


def _work(
    jobs: Sequence[Job], store: Store, board: Board, show: Show | None, options: Options, kept: dict[str, Any]
) -> None:
    """With the folder to oneself: look what is there, make the rest."""
    store.sweep_up()
    if kept:
        store.keep_spec(str(kept["name"]), kept)
    waiting = []
    for job in jobs:
        there, wrong = store.sound(job.key)
        if wrong is not None:
            board.notes_once(wrong)
        if there:
            board.found(job.episodes)
        else:
            waiting.append(job)
    if show is not None:
        show(board)
    if options.engine == "ray" and waiting:
        from tightrope.lab.ray_engine import run_on_ray

        run_on_ray(waiting, store, board, show, options)
    elif waiting:
        Local(store, board, show, options).run(waiting)
