"""Which runs does a spec with `[sweep]` ask for? Every combination of the values it lists, once for each seed.

A mistake in one combination is told at the line of the value that makes it, once, however many combinations have that value.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tightrope.errors import suggest
from tightrope.lab.mistakes import Mistakes, shown
from tightrope.lab.spec_checks import Judge, Spec, read_toml
from tightrope.lab.toml_lines import FieldPath

MOST_RUNS = 1_000_000
ALONE = ("episodes", "record_every", "trace")  # fields of the whole file that can be swept
TABLES = ("problem", "losses", "learner")


@dataclass(frozen=True)
class Axis:
    """One line of `[sweep]`."""

    field: tuple[str, ...]  # what it sets: ("learner", "alpha")
    place: FieldPath  # where it stands: ("sweep", "learner.alpha")
    values: Sequence[Any]

    @property
    def name(self) -> str:
        return ".".join(self.field)


@dataclass(frozen=True, eq=False)
class Plan:
    """A spec that holds together, in all its settings."""

    name: str
    specs: Sequence[Spec]  # one for each combination, the last axis changing fastest
    axes: Sequence[Axis]
    raw: dict[str, Any]
    text: str = ""  # the file as it stands, where it came from one
    tune: Any = field(default=None)  # what `[tune]` asks for, judged

    @property
    def record(self) -> dict[str, Any]:
        """What the store keeps of it: what was asked, and which runs answer."""
        points = [
            {"values": dict(spec.point), "runs": [spec.key(seed) for seed in spec.document.seed_list()]}
            for spec in self.specs
        ]
        return {"name": self.name, "text": self.text, "spec": self.raw, "points": points}


def read_plan(path: Path) -> Plan:
    """Read a TOML file; every mistake in it is told at once, by file, line and field."""
    raw, lines, text = read_toml(path)
    return check_plan(raw, path.stem, Mistakes(str(path), lines), path.parent, text)


def check_plan(raw: dict[str, Any], name: str, mistakes: Mistakes, folder: Path, text: str = "") -> Plan:
    """Judge a parsed spec in all its settings; files that it names are looked for from `folder`."""
    judge = Judge(name, folder)
    axes = _axes(raw.get("sweep"), mistakes)
    seeds = raw.get("seeds", 1)
    runs = math.prod(len(axis.values) for axis in axes) * (seeds if isinstance(seeds, int) else 1)
    if runs > MOST_RUNS:
        mistakes.add(("sweep",), f"a grid of {runs:,} runs; expected at most {MOST_RUNS:,}")
        raise mistakes.error()
    specs = list(_settings(raw, axes, judge, mistakes))
    tune = None
    if isinstance(raw.get("tune"), dict):
        from tightrope.lab.tune_format import read_tune

        tune = read_tune(raw, judge, mistakes)
    if mistakes:
        raise mistakes.error()
    return Plan(name, [spec for spec in specs if spec is not None], axes, raw, text, tune)


def _settings(raw: dict[str, Any], axes: Sequence[Axis], judge: Judge, mistakes: Mistakes) -> Iterator[Spec | None]:
    """One for each combination; None where one does not hold together."""
    bare = {key: value for key, value in raw.items() if key != "sweep"}
    if not isinstance(raw.get("sweep", {}), dict):
        bare["sweep"] = raw["sweep"]  # told by the check of the whole
    for places in itertools.product(*(range(len(axis.values)) for axis in axes)):
        point = {axis.name: axis.values[i] for axis, i in zip(axes, places)}
        yield judge.setting(with_values(bare, point), _AtPoint(mistakes, axes, places), point)


def with_values(raw: dict[str, Any], point: dict[str, Any]) -> dict[str, Any]:
    """The tables with some values replaced; `point` by dotted names."""
    found = dict(raw)
    for name, value in point.items():
        table, _, key = name.partition(".")
        if not key:
            found[table] = value
        elif isinstance(found.get(table, {}), dict):
            found[table] = {**found.get(table, {}), key: value}
    return found


class _AtPoint:
    """Passes mistakes of one combination on, to the lines of `[sweep]` where those are to blame; each once."""

    def __init__(self, mistakes: Mistakes, axes: Sequence[Axis], places: Sequence[int]):
        self.mistakes, self.axes, self.places = mistakes, axes, places

    def add(self, field: FieldPath, text: str) -> None:
        near = []
        for axis, i in zip(self.axes, self.places):
            if field[: len(axis.field)] == axis.field:
                self.mistakes.add_once((*axis.place, i), text)
                return
            if field[:1] == axis.field[:1]:
                near.append(f"{axis.name} = {shown(axis.values[i])}")
        self.mistakes.add_once(field, f"{text} (where {', '.join(near)})" if near else text)


def _axes(given: Any, mistakes: Mistakes) -> list[Axis]:
    """The lines of `[sweep]` that are right; the others are told."""
    if not isinstance(given, dict):
        return []  # nothing, or told by the check of the whole
    axes: list[Axis] = []
    for field_path, place, values in _leaves(given, (), ("sweep",)):
        wrong = _field_wrong(field_path) or _values_wrong(values, place, mistakes)
        if wrong is None and any(axis.field == field_path for axis in axes):
            wrong = "listed twice; expected one list of values"
        if wrong is not None:
            mistakes.add(place, wrong)
        elif values:
            axes.append(Axis(field_path, place, values))
    return axes


def _leaves(
    table: dict[str, Any], above: tuple[str, ...], place: FieldPath
) -> Iterator[tuple[tuple[str, ...], FieldPath, Any]]:
    """`"learner.alpha" = …`, `learner.alpha = …` and a table inside all mean the same."""
    for key, value in table.items():
        path, here = (*above, *key.split(".")), (*place, key)
        if isinstance(value, dict) and value:
            yield from _leaves(value, path, here)
        else:
            yield path, here, value


def _field_wrong(path: tuple[str, ...]) -> str | None:
    head = path[0]
    if head == "seeds":
        return "seeds are not swept; expected them in `seeds`, where every combination is run with each"
    if (head in ALONE and len(path) == 1) or (head in TABLES and len(path) == 2):
        return None
    if head in ALONE or head in TABLES:
        return f"not a setting; expected a name such as {'learner.alpha' if head in TABLES else head}"
    return f"not a setting; {suggest(head, [*ALONE, *TABLES])}"


def _values_wrong(values: Any, place: FieldPath, mistakes: Mistakes) -> str | None:
    if not isinstance(values, list) or not values:
        return f"{shown(values)}; expected a list of values to try"
    first: dict[str, int] = {}
    for i, value in enumerate(values):
        if first.setdefault(json.dumps(value, default=repr), i) != i:
            mistakes.add((*place, i), f"{shown(value)} is there twice; expected different values")
    return None
