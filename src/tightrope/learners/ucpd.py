"""UCPD, Qiu et al. 2020: upper confidence primal-dual learning for tabular CMDPs with adversarial losses.

Paper: "Upper Confidence Primal-Dual Reinforcement Learning for CMDP with Adversarial Loss" (NeurIPS 2020); from its abstract,
from paper.tex ("Comparison of Dual Updates"), constants as recalled; check before citing.

    symbol     setting         symbol                    setting
    V          loss_weight     lambda, the mixing        mixing
    alpha      kl_weight       zeta, of the confidence   zeta; `width` scales the radii

Epochs begin when the visits of some pair have doubled; then the kernel may lie within
`sqrt(2 S log((K+1) S A / zeta) / max(1, N))` of the empirical one, in L1. After every episode, over occupancies
q(h, s, a, s') of such kernels:

    q <- argmin <V f + sum_i Y_i g_i, q> + a KL(q, (1 - lambda) q + lambda uniform),   Y_i <- max(0, Y_i + <g_i, q> - b_i)

Guaranteed by the paper, with width 1: regret and violation of order sqrt(K), against adversarial losses.

Departures: costs are the means observed (bandit feedback); which transitions are possible is read from the model
(`knowledge="oracle"`); the preset `practical` has width 0.1. The projection is `learners.projection`, certified every episode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tightrope.learners.knowledge import need_model
from tightrope.learners.projection import Projection
from tightrope.learners.protocol import Episode, Sizes
from tightrope.learners.shared import NumberSettings, check_settings
from tightrope.learners.table import Table, need_table
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats


@dataclass(frozen=True, kw_only=True)
class UCPD(NumberSettings):
    """Settings; see the presets `theory` and `practical`."""

    loss_weight: float  # V
    kl_weight: float  # a
    mixing: float  # lambda
    width: float
    zeta: float = 0.1
    knowledge: str = "oracle"  # which transitions are possible

    name: ClassVar[str] = "ucpd"
    tabular: ClassVar[bool] = True
    declared_rate: ClassVar[float] = 0.5

    @classmethod
    def theory(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> UCPD:
        """The constants as recalled."""
        return cls._recalled(cmdp, episodes, 1.0, given)

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> UCPD:
        """The same with radii of a tenth."""
        return cls._recalled(cmdp, episodes, 0.1, given)

    @classmethod
    def _recalled(cls, cmdp: LinearCMDP | Sizes, episodes: int, width: float, given: dict[str, Any]) -> UCPD:
        K, H = whole("episodes", episodes, least=1), cmdp.horizon
        need_model(cls.name, cmdp, "to know which transitions are possible")
        check_settings(cls, given)
        constants: dict[str, Any] = {
            "loss_weight": H * math.sqrt(K),
            "kl_weight": float(H * K),
            "mixing": 1.0 / K,
            "width": width,
        }
        return cls(**(constants | given))

    def start(self, cmdp: LinearCMDP, episodes: int) -> UCPDPlayer:
        need_table(self.name, cmdp)
        return UCPDPlayer(self, cmdp, episodes)


class UCPDPlayer:
    """One run."""

    def __init__(self, settings: UCPD, cmdp: LinearCMDP, episodes: int):
        self.settings, self.cmdp, self.table = settings, cmdp, Table(cmdp)
        self.log = math.log((episodes + 1) * cmdp.n_states * cmdp.n_actions / settings.zeta)
        in_layer = np.bincount(self.table.layer)[self.table.layer]
        self.uniform = 1.0 / in_layer  # [n]
        self.q = self.uniform.copy()  # occupancy of triples
        self.dual = np.zeros(cmdp.n_constraints)
        self.epoch, self.visits_then = 1, self.table.visits
        self.projection = Projection(self.table, self.table.chances(), self.radii())

    @property
    def gap(self) -> float:
        """The largest duality gap so far, in units of an episode's KL."""
        return self.projection.largest_gap

    def policy(self) -> Floats:
        return self.table.policy(self.q)

    def radii(self) -> Floats:
        """[P], in L1."""
        return self.settings.width * np.sqrt(2.0 * self.cmdp.n_states * self.log / np.maximum(self.table.visits, 1.0))

    def learn(self, episode: Episode) -> None:
        table, settings = self.table, self.settings
        table.learn(episode)
        visits = table.visits
        if (visits >= 2.0 * np.maximum(self.visits_then, 0.5)).any():
            self.epoch += 1
            self.visits_then = visits
            self.projection = Projection(table, table.chances(), self.radii(), self.projection)
        costs = table.costs()[:, table.of_pair]  # [m, n]
        price = settings.loss_weight * table.on_triples(self.cmdp.losses(episode.loss_weights)) + self.dual @ costs
        near = (1.0 - settings.mixing) * self.q + settings.mixing * self.uniform
        self.q = self.projection.solve(price / settings.kl_weight, near)
        self.dual = np.maximum(0.0, self.dual + costs @ self.q - self.cmdp.budgets)
