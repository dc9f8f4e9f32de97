"""Where does the regret come from? Optimism, contraction, value differences, and the terms of the decomposition.

paper.tex, eq. decomposition: `Regret = (I) + (II) + (III) - sum_k Y_k (b - V_g^{pi*})`, of which the paper drops the last,
and `signed violation = (IV) + (V)`.
"""

from __future__ import annotations

import math

import numpy as np

from tightrope import constants
from tightrope.oracle import feature_occupancy
from tightrope.problems.tables import Floats
from tightrope.theory.derived import Derived, Judges
from tightrope.theory.replay import Setting
from tightrope.theory.rows import Check, Row, rows_of
from tightrope.theory.watch_record import CLOSE


class ValueWatch:
    """Rows on values; keeps what the decomposition needs."""

    def __init__(self, setting: Setting, numbers: constants.Numbers, judges: Judges):
        self.setting, self.n = setting, numbers
        self.optimism = Check("optimism", "lem:optimism", "Q-hat <= phi-bar . (theta + psi V-hat)")
        self.bonus = Check(
            "optimism, at most the bonuses",
            "lem:cost of opt",
            "phi-bar . (theta + psi V) - Q-hat <= 3 beta_b |phi|",
        )
        self.contracted = Check("contracted values", "lem:cassel 2", "V-bar^pi <= V^pi for pi* and the Slater policy")
        name, lemma = "value difference", "lem:extended value diff"
        self.difference = Check(name, lemma, "V^{pi^k} - V-hat = E_{P,pi^k}[sum_h ...]", "equality", CLOSE)
        self.difference_bar = Check(
            f"{name}, contracted", lemma, "V-bar^{pi*} - V-hat = E_{P-bar,pi*}[sum_h ...]", "equality", CLOSE
        )
        self.cost = Check("cost of optimism", "lem:cost of opt", "V^{pi^k} - V-hat <= E[W_k] + 8 H^2/K")
        self.cost_sum = Check(
            "cost of optimism, summed", "lem:cost of opt", "(I), (IV) <= 6 beta_b H sqrt(2dK log(K+1)) + ..."
        )
        self.primal = Check(
            "primal term",
            "lem:omd+optimism",
            "V-hat_f + Y V-hat_g - V_f^{pi*} - Y V_g^{pi*} <= E_{P-bar,pi*}[<Q, pi^k - pi*>]",
        )
        self.fixed_start = judges.fixed_start
        weights = setting.cmdp.cost_weights.swapaxes(0, 1)
        self.star_mu = feature_occupancy(setting.cmdp, judges.star)  # [H, d]
        slater_mu = feature_occupancy(setting.cmdp, judges.slater)
        self.slater_costs = np.einsum("ihd,hd->i", weights, slater_mu)
        losses = np.einsum("khd,hd->k", setting.trace.loss_weights, self.star_mu)
        costs = np.einsum("ihd,hd->i", weights, self.star_mu)
        self.star_values = np.column_stack([losses, np.broadcast_to(costs, (len(losses), len(costs)))])  # [K, 1+m]
        self.v_hat = np.zeros((setting.episodes, setting.channels))
        self.small = np.zeros((setting.channels, setting.episodes), bool)

    def see(self, d: Derived) -> None:
        chunk = d.chunk
        self.small[:, chunk.rows] = d.small.all(axis=(2, 3))
        self.v_hat[chunk.rows] = chunk.v[:, np.arange(chunk.size), 0, chunk.window.states[:, 0]].T
        over = chunk.sigma * chunk.backup - chunk.q  # [C, B, H, S, A], nonnegative under optimism
        good = d.good[..., None, None]
        self.optimism.take(chunk.q, chunk.sigma * chunk.backup, good, where=chunk.at("cbhsa"))
        self.bonus.take(over, self._widths()[:, None, :, None, None] * d.norms, good, where=chunk.at("cbhsa"))
        self._differences(d, over)
        self._contracted(d)

    def _differences(self, d: Derived, over: Floats) -> None:
        """The value difference lemma, in the real problem for pi^k and in the contracted one for pi*."""
        chunk, rows = d.chunk, d.chunk.rows
        left = np.einsum("bhsa,cbhsa->cb", d.pairs, chunk.backup - chunk.q)
        start_values = self._values_from_start(d)
        estimate = chunk.v[:, np.arange(chunk.size), 0, chunk.window.states[:, 0]]
        self.difference.take(start_values - estimate, left, where=chunk.at("cb"))
        bound = self._expected(d) + 8.0 * self.n.H**2 / math.exp(self.setting.offset)
        fine = d.good.all(axis=2) & d.small.all(axis=(2, 3))
        self.cost.take(start_values - estimate, bound, fine, where=chunk.at("cb"))
        if not d.judges.fixed_start:
            return
        towards = d.judges.star - d.policy  # [B, H, S, A]
        states = d.star_pairs.sum(axis=-1, keepdims=True)  # [n, H, S, 1], chances of states
        along = np.einsum("bhsx,cbhsa->cb", states[chunk.place], chunk.q * towards)
        beyond = d.total(d.star_pairs, over)  # [C, B]
        bar = self._bar_values(d)
        self.difference_bar.take(bar - estimate, along + beyond, where=chunk.at("cb"))
        price = np.concatenate([np.ones((chunk.size, 1)), chunk.dual], axis=1).T  # [C, B]
        gap = (price * (estimate - self.star_values[rows].T)).sum(axis=0)
        self.primal.take(gap, -(price * along).sum(axis=0), d.good.all(axis=(0, 2)), where=chunk.at("b"))

    def _values_from_start(self, d: Derived) -> Floats:
        """[C, B]: V^{pi^k} from the first state that was."""
        chunk, setting = d.chunk, self.setting
        mu = np.stack([setting.gather(d.pairs[:, h]) for h in range(setting.cmdp.horizon)], axis=1)
        loss = np.einsum("bhd,bhd->b", setting.trace.loss_weights[chunk.rows], mu)
        return np.concatenate([loss[None], np.einsum("hid,bhd->ib", setting.cmdp.cost_weights, mu)])

    def _expected(self, d: Derived) -> Floats:
        """[C, B]: E[W_k], with the bonus that each channel has."""
        square = 8.0 * constants.beta_q(self.n.H) * self.n.beta_w**2
        linear = np.einsum("ch,bhsa,bhsa->cb", self._widths(), d.pairs, d.norms)
        return linear + square * np.einsum("bhsa,bhsa->b", d.pairs, d.norms**2)

    def _widths(self) -> Floats:
        """[C, H]: 3 beta_b in the paper, one for errors, two for a bonus in the epoch's norm, at most twice that of now."""
        factors = self.setting.learner.bonus_factors(self.setting.cmdp.horizon, self.setting.channels - 1)
        return self.n.beta_b * (1.0 + 2.0 * factors)

    def _bar_mu(self, d: Derived, pairs: Floats) -> Floats:
        """[n, H, d]: mean contracted features of each epoch."""
        setting = self.setting
        moving = pairs * d.chunk.contraction
        return np.stack([setting.gather(moving[:, h]) for h in range(setting.cmdp.horizon)], axis=1)

    def _bar_values(self, d: Derived) -> Floats:
        """[C, B]: the contracted values of pi* under the losses of each episode."""
        chunk, setting = d.chunk, self.setting
        mu = self._bar_mu(d, d.star_pairs)[chunk.place]  # [B, H, d]
        loss = np.einsum("bhd,bhd->b", setting.trace.loss_weights[chunk.rows], mu)
        return np.concatenate([loss[None], np.einsum("hid,bhd->ib", setting.cmdp.cost_weights, mu)])

    def _contracted(self, d: Derived) -> None:
        chunk, setting = d.chunk, self.setting
        self.contracted.take(self._bar_values(d), self.star_values[chunk.rows].T, where=chunk.at("cb"))
        mu = self._bar_mu(d, d.slater_pairs)
        costs = np.einsum("hid,nhd->ni", setting.cmdp.cost_weights, mu)
        first = chunk.first + 1
        self.contracted.take(
            costs,
            self.slater_costs,
            where=lambda n, i: f"epochs from episode {first:,} on, constraint {i}, Slater policy",
        )

    def finish(self, exact: Floats, all_good: Floats, event_3: bool) -> list[Row]:
        """exact [K, 1+m]; all_good [C, K]."""
        paper = self.fixed_start and self.setting.offset >= math.log(self.n.K) - 1e-9  # 2/K in lem:cassel 3
        paper = paper and self.setting.learner.optimism == 1
        fine = all_good.all(axis=1) & self.small.all(axis=1) & event_3 & paper
        summed = (exact - self.v_hat).sum(axis=0)
        self.cost_sum.take(summed, constants.cost_of_optimism(self.n), fine, where=lambda c: f"channel {c}")
        values = (self.optimism, self.bonus, self.contracted, self.difference, self.difference_bar)
        return rows_of([*values, self.cost, self.cost_sum, self.primal])
