"""How are runs made on one machine? Each on a thread of its own, over kernels that release the GIL."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from tightrope.errors import InputError
from tightrope.lab.board import Board
from tightrope.lab.disk import DiskError, disk
from tightrope.lab.making import ATTEMPTS, Options, Show, begin, failed
from tightrope.lab.store import Store
from tightrope.lab.work import Job

POLL_SECONDS = 0.1
KEEPERS = 2  # threads that write finished runs
PATIENCE = 0.6  # seconds for runs to be put away; one that is still compiling is not waited for


class _StoppedError(Exception):
    """A run that ends early because all runs are to end."""


class Local:
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
            except (DiskError, _StoppedError):
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
