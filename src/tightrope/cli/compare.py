"""`tightrope compare`: learners on equal terms, in a table, a figure and data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope import losses as losses_known
from tightrope.cli.making import make_runs
from tightrope.cli.options import counts, one_of, together
from tightrope.errors import InputError
from tightrope.lab import comparison
from tightrope.lab.comparison import MEASURES, Cell, Row
from tightrope.lab.runner import Results
from tightrope.lab.store import Store
from tightrope.run import Run


def compare(
    suite: str | None,
    problem: str,
    losses: str,
    learners: str,
    episodes: int,
    seeds: int,
    out: Path | None,
    workers: int | None,
    quiet: bool,
) -> None:
    """Make the runs of a comparison or a suite of them, and tell what came out."""
    *_, cells = together(
        *counts(episodes=episodes, seeds=seeds, workers=workers),
        lambda: _cells(suite, problem, losses, learners, max(1, episodes), max(1, seeds)),
    )
    folder = out or Path("results") / (f"compare-{suite}" if suite else "compare")
    results = make_runs([spec for cell in cells for spec in cell.specs], folder, workers, quiet, "compare")
    found = dict(zip(results.keys, results.runs))
    told = [(cell, list(comparison.rows(cell, found))) for cell in cells]
    console = Console(highlight=False)
    for cell, rows in told:
        console.print(table(cell, rows))
    for line in dict.fromkeys(line for cell in cells for line in cell.left_out):
        console.print(f"left out where it does not apply: {line}", markup=False, style="dim")
    paths = products(Store(folder), told, found, results)
    again = f", {results.reused} of them made before" if results.reused else ""
    console.print(f"{len(results.keys)} runs{again} in {results.seconds:.1f} s: " + ", ".join(map(str, paths)))


def _cells(suite: str | None, problem: str, kind: str, learners: str, episodes: int, seeds: int) -> Sequence[Cell]:
    """What is to be compared."""
    if suite is not None:
        return comparison.suite(suite)
    names = [name.strip() for name in learners.split(",") if name.strip()]
    known = losses_known.names()
    kinds = [kind] if names and kind in known else []  # without any, the other names are judged all the same
    *_, cells = together(
        lambda: one_of("--losses", kind, known),
        lambda: _not_none(names),
        lambda: comparison.cells([problem], kinds, names, episodes, seeds),
    )
    return cells


def _not_none(names: Sequence[str]) -> None:
    if not names:
        raise InputError("--learners: none given; expected names with commas between, such as pdpo,ghosh2022")


def table(cell: Cell, rows: Sequence[Row]) -> Table:
    """Per episode; below, the paired difference to the first learner with its 95% interval.

    Regret and violation grow like K to these powers over the last decade of episodes, "not" where they are not positive.
    """
    made = Table(title=cell.title, title_justify="left", box=None, pad_edge=False, collapse_padding=True)
    made.header_style = "bold"
    made.add_column("learner", no_wrap=True)
    for measure in MEASURES:
        made.add_column(f"{measure}\n[dim]less {rows[0].learner}'s[/dim]", justify="right", no_wrap=True)
    made.add_column("grow as K^\n[dim]claimed[/dim]", justify="right", no_wrap=True)
    made.add_column("seconds", justify="right", no_wrap=True)
    for row in rows:
        shown = [row.learner + ("\n[dim]knows: oracle[/dim]" if row.knowledge == "oracle" else "")]
        for measure in MEASURES:
            band = f" ± {row.half[measure]:.3f}" if len(cell.seeds) > 1 else ""
            apart = "" if row is rows[0] else f"\n[dim]{row.difference[measure]:+.3f}{band}[/dim]"
            shown.append(f"{row.mean[measure]:.3f}{apart}")
        grows = ", ".join("not" if x is None else f"{x:.2f}" for x in (row.growth, row.violation_growth))
        shown.append(grows + ("" if row.claim is None else f"\n[dim]{row.claim:g}[/dim]"))
        made.add_row(*shown, f"{row.seconds:.2f}")
    return made


def products(
    store: Store, told: Sequence[tuple[Cell, list[Row]]], runs: dict[str, Run], results: Results
) -> list[Path]:
    """Figures and data beside the runs."""
    from tightrope.show.comparison import figures
    from tightrope.show.style import rendered

    paths = [
        store.write(f"{name}.{kind}", rendered(figure, kind))
        for name, figure in figures(told, runs).items()
        for kind in ("png", "pdf")
    ]
    data = [_data(cell, rows) for cell, rows in told]
    content = json.dumps({"seconds": results.seconds, "cells": data}, indent=2) + "\n"
    return [*paths, store.write("summary-compare.json", content.encode())]


def _data(cell: Cell, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "problem": cell.problem,
        "losses": cell.losses,
        "episodes": cell.episodes,
        "seeds": list(cell.seeds),
        "left_out": list(cell.left_out),
        "rows": [asdict(row) for row in rows],
        "runs": {spec.learner.name: [spec.key(seed) for seed in cell.seeds] for spec in cell.specs},  # pyright: ignore[reportAttributeAccessIssue]
    }
