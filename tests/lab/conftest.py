"""Specs, and the bytes of a folder of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tightrope.lab.mistakes import Mistakes
from tightrope.lab.plan import Plan, check_plan
from tightrope.run_files import HOST

RAW = {
    "episodes": 400,
    "seeds": 3,
    "problem": {"name": "priced-jobs"},
    "losses": {"kind": "drift"},
    "learner": {"preset": "practical"},
}


@pytest.fixture
def plan_of():
    def make(**changes) -> Plan:
        return check_plan(RAW | changes, "test", Mistakes("test"), Path())

    return make


@pytest.fixture
def result_of():
    """The bytes of every file of every run, the facts of the host apart."""

    def read(folder: Path) -> dict[str, bytes]:
        files = folder.glob("[!.]*/*")
        return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != HOST}

    return read
