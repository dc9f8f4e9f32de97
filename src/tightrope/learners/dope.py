"""DOPE, Bura et al. 2022: doubly optimistic and pessimistic exploration for tables; no violation, with a known safe policy.

Paper: "DOPE: Doubly Optimistic and Pessimistic Exploration for Safe Reinforcement Learning" (NeurIPS 2022); constants as
recalled; check before citing.

    symbol                    setting       symbol                        setting
    delta                     delta         3H/(C - C_b), the optimism    optimism
    beta, the radii           width scales  H, the pessimism              pessimism

Before every episode, an extended linear programme over z(h, s, a, s'): least `(f - optimism * beta_bar) . z` where the kernel
`z / sum z` lies within beta of the empirical one and `(g_bar + pessimism * beta_bar) . z <= b`; beta by empirical Bernstein
bounds, beta_bar its sum over next states, g_bar the upper end of the costs' own bounds: the mean plus
`width sqrt(log / 2n)`, never above 1, and 1 for a pair never tried. The safe policy plays where the programme has no solution.

Guaranteed by the paper, with its constants (preset `theory`): no violation in any episode, regret of order sqrt(K), for losses
that do not change. Before that the safe policy plays for some `(H^2 / (C - C_b))^2` episodes.

Departures: the loss of the last finished episode stands for the loss; which transitions are possible is read from the model
(`knowledge="oracle"`). The preset `practical` has radii of a tenth, and optimism and pessimism 0.1 as in the public code of
Kitamura et al. (2025), who compare with it; no proof covers these. Every answer of the solver is certified by its own duals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tightrope.errors import CertificateError
from tightrope.learners.knowledge import strictly_safe
from tightrope.learners.protocol import Episode, Sizes
from tightrope.learners.shared import NumberSettings, check_settings
from tightrope.learners.table import Table, need_table
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

TOLERANCE = 1e-6  # of the duality gap and of the rows, in units of an episode's value


@dataclass(frozen=True, kw_only=True)
class DOPE(NumberSettings):
    """Settings; see the presets `theory` and `practical`."""

    width: float
    optimism: float
    pessimism: float
    delta: float = 0.1
    knowledge: str = "oracle"  # a strictly safe policy, and which transitions are possible

    name: ClassVar[str] = "dope"
    tabular: ClassVar[bool] = True
    declared_rate: ClassVar[float] = 0.5

    @classmethod
    def theory(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> DOPE:
        """The constants as recalled."""
        room = cls._room(cmdp, episodes, given)
        constants: dict[str, Any] = {"width": 1.0, "optimism": 3.0 * cmdp.horizon / room, "pessimism": cmdp.horizon}
        return cls(**(constants | given))

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> DOPE:
        """A tenth of everything: with the proof's constants the safe policy plays for thousands of episodes."""
        cls._room(cmdp, episodes, given)
        constants: dict[str, Any] = {"width": 0.1, "optimism": 0.1, "pessimism": 0.1}
        return cls(**(constants | given))

    @classmethod
    def _room(cls, cmdp: LinearCMDP | Sizes, episodes: int, given: dict[str, Any]) -> float:
        """What the safe policy leaves of the budgets, where everything that was given can be."""
        whole("episodes", episodes, least=1)
        check_settings(cls, given)
        return strictly_safe(cls.name, cmdp).gamma

    def start(self, cmdp: LinearCMDP, episodes: int) -> DOPEPlayer:
        need_table(self.name, cmdp)
        return DOPEPlayer(self, cmdp, episodes)


class DOPEPlayer:
    """One run."""

    def __init__(self, settings: DOPE, cmdp: LinearCMDP, episodes: int):
        H, S, A = cmdp.horizon, cmdp.n_states, cmdp.n_actions
        self.settings, self.cmdp, self.table = settings, cmdp, Table(cmdp)
        self.safe = strictly_safe(settings.name, cmdp).policy
        self.log = math.log(2.0 * S * A * H * episodes / settings.delta)
        self.losses = np.zeros((H, S, A))
        self.fell_back, self.gap = 0, 0.0  # episodes of the safe policy; the largest duality gap so far
        self._shown: Floats | None = None

    def policy(self) -> Floats:
        if self._shown is None:
            z = self.solve()
            self.fell_back += z is None
            self._shown = self.safe if z is None else self.table.policy(z)
        return self._shown

    def learn(self, episode: Episode) -> None:
        self.table.learn(episode)
        self.losses = self.cmdp.losses(episode.loss_weights)
        self._shown = None

    def radii(self) -> Floats:
        """[n], beta; 0 where only one transition is possible."""
        table, n = self.table, np.maximum(self.table.visits[self.table.of_pair], 1.0)
        p = table.chances()
        beta = np.sqrt(4.0 * p * (1.0 - p) * self.log / n) + 14.0 * self.log / (3.0 * n)
        return np.where(table.width_of_pair[table.of_pair] > 1, np.minimum(self.settings.width * beta, 1.0), 0.0)

    def solve(self) -> Floats | None:
        """The occupancy of triples [n] that the programme finds, or None where it has no solution."""
        from tightrope.oracle.highs import minimise

        table, beta = self.table, self.radii()
        unsure = np.bincount(table.of_pair, weights=beta)  # [P], beta_bar
        promising = np.where(table.visits > 0, unsure, np.maximum(unsure, 1.0))
        goal = table.on_triples(self.losses) - self.settings.optimism * promising[table.of_pair]
        dear = (self._highest_costs() + self.settings.pessimism * unsure)[:, table.of_pair]
        matrix, lower, upper = self._rows(beta, dear)
        n = len(goal)
        found = minimise(goal, sp.csc_array(matrix), lower, upper, np.zeros(n), np.full(n, np.inf))
        if found is None:
            return None
        self.certify(found.x, found.row_duals, goal, matrix, lower, upper)
        return found.x

    def _highest_costs(self) -> Floats:
        """[m, P], the upper ends of the costs' bounds."""
        visits = self.table.visits
        radii = self.settings.width * np.sqrt(self.log / (2.0 * np.maximum(visits, 1.0)))
        return np.where(visits > 0, np.minimum(self.table.costs() + radii, 1.0), 1.0)

    def _rows(self, beta: Floats, dear: Floats) -> tuple[sp.csr_array, Floats, Floats]:
        """Flow, kernel within its radii, costs within the budgets: matrix and bounds."""
        table = self.table
        open_ = np.flatnonzero(beta > 0)
        chances, n = table.chances(), len(beta)
        each = sp.csr_array((np.ones(len(open_)), (np.arange(len(open_)), open_)), shape=(len(open_), n))
        pairs = sp.csr_array((np.ones(n), (table.of_pair, np.arange(n))), shape=(len(table.first), n))[
            table.of_pair[open_]
        ]
        above = each - sp.diags_array((chances + beta)[open_]) @ pairs
        below = each - sp.diags_array((chances - beta)[open_]) @ pairs
        matrix = sp.vstack([table.flow, above, below, sp.csr_array(dear)], format="csr")
        zero, none = np.zeros(len(open_)), np.full(len(open_), np.inf)
        lower = np.concatenate([table.inflow, -none, zero, np.full(len(dear), -np.inf)])
        upper = np.concatenate([table.inflow, zero, none, self.cmdp.budgets])
        return sp.csr_array(matrix), lower, upper

    def certify(self, z: Floats, y: Floats, goal: Floats, matrix: sp.csr_array, lower: Floats, upper: Floats) -> None:
        """Weak duality by our own arithmetic: the duals bound the programme from below, for every layer sums to 1."""
        done = matrix @ z
        off = max(float((lower - done).max()), float((done - upper).max()), float(-z.min()))
        y = np.where(np.isinf(lower), np.minimum(y, 0.0), np.where(np.isinf(upper), np.maximum(y, 0.0), y))
        ends = np.where(y >= 0, np.where(np.isinf(lower), 0.0, lower), np.where(np.isinf(upper), 0.0, upper))
        reduced = goal - matrix.T @ y
        least = [min(0.0, float(reduced[self.table.layer == h].min())) for h in range(self.cmdp.horizon)]
        gap = float(goal @ z) - float(y @ ends) - sum(least)
        scale = 1.0 + float(np.abs(goal).max())
        self.gap = max(self.gap, abs(gap) / scale)
        if abs(gap) > TOLERANCE * scale or off > TOLERANCE:
            raise CertificateError(f"dope: duality gap {gap:.3g}, rows off by {off:.3g}, wanted at most {TOLERANCE:g}")
