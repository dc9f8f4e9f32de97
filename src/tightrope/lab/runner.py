"""How are the runs of specs made on one machine? Each on a thread of its own, over kernels that release the GIL.

Finished runs are kept and not repeated, unfinished ones go on from their checkpoints, a run that fails is told while the
others finish, and an interruption puts everything away. `ray_engine` does the same on many machines.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tightrope.errors import InputError, TightropeError
from tightrope.lab import lock
from tightrope.lab.board import Board, Failure
from tightrope.lab.mistakes import one_line
from tightrope.lab.spec_checks import Spec
from tightrope.lab.store import Store
from tightrope.lab.work import CHECKPOINT_SECONDS, Job, Work
from tightrope.run import Run
from tightrope.snapshot import Rows, Snapshot

POLL_SECONDS = 0.1
ATTEMPTS = 3  # of a run that fails, each from its last checkpoint

Show = Callable[[Board], None]


class RunsInterruptedError(Exception):
    """Somebody stopped the program; `kept` of `of` runs are finished and stored, `started` more have a checkpoint."""

    def __init__(self, kept: int, of: int, started: int = 0):
        super().__init__(f"{kept} of {of} runs are finished")
        self.kept, self.of, self.started = kept, of, started


class StorageError(TightropeError):
    """The disk does not take what is written; what was there before is whole."""


class _DiskError(Exception):
    """What the disk said when a run was to be kept; an `OSError` of a run's own is that run's failure."""

    def __init__(self, error: OSError):
        super().__init__(str(error))
        self.error = error


class _StoppedError(Exception):
    """A run that ends early because all runs are to end."""


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


@dataclass(frozen=True)
class Options:
    """How runs are made; nothing here changes what comes out."""

    workers: int | None = None  # at a time; by default one a core
    engine: str = "local"  # or "ray"
    address: str | None = None  # of a Ray that runs already
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    waits: bool = False  # for another process that has the folder


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
        _Local(store, board, show, options).run(waiting)


class _Local:
    """Threads of this process: some make runs, others put finished ones on the disk meanwhile."""

    def __init__(self, store: Store, board: Board, show: Show | None, options: Options):
        self.store, self.board, self.show, self.options = store, board, show, options
        self.stop = threading.Event()

    def run(self, jobs: Sequence[Job]) -> None:
        workers = self.options.workers or min(os.cpu_count() or 1, len(jobs))
        makers, self.keepers = ThreadPoolExecutor(workers), ThreadPoolExecutor(KEEPERS)
        self.room = threading.BoundedSemaphore(workers + KEEPERS)  # finished runs that are held in memory
        futures: set[Future[Any]] = set()
        try:
            waiting = iter(jobs)
            self._submit(makers, waiting, futures, 2 * workers)
            while futures:
                done, futures = wait(futures, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                futures |= {keeping for future in done if (keeping := future.result()) is not None}
                self._submit(makers, waiting, futures, 2 * workers + KEEPERS - len(futures))
                self._show(bool(futures))
        except BaseException:
            self.stop.set()
            makers.shutdown(wait=False, cancel_futures=True)
            wait(futures, timeout=PATIENCE)
            raise
        finally:
            makers.shutdown(wait=False, cancel_futures=True)
            self.keepers.shutdown(wait=False)

    def _submit(self, pool: ThreadPoolExecutor, waiting: Iterator[Job], futures: set[Future[Any]], room: int) -> None:
        """A few at a time: thousands of runs need no thousands of futures."""
        for _, job in zip(range(room), waiting):
            futures.add(pool.submit(self._make, job))

    _shown = 0.0

    def _show(self, more: bool) -> None:
        now = time.perf_counter()
        if self.show is not None and (not more or now - self._shown >= POLL_SECONDS):
            self._shown = now
            self.show(self.board)

    def _make(self, job: Job) -> Future[None] | None:
        """All attempts of one run; gives what puts it on the disk. Only a disk that fails, or a stop, raises."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                files = self._attempt(job)
            except (_DiskError, _StoppedError):
                raise
            except Exception as error:
                if attempt == ATTEMPTS or isinstance(error, InputError):
                    self.board.fails(job.place, job.episodes, failed(job, error, attempt))
                    return None
            else:
                self.room.acquire()
                return self.keepers.submit(self._keep, job, files)
        return None

    def _attempt(self, job: Job) -> dict[str, bytes]:
        if self.stop.is_set():
            raise _StoppedError
        work = begin(job, self.store, self.board, self.options.checkpoint_seconds)
        while work.remaining:
            self.board.moves(job.place, work.advance())
            if work.trouble is not None:
                self.board.notes_once(work.trouble)
            if self.stop.is_set():
                work.put_away()
                raise _StoppedError
        return work.finish(engine="local")

    def _keep(self, job: Job, files: dict[str, bytes]) -> None:
        """The disk's own time passes here, without the GIL."""
        try:
            with disk():
                self.store.put(job.key, files)
            self.board.finishes(job.place, job.episodes)
        finally:
            self.room.release()


KEEPERS = 2  # threads that write finished runs
PATIENCE = 0.6  # seconds for runs to be put away; one that is still compiling is not waited for


def begin(job: Job, store: Store, board: Board, every: float) -> Work:
    """Take a run up from its checkpoint, or begin it; a damaged checkpoint is told and set aside."""

    def keep(episodes: int, head: bytes, rows: Rows | None) -> None:
        with disk():
            store.checkpoints.save(job.key, episodes, head, rows)

    taken = snapshot_of(job, store, board)
    try:
        work = Work(job, taken, keep, every)
    except Exception as error:
        if taken is None:
            raise
        wrong = f"checkpoint of {job.what}: cannot be taken up ({type(error).__name__}: {error})"
        board.notes_once(store.drop_checkpoint(job.key, one_line(wrong)))
        work = Work(job, None, keep, every)
    board.resumed(work.resumed_at)
    return work


def snapshot_of(job: Job, store: Store, board: Board) -> Snapshot | None:
    """The last checkpoint of a run; one that is damaged is told and set aside."""
    try:
        return store.checkpoints.load(job.key)
    except InputError as error:
        board.notes_once(store.drop_checkpoint(job.key, error.problems[0]))
        return None


@contextmanager
def storage(folder: Path, kept: Callable[[], str]) -> Iterator[None]:
    """Say in one line that the disk does not take what is written, and what is kept."""
    try:
        yield
    except (OSError, _DiskError) as error:
        cause = error.error if isinstance(error, _DiskError) else error
        said = cause.strerror or str(cause)
        raise StorageError(
            f"{folder}: cannot be written ({said}); {kept()}. Mend that, and the same command goes on from there"
        ) from None


@contextmanager
def disk() -> Iterator[None]:
    """Tell the disk's errors from those of a run."""
    try:
        yield
    except OSError as error:
        raise _DiskError(error) from None


def failed(job: Job, error: BaseException | str, attempts: int, is_input: bool = False) -> Failure:
    """What is told of a run that is given up."""
    if isinstance(error, InputError):
        return Failure(job.key, job.what, one_line(error.problems[0]), attempts, True)
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return Failure(job.key, job.what, one_line(text), attempts, is_input)
