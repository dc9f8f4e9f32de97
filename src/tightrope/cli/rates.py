"""`tightrope rates`: one setting at several numbers of episodes; slopes, one figure, the data. The same command goes on."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope.cli.figure import write_product
from tightrope.cli.making import make_runs
from tightrope.cli.options import counts, together
from tightrope.errors import InputError
from tightrope.lab.mistakes import Mistakes
from tightrope.lab.rates import LOWER_BOUND, SUM, Slope, measures, read_ladder, slopes, summary
from tightrope.lab.spec_checks import Spec, check_spec
from tightrope.show.figures.rates import draw_rates
from tightrope.show.style import rendered

TABLES = ("problem", "losses", "learner")


def measure_rates(
    asked: dict[str, Any], settings: list[str], out: Path | None, workers: int | None, quiet: bool
) -> None:
    """`asked`: problem, losses, learner, preset, episodes, points, seeds as given on the command line."""
    *_, seeds, ladder, tables = together(
        *counts(2, points=asked["points"]),
        *counts(workers=workers, seeds=asked["seeds"]),
        lambda: read_ladder(asked["episodes"], max(2, asked["points"])),
        lambda: _tables(asked, settings, _some_length(asked)),
    )
    specs = [_spec(tables, K, seeds) for K in ladder]
    folder = Path("results") / f"rates-{asked['learner']}-{asked['problem']}-{asked['losses']}" if out is None else out
    results = make_runs(specs, folder, workers, quiet, "rates")
    frame = measures(results.runs)
    declared = getattr(specs[0].learner, "declared_rate", None)
    found = slopes(frame, declared)
    told = {**tables, "episodes": ladder, "seeds": seeds, "runs": list(results.keys)}
    drawn = frame.select("group", "measure", "episodes", value="counted")
    note = f"{asked['problem']}, {asked['losses']} losses, {seeds} seeds. {SUM} is floored at 0.01% of H K."
    taken = {row.measure: (row.slope, row.half) for row in found}
    figure = draw_rates(drawn, declared, LOWER_BOUND, note, taken)
    ending = _ending(folder, told)
    content = {
        f"figure-rates{ending}.png": rendered(figure, "png"),
        f"figure-rates{ending}.pdf": rendered(figure, "pdf"),
        f"figure-rates{ending}.csv": frame.write_csv().encode(),
        f"summary-rates{ending}.json": (json.dumps(summary(found, told), indent=2, ensure_ascii=False) + "\n").encode(),
    }
    console = Console(highlight=False, soft_wrap=True)
    console.print(_table(found))
    console.print(
        f"{len(ladder)} numbers of episodes from {ladder[0]:,} to {ladder[-1]:,}, {seeds} seeds each", markup=False
    )
    for name, bytes_ in content.items():
        console.print(write_product(folder / name, bytes_), markup=False)


def _some_length(asked: dict[str, Any]) -> int:
    """A number of episodes for which the other settings can be judged, also where those asked for are wrong."""
    try:
        return read_ladder(asked["episodes"], max(2, asked["points"]))[0]
    except InputError:
        return 1000


def _tables(asked: dict[str, Any], settings: list[str], episodes: int) -> dict[str, dict[str, Any]]:
    """The tables of a spec, with `--set learner.alpha=0.1` read as TOML reads it; judged for so many episodes."""
    tables: dict[str, dict[str, Any]] = {
        "problem": {"name": asked["problem"]},
        "losses": {"kind": asked["losses"]},
        "learner": {"name": asked["learner"]} | ({"preset": asked["preset"]} if asked["preset"] else {}),
    }
    together(*(lambda given=given: _set(tables, given) for given in settings), lambda: _spec(tables, episodes, 1))
    return tables


def _set(tables: dict[str, dict[str, Any]], given: str) -> None:
    field, equals, text = given.partition("=")
    table, dot, key = field.strip().partition(".")
    if not equals or not dot or table not in TABLES or not key:
        raise InputError(f"--set: {given!r}, wanted TABLE.KEY=VALUE with TABLE one of {', '.join(TABLES)}")
    try:
        tables[table][key] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        raise InputError(f"--set: {given!r}: {text!r} is not a value as TOML writes it (text needs quotes)") from None


def _spec(tables: dict[str, dict[str, Any]], episodes: int, seeds: int) -> Spec:
    raw = {"episodes": episodes, "seeds": seeds, "record_every": max(1, episodes // 100), **tables}
    return check_spec(raw, "rates", Mistakes("rates"), Path())


def _ending(folder: Path, told: dict[str, Any]) -> str:
    """Nothing where there is no summary yet, or one of the same question; else a mark of this one."""
    try:
        earlier = json.loads((folder / "summary-rates.json").read_text(encoding="utf-8"))["runs"]
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError):
        earlier = None
    mark = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:8]
    return "" if earlier == told["runs"] else f"-{mark}"


def _table(found: list[Slope]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure", no_wrap=True)
    for column in ("slope", "95% interval", "declared", "lower", "runs"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in found:
        mean = "none" if row.slope is None else f"{row.slope:.3f}"
        interval = (
            "" if row.slope is None or row.half is None else f"{row.slope - row.half:.3f} to {row.slope + row.half:.3f}"
        )
        declared = "" if row.declared is None else f"{row.declared:g}"
        lower = "" if row.lower is None else f"{row.lower:g}"
        used = f"{row.used}" if row.used == row.runs else f"{row.used} of {row.runs}"
        table.add_row(row.measure, mean, interval, declared, lower, used)
    return table
