"""How are two things timed in one run? In turns, so that both meet the same noise; and what a benchmark says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Row:
    """One statement: a number, the bound it must keep (None for a number that is only told), and how it came about."""

    what: str
    measured: float
    bound: float | None
    at_least: bool  # the number must be at least, not at most, the bound
    unit: str  # "x" for ratios
    how: str

    @property
    def reached(self) -> bool | None:
        if self.bound is None:
            return None
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


def at_most(what: str, measured: float, bound: float, how: str, unit: str = "x") -> Row:
    return Row(what, measured, bound, False, unit, how)


def at_least(what: str, measured: float, bound: float, how: str, unit: str = "x") -> Row:
    return Row(what, measured, bound, True, unit, how)


def told(what: str, measured: float, how: str, unit: str) -> Row:
    return Row(what, measured, None, False, unit, how)


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def in_turns(rounds: int, *works: Callable[[], float | None]) -> list[float]:
    """The least seconds of each work over so many rounds, taken in turns; a work that returns a number has timed itself."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            begun = time.perf_counter()
            own = work()
            spent = time.perf_counter() - begun
            best[i] = min(best[i], spent if own is None else own)
    return best


def elsewhere(code: str, *arguments: object, **environment: str) -> Any:
    """Run Python code in a process of its own; what it prints last is JSON."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | environment, timeout=600
    )
    return json.loads(done.stdout.strip().splitlines()[-1])
