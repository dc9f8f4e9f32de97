"""`tightrope study tighten`, `tracking` and `tiles`: one figure each, its numbers, and a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope import problems
from tightrope.errors import InputError
from tightrope.numbers_in import whole_wrong
from tightrope.safe_files import write_file
from tightrope.show.style import rendered

SEEDS = {"tighten": 5, "tracking": 3}


def show_figure(which: str, problem: str, episodes: int, seeds: int | None, out: Path | None) -> None:
    """Make the runs, the figure and the table of one of the two studies."""
    from tightrope.studies import tighten, tracking

    given = (("--episodes", episodes), ("--seeds", SEEDS[which] if seeds is None else seeds))
    wrong = [f"{name}: {text}" for name, value in given if (text := whole_wrong(value, 1))]
    if wrong:
        raise InputError(wrong)
    cmdp, chosen = problems.make(problem), range(given[1][1])
    many = f"{len(chosen)} seed{'s' * (len(chosen) > 1)}"
    if which == "tighten":
        found = tighten.tightened(cmdp, episodes, seeds=chosen)
        figure = tighten.tighten_figure(found, f"{problem}, alternating losses, mean of {many}")
        rows = tighten.findings(found)
    else:
        tracks = tracking.tracked(cmdp, episodes, chosen)
        figure = tracking.tracking_figure(tracks, f"{problem}, mean of {many}")
        rows = tracking.findings(tracks)
    _leave(which, rows, lambda kind: rendered(figure, kind), Path("results") / which if out is None else out)


def show_tiles(episodes: int, seed: int, out: Path | None) -> None:
    """Features that are not exactly linear: an agent behind each number of tiles, and one without."""
    from tightrope.studies import tiles

    given = (("--episodes", episodes, 2), ("--seed", seed, 0))
    wrong = [f"{name}: {text}" for name, value, least in given if (text := whole_wrong(value, least))]
    if wrong:
        raise InputError(wrong)
    found = [*(tiles.tiled(n, episodes, seed) for n in tiles.TILES), tiles.exact(episodes, seed)]
    figure = tiles.tiles_figure(found, f"a backlog through {tiles.TILINGS} tilings, {episodes:,} episodes, seed {seed}")
    rows = [asdict(row) | {"tiles": "exact" if row.tiles is None else str(row.tiles)} for row in found]
    _leave("tiles", rows, lambda kind: rendered(figure, kind), Path("results") / "tiles" if out is None else out)


def _leave(which: str, rows: Sequence[dict[str, Any]], draw: Callable[[str], bytes], folder: Path) -> None:
    """The table on the terminal, figure and numbers in the folder."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for key in rows[0]:
        table.add_column(key.replace("_", "\n"), justify="right" if key not in ("losses", "mixing") else "left")
    for row in rows:
        table.add_row(*(_cell(x) for x in row.values()))
    console.print(table)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {f"{which}.{kind}": draw(kind) for kind in ("png", "pdf")}
    contents[f"{which}.json"] = (json.dumps(rows, indent=2) + "\n").encode()
    for name, content in contents.items():
        console.print(str(write_file(folder / name, content)))


def _cell(x: Any) -> str:
    if isinstance(x, list):
        return f"{max(x):,}"  # the worst of the seeds
    if isinstance(x, str) or x is None:
        return x or "-"
    return f"{x:,.0f}" if abs(x) >= 100 or x == int(x) else f"{x:.4f}"
