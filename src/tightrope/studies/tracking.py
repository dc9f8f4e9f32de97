"""What is mixing worth when losses change, and what does it cost when they do not? Dynamic regret, in calm and in change.

Without mixing the logarithm of the policy grows with every episode of equal losses, and must be unlearnt when they change.
Mixing in the uniform policy with weight theta bounds it by log(A/theta), so unlearning takes log(1/theta)/alpha episodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.lab.summary import band
from tightrope.learners.pdpo import PDPO
from tightrope.losses import Profiles, make
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints
from tightrope.show import style
from tightrope.simulation import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WEIGHTS = {"the preset (1/K)": None, "0.01 every sqrt(K)": 0.01, "0.1 every sqrt(K)": 0.1}  # theta
KINDS = {"calm": ("fixed", {}), "change": ("switching", {"period": 2000})}


@dataclass(frozen=True, eq=False)
class Tracked:
    """One weight under one kind of losses: curves over the recorded episodes, the means of the seeds."""

    weight: str
    kind: str
    episodes: Ints  # [R]
    dynamic: Floats  # [R], against the best policy of each episode
    regret: Floats  # [R], against one policy
    violation: Floats  # [R]


def tracking_learner(cmdp: LinearCMDP, episodes: int, theta: float | None = 0.01) -> PDPO:
    """The practical preset, mixing with weight theta every sqrt(K) episodes; None leaves it as it is."""
    if theta is None:
        return PDPO.practical(cmdp, episodes)
    return PDPO.practical(cmdp, episodes, theta=theta, mixing_period=math.ceil(math.sqrt(episodes)))


def tracked(cmdp: LinearCMDP, episodes: int, seeds: Sequence[int] = (0, 1, 2)) -> list[Tracked]:
    """Every weight under every kind of losses."""
    return [_one(cmdp, episodes, weight, kind, seeds) for kind in KINDS for weight in WEIGHTS]


def _one(cmdp: LinearCMDP, episodes: int, weight: str, kind: str, seeds: Sequence[int]) -> Tracked:
    name, parameters = KINDS[kind]
    losses = make(name, cmdp, episodes, **parameters)
    assert isinstance(losses, Profiles)
    learner = tracking_learner(cmdp, episodes, WEIGHTS[weight])
    runs = [simulate(cmdp, losses, learner, episodes, seed) for seed in seeds]
    curves = (
        [run.dynamic_regret(losses) for run in runs],
        [run.regret for run in runs],
        [run.violation.max(axis=1) for run in runs],
    )
    return Tracked(weight, kind, runs[0].episodes, *(band(np.stack(curve)).mean for curve in curves))


def findings(found: Sequence[Tracked]) -> list[dict[str, Any]]:
    """What each weight ends with, an episode."""
    return [
        {
            "losses": row.kind,
            "mixing": row.weight,
            "dynamic_regret": float(row.dynamic[-1] / row.episodes[-1]),
            "regret": float(row.regret[-1] / row.episodes[-1]),
            "violation": float(row.violation[-1] / row.episodes[-1]),
        }
        for row in found
    ]


@style.styled
def tracking_figure(found: Sequence[Tracked], title: str) -> Figure:
    """Dynamic regret in calm and in change, a curve for each weight."""
    figure = style.new_figure((style.TWO_PANELS[0], 2.8))
    panels = figure.subplots(1, 2)
    words = {"calm": "(a) Calm: the losses stay", "change": "(b) Change: other losses every 2,000 episodes"}
    for axes, kind in zip(panels, KINDS):
        rows = [row for row in found if row.kind == kind]
        for row, colour, dash in zip(rows, style.colours(), style.DASHES):
            axes.plot(row.episodes, row.dynamic, dash, color=colour, label=f"mixing {row.weight}")
        axes.set_title(words[kind])
        axes.set_xlabel("episode")
        axes.set_ylabel("dynamic regret")
        style.count_axes(axes)
    style.key_above(figure, panels[0])
    style.foot(figure, title)
    return figure
