"""`tightrope runs`: what is in a folder of runs, listed and filtered."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope.cli.making import say
from tightrope.cli.options import one_of, together
from tightrope.errors import InputError, suggest
from tightrope.lab.query import FINAL, FIRST, DamagedRunsWarning, runs

FORMATS = ("table", "csv", "json")


def list_runs(folder: Path, where: str | None, columns: str | None, limit: int, form: str) -> None:
    """A table of the first runs, or all of them for another program to read."""
    together(lambda: one_of("--format", form, FORMATS), lambda: _check(folder))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DamagedRunsWarning)
        found = runs(folder, where)
    for warning in caught:
        say(f"{warning.message}; left out. The command that made it makes it again")
    if columns is not None:
        wanted = [name.strip() for name in columns.split(",")]
        wrong = [f"--columns: no column {n!r}; {suggest(n, found.columns)}" for n in wanted if n not in found.columns]
        if wrong:
            raise InputError(wrong)
        found = found.select(wanted)
    if form == "csv":
        sys.stdout.write(found.write_csv())
    elif form == "json":
        sys.stdout.write(found.write_json() + "\n")
    else:
        _show(found, limit, columns is not None, folder)


def _check(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one with runs")


def _show(found: Any, limit: int, asked: bool, folder: Path) -> None:
    """Columns in which all runs agree are told once, below."""
    console = wide_console()
    if not len(found):
        return console.print(f"no runs in {folder} that fit")
    same = [] if asked or len(found) == 1 else [name for name in found.columns if _settles(found, name)]
    same += [] if asked else [name for name in found.columns if name.startswith("hard_violation")]
    shown = [name for name in found.columns if name not in same]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in shown:
        numeric = found[name].dtype.is_numeric()
        table.add_column(name, justify="right" if numeric else "left", no_wrap=name == "run", overflow="fold")
    for row in found.select(shown).head(limit or len(found)).iter_rows():
        table.add_row(*(_cell(value) for value in row))
    console.print(table)
    if same:
        common = ", ".join(
            f"{name} = {_cell(found[name][0])}" for name in same if _settles(found, name) and found[name][0] is not None
        )
        console.print(f"[dim]all: {common}[/dim]")
    rest = len(found) - limit if limit else 0
    words = f"{len(found):,} {'run' if len(found) == 1 else 'runs'}"
    console.print(words + (f"; {rest:,} more than shown, --limit 0 shows all" if rest > 0 else ""))


def wide_console() -> Console:
    """As wide as the terminal; wide enough for everything where there is none, since a file has no edge."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 240)


def _settles(found: Any, name: str) -> bool:
    """Whether a setting is the same in all rows."""
    is_number = name.split("_0")[0] in FINAL or name in ("run", "seed")
    return not is_number and (name not in FIRST or name != "run") and found[name].n_unique() == 1


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.1f}" if 10 <= abs(value) < 1e7 else f"{value:.4g}"
    return (
        f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000 else str(value)
    )
