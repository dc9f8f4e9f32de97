"""What if features are not exactly linear? A backlog seen through tiles, coarser and finer, beside the truth.

The truth is a chain of 101 levels of backlog (a continuous one to the eye of a few tiles): work comes in at random, effort
takes it off, the cost of a step is the backlog itself, the loss is the hour's price times the effort. An agent is shown the
level through tile coding. The loss is linear in tiles; the cost and the dynamics are not, and the fewer the tiles, the
less. The policies that it has learnt are valued exactly on the truth, against the best policy of the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.agent.agent import Agent
from tightrope.features import TileCoding
from tightrope.learners.pdpo import PDPO
from tightrope.learners.protocol import Sizes
from tightrope.losses import make
from tightrope.oracle.best import best_policy
from tightrope.oracle.certificate import policy_costs
from tightrope.oracle.evaluation import start_value
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats
from tightrope.show import style
from tightrope.simulation import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS, HORIZON, BUDGET = 101, 6, 2.1
EFFORTS = np.array([0.0, 0.5, 1.0])
INFLOW, SPEED, SPREAD = 0.05, 0.3, 0.06  # a step, as shares of the largest backlog
FIRST = 0.8
TILES = (1, 2, 4, 8)
TILINGS = 2
EVALUATE = 20  # times in the second half of a run


@dataclass(frozen=True)
class Tiled:
    """How far the policies of the second half are from the best, an episode, as shares of H."""

    tiles: int | None  # cells of each tiling; None: every level by itself, which is exact
    dim: int
    misfit: float  # largest error of the best linear fit of the cost
    regret: float
    violation: float


@cache
def backlog_chain() -> LinearCMDP:
    """The truth, with every level known."""
    levels = np.linspace(0.0, 1.0, LEVELS)
    mean = levels[:, None] + INFLOW - SPEED * EFFORTS  # [S, A]
    chances = np.exp(-0.5 * ((levels - np.clip(mean, 0.0, 1.0)[:, :, None]) / SPREAD) ** 2)
    chances /= chances.sum(axis=2, keepdims=True)
    costs = np.broadcast_to(levels[:, None], (HORIZON, LEVELS, len(EFFORTS)))
    early = np.where(np.arange(HORIZON) < HORIZON // 2, 0.9, 0.2)
    losses = np.stack(
        [prices[:, None, None] * np.broadcast_to(EFFORTS, costs.shape) for prices in (early, early[::-1])]
    )
    first = round(FIRST * (LEVELS - 1))
    return LinearCMDP.from_tables(chances, costs, [BUDGET], first, losses=losses, name="backlog-chain")


def exact(episodes: int, seed: int = 0) -> Tiled:
    """The same learner with every level by itself, which is exactly linear, and has most to learn."""
    cmdp = backlog_chain()
    losses = make("alternating", cmdp, episodes)
    run = simulate(cmdp, losses, PDPO.practical(cmdp, episodes), episodes, seed, record_every=episodes // 2)
    second = (run.episodes[-1] - run.episodes[0]) * HORIZON
    regret, violation = (float(x[-1] - x[0]) / second for x in (run.regret, run.violation[:, 0]))
    return Tiled(None, cmdp.dim, 0.0, regret, violation)


def tiled(tiles: int, episodes: int, seed: int = 0) -> Tiled:
    """One agent, under losses that alternate."""
    cmdp, map_ = backlog_chain(), TileCoding(3, [0.0], [1.0], tiles=tiles, tilings=TILINGS)
    rows = np.array([map_(see(s)) for s in range(LEVELS)])  # [S, A, d]
    learner = PDPO.practical(Sizes(3, HORIZON, map_.dim), episodes)
    agent = Agent(learner, map_, HORIZON, 3, [BUDGET], seed=seed)
    profiles = [_weights(rows, cmdp, i) for i in range(2)]
    random = np.random.default_rng(np.random.SeedSequence(seed))
    policies = []
    for k in range(episodes):
        if k >= episodes // 2 and (k - episodes // 2) % max(1, episodes // (2 * EVALUATE)) == 0:
            policies.append(_policy(agent))
        _episode(cmdp, agent, random)
        agent.finish(profiles[k % 2])
    return _judged(cmdp, tiles, map_.dim, rows, policies)


def see(s: int) -> list[float]:
    """What an agent is shown of a level: a number in [0, 1]."""
    return [s / (LEVELS - 1)]


def _weights(rows: Floats, cmdp: LinearCMDP, profile: int) -> Floats:
    """[H, d], of losses that only depend on the action: exact in tiles."""
    assert cmdp.loss_profiles is not None
    tables = cmdp.losses(cmdp.loss_profiles[profile])  # [H, S, A]
    flat = rows.reshape(-1, rows.shape[2])
    return np.asarray(np.linalg.lstsq(flat, tables.reshape(HORIZON, -1).T, rcond=None)[0].T, dtype=np.float64)


def _episode(cmdp: LinearCMDP, agent: Agent, random: np.random.Generator) -> None:
    step: Any = cmdp.transitions(0)
    state = int(cmdp.initial_state or 0)
    agent.begin(see(state))
    for _ in range(HORIZON):
        action, cost = agent.act(), state / (LEVELS - 1)
        row = step[[state * 3 + action]].toarray()[0]
        state = min(int(np.searchsorted(np.cumsum(row), random.random())), LEVELS - 1)
        agent.observe(cost, see(state))


def _policy(agent: Agent) -> Floats:
    """[H, S, A], as it would play now in every state of the truth, seen or not."""
    return np.array([[agent.policy(h, see(s)) for s in range(LEVELS)] for h in range(HORIZON)])


def _judged(cmdp: LinearCMDP, tiles: int, dim: int, rows: Floats, policies: list[Floats]) -> Tiled:
    assert cmdp.loss_profiles is not None
    mean = cmdp.loss_profiles.mean(axis=0)
    best = best_policy(cmdp, mean).value
    values = [start_value(cmdp, policy, mean) - best for policy in policies]
    costs = [float(policy_costs(cmdp, policy)[0]) - BUDGET for policy in policies]
    flat, levels = rows.reshape(-1, dim), np.repeat(np.linspace(0.0, 1.0, LEVELS), 3)
    misfit = float(np.abs(flat @ np.linalg.lstsq(flat, levels, rcond=None)[0] - levels).max())
    return Tiled(tiles, dim, misfit, float(np.mean(values)) / HORIZON, float(np.mean(costs)) / HORIZON)


@style.styled
def tiles_figure(found: Sequence[Tiled], title: str) -> Figure:
    """Regret and violation an episode beside how well tiles can say what a state costs."""
    figure = style.new_figure(style.TWO_PANELS)
    left, right = figure.subplots(1, 2)
    names = ["exact" if row.tiles is None else str(row.tiles) for row in found]
    left.bar(names, [100 * row.misfit for row in found], color=style.GREY)
    left.set_title("(a) Largest error of the cost in tiles")
    left.set_ylabel("% of the largest cost")
    places = np.arange(len(found))
    right.bar(places - 0.2, [100 * row.regret for row in found], 0.4, color=style.BLUE, label="regret")
    right.bar(places + 0.2, [100 * row.violation for row in found], 0.4, color=style.VERMILION, label="violation")
    right.axhline(0.0, color=style.GREY, linewidth=0.7)
    right.set_xticks(places, names)
    right.set_title("(b) Policies of the second half")
    right.set_ylabel("% of H an episode")
    right.legend()
    for axes in (left, right):
        axes.set_xlabel("cells of a tiling")
    style.foot(figure, title)
    return figure
