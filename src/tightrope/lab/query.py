"""What is in a folder of runs? One row a run, or the curves of all runs as one lazy frame; both can be asked in SQL.

A row is what the run's manifest says, so that a list of ten thousand runs opens no curve. Nothing damaged is ever used: such
runs are named, and left out of a list; curves refuse the folder until `tightrope run` has set them aside and made them again.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightrope.errors import InputError
from tightrope.lab.store import Store
from tightrope.run_files import CURVES, read_manifest
from tightrope.safe_files import digest

if TYPE_CHECKING:
    import polars as pl

# What every row has, in this order; the settings of the runs follow, then the numbers at the end of the curves.
FIRST = ("run", "problem", "losses", "learner", "episodes", "seed")
FINAL = ("regret", "violation", "hard_violation", "dual", "epochs")


class DamagedRunsWarning(UserWarning):
    """Some runs of a folder are damaged and were left out."""


def runs(folder: str | Path, where: str | None = None) -> pl.DataFrame:
    """One row a run: its folder's name, settings, and where its curves end; `where` is a condition in Polars SQL."""
    found, wrong = _rows(Store(Path(folder)))
    for line in wrong:
        warnings.warn(line, DamagedRunsWarning, stacklevel=2)
    return _asked(_frame(found).lazy(), where).collect()


def open(folder: str | Path, where: str | None = None) -> pl.LazyFrame:
    """The curves of all runs: `runs`, its numbers at the end left out, beside `episode`, `regret`, `violation`, ….

    The checksums of all curves are compared first; damaged ones are named in an `InputError`.
    """
    import polars as pl

    store = Store(Path(folder))
    found, wrong = _rows(store)
    wrong += _damaged_curves(store, found)
    if wrong:
        raise InputError(wrong)
    settings = _frame(found)
    final = [name for name in settings.columns if _is_final(name)]
    settings = settings.drop([*final, "_checksum", "_m"], strict=False)
    alike: dict[int, list[str]] = {}
    for row in found:
        alike.setdefault(row["_m"], []).append(str(store.path(row["run"]) / CURVES))
    if not alike:
        raise InputError(f"{store.folder}: holds no runs; expected a folder with some")
    # One schema for each number of constraints; columns that others lack are null.
    curves = pl.concat([pl.scan_parquet(paths, include_file_paths="run") for paths in alike.values()], how="diagonal")
    key = pl.col("run").str.split("/").list.get(-2)
    return _asked(
        settings.lazy().join(curves.with_columns(key), on="run", how="inner", maintain_order="left_right"), where
    )


def rows_of(store: Store, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of some runs, in their order; damaged ones are an `InputError`."""
    return [_row(key, read_manifest(store.path(key))) for key in keys]


def _rows(store: Store) -> tuple[list[dict[str, Any]], list[str]]:
    """Of every run; and a line for each that is damaged."""
    rows, wrong = [], []
    asked = _as_asked(store)
    for key in store.run_keys():
        try:
            rows.append(_row(key, read_manifest(store.path(key))) | asked.get(key, {}))
        except InputError as error:
            wrong += error.problems
    return rows, wrong


def _as_asked(store: Store) -> dict[str, dict[str, Any]]:
    """The values of sweeps that no run remembers as they were written: a preset, a problem's file."""
    found: dict[str, dict[str, Any]] = {}
    for spec in store.specs():
        for point in spec.get("points", ()):
            values = {k: _scalar(v) for k, v in point["values"].items() if k in ("learner.preset", "problem.file")}
            for key in point["runs"] if values else ():
                found.setdefault(key, {}).update(values)
    return found


def _row(key: str, about: Mapping[str, Any]) -> dict[str, Any]:
    spec = about["spec"]
    row = {
        "run": key,
        "problem": spec["problem"]["name"],
        "losses": spec["losses"].get("kind"),
        "learner": spec["learner"].get("name"),
        "episodes": spec["episodes"],
        "seed": spec["seed"],
    }
    row |= dict(_settings("problem", spec["problem"]["parameters"], ()))
    row |= dict(_settings("losses", spec["losses"], ("kind", "seed")))
    if spec["losses"].get("seed") not in (None, spec["seed"]):
        row["losses.seed"] = spec["losses"]["seed"]
    row |= dict(_settings("learner", spec["learner"], ("name",)))
    row["record_every"] = spec["record_every"]
    m = sum(name.startswith("hard_violation") for name in about["final"])
    return row | about["final"] | {"_checksum": about["sha256"][CURVES], "_m": m}


def _settings(table: str, given: Mapping[str, Any], apart: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if name not in apart:
            yield f"{table}.{name}", _scalar(value)


def _scalar(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _is_final(name: str) -> bool:
    return re.fullmatch(rf"({'|'.join(FINAL)})(_\d+)?", name) is not None


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    import polars as pl

    kinds: dict[str, set[type]] = {name: set() for name in FIRST}
    for row in rows:
        for name, value in row.items():
            kinds.setdefault(name, set())
            if value is not None:
                kinds[name].add(type(value))
    columns = sorted(kinds, key=lambda name: (_is_final(name), name not in FIRST, _place(name)))
    series = [_series(name, [row.get(name) for row in rows], kinds[name]) for name in columns]
    return pl.DataFrame(series)


def _place(name: str) -> tuple[int, str]:
    return (FIRST.index(name), "") if name in FIRST else (len(FIRST), "" if _is_final(name) else name)


def _series(name: str, values: list[Any], kinds: set[type]) -> pl.Series:
    """A column of one type: whole numbers beside others become floats, anything else beside others text."""
    import polars as pl

    if not kinds:
        return pl.Series(name, values, dtype=pl.Float64 if _is_final(name) else pl.String)
    if kinds <= {int, float} and len(kinds) == 2:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    if len(kinds) > 1:
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
    return pl.Series(name, values)


def _asked(frame: pl.LazyFrame, where: str | None) -> pl.LazyFrame:
    """The rows that a condition lets through; `learner.alpha` may stand in it without quotes."""
    import polars as pl

    inner = ("_checksum", "_m")
    names = [name for name in frame.collect_schema().names() if name not in inner]
    frame = frame.select(names)
    if where is None:
        return frame
    try:
        asked = pl.SQLContext(runs=frame, eager=False).execute(f"SELECT * FROM runs WHERE {quoted(where, names)}")
        asked.collect_schema()
        return asked
    except Exception as error:  # Polars has no common ancestor for what may be wrong with a query
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        text = text.partition("; valid columns: ")[0]  # Polars counts those that we name ourselves
        raise InputError(f"--where: {where!r}: {text}; columns: {', '.join(names)}") from None


def quoted(where: str, names: Sequence[str]) -> str:
    """Put dotted names that are columns into double quotes, as SQL wants them; what stands in quotes already is left alone."""
    dotted = [re.escape(name) for name in sorted(names, key=len, reverse=True) if "." in name]
    if not dotted:
        return where
    pattern = re.compile(rf"('[^']*'|\"[^\"]*\")|(?<![\w.])({'|'.join(dotted)})(?![\w.])")
    return pattern.sub(lambda found: found.group(1) or f'"{found.group(2)}"', where)


def _damaged_curves(store: Store, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each run whose curves do not have the checksum of the manifest."""

    def wrong(row: Mapping[str, Any]) -> str | None:
        path = store.path(row["run"]) / CURVES
        try:
            sound = digest(path.read_bytes()) == row["_checksum"]
        except OSError as error:
            return f"{path}: missing or unreadable ({error.strerror})"
        return None if sound else f"{path}: damaged; its checksum is not the one in the manifest"

    with ThreadPoolExecutor(4) as pool:
        return [line for line in pool.map(wrong, rows) if line is not None]
