"""What does each rule of Algorithm 1 do? Its variants by name, as specs of the lab, and the numbers that tell them apart.

The numbers of the grid come from `suites/ablate.toml`; what a level means is here, in the settings of `PDPO`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tightrope import problems
from tightrope.lab.mistakes import Mistakes
from tightrope.lab.spec_checks import Spec, check_spec
from tightrope.oracle import slater
from tightrope.problems.cmdp import LinearCMDP
from tightrope.run import Run

FACTORS = ("mixing", "dual", "restarts", "steps")
VARIANTS = ("as the paper restarts", "warm", "warm, clipped, not mixed")  # of the rates


@dataclass(frozen=True, eq=False)
class Setting:
    """One point of a grid, with the spec that runs it."""

    levels: Mapping[str, str]
    spec: Spec


def committed() -> dict[str, Any]:
    """The numbers of `suites/ablate.toml`."""
    return tomllib.loads((resources.files("tightrope.lab") / "suites" / "ablate.toml").read_text(encoding="utf-8"))


def grid(numbers: Mapping[str, Any], episodes: int, seeds: int) -> list[Setting]:
    """Every combination of the levels."""
    made = []
    for point in product(*(numbers["levels"][factor] for factor in FACTORS)):
        levels: dict[str, str] = dict(zip(FACTORS, point))
        made.append(_setting(numbers["problem"], numbers, levels, episodes, seeds))
    return made


def rates(numbers: Mapping[str, Any], lengths: Sequence[int], seeds: int) -> list[Setting]:
    """Steps of order K^{-1/2} at growing K, in three variants of the rules, on several problems."""
    variants = (
        {"mixing": "periodic", "dual": "plain", "restarts": "paper"},
        {"mixing": "periodic", "dual": "plain", "restarts": "warm"},
        {"mixing": "never", "dual": "clipped", "restarts": "warm"},
    )
    return [
        _setting(problem, numbers, levels | {"steps": "practical", "variant": name}, K, seeds)
        for problem in numbers["rates"]["problems"]
        for name, levels in zip(VARIANTS, variants)
        for K in lengths
    ]


def _setting(
    problem: Mapping[str, Any], numbers: Mapping[str, Any], levels: dict[str, str], episodes: int, seeds: int
) -> Setting:
    cmdp = problems.make(problem["name"], **{key: value for key, value in problem.items() if key != "name"})
    raw = {
        "episodes": episodes,
        "seeds": seeds,
        "record_every": max(1, episodes // 200),
        "problem": dict(problem),
        "losses": {"kind": numbers["losses"]},
        "learner": {"name": "pdpo"} | settings(cmdp, episodes, levels, numbers["theta"], numbers["beta_b"]),
    }
    label = {"problem": str(problem["name"]), "episodes": str(episodes)}
    return Setting(label | levels, check_spec(raw, "ablate", Mistakes("ablate"), Path()))


def settings(cmdp: LinearCMDP, K: int, levels: Mapping[str, str], theta: float, beta_b: float) -> dict[str, Any]:
    """The settings of `PDPO` that a combination of levels means (paper.tex, Algorithm 1, lines 20 to 27)."""
    H = cmdp.horizon
    step = 64.0 / (H * math.sqrt(K))
    alpha, eta = {
        "theory": (K**-0.75 / H, K**-0.75 / H**2),
        "experiment": (0.1, K**-0.75 / H**2),
        "practical": (step * math.sqrt(math.log(cmdp.n_actions)), step),
    }[levels["steps"]]
    mixed = 0.0 if levels["mixing"] == "never" else theta
    found: dict[str, Any] = {
        "alpha": alpha,
        "eta": eta,
        "theta": mixed,
        "mixing_period": 1 if levels["mixing"] == "every episode" else math.ceil(round(K**0.75, 9)),
        "beta_b": beta_b,
        "beta_w": beta_b * math.log(K),
        "restart": levels["restarts"],
        "dual_decay": 0.0,
        "dual_drift": 0.0,
    }
    if levels["dual"] == "regularised":
        found |= {"dual_decay": 4 * alpha * eta * H**3, "dual_drift": eta * (4 * alpha * H**3 + 4 * mixed * H**2)}
    if levels["dual"] == "clipped":
        found["dual_cap"] = 2.0 * H / slater(cmdp).gamma
    return found


@dataclass(frozen=True)
class Found:
    """What the runs of a setting did, in the mean over seeds; per episode but for dual and epochs."""

    levels: Mapping[str, str]
    regret: float
    violation: float
    hard_violation: float
    most_dual: float
    last_dual: float
    epochs: float
    longest: float  # the last epoch's length at the least, as a share of K^{3/4}

    @property
    def loss(self) -> float:
        """Positive regret plus positive violation."""
        return max(self.regret, 0.0) + max(self.violation, 0.0)


def found(made: Sequence[Setting], runs: Mapping[str, Run]) -> Iterator[Found]:
    """A row a setting; runs by key."""
    for setting in made:
        spec = setting.spec
        mine = [runs[spec.key(seed)] for seed in spec.document.seed_list()]
        K = spec.document.episodes
        yield Found(
            setting.levels,
            float(np.mean([run.regret[-1] for run in mine])) / K,
            float(np.mean([run.violation[-1].max() for run in mine])) / K,
            float(np.mean([run.hard_violation[-1].max() for run in mine])) / K,
            float(max(run.extremes.dual_max.max() for run in mine)),
            float(np.mean([run.dual[-1].max() for run in mine])),
            float(np.mean([run.epoch[-1] for run in mine])),
            float(np.mean([_longest(run) for run in mine])) / K**0.75,
        )


def _longest(run: Run) -> int:
    """Episodes of the longest stretch of records within one epoch."""
    starts = np.flatnonzero(np.diff(run.epoch, prepend=-1) > 0)
    return int(np.diff(np.append(run.episodes[starts], run.episodes[-1])).max())


def exponent(lengths: Sequence[int], totals: Sequence[float]) -> float | None:
    """The log-log slope of totals over run lengths; None where one is not positive."""
    if min(totals) <= 0:
        return None
    return float(np.polyfit(np.log(lengths), np.log(totals), 1)[0])
