"""How does a long run show where it stands? A bar with sparklines on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from tightrope.cli.sparkline import History, sparkline
from tightrope.lab.board import Board

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightrope.lab.compiling import Watch

LINE_SECONDS = 5.0  # between the plain lines
SPARK_SECONDS = 0.25  # between the values of a sparkline
COMPILING = "compiling (once, then kept on disk)"
STARTING = "starting"


@contextmanager
def shown(title: str, quiet: bool) -> Iterator[Callable[[Board], None] | None]:
    """What `run_spec` calls with its board, for as long as the block lasts."""
    if quiet:
        yield None
        return
    from tightrope.lab.compiling import Watch

    watch = Watch()
    try:
        if sys.stderr.isatty():
            with _bar() as progress:
                yield _Bar(progress, title, watch).show
        else:
            yield _Lines(title, watch).show
    finally:
        watch.end()


class _Two(Progress):
    """A progress bar with a line of sparklines below it."""

    below = Text()

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        if self.below.plain:
            yield self.below


def _bar() -> _Two:
    return _Two(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[episodes]}"),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
    )


class _Bar:
    def __init__(self, progress: _Two, title: str, watch: Watch):
        self.progress, self.title, self.watch = progress, title, watch
        self.task = progress.add_task(title, total=None, episodes="", left="")
        self.histories: dict[str, History] = {}
        self.last = 0.0
        self.told = _Told(lambda line: progress.console.print(line, markup=False, highlight=False, soft_wrap=True))

    def show(self, board: Board) -> None:
        done, total = board.episodes_done, board.episodes_total
        waiting = done == 0 and board.seconds > 1.0
        self.told.tell(board)
        self.progress.update(
            self.task,
            total=total if done else None,
            completed=done,
            description=f"{self.title}: {_beginning(self.watch)}" if waiting else self.title,
            episodes=f"{runs(board)}{done:,}/{total:,} episodes",
            left=left(board),
        )
        self._below(board)

    def _below(self, board: Board) -> None:
        """The numbers, each with how it has moved; a value is taken now and then, not at every frame."""
        now, found = time.perf_counter(), measured(board)
        if found and now - self.last >= SPARK_SECONDS:
            self.last = now
            for name, value in found.items():
                self.histories.setdefault(name, History()).add(value)
        encoding = getattr(self.progress.console.file, "encoding", None) or ""
        width = (self.progress.console.width - 60) // 3 if encoding.lower().startswith("utf") else 0
        parts = []
        for name, value in found.items():
            line = (
                sparkline(self.histories[name].values, min(width, 24)) if width >= 3 and name in self.histories else ""
            )
            parts.append(" ".join(filter(None, (name, line, shown_number(value)))))
        self.progress.below = Text("   ".join(parts), no_wrap=True, overflow="ellipsis")


class _Lines:
    def __init__(self, title: str, watch: Watch):
        self.watch = watch
        self.title, self.last = title, time.perf_counter() - LINE_SECONDS + 1.0
        self.told = _Told(lambda line: print(line, file=sys.stderr, flush=True))

    def show(self, board: Board) -> None:
        self.told.tell(board)
        now = time.perf_counter()
        if now - self.last < LINE_SECONDS:
            return
        self.last = now
        done, total = board.episodes_done, board.episodes_total
        if done == 0:
            text = _beginning(self.watch)
        else:
            text = ", ".join(filter(None, (f"{runs(board)}{done:,}/{total:,} episodes", numbers(board), left(board))))
        print(f"{self.title}: {text}", file=sys.stderr, flush=True)


def _beginning(watch: Watch) -> str:
    """What takes its time before the first episode."""
    return COMPILING if watch.seen else STARTING


class _Told:
    """Passes on the board's notes as they come; each once."""

    def __init__(self, say: Callable[[str], None]):
        self.say, self.count = say, 0

    def tell(self, board: Board) -> None:
        for note in board.notes[self.count :]:
            self.say(note)
            self.count += 1
        board.notes_told = self.count


def runs(board: Board) -> str:
    """How many runs are done, where there are several."""
    if board.of == 1:
        return ""
    failed = f", {len(board.failures)} failed" if board.failures else ""
    return f"{board.finished:,}/{board.of:,} runs{failed}, "


def left(board: Board) -> str:
    seconds = board.seconds_left
    return "" if seconds is None else f"about {span(seconds)} left"


def span(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def measured(board: Board) -> dict[str, float]:
    """Regret and dual of the runs under way, in the mean and at most; the worst violation so far."""
    states = board.under_way or ([board.last] if board.last is not None else [])
    if not states or board.worst_violation is None:
        return {}
    regrets = [state.regret for state in states if state.regret is not None]
    found = {"regret": sum(regrets) / len(regrets)} if regrets else {}
    return found | {"worst violation": board.worst_violation, "dual": max(state.dual for state in states)}


def shown_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def numbers(board: Board) -> str:
    """The same as plain words."""
    return "  ".join(f"{name} {shown_number(value)}" for name, value in measured(board).items())
