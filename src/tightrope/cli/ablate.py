"""`tightrope ablate`: every rule of Algorithm 1 against its alternatives, with numbers and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope.cli import compare
from tightrope.cli.making import make_runs
from tightrope.cli.options import counts, one_of, together
from tightrope.errors import InputError
from tightrope.lab import ablation, comparison
from tightrope.lab.ablation import FACTORS, VARIANTS, Found
from tightrope.lab.store import Store
from tightrope.run import Run
from tightrope.show.style import rendered

PARTS = ("grid", "rates", "tasks")


def ablate(
    part: str | None, episodes: int | None, seeds: int | None, out: Path | None, workers: int | None, quiet: bool
) -> None:
    """Make the runs of one part or of all, and tell what came out."""
    numbers = ablation.committed()
    together(
        lambda: one_of("PART", PARTS[0] if part is None else part, PARTS),
        *counts(seeds=seeds, workers=workers),
        *([lambda: _lengths(numbers, episodes)] if part in (None, "rates") else counts(episodes=episodes)),
    )
    folder, console = out or Path("results/ablate"), Console(highlight=False)
    for name in PARTS if part is None else (part,):
        {"grid": _grid, "rates": _rates, "tasks": _tasks}[name](
            numbers, episodes, seeds or numbers["seeds"], folder / name, workers, quiet, console
        )


def _grid(numbers: Mapping[str, Any], episodes, seeds, folder, workers, quiet, console: Console) -> None:
    from tightrope.show.ablation import scatter

    made = ablation.grid(numbers, episodes or numbers["episodes"], seeds)
    rows = list(ablation.found(made, _runs([setting.spec for setting in made], folder, workers, quiet, "grid")))
    for factor in FACTORS:
        console.print(_by_factor(rows, factor))
    console.print(_all(rows))
    store = Store(folder)
    paths = [
        store.write(f"figure-{factor}.{kind}", rendered(scatter(rows, factor), kind))
        for factor in ("mixing", "dual")
        for kind in ("png", "pdf")
    ]
    _leave(store, rows, paths, console)


def _rates(numbers: Mapping[str, Any], episodes, seeds, folder, workers, quiet, console: Console) -> None:
    from tightrope.show.ablation import growth

    lengths = _lengths(numbers, episodes)
    made = ablation.rates(numbers, lengths, seeds)
    rows = list(ablation.found(made, _runs([setting.spec for setting in made], folder, workers, quiet, "rates")))
    table = _table(
        "positive regret + violation, all episodes", "problem", "rules", *(f"K = {K:,}" for K in lengths), "slope"
    )
    for problem in dict.fromkeys(row.levels["problem"] for row in rows):
        for variant in VARIANTS:
            mine = [r for r in rows if (r.levels["problem"], r.levels["variant"]) == (problem, variant)]
            totals = [row.loss * K for row, K in zip(mine, lengths)]
            slope = ablation.exponent(lengths, totals)
            shown = "none" if slope is None else f"{slope:.2f}"
            table.add_row(problem, variant, *(f"{x:,.0f}" for x in totals), shown)
    console.print(table)
    store = Store(folder)
    paths = [store.write(f"figure-rates.{kind}", rendered(growth(rows), kind)) for kind in ("png", "pdf")]
    _leave(store, rows, paths, console)


def _lengths(numbers: Mapping[str, Any], episodes: int | None) -> list[int]:
    """The K of the rates, up to the one that was asked for."""
    lengths = [K for K in numbers["rates"]["episodes"] if episodes is None or episodes >= K]
    if len(lengths) < 2:
        raise InputError(f"--episodes: {episodes}, wanted at least {numbers['rates']['episodes'][1]:,} for a slope")
    return lengths


def _tasks(numbers: Mapping[str, Any], episodes, seeds, folder, workers, quiet, console: Console) -> None:
    tasks = numbers["tasks"]
    cells = comparison.cells(
        tasks["problems"], [numbers["losses"]], tasks["learners"], episodes or tasks["episodes"], seeds, strict=False
    )
    specs = [spec for cell in cells for spec in cell.specs]
    results = make_runs(specs, folder, workers, quiet, "tasks")
    runs = dict(zip(results.keys, results.runs))
    told = [(cell, list(comparison.rows(cell, runs))) for cell in cells]
    for cell, rows in told:
        console.print(compare.table(cell, rows))
    paths = compare.products(Store(folder), told, runs, results)
    console.print(", ".join(map(str, paths)))


def _runs(specs: Sequence[Any], folder: Path, workers: int | None, quiet: bool, title: str) -> dict[str, Run]:
    results = make_runs(specs, folder, workers, quiet, title)
    return dict(zip(results.keys, results.runs))


def _by_factor(rows: Sequence[Found], factor: str) -> Table:
    """The mean over all other factors."""
    table = _table(
        f"by {factor}, in the mean over the rest", factor, "regret", "violation", "both, where positive", "largest dual"
    )
    for level in dict.fromkeys(row.levels[factor] for row in rows):
        mine = [row for row in rows if row.levels[factor] == level]
        n = len(mine)
        means = [sum(getattr(row, name) for row in mine) / n for name in ("regret", "violation", "loss")]
        table.add_row(level, *(f"{x:.3f}" for x in means), f"{max(row.most_dual for row in mine):.3g}")
    return table


def _all(rows: Sequence[Found]) -> Table:
    table = _table("every setting, per episode", *FACTORS, "regret", "violation", "dual")
    for row in sorted(rows, key=lambda row: row.loss):
        numbers = (f"{row.regret:.3f}", f"{row.violation:.3f}", f"{row.most_dual:.3g}")
        table.add_row(*(row.levels[factor] for factor in FACTORS), *numbers)
    longest = max(row.longest for row in rows)
    table.caption = f"dual: the largest; the longest epoch is {longest:.2f} mixing periods long"
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title, title_justify="left", caption_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for column in columns:
        words = column in (*FACTORS, "problem", "rules")
        table.add_column(column, justify="left" if words else "right", no_wrap=True)
    return table


def _leave(store: Store, rows: Sequence[Found], paths: list[Path], console: Console) -> None:
    content = json.dumps([asdict(row) | {"loss": row.loss} for row in rows], indent=2) + "\n"
    paths = [*paths, store.write("summary-ablate.json", content.encode())]
    console.print(", ".join(map(str, paths)))
