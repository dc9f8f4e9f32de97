"""Commands run in this process; what they printed and their exit code."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tightrope.cli.main import _run


@dataclass
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def tightrope(capsys):
    def call(*arguments: object) -> Said:
        code = _run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return call
