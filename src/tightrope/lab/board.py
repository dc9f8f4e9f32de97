"""Where do all runs stand? One board: written by those who make runs, read by whoever shows it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from tightrope.simulation import Progress

SETTLES_SECONDS = 2.0  # before that the pace says nothing


@dataclass(frozen=True)
class Failure:
    """A run that was given up."""

    key: str
    what: str  # which run, in words
    error: str  # one line
    attempts: int
    is_input: bool  # whether something that the user gave is wrong


@dataclass
class Board:
    """Where all runs stand."""

    of: int  # runs
    episodes_total: int  # of all runs
    progress: dict[int, Progress] = field(default_factory=dict)  # of runs under way, by their place
    finished: int = 0  # those found finished included
    reused: int = 0  # found finished
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # lines for the user, in the order of their events
    notes_told: int = 0  # of them, by whoever shows the board
    last: Progress | None = None  # of the run that finished last
    worst_violation: float | None = None  # the largest running violation that was seen
    begun: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._finished_episodes = 0
        self._found_episodes = 0  # that nobody had to wait for: of finished runs, and before the checkpoints
        self._paced: tuple[float, int] | None = None  # when a run moved first, and how many episodes were made then

    @property
    def episodes_done(self) -> int:
        with self._lock:
            return self._finished_episodes + sum(p.episodes for p in self.progress.values())

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    @property
    def seconds_left(self) -> float | None:
        """At the pace since a run moved first, so that compiling does not count; None while nothing is known."""
        done = self.episodes_done
        if self._paced is None:
            return None
        seconds, made = time.perf_counter() - self._paced[0], done - self._found_episodes - self._paced[1]
        if made <= 0 or seconds < SETTLES_SECONDS:
            return None
        return seconds * (self.episodes_total - done) / made

    @property
    def under_way(self) -> list[Progress]:
        with self._lock:
            return list(self.progress.values())

    def found(self, episodes: int) -> None:
        """A run was there already."""
        with self._lock:
            self.finished, self.reused = self.finished + 1, self.reused + 1
            self._finished_episodes += episodes
            self._found_episodes += episodes

    def resumed(self, episodes: int) -> None:
        """A run goes on from a checkpoint."""
        with self._lock:
            self._found_episodes += episodes

    def moves(self, place: int, at: Progress) -> None:
        with self._lock:
            self.progress[place] = at
            worst = self.worst_violation
            self.worst_violation = at.violation if worst is None else max(worst, at.violation)
            if self._paced is None:
                made = self._finished_episodes + sum(p.episodes for p in self.progress.values()) - self._found_episodes
                self._paced = time.perf_counter(), made

    def finishes(self, place: int, episodes: int) -> None:
        with self._lock:
            self.last = self.progress.pop(place, self.last)
            self.finished += 1
            self._finished_episodes += episodes

    def fails(self, place: int, episodes: int, failure: Failure) -> None:
        """Given up: its episodes count as done, nobody waits for them any more."""
        with self._lock:
            self.progress.pop(place, None)
            self.failures.append(failure)
            self._finished_episodes += episodes
            self.notes.append(f"{failure.what} failed ({_times(failure.attempts)}): {failure.error}")

    def notes_once(self, text: str) -> None:
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)


def _times(n: int) -> str:
    return "once" if n == 1 else "twice" if n == 2 else f"{n} times"
