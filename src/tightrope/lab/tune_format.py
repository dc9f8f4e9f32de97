"""What does `[tune]` say? Ranges of settings, the runs to train on, and others, held out, to be judged by."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tightrope.errors import suggest
from tightrope.lab.mistakes import Mistakes, shown
from tightrope.lab.spec_checks import Judge
from tightrope.lab.spec_format import LARGEST, MOST_SEEDS
from tightrope.lab.toml_lines import FieldPath
from tightrope.numbers_in import real_wrong, whole_wrong

KEYS = ("trials", "penalty", "prune", "seed", "training", "held_out", "ranges")


@dataclass(frozen=True)
class Range:
    """Where a setting is looked for: one of `choices`, or from low to high."""

    name: str  # "learner.alpha"
    choices: Sequence[Any] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Runs:
    """Every table of losses with every seed."""

    seeds: Sequence[int]
    losses: Sequence[Mapping[str, Any]]

    def pairs(self) -> set[str]:
        return {
            json.dumps([dict(table), seed], sort_keys=True, default=repr)
            for table in self.losses
            for seed in self.seeds
        }


@dataclass(frozen=True)
class Tune:
    """A `[tune]` that holds together."""

    trials: int
    penalty: float
    prune: bool
    seed: int
    training: Runs
    held_out: Runs
    ranges: Sequence[Range]


def read_tune(raw: dict[str, Any], judge: Judge, mistakes: Mistakes) -> Tune | None:
    """Judge the table; None where something is wrong, which `mistakes` are told."""
    before = len(mistakes)
    given = raw["tune"]
    for key in given:
        if key not in KEYS:
            mistakes.add(("tune", key), f"unknown field; {suggest(key, KEYS)}")
    bare = {key: value for key, value in raw.items() if key not in ("sweep", "tune")}
    trials, penalty, prune, seed = (
        given.get(k, d) for k, d in (("trials", 40), ("penalty", 1.0), ("prune", True), ("seed", 0))
    )
    _told(mistakes, ("tune", "trials"), whole_wrong(trials, 1))
    _told(mistakes, ("tune", "penalty"), real_wrong(penalty, 0.0))
    _told(mistakes, ("tune", "prune"), None if isinstance(prune, bool) else f"{shown(prune)}; expected true or false")
    _told(mistakes, ("tune", "seed"), whole_wrong(seed, 0))
    training = _runs(bare, given, "training", [], judge, mistakes)
    held_out = _runs(bare, given, "held_out", training.seeds if training else [], judge, mistakes)
    ranges = _ranges(bare, given, judge, mistakes)
    if training and held_out and training.pairs() & held_out.pairs():
        mistakes.add(("tune", "held_out"), "has losses and seeds that are in training too; expected others")
    if len(mistakes) > before or training is None or held_out is None:
        return None
    return Tune(trials, float(penalty), prune, seed, training, held_out, ranges)


def _told(mistakes: Mistakes, field: FieldPath, wrong: str | None) -> None:
    if wrong is not None:
        mistakes.add(field, wrong)


def _runs(
    bare: dict[str, Any], given: dict[str, Any], name: str, taken: Sequence[int], judge: Judge, mistakes: Mistakes
) -> Runs | None:
    """`[tune.training]` or `[tune.held_out]`; a count of seeds means those after the `taken` ones."""
    table, place = given.get(name), ("tune", name)
    if not isinstance(table, dict):
        mistakes.add(place, f"{'missing' if table is None else shown(table)}; expected a table with `seeds`")
        return None
    for key in table:
        if key not in ("seeds", "losses"):
            mistakes.add((*place, key), f"unknown field; {suggest(key, ('seeds', 'losses'))}")
    seeds = _seeds(table.get("seeds"), (*place, "seeds"), taken, mistakes)
    own = bare.get("losses")
    tables = table.get("losses", [own] if isinstance(own, dict) else [])
    if (
        not isinstance(tables, list)
        or not all(isinstance(t, dict) for t in tables)
        or ("losses" in table and not tables)
    ):
        mistakes.add((*place, "losses"), f'{shown(tables)}; expected a list of tables such as {{ kind = "drift" }}')
        return None
    if "losses" in table:
        for i, one in enumerate(tables):
            told = _Only("losses", lambda field, text, i=i: mistakes.add_once((*place, "losses", i, *field[1:]), text))
            judge.setting({**bare, "losses": one}, told)
    return None if seeds is None else Runs(seeds, tables)


def _seeds(given: Any, place: FieldPath, taken: Sequence[int], mistakes: Mistakes) -> list[int] | None:
    """A list as it is; a count means so many after the `taken` ones."""
    wanted = "expected a whole number from 1 up, or a list of different seeds"
    if isinstance(given, list) and 0 < len(given) <= MOST_SEEDS:
        wrong = [i for i, seed in enumerate(given) if whole_wrong(seed, 0) is not None or seed > LARGEST]
        for i in wrong:
            mistakes.add((*place, i), f"{shown(given[i])}; expected a whole number from 0 up")
        if not wrong and len(set(given)) < len(given):
            mistakes.add(place, f"a seed is there twice; {wanted}")
        return None if wrong else list(given)
    if isinstance(given, list) or whole_wrong(given, 1) is not None or given > MOST_SEEDS:
        mistakes.add(place, f"{'missing' if given is None else shown(given)}; {wanted}")
        return None
    first = max(taken, default=-1) + 1
    return list(range(first, first + given))


class _Only:
    """Passes on the mistakes of one table; the others are told where the whole spec is judged."""

    def __init__(self, table: str, tell: Callable[[FieldPath, str], None]):
        self.table, self.tell = table, tell

    def add(self, field: FieldPath, text: str) -> None:
        if field[:1] == (self.table,):
            self.tell(field, text)


def _ranges(bare: dict[str, Any], given: dict[str, Any], judge: Judge, mistakes: Mistakes) -> list[Range]:
    table, place = given.get("ranges"), ("tune", "ranges")
    if not isinstance(table, dict) or not table:
        mistakes.add(
            place, f'{"missing" if table is None else shown(table)}; expected a table of ranges such as "learner.alpha"'
        )
        return []
    found: list[Range] = []
    for name, where, value in _leaves(table, place):
        one = _range(name, where, value, mistakes)
        if one is not None and one.name in [other.name for other in found]:
            mistakes.add(where, "listed twice; expected one range")
        elif one is not None:
            _try_ends(bare, one, where, judge, mistakes)
            found.append(one)
    return found


def _leaves(table: dict[str, Any], place: FieldPath) -> list[tuple[str, FieldPath, Any]]:
    """`"learner.alpha" = …` and `learner.alpha = …` mean the same."""
    found: list[tuple[str, FieldPath, Any]] = []
    for key, value in table.items():
        if key == "learner" and isinstance(value, dict):
            found += [(f"learner.{inner}", (*place, key, inner), below) for inner, below in value.items()]
        else:
            found.append((key, (*place, key), value))
    return found


def _range(name: str, place: FieldPath, given: Any, mistakes: Mistakes) -> Range | None:
    if not name.startswith("learner.") or name.count(".") != 1:
        mistakes.add(place, 'not a setting of the learner; expected a name such as "learner.alpha"')
        return None
    if isinstance(given, list) and len(given) >= 2 and all(isinstance(v, bool | int | float | str) for v in given):
        return Range(name, choices=tuple(given))
    wanted = "expected a list of two or more values, or { low = …, high = … } with log = true or whole = true if wished"
    if not isinstance(given, dict) or not {"low", "high"} <= set(given) <= {"low", "high", "log", "whole"}:
        mistakes.add(place, f"{shown(given)}; {wanted}")
        return None
    log, whole = given.get("log", False), given.get("whole", False)
    wrong = [
        (end, (whole_wrong(given[end], 0) if whole is True else real_wrong(given[end]))) for end in ("low", "high")
    ]
    for end, text in wrong:
        _told(mistakes, (*place, end), text)
    for flag, value in (("log", log), ("whole", whole)):
        _told(mistakes, (*place, flag), None if isinstance(value, bool) else f"{shown(value)}; expected true or false")
    if any(text for _, text in wrong) or not isinstance(log, bool) or not isinstance(whole, bool):
        return None
    low, high = given["low"], given["high"]
    if not low < high or not math.isfinite(high - low) or (log and low <= 0):
        text = "low above 0, and high above low" if log else "high above low"
        mistakes.add(place, f"from {shown(low)} to {shown(high)}; expected {text}")
        return None
    return Range(name, low=low, high=high, log=log, whole=whole)


def _try_ends(bare: dict[str, Any], one: Range, place: FieldPath, judge: Judge, mistakes: Mistakes) -> None:
    """Each choice, and both ends of a range, must be right for the learner."""
    from tightrope.lab.plan import with_values

    key = one.name.partition(".")[2]
    ends = [((*place, i), v) for i, v in enumerate(one.choices)] or [
        ((*place, e), getattr(one, e)) for e in ("low", "high")
    ]
    for where, value in ends:

        def tell(field: FieldPath, text: str, where: FieldPath = where) -> None:
            if field[1:2] == (key,):
                mistakes.add_once(where, text)

        judge.setting(with_values(bare, {one.name: value}), _Only("learner", tell))
