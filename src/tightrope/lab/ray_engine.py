"""How are runs made on many machines? As tasks of Ray; this process alone writes finished runs, so they are the same bytes.

Checkpoints go straight into the folder where a worker sees it too (a shared disk), and otherwise through Ray's object store to
an actor from which this process fetches them. That actor lives on this process's own node, so that no other node can take it
away; Ray may deliver late and twice all the same, so only what is of a run under way and takes it further is put on the disk.
A worker or node that is lost costs the time since the last checkpoint: the run is handed out again, with it. Losing a node is
nobody's fault and does not count among the attempts of a run, up to a point.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tightrope import safe_files
from tightrope.errors import InputError
from tightrope.lab.board import Board
from tightrope.lab.checkpoints import Checkpoints
from tightrope.lab.disk import disk
from tightrope.lab.making import ATTEMPTS, Options, Show, failed, snapshot_of
from tightrope.lab.mistakes import one_line
from tightrope.lab.store import Store
from tightrope.lab.work import Job, Keep, Work
from tightrope.snapshot import Rows, Snapshot

POLL_SECONDS = 0.2
TELL_SECONDS = 0.5  # between two words of a worker about where it stands
PATIENCE = (
    10.0  # seconds that a run waits until its checkpoint has arrived; then it goes on, and Ray delivers when it can
)
LAST_WORDS = 5.0  # seconds in which what was sent is fetched when everything stops
HERE = "here"  # a file by which a worker knows that it sees the folder
MOST_LOST = 20  # nodes lost under one run before it counts as a failure


@dataclass(frozen=True)
class _Desk:
    """What a task is told beside its job."""

    token: str  # what stands in the file `HERE`
    folder: str
    every: float


class Sent(NamedTuple):
    """A checkpoint on its way."""

    key: str
    episodes: int
    head: bytes
    rows: Rows | None


class Depot:
    """The actor in the middle: takes what workers send, until the process that writes fetches it."""

    def __init__(self) -> None:
        self.progress: dict[int, Any] = {}
        self.checkpoints: list[Sent] = []

    def moves(self, place: int, progress: Any) -> None:
        self.progress[place] = progress

    def keep(self, sent: Sent) -> None:
        self.checkpoints.append(sent)

    def fetch(self) -> tuple[dict[int, Any], list[Sent]]:
        found = self.progress, self.checkpoints
        self.progress, self.checkpoints = {}, []
        return found


def put_on_disk(sent: Iterable[Sent], under_way: set[str], checkpoints: Checkpoints) -> None:
    """Keep what takes a run further; what comes late, of runs that are over or from before their last checkpoint, is left."""
    for one in sent:
        if one.key in under_way and one.episodes > checkpoints.reached(one.key):
            checkpoints.save(*one)


def make_remotely(job: Job, taken: Snapshot | None, depot: Any, desk: _Desk) -> tuple[str, Any]:
    """The task: make a run from where it stands. Errors of the run come back as values; only Ray's own are raised."""
    import ray

    checkpoints = _shared(desk)

    def keep(episodes: int, head: bytes, rows: Rows | None) -> None:
        if checkpoints is not None:
            checkpoints.save(job.key, episodes, head, rows)
        else:
            ray.wait([depot.keep.remote(Sent(job.key, episodes, head, rows))], timeout=PATIENCE)

    try:
        if checkpoints is not None:
            taken = checkpoints.load(job.key)
        work = _begin(job, taken, keep, desk.every)
        told = 0.0
        while work.remaining:
            progress = work.advance()
            if time.perf_counter() - told >= TELL_SECONDS:
                told = time.perf_counter()
                depot.moves.remote(job.place, progress)
        return "done", (work.finish(engine="ray"), work.simulation.progress(), work.trouble)
    except InputError as error:
        return "input", one_line(error.problems[0])
    except Exception as error:
        return "error", one_line(f"{type(error).__name__}: {error}")


def _begin(job: Job, taken: Snapshot | None, keep: Keep, every: float) -> Work:
    """From the snapshot; one that this machine's Python cannot take up costs the time to make the run anew."""
    try:
        return Work(job, taken, keep, every)
    except Exception:
        if taken is None:
            raise
        return Work(job, None, keep, every)


def _shared(desk: _Desk) -> Checkpoints | None:
    """The checkpoints in the folder itself, where this machine sees it."""
    folder = Path(desk.folder)
    try:
        if (folder / HERE).read_text() == desk.token:
            return Checkpoints(folder / "checkpoints")
    except OSError:
        pass
    return None


def run_on_ray(jobs: Sequence[Job], store: Store, board: Board, show: Show | None, options: Options) -> None:
    """Make the runs on a cluster; without an address a Ray is started here, and stopped again."""
    try:
        import ray
    except ImportError:
        raise InputError(
            "--engine ray: Ray is not installed; expected the extra: pip install 'tightrope[ray]'"
        ) from None
    mine = not ray.is_initialized()
    if mine:
        _connect(ray, options)
    try:
        _Cluster(ray, store, board, show, options).run(jobs)
    finally:
        if mine:
            ray.shutdown()


def _connect(ray: Any, options: Options) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody unless somebody asks for it
    given: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if options.address is None:
        given |= {"include_dashboard": False}
        if options.workers is not None:
            given["num_cpus"] = options.workers
    else:
        given["address"] = options.address
    try:
        ray.init(**given)
    except (ConnectionError, ValueError, RuntimeError) as error:
        text = one_line(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise InputError(f"--address: {options.address}: no Ray answers there ({text})") from None


@dataclass
class _Try:
    """A job that is handed out."""

    job: Job
    attempts: int = 0  # that failed
    lost: int = 0  # nodes


class _Cluster:
    """Hands jobs out, takes runs and checkpoints in."""

    def __init__(self, ray: Any, store: Store, board: Board, show: Show | None, options: Options):
        self.ray, self.store, self.board, self.show, self.options = ray, store, board, show, options
        token = secrets.token_hex(8)
        safe_files.write_file(store.inner / HERE, token.encode())
        self.desk = _Desk(token, str(store.inner.resolve()), options.checkpoint_seconds)
        self.depot = self._depot()
        self.asked: Any = None  # what the depot was asked for and has not answered yet
        self.task = ray.remote(num_cpus=1, max_retries=0)(make_remotely)
        self.under_way: dict[Any, _Try] = {}
        self.specs: dict[int, Any] = {}

    def _depot(self) -> Any:
        """On the node of this process, whose loss ends everything anyway."""
        here = self.ray.get_runtime_context().get_node_id()
        placed = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=True)
        made = self.ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=placed)(Depot)
        return made.remote()

    def run(self, jobs: Sequence[Job]) -> None:
        waiting = list(reversed(jobs))
        try:
            while waiting or self.under_way:
                while waiting and len(self.under_way) < self._room():
                    self._hand_out(_Try(waiting.pop()))
                done, _ = self.ray.wait(list(self.under_way), num_returns=1, timeout=POLL_SECONDS)
                self._fetch()
                for ref in done:
                    self._take_in(ref, self.under_way.pop(ref))
                if self.show is not None:
                    self.show(self.board)
        except BaseException:
            self._leave()
            raise
        finally:
            self.ray.kill(self.depot)

    def _leave(self) -> None:
        """Stop everything, and keep what was sent."""
        for ref in self.under_way:
            self.ray.cancel(ref, force=True)
        self._fetch(LAST_WORDS)
        self._fetch(LAST_WORDS)  # the first may have been asked before the last was sent

    def _room(self) -> int:
        """A few more tasks than there are processors, so that none waits for us."""
        cpus = int(self.ray.cluster_resources().get("CPU", 1))
        return 2 * max(min(cpus, self.options.workers) if self.options.workers else cpus, 1)

    def _hand_out(self, given: _Try) -> None:
        taken = snapshot_of(given.job, self.store, self.board)
        if given.attempts == given.lost == 0 and taken is not None:
            self.board.resumed(taken.episodes)
        self.under_way[self.task.remote(given.job, taken, self.depot, self.desk)] = given

    def _fetch(self, patience: float = 0.0) -> None:
        """Put the checkpoints that came through Ray on the disk, and the news on the board.

        An answer that takes longer is taken in later, since what the depot has given it no longer has.
        """
        self.asked = self.asked or self.depot.fetch.remote()
        answered, _ = self.ray.wait([self.asked], timeout=patience)
        if not answered:
            return
        self.asked = None
        try:
            progress, sent = self.ray.get(answered[0])
        except self.ray.exceptions.RayError:
            return  # the depot has crashed; it starts again, with nothing in it
        jobs = [given.job for given in self.under_way.values()]
        with disk():
            put_on_disk(sent, {job.key for job in jobs}, self.store.checkpoints)
        mine = {job.place for job in jobs}
        for place, at in progress.items():
            if place in mine:
                self.board.moves(place, at)

    def _take_in(self, ref: Any, given: _Try) -> None:
        """A task has ended: keep the run, hand it out again, or give it up."""
        job = given.job
        try:
            how, what = self.ray.get(ref)
        except (self.ray.exceptions.NodeDiedError, self.ray.exceptions.ObjectLostError) as error:
            given.lost += 1
            return self._again(given, given.lost >= MOST_LOST, error)
        except self.ray.exceptions.RayError as error:  # the worker crashed, or was killed
            given.attempts += 1
            return self._again(given, given.attempts >= ATTEMPTS, error)
        if how == "done":
            files, last, trouble = what
            self.board.moves(job.place, last)
            if trouble is not None:
                self.board.notes_once(trouble)
            with disk():
                self.store.put(job.key, files)
            self.board.finishes(job.place, job.episodes)
            return None
        given.attempts += 1
        return self._again(given, how == "input" or given.attempts >= ATTEMPTS, what, how == "input")

    def _again(self, given: _Try, last: bool, error: Any, is_input: bool = False) -> None:
        if not last:
            return self._hand_out(given)
        text = error if isinstance(error, str) else f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
        failure = failed(given.job, one_line(text), max(given.attempts + given.lost, 1), is_input)
        return self.board.fails(given.job.place, given.job.episodes, failure)
