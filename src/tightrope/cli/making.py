"""How does a command make runs? The folder is checked first, progress shown, whatever went wrong told."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from tightrope.cli.progress import shown
from tightrope.lab.board import Failure
from tightrope.lab.runner import Options, Results, RunsInterruptedError, run_specs
from tightrope.lab.spec_checks import Spec
from tightrope.lab.store import Store
from tightrope.numbers_in import whole


def make_runs(
    specs: Spec | Sequence[Spec],
    folder: Path,
    workers: int | None,
    quiet: bool,
    title: str,
    options: Options | None = None,
    **kept: Any,
) -> Results:
    """Make the runs of specs in a folder; on Ctrl-C, and where runs failed, say what is kept and leave with exit 1.

    `kept`: what is put on record of the specs as they were asked for.
    """
    if workers is not None:
        whole("--workers", workers, least=1)
    store = Store(folder)
    store.check()
    options = options or Options(workers=workers)
    with while_making(folder), shown(title, quiet) as show:
        results = run_specs([specs] if isinstance(specs, Spec) else specs, store, show, options, **kept)
    for note in results.notes:
        say(note)
    if results.failures:
        raise typer.Exit(_failed(results.failures, results, folder))
    return results


@contextmanager
def while_making(folder: Path) -> Iterator[None]:
    """On Ctrl-C say what is kept, and leave with exit 1."""
    try:
        yield
    except RunsInterruptedError as stopped:
        say(f"Interrupted: {_kept(stopped, folder)}; the same command goes on from there.")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        say(f"Interrupted: what is finished is kept in {folder}; the same command goes on from there.")
        raise typer.Exit(1) from None


def say(text: str) -> None:
    """A line for people, on standard error."""
    print(text, file=sys.stderr, flush=True)


def _kept(stopped: RunsInterruptedError, folder: Path) -> str:
    if not stopped.kept:
        kept = "no run was finished"
    else:
        kept = f"{stopped.kept} of {stopped.of} runs are finished and kept in {folder}"
    unfinished = f"; {stopped.started} unfinished {'run is' if stopped.started == 1 else 'runs are'} put away"
    return kept + (unfinished if stopped.started else "")


def _failed(failures: Sequence[Failure], results: Results, folder: Path) -> int:
    """Tell what is kept; the exit code is 2 where all that failed was given to us wrong."""
    made = len(results.keys)
    say(f"{len(failures)} of {len(failures) + made} runs failed, {made} are finished and kept in {folder}.")
    return 2 if all(failure.is_input for failure in failures) else 1
