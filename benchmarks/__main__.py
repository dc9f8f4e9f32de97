"""`python -m benchmarks [NAME ...]`: run them, show a table, leave `results/bench.json`; exit 1 where a bound is missed."""

from __future__ import annotations

import importlib
import json
import sys
import time
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from benchmarks.timing import ROOT, Row

NAMES = ("job_scheduling", "growth", "dense", "endless", "lab", "certificate", "report", "start_up", "rivals")


def main(wanted: list[str]) -> int:
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(f"benchmarks: unknown {', '.join(unknown)}; known: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    console = Console(highlight=False)
    for name in wanted or NAMES:
        begun = time.perf_counter()
        found = importlib.import_module(f"benchmarks.{name}").rows()
        console.print(_table(name, found, time.perf_counter() - begun))
        rows += found
    kept = ROOT / "results" / "bench.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps([asdict(row) | {"reached": row.reached} for row in rows], indent=2) + "\n")
    missed = [row.what for row in rows if row.reached is False]
    console.print(f"{len(rows)} measured, {len(missed)} missed{': ' + '; '.join(missed) if missed else ''}. {kept}")
    return 1 if missed else 0


def _table(name: str, rows: list[Row], seconds: float) -> Table:
    table = Table(title=f"{name} ({seconds:.0f} s)", title_justify="left", box=None, pad_edge=False)
    for heading, justify in (
        ("what", "left"),
        ("measured", "right"),
        ("wanted", "right"),
        ("", "left"),
        ("how", "left"),
    ):
        table.add_column(heading, justify=justify)  # pyright: ignore[reportArgumentType]
    for row in rows:
        bound = "" if row.bound is None else f"{'≥' if row.at_least else '≤'} {row.bound:g} {row.unit}"
        mark = {None: "", True: "[green]yes[/green]", False: "[red]missed[/red]"}[row.reached]
        table.add_row(row.what, f"{row.measured:.3g} {row.unit}", bound, mark, row.how)
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
