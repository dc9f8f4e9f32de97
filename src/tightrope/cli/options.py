"""What do the options mean that several commands have?"""

from __future__ import annotations

from tightrope.errors import InputError, suggest
from tightrope.lab.runner import Options
from tightrope.numbers_in import real_wrong, whole_wrong

ENGINES = ("local", "ray")


def run_options(workers: int | None, engine: str, address: str | None, wait: bool, checkpoint: float) -> Options:
    """How runs are to be made; every mistake is told at once."""
    wrong = []
    if workers is not None and (text := whole_wrong(workers, 1)) is not None:
        wrong.append(f"--workers: {text}")
    if engine not in ENGINES:
        wrong.append(f"--engine: unknown {engine!r}; {suggest(engine, ENGINES)}")
    elif address is not None and engine != "ray":
        wrong.append("--address: only --engine ray has one")
    if (text := real_wrong(checkpoint, 0.0)) is not None:
        wrong.append(f"--checkpoint: {text}")
    if wrong:
        raise InputError(wrong)
    return Options(workers, engine, address, checkpoint, wait)
