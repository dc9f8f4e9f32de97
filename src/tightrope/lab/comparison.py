"""Which learner does better? Paired runs: the same seed gives every learner the same environment and the same losses.

A `Cell` is a problem, a kind of losses, and a number of episodes; its rows are learners, the first the one that the others are
compared with. Runs are specs of the lab, so they are kept, not repeated, and go on where they stopped.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from tightrope import learners, problems
from tightrope.errors import InputError, suggest
from tightrope.lab.mistakes import Mistakes
from tightrope.lab.spec_checks import Spec, check_spec
from tightrope.lab.summary import band, slope
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats
from tightrope.run import Run

MEASURES = ("regret", "violation", "hard violation")


@dataclass(frozen=True, eq=False)
class Cell:
    """One comparison: specs that differ in the learner alone."""

    problem: str
    losses: str
    episodes: int
    seeds: Sequence[int]
    specs: Sequence[Spec]  # the first is compared with
    left_out: Sequence[str] = ()  # a line for each learner that does not apply

    @property
    def title(self) -> str:
        return f"{self.problem}, {self.losses} losses, {self.episodes:,} episodes, {len(self.seeds)} seeds"


@dataclass(frozen=True)
class Row:
    """One learner in a cell; numbers are per episode, each with half of its 95% interval."""

    learner: str
    knowledge: str
    mean: dict[str, float]  # by measure
    difference: dict[str, float]  # to the first learner, paired by seed
    half: dict[str, float]
    seconds: float  # of learning, a run
    growth: float | None  # the log-log slope of the mean regret over the last decade; None where it is not positive
    violation_growth: (
        float | None
    )  # the same of the violation; of several constraints the one that is worst at each episode
    claim: float | None  # the rate that the learner's paper claims for its losses


def cells(
    problem_names: Sequence[str],
    loss_kinds: Sequence[str],
    names: Sequence[str],
    episodes: int,
    seeds: int,
    strict: bool = True,
    parameters: dict[str, Any] | None = None,
) -> list[Cell]:
    """A cell for each problem and kind of losses; `strict`: a learner that does not apply is an error, else left out."""
    wrong = [f"learners: {name!r} is there twice" for name in dict.fromkeys(names) if list(names).count(name) > 1]
    wrong += [
        f"{what}: unknown {name!r}; {suggest(name, known)}"
        for what, given, known in (
            ("learners", names, learners.names()),
            ("problem", problem_names, problems.names()),
        )
        for name in given
        if name not in known
    ]
    if wrong:
        raise InputError(wrong)
    return [
        _cell(problem, kind, names, episodes, seeds, strict, parameters or {})
        for problem in problem_names
        for kind in loss_kinds
    ]


def suite(name: str) -> list[Cell]:
    """The cells of a committed suite."""
    folder = resources.files("tightrope.lab") / "suites"
    known = sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))
    if name not in known:
        raise InputError(f"--suite: unknown {name!r}; {suggest(name, known)}")
    given = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    found: list[Cell] = []
    for group in given["group"]:
        axes = given["problems"], given["losses"], group["learners"]
        found += cells(*axes, group["episodes"], group["seeds"], strict=False)
    return found


def _cell(
    problem: str, kind: str, names: Sequence[str], episodes: int, seeds: int, strict: bool, parameters: dict[str, Any]
) -> Cell:
    cmdp = problems.make(problem, **parameters)
    applies, left_out = [], []
    for name in names:
        reason = why_not(name, cmdp, kind)
        if reason is None:
            applies.append(name)
        else:
            left_out.append(f"{name}: {reason}")
    if left_out and strict:
        raise InputError([f"learners: {line}" for line in left_out])
    specs = [_spec(problem, kind, name, episodes, seeds, parameters) for name in applies]
    return Cell(problem, kind, episodes, range(seeds), specs, left_out)


def why_not(name: str, cmdp: LinearCMDP, losses_kind: str) -> str | None:
    """Why a learner does not apply to a problem under such losses; None where it does."""
    kind = learners.class_of(name)
    if getattr(kind, "tabular", False) and not is_tabular(cmdp):
        return f"is for tables, and the features of {cmdp.name!r} are not one for each pair"
    if getattr(kind, "one_constraint", False) and cmdp.n_constraints > 1:
        return f"has one constraint, and {cmdp.name!r} has {cmdp.n_constraints}"
    if hasattr(kind, "start_knowing") and losses_kind == "best-response":
        return "plays the best policy for losses settled beforehand, and these react"
    return None


def is_tabular(cmdp: LinearCMDP) -> bool:
    """Whether every pair (s, a) has a feature of its own."""
    table = cmdp.feature_table
    return isinstance(table, AxisFeatures) and len(np.unique(table.index)) == table.index.size


def _spec(problem: str, kind: str, name: str, episodes: int, seeds: int, parameters: dict[str, Any]) -> Spec:
    raw = {
        "episodes": episodes,
        "seeds": seeds,
        "record_every": max(1, episodes // 200),
        "problem": {"name": problem} | parameters,
        "losses": {"kind": kind},
        "learner": {"name": name},
    }
    return check_spec(raw, f"{problem}-{kind}-{name}", Mistakes("compare"), Path())


def rows(cell: Cell, runs: dict[str, Run]) -> Iterator[Row]:
    """What each learner of a cell did; runs by key."""
    first: dict[str, Floats] = {}
    for spec in cell.specs:
        found = [runs[spec.key(seed)] for seed in cell.seeds]
        values = {measure: measured(found, measure) for measure in MEASURES}
        first = first or values
        apart = {measure: band((values[measure] - first[measure])[:, None]) for measure in MEASURES}
        about = found[0].about["learner"]
        yield Row(
            learner=about["name"],
            knowledge=about.get("knowledge", ""),
            mean={measure: float(x.mean()) for measure, x in values.items()},
            difference={measure: float(b.mean[0]) for measure, b in apart.items()},
            half={measure: float(b.half[0]) for measure, b in apart.items()},
            seconds=float(np.mean([run.seconds["learning"] for run in found])),
            growth=slope(found[0].episodes, np.mean([run.regret for run in found], axis=0)),
            violation_growth=slope(found[0].episodes, np.mean([run.violation.max(axis=1) for run in found], axis=0)),
            claim=learners.class_of(about["name"]).declared_rate,
        )


def measured(runs: Sequence[Run], measure: str) -> Floats:
    """[n], per episode; of several constraints the worst."""
    K = runs[0].episodes[-1]
    if measure == "regret":
        return np.array([run.regret[-1] for run in runs]) / K
    curves = [run.violation if measure == "violation" else run.hard_violation for run in runs]
    return np.array([curve[-1].max() for curve in curves]) / K
