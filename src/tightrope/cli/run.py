"""`tightrope run`: what a spec says, run and told in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tightrope.cli.doctor import error_lines
from tightrope.cli.making import make_runs
from tightrope.cli.options import run_options, together
from tightrope.cli.runs import wide_console
from tightrope.lab.plan import Plan, read_plan
from tightrope.lab.query import rows_of
from tightrope.lab.runner import Results
from tightrope.lab.spec_checks import Spec
from tightrope.lab.store import Store
from tightrope.lab.summary import band
from tightrope.run_files import channel_names

MOST_ROWS = 40  # of a table on the terminal
MOST_ASKED = 24  # settings of a sweep that the doctor looks at


def run_spec_file(path: Path, out: Path | None, how: Sequence[Any], quiet: bool, dry_run: bool = False) -> None:
    """Read the spec, make its runs, show what came out; `how`: what `run_options` takes."""
    options, plan = together(lambda: run_options(*how), lambda: read_plan(path))
    folder = Path("results") / plan.name if out is None else out
    if dry_run:
        from tightrope.cli.dry_run import tell_dry_run

        return tell_dry_run(plan, folder, options)
    Store(folder).check()  # before anything is said of the settings
    console = wide_console()
    for line in _doctor_says(plan):
        console.print(line, markup=False)
    results = make_runs(plan.specs, folder, options.workers, quiet, plan.name, options, **plan.record)
    rows = rows_of(results.store, results.keys)
    if len(plan.specs) == 1:
        _tell_one(console, plan.specs[0], rows)
    else:
        _tell_sweep(console, plan, rows)
    console.print(_made(results, folder), soft_wrap=True)


def _made(results: Results, folder: Path) -> str:
    n = len(results.keys)
    before = f" ({results.reused:,} of them made before)" if results.reused else ""
    return f"{n:,} {'run' if n == 1 else 'runs'}{before} in {results.seconds:.1f} s: {folder}"


def _doctor_says(plan: Plan) -> list[str]:
    """The doctor's errors before anything runs: one line for each kind, and how many of the settings have it."""
    looked = plan.specs[:MOST_ASKED]
    found: dict[str, list[str]] = {}
    for spec in looked:
        for line in error_lines(spec):
            found.setdefault(line.split(":")[1], []).append(line)
    if len(looked) == 1:
        return [line for lines in found.values() for line in lines]
    more = f" (of {len(plan.specs):,}, {len(looked)} were looked at)" if len(plan.specs) > len(looked) else ""
    return [f"{len(lines)} of {len(looked)} settings{more}, the first: {lines[0]}" for lines in found.values()]


def _tell_one(console: Console, spec: Spec, rows: Sequence[Mapping[str, Any]]) -> None:
    """A row for each seed."""
    violations, duals = (channel_names(name, spec.cmdp.n_constraints) for name in ("violation", "dual"))
    table = _table(["run"], ["seed", "regret", *violations, *duals, "epochs"])
    for row in rows[:MOST_ROWS]:
        numbers = [_number(row[name]) for name in ("regret", *violations)]
        table.add_row(row["run"], str(row["seed"]), *numbers, *(f"{row[y]:.3g}" for y in duals), f"{row['epochs']:,}")
    console.print(table)
    _tell_more(console, len(rows), "runs")
    if len(rows) > 1 and rows[0]["regret"] is not None:
        mean, half = _band(rows, "regret")
        console.print(f"mean regret {_number(mean)} ± {half:,.1f} (95%)")


def _tell_sweep(console: Console, plan: Plan, rows: Sequence[Mapping[str, Any]]) -> None:
    """A row for each setting, in the mean over its seeds."""
    by_key = {row["run"]: row for row in rows}
    names = [axis.name for axis in plan.axes]
    table = _table(names, ["runs", "regret", "violation", "dual"])
    for spec in plan.specs[:MOST_ROWS]:
        own = [by_key[key] for key in map(spec.key, spec.document.seed_list())]
        m = spec.cmdp.n_constraints
        cells = [_with_band(own, "regret"), *(_with_band(own, *channel_names(n, m)) for n in ("violation", "dual"))]
        table.add_row(*(str(spec.point[name]) for name in names), str(len(own)), *cells)
    console.print(table)
    _tell_more(console, len(plan.specs), "settings")
    console.print("[dim]means over the seeds ± half of the 95% interval; of several constraints the largest[/dim]")


def _tell_more(console: Console, n: int, what: str) -> None:
    if n > MOST_ROWS:
        console.print(f"… and {n - MOST_ROWS:,} more {what}; `tightrope runs` lists and filters them all")


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in (*left, *right):
        heading = column if column in left else column.replace("_", " ")
        table.add_column(heading, justify="left" if column in left else "right", no_wrap=column in right)
    return table


def _with_band(rows: Sequence[Mapping[str, Any]], *names: str) -> str:
    """The largest of some numbers, in the mean over runs."""
    if any(row[name] is None for row in rows for name in names):
        return "unknown"
    mean, half = max(_band(rows, name) for name in names)
    digits = 1 if abs(mean) >= 10 else 3
    return f"{mean:,.{digits}f}" + (f" ± {half:,.{digits}f}" if len(rows) > 1 else "")


def _band(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[float, float]:
    found = band(np.array([[row[name]] for row in rows], dtype=float))
    return float(found.mean[0]), float(found.half[0])


def _number(x: float | None) -> str:
    return "unknown" if x is None else f"{x:,.1f}"
