"""Which curves does the page carry? Every group's mean with its 95% band, and the runs themselves, thinned to fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.show.bands import channels, curve, has
from tightrope.show.page.packing import Blob, thinned
from tightrope.show.reading import Collection, Kept

BUDGET = 620_000  # numbers in all curves of runs: some 3 MB in the page
MOST_POINTS, FEWEST_POINTS = 1000, 60  # of a curve
MEAN_BUDGET = 200_000  # numbers in all means and their bands: at most 1 MB
FEWEST_MEAN_POINTS = 400
MEASURES = ("regret", "violation", "hard_violation", "dual", "loss", "epoch")


def curve_data(collection: Collection, blob: Blob) -> dict[str, Any]:
    """What the page needs to draw curves; numbers go into the blob."""
    columns = [column for name in MEASURES for column in channels(collection.frame, name)]
    shown, points = chosen(collection, len(columns) + 1)
    numbers = len(collection.groups) * (3 * len(columns) + 1)
    mean_points = int(np.clip(MEAN_BUDGET // numbers, FEWEST_MEAN_POINTS, MOST_POINTS))
    return {
        "columns": [{"name": column, "words": words_of(column)} for column in columns],
        "groups": [_group(collection, group, columns, mean_points, blob) for group in collection.groups],
        "runs": [_run(kept, collection.groups.index(kept.group), columns, points, blob) for kept in shown],
        "note": _note(collection, shown, points),
    }


def chosen(collection: Collection, width: int) -> tuple[list[Kept], int]:
    """The runs whose own curves the page carries, and how many points of each."""
    most = BUDGET // (FEWEST_POINTS * width)
    shown = list(collection.kept)
    if len(shown) > most:
        step = len(shown) / most
        shown = [shown[int(i * step)] for i in range(most)]
    return shown, int(np.clip(BUDGET // (len(shown) * width), FEWEST_POINTS, MOST_POINTS))


def words_of(column: str) -> str:
    """A column's name for people."""
    name, _, number = column.rpartition("_")
    if number.isdigit():
        return f"{name.replace('_', ' ')} of constraint {number}"
    return column.replace("_", " ")


def _note(collection: Collection, shown: list[Kept], points: int) -> str:
    parts = []
    longest = max(kept.curves.height for kept in shown)
    if longest > points:
        parts.append(
            f"Curves of runs are thinned from {longest:,} points to about {points:,}; every stretch keeps its smallest and "
            "largest value."
        )
    if len(shown) < len(collection.kept):
        parts.append(
            f"{len(shown):,} of {len(collection.kept):,} runs are here one by one, evenly chosen; means and bands are over all."
        )
    return " ".join(parts)


def _group(collection: Collection, group: str, columns: list[str], points: int, blob: Blob) -> dict[str, Any]:
    frame = collection.frame
    curves = [curve(frame, group, column) for column in columns if has(frame, group, column)]
    keep = thinned([edge for c in curves if not _only_grows(c.column) for edge in (c.low, c.high)], points)
    return {
        "name": group,
        "seeds": curves[0].seeds,
        "episodes": blob.counts(curves[0].episodes[keep]),
        "columns": {
            c.column: [blob.floats(values[keep]) for values in (c.mean, c.low, c.high)]
            if c.seeds > 1
            else [blob.floats(c.mean[keep])]
            for c in curves
        },
    }


def _run(kept: Kept, group: int, columns: list[str], points: int, blob: Blob) -> dict[str, Any]:
    own = [name for name in columns if name in kept.curves.columns]
    values = [kept.curves[name].to_numpy().astype(float) for name in own]
    keep = thinned([x for name, x in zip(own, values) if not _only_grows(name)], points)
    return {
        "key": kept.key,
        "group": group,
        "seed": kept.seed,
        "episodes": blob.counts(kept.curves["episode"].to_numpy()[keep]),
        "columns": {name: [blob.floats(x[keep])] for name, x in zip(own, values)},
    }


def _only_grows(column: str) -> bool:
    """Whether a curve has no peaks that thinning could lose."""
    return column.startswith(("loss", "epoch", "hard"))
