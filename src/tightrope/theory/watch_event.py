"""Did the good event happen? E1, E2 and E3, the size of Q-hat, determinants and norms (paper.tex, "Good Event").

The paper's radii are checked as they stand; the run's own `beta_b` is checked against the errors that really are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tightrope import constants
from tightrope.theory.derived import Derived
from tightrope.theory.replay import Setting
from tightrope.theory.rows import EXACT, Bools, Check, Row, rows_of


class EventWatch:
    """Rows on estimation errors, bonuses and determinants."""

    def __init__(self, setting: Setting, numbers: constants.Numbers):
        self.setting, self.n = setting, numbers
        self.e1 = Check("E1", "eq. def:E1", "|theta_g - theta_g-hat|_{Lambda^k} <= beta_r")
        self.e2 = Check("E2", "eq. def:E2", "|(psi - psi-hat) V-hat|_{Lambda^k} <= beta_p")
        self.own = Check(
            "E1 and E2 with the run's beta_b",
            "eq. def:E1, def:E2",
            "|theta - theta-hat|_{Lambda^k} + |(psi - psi-hat) V-hat|_{Lambda^k} <= beta_b",
        )
        self.e3 = Check(
            "E3", "eq. def:E3", "sum_k E[W_k] <= 2 sum_k W_k + 4H(3 beta_b + 8 beta_Q beta_w^2) log(6K/delta)"
        )
        self.size = Check("size of Q-hat", "lem:cassel 12, eq. def:E2", "|Q-hat_h| <= 2(H - h + 1)")
        self.step = Check(
            "size of Q-hat, one step",
            "lem:cassel 12",
            "|Q-hat_h| <= 1 + |V-hat_{h+1}| + (beta_b + errors) max |phi-bar|",
        )
        self.determinant = Check(
            "determinants in an epoch", "Algorithm 1, line 2", "det Lambda^k/det Lambda^{k_e} <= 2"
        )
        self.ratio = Check(
            "norms in an epoch", "lem:abbasi 12", "|phi|^2_{(Lambda^{k_e})^{-1}} <= 2 |phi|^2_{(Lambda^k)^{-1}}"
        )
        self.bar = Check("contracted norms", "lem:cassel 18", "|phi-bar|_{(Lambda^{k_e})^{-1}} <= 2 log K/beta_w")
        self.shut = Check(
            "cost of contraction", "lem:cassel 3", "1 - sigma <= 4 beta_w^2 |phi|^2_{(Lambda^k)^{-1}} + 2/K"
        )
        self.potential = Check("elliptical potential", "lem: jin d2", "sum_k |phi|^2 <= 2 log det Lambda^{K+1}")
        self.potential_low = Check(
            "elliptical potential, below", "lem: jin d2", "log det Lambda^{K+1} <= sum_k |phi|^2"
        )
        self.potential_d = Check(
            "elliptical potential, in d", "lem: jin d2", "2 log det Lambda^{K+1} <= 2 d log(K + 1)"
        )
        self.count = Check("number of epochs", "lem:cassel 8 num of epoch", "|E| <= (3/2) d H log(2K)")
        H = setting.cmdp.horizon
        self.squares, self.logdet = np.zeros(H), np.zeros(H)
        self.expected = np.zeros(setting.episodes)  # [K], E[W_k]
        self.seen = np.zeros(setting.episodes)  # [K], W_k
        self.all_good = np.zeros((setting.channels, setting.episodes), bool)

    def see(self, d: Derived) -> None:
        chunk, n = d.chunk, self.n
        self.e1.take(chunk.cost_error[1:], constants.beta_r(n.K, n.H, n.d, n.delta), where=chunk.at("cbh"))
        self.e2.take(
            chunk.kernel_error,
            constants.beta_p(n.K, n.H, n.d, n.A, n.delta),
            self._in_class(d),
            where=chunk.at("cbh"),
        )
        enough = n.beta_b >= constants.beta_b(n.K, n.H, n.d, n.A, n.delta) * (1.0 - EXACT)
        self.own.take(chunk.cost_error + chunk.kernel_error, n.beta_b, enough, where=chunk.at("cbh"))
        self.all_good[:, chunk.rows] = d.good.all(axis=2)
        self._sizes(d)
        self._determinants(d)
        self._weights(d)

    def _in_class(self, d: Derived) -> Bools:
        """[C, B, H]: whether V-hat_{h+1} is in the class that beta_p is made for (lem:proxy good event)."""
        n, chunk = self.n, d.chunk
        settings = bool(
            1.0 <= n.beta_w <= n.K
            and 1.0 <= n.beta_b <= 4.0 * n.H * n.K
            and max(n.eta, n.alpha, n.decay) <= 1.0
            and n.theta >= (1.0 - EXACT) / n.K
            and n.period >= math.floor(n.K**0.75)
            and not self.setting.warm
        )
        under: Any = np.all(chunk.dual <= constants.dual_ceiling(n), axis=1)  # [B]
        every: Any = d.small.all(axis=-1)  # [C, B, H]
        small = np.concatenate([every[:, :, 1:], np.ones((*every.shape[:2], 1), bool)], axis=2)
        return small & under[None, :, None] & settings

    def _sizes(self, d: Derived) -> None:
        chunk, H = d.chunk, self.setting.cmdp.horizon
        largest = np.abs(chunk.q).max(axis=(3, 4))  # [C, B, H]
        bar = (chunk.contraction * chunk.epoch_norms).max(axis=(2, 3))[chunk.place]  # [B, H]
        factors = self.setting.learner.bonus_factors(H, self.setting.channels - 1)[:, None]  # [C, 1, H]
        extra = (self.n.beta_b * factors + chunk.cost_error + chunk.kernel_error) * bar
        following = np.abs(chunk.v[:, :, 1:]).max(axis=3)
        self.step.take(largest, 1.0 + following + extra, where=chunk.at("cbh"))
        to_come = np.logical_and.accumulate((extra <= 1.0)[:, :, ::-1], axis=2)[:, :, ::-1]
        self.size.take(largest, 2.0 * (H - np.arange(H)), to_come, where=chunk.at("cbh"))
        if self.n.beta_w > 0:
            counts = self.setting.offset >= 0.2  # the lemma fails at K = 1, where its right side is 0
            self.bar.take(bar, 2.0 * self.setting.offset / self.n.beta_w, counts, where=chunk.at("bh"))

    def _determinants(self, d: Derived) -> None:
        chunk = d.chunk
        grown = np.exp(chunk.window.logdet() - chunk.epoch_logdet[chunk.place])
        self.determinant.take(grown, 2.0, where=chunk.at("bh"))
        then, now = chunk.epoch_norms[chunk.place] ** 2, d.norms**2
        self.ratio.take(then, 2.0 * now, where=chunk.at("bhsa"))
        K = math.exp(self.setting.offset)
        self.shut.take(1.0 - chunk.sigma, 4.0 * self.n.beta_w**2 * now + 2.0 / K, where=chunk.at("bhsa"))

    def _weights(self, d: Derived) -> None:
        """W_k of def:E3, as met and in the mean; and the elliptical potential."""
        chunk, n = d.chunk, self.n
        met = chunk.window.met_norms()  # [B, H]
        linear, square = 3.0 * n.beta_b, 8.0 * constants.beta_q(n.H) * n.beta_w**2
        self.seen[chunk.rows] = (linear * met + square * met**2).sum(axis=1)
        self.expected[chunk.rows] = np.einsum("bhsa,bhsa->b", d.pairs, linear * d.norms + square * d.norms**2)
        self.squares += (met**2).sum(axis=0)
        self.gram_after = chunk.window.after[0]

    def finish(self) -> list[Row]:
        n, diagonal = self.n, self.gram_after.ndim == 2
        logdet = np.log(self.gram_after).sum(axis=1) if diagonal else np.linalg.slogdet(self.gram_after)[1]
        self.potential.take(self.squares, 2.0 * logdet, where=_step)
        self.potential_low.take(logdet, self.squares, where=_step)
        self.potential_d.take(2.0 * logdet, 2.0 * n.d * math.log(n.K + 1.0), where=_step)
        self.count.take(len(self.setting.trace.epoch_starts), constants.epochs(n), where="all episodes")
        self.e3.take(self.expected.sum(), 2.0 * self.seen.sum() + constants.deviation(n), where="all episodes")
        events = (self.e1, self.e2, self.own, self.e3, self.size, self.step, self.bar, self.shut)
        counts = (self.count, self.determinant, self.ratio, self.potential, self.potential_low, self.potential_d)
        return rows_of([*events, *counts])


def _step(h: int) -> str:
    """In words steps count from 1."""
    return f"step {h + 1}"
