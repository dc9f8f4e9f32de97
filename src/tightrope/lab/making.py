"""How is a run made, whoever makes it? With which options, from which checkpoint, and when it is given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tightrope.errors import InputError
from tightrope.lab.board import Board, Failure
from tightrope.lab.disk import disk
from tightrope.lab.mistakes import one_line
from tightrope.lab.store import Store
from tightrope.lab.work import CHECKPOINT_SECONDS, Job, Work
from tightrope.snapshot import Rows, Snapshot

ATTEMPTS = 3  # of a run that fails, each from its last checkpoint

Show = Callable[[Board], None]


@dataclass(frozen=True)
class Options:
    """How runs are made; nothing here changes what comes out."""

    workers: int | None = None  # at a time; by default one a core
    engine: str = "local"  # or "ray"
    address: str | None = None  # of a Ray that runs already
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    waits: bool = False  # for another process that has the folder


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


def failed(job: Job, error: BaseException | str, attempts: int, is_input: bool = False) -> Failure:
    """What is told of a run that is given up."""
    if isinstance(error, InputError):
        return Failure(job.key, job.what, one_line(error.problems[0]), attempts, True)
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return Failure(job.key, job.what, one_line(text), attempts, is_input)
