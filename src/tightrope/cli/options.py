"""What do the options mean that several commands have? Every mistake in them is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tightrope.errors import InputError, suggest
from tightrope.lab.runner import Options
from tightrope.numbers_in import real_wrong, whole, whole_wrong
from tightrope.problems.reading import all_of

ENGINES = ("local", "ray")


def together(*readers: Callable[[], Any]) -> list[Any]:
    """What each of them returns, or the mistakes of all at once."""
    return list(all_of({str(i): read for i, read in enumerate(readers)}).values())


def counts(least: int = 1, **given: int | None) -> list[Callable[[], int | None]]:
    """For `together`: options that are whole numbers, or were not given."""
    return [lambda name=name, n=n: None if n is None else whole(f"--{name}", n, least) for name, n in given.items()]


def one_of(name: str, given: str, known: Iterable[str]) -> str:
    """A name that there is."""
    if given not in known:
        raise InputError(f"{name}: unknown {given!r}; {suggest(given, known)}")
    return given


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
