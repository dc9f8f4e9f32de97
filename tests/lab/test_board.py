"""What the board says of the time that is left."""

from __future__ import annotations

import pytest

from tightrope.lab.board import Board
from tightrope.simulation import Progress


def at(episodes: int) -> Progress:
    return Progress(episodes, 1000, 0.0, 0.0, 0.0, epoch=1, seconds=0.0)


def test_the_time_before_a_run_moves_is_not_part_of_its_pace(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("tightrope.lab.board.time.perf_counter", lambda: now[0])
    board = Board(of=1, episodes_total=1000)
    now[0] = 60.0  # of compiling
    board.moves(0, at(100))
    assert board.seconds_left is None
    now[0] = 70.0
    board.moves(0, at(200))
    assert board.seconds_left == pytest.approx(80.0)  # 100 episodes took ten seconds, 800 are left
