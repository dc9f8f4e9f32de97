"""Sparklines show how a number moved, in whatever room there is; on a terminal they stand below the bar."""

from __future__ import annotations

import importlib
import io
import sys

from rich.console import Console

from tightrope.cli import progress
from tightrope.cli.sparkline import BLOCKS, History, sparkline
from tightrope.lab.board import Board
from tightrope.lab.compiling import Watch
from tightrope.simulation import Progress


def test_a_line_has_its_lowest_and_highest_block_where_the_values_have():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8) == BLOCKS
    assert sparkline([5, 5, 5], 8) == BLOCKS[0] * 3
    assert sparkline([], 8) == ""
    line = sparkline([float(x) for x in range(1000)], 10)
    assert len(line) == 10 and line[0] == BLOCKS[0] and line[-1] == BLOCKS[-1]


def test_a_history_of_many_values_stays_small_and_keeps_its_shape():
    history = History()
    for i in range(100_000):
        history.add(float(i))
    assert len(history.values) < History.MOST
    assert sparkline(history.values, 8) == BLOCKS


def test_on_a_terminal_the_line_below_the_bar_has_all_three_numbers(monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(progress, "SPARK_SECONDS", 0.0)
    bar = progress._bar()
    bar.live.console = Console(file=screen, force_terminal=True, width=110)
    watch = Watch()
    watch.end()
    shown = progress._Bar(bar, "spec", watch)
    board = Board(1, 100)
    for done in (10, 50, 90):
        board.moves(0, Progress(done, 100, 2.0 * done, float(done), 0.1 * done, 1, 0.1))
        shown.show(board)
    text = bar.below.plain
    for part in ("regret ▁▅█ 180", "worst violation ▁▅█ 90", "dual ▁▅█ 9"):
        assert part in text


def test_compiling_is_said_only_while_something_is_compiled_and_not_loaded_from_disk(tmp_path, monkeypatch):
    source = "import numba\n\n@numba.njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    (tmp_path / "kernel_on_disk.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    said = []
    for _ in range(2):  # compiled and kept, then loaded
        sys.modules.pop("kernel_on_disk", None)
        kernel = importlib.import_module("kernel_on_disk").twice
        watch = Watch()
        assert progress._beginning(watch) == progress.STARTING
        assert kernel(3) == 6
        watch.end()
        said.append(progress._beginning(watch))
    sys.modules.pop("kernel_on_disk")
    assert said == [progress.COMPILING, progress.STARTING]
