"""How is one run made so that it can be stopped at any instant? Taken up where it was, put away every few seconds, finished."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tightrope.lab.spec_checks import Spec
from tightrope.run_files import files_of
from tightrope.simulation import Progress, Simulation
from tightrope.snapshot import CannotBePutAwayError, Rows, Snapshot, put_away, take_up, trace_rows

CHECKPOINT_SECONDS = 5.0  # between two checkpoints of a run
SHARE = 20.0  # and at least so many times as long as one took, so that no run spends more than a twentieth on them

Keep = Callable[[int, bytes, Rows | None], None]  # episodes, head, new rows of the trace


@dataclass(frozen=True, eq=False)
class Job:
    """One run that a spec asks for."""

    place: int  # among all jobs
    spec: Spec
    seed: int
    key: str

    @property
    def episodes(self) -> int:
        return self.spec.document.episodes

    @property
    def what(self) -> str:
        """In words, for people."""
        settings = ", ".join(f"{name} = {value}" for name, value in self.spec.point.items())
        return f"run {self.key} (seed {self.seed}{', ' if settings else ''}{settings})"


class Work:
    """A job under way."""

    def __init__(self, job: Job, taken: Snapshot | None, keep: Keep, every: float = CHECKPOINT_SECONDS):
        spec, document = job.spec, job.spec.document
        self.job, self._keep, self._every = job, keep, every
        self.simulation = Simulation(
            spec.cmdp,
            spec.losses(job.seed),
            spec.learner,
            document.episodes,
            job.seed,
            document.record_every,
            document.trace,
        )
        if taken is not None:
            take_up(self.simulation, taken)
        self.resumed_at = self._kept = self.simulation.done
        self._kept_rows = self.simulation.done
        self._due = time.perf_counter() + every
        self.trouble: str | None = None  # why it cannot be put away

    @property
    def remaining(self) -> int:
        return self.simulation.remaining

    def advance(self, until: int | None = None) -> Progress:
        """Play a stride, or some episodes; put the run away if it is time."""
        self.simulation.advance(None if until is None else until - self.simulation.done)
        if time.perf_counter() >= self._due and self.remaining:
            self.put_away()
        return self.simulation.progress()

    def put_away(self) -> None:
        """A checkpoint now, if there is anything new."""
        done = self.simulation.done
        if done == self._kept or self.trouble is not None:
            return
        begun = time.perf_counter()
        try:
            head = put_away(self.simulation)
        except CannotBePutAwayError as error:
            self.trouble = f"{self.job.spec.name}: its runs have no checkpoints ({error})"
            return
        self._keep(done, head, trace_rows(self.simulation, self._kept_rows))
        self._kept = self._kept_rows = done
        now = time.perf_counter()
        self._due = now + max(self._every, SHARE * (now - begun))

    def finish(self, **made: Any) -> dict[str, bytes]:
        """The files of the finished run."""
        about = {"resumed_at": self.resumed_at, **made}
        return files_of(self.simulation.finish(), self.job.key, about)
