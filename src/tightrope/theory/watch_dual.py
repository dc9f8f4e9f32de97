"""Did the dual stay where the paper says? Ceiling, steps, Lyapunov drift, bound (paper.tex, "Lyapunov Drift Analysis").

The drift of an episode counts where what its proof uses is true on the run: the errors of the cost lie within `beta_b`,
`|Q-hat| <= 2H`, `sum_i Y_i (drift + decay Y_i) >= eta sum_i Y_i (4 alpha H^3 (1 + Y) + 4 theta H^2)`, the next episode is in
the same epoch, and Slater's constant is positive. With several constraints Y is the sum where the paper has the one dual, and
the Lyapunov function is half the squared length.
"""

from __future__ import annotations

import numpy as np

from tightrope import constants
from tightrope.problems.tables import Floats, Ints
from tightrope.theory.derived import Derived, Judges
from tightrope.theory.replay import Setting, dual_cap, last_start, margins, mixing_weights
from tightrope.theory.rows import EXACT, Bools, Check, Row, rows_of


class DualWatch:
    """Rows on the dual; keeps one number an episode and judges at the end."""

    def __init__(self, setting: Setting, numbers: constants.Numbers, judges: Judges):
        self.setting, self.n, self.judges = setting, numbers, judges
        self.ceiling = Check("ceiling of the dual", "eq. def:E2, lem:good event", "Y_k <= 11 eta H^3 K")
        self.move = Check("step of the dual", "lem:Yk bound, eq. delta max", "|Y_{k+1} - Y_k| <= delta_max")
        self.drift = Check(
            "Lyapunov drift, an episode",
            "lem:lyap 1",
            "(Y_{k+1}^2 - Y_k^2)/2 <= -eta gamma Y_k + (eta/alpha) E[D(pi-bar||pi-tilde^k) - D(pi-bar||pi^{k+1})] + C_3",
        )
        self.period = Check(
            "Lyapunov drift, a mixing period", "lem:Yk bound", "(Z_{n+1}^2 - Z_n^2)/2 <= -eta gamma sum_k Y_k + C_4"
        )
        self.bound = Check("bound of the dual", "lem:Yk bound", "Y_k <= 2 C_4/(K^B eta gamma) + 2 K^B delta_max")
        self.dual_term = Check(
            "dual term of an epoch",
            "lem:proj gd",
            "sum_{K_e} Y_k (b - V-hat_g) <= (eta/2) sum (V-hat_g - b - c2 - c1 Y)^2",
        )
        self.dual_sum = Check("dual term", "lem:proj gd", "(II) <= |E| 3H Y + (eta/2) K (3H + c2 + c1 Y)^2")
        self.violation = Check(
            "violation of an epoch", "lem:violation optimism", "sum_{K_e} (V-hat_g - b) <= Y/eta + sum (c2 + c1 Y) + 3H"
        )
        K, self.margin = setting.episodes, margins(setting)  # [K, m]
        self.divergence = np.zeros(K)  # E[D(slater||mixed) - D(slater||next)] in the contracted problem
        self.sound = np.zeros(K, bool)  # errors of the costs within beta_b, |Q-hat| <= 2H
        self.small = np.zeros((K, setting.channels - 1), bool)  # |V-hat_g(s_1)| <= 2H

    def see(self, d: Derived) -> None:
        rows = d.chunk.rows
        self.divergence[rows] = d.total(d.slater_pairs, d.log_next - d.log_mixed)
        self.sound[rows] = d.good[1:].all(axis=(0, 2)) & d.small.all(axis=(0, 2, 3))
        self.small[rows] = np.abs(self.setting.trace.values[rows, 1:]) <= 2.0 * self.setting.cmdp.horizon + EXACT

    def finish(self) -> list[Row]:
        n, trace, K = self.n, self.setting.trace, self.setting.episodes
        dual, after = trace.dual[:-1], trace.dual[1:]  # [K, m]
        since = last_start(trace.epoch_starts, K)
        stays = np.ones(K, bool)  # whether the next dual follows from this one, and the policy too
        if not self.setting.warm:
            stays[:-1] = since[1:] == since[:-1]
        self._steps(dual, after, stays)
        within = np.append(since[1:] == since[:-1], True)  # the next episode is in the same epoch
        if n.alpha > 0 and n.eta > 0 and self.judges.gamma > 0:
            sound = self._drifts(dual, after, stays)
            self._periods(dual, sound & within, since)
            self._bounds(dual, sound, since)
        self._epochs(dual, since)
        rows = (
            self.ceiling,
            self.move,
            self.drift,
            self.period,
            self.bound,
            self.dual_term,
            self.dual_sum,
            self.violation,
        )
        return rows_of(rows)

    def _steps(self, dual: Floats, after: Floats, stays: Bools) -> None:
        n = self.n
        ceiling = constants.dual_ceiling(n)
        fine = n.c2 <= 8.0 * n.H**3 and n.decay <= 1.0
        before = np.concatenate([np.ones((1, dual.shape[1]), bool), np.logical_and.accumulate(self.small)[:-1]])
        self.ceiling.take(dual, ceiling, before & fine, where=lambda k, i: f"episode {k + 1:,}, constraint {i}")
        counts = stays[:, None] & self.small & (dual <= ceiling)
        most = constants.delta_max(n) + n.eta * self.margin
        self.move.take(np.abs(after - dual), most, counts, where=lambda k, i: f"episode {k + 1:,}, constraint {i}")

    def _drifts(self, dual: Floats, after: Floats, stays: Bools) -> Bools:
        """[K]: whether the hypotheses of lem:lyap 1 hold; checks it."""
        n, total = self.n, dual.sum(axis=1)
        given = (dual * (n.drift + n.decay * dual - n.eta * self.margin)).sum(axis=1)
        needed = n.eta * total * (4.0 * n.alpha * n.H**3 * (1.0 + total) + 4.0 * n.theta * n.H**2)
        regular = given >= needed * (1.0 - EXACT)
        under = (dual <= constants.dual_ceiling(n)).all(axis=1)
        sound = self.sound & regular & under & self.judges.fixed_start & (n.theta < 1.0)
        left = ((after**2).sum(axis=1) - (dual**2).sum(axis=1)) / 2.0
        right = -n.eta * self.judges.gamma * total + n.eta / n.alpha * self.divergence + constants.c_3(n)
        self.drift.take(left, right, sound & stays, where=lambda k: f"episode {k + 1:,}")
        return sound

    def _periods(self, dual: Floats, sound: Bools, since: Ints) -> None:
        """From one mixing to the next, where both are in one epoch and every episode between them counts."""
        n, K = self.n, self.setting.episodes
        P = int(min(n.period, K + 1))
        begins = np.flatnonzero(mixing_weights(self.setting) > 0)
        begins = begins[begins + P < K]
        if not len(begins):
            return
        ends = begins + P
        one_epoch = since[ends] == since[begins]
        unsound = np.concatenate([[0], np.cumsum(~sound)])
        sums = np.concatenate([[0.0], np.cumsum(dual.sum(axis=1))])
        squares = (dual**2).sum(axis=1)
        left = (squares[ends] - squares[begins]) / 2.0
        right = -n.eta * self.judges.gamma * (sums[ends] - sums[begins]) + constants.c_4(n)
        counts = one_epoch & (unsound[ends] == unsound[begins])
        self.period.take(left, right, counts, where=lambda i: f"episodes {begins[i] + 1:,} to {ends[i] + 1:,}")

    def _bounds(self, dual: Floats, sound: Bools, since: Ints) -> None:
        """The dual's bound counts as long as every earlier episode since it was zero did."""
        if self.n.theta == 0:
            return
        K = self.setting.episodes
        unsound = np.concatenate([[0], np.cumsum(~sound)])
        counts = unsound[np.arange(K)] == unsound[since]
        if self.setting.warm:  # later epochs do not start from zero
            counts &= since == 0
        length = np.sqrt((dual**2).sum(axis=1))
        self.bound.take(length, constants.dual_bound(self.n), counts, where=lambda k: f"episode {k + 1:,}")

    def _epochs(self, dual: Floats, since: Ints) -> None:
        """Sums over the episodes between two resets; the last of them stands apart, as in the proofs."""
        n, trace, K = self.n, self.setting.trace, self.setting.episodes
        starts = np.array([0]) if self.setting.warm else np.unique(since)
        ends = np.append(starts[1:], K) - 1  # the last episode of each
        excess = trace.values[:, 1:] - self.setting.cmdp.budgets  # [K, m]
        drift = n.c2 + n.c1 * dual - self.margin
        x, pulled = excess - drift, -dual * drift
        if not (n.eta > 0):
            return
        say = self._say(starts, ends)
        pay = _without_last(-dual * excess, starts, ends)
        claimed = _without_last(pulled + n.eta / 2.0 * x**2, starts, ends)
        self.dual_term.take(pay, claimed, where=say)
        low = self.small & (np.abs(excess) <= 3.0 * n.H)
        most = dual.max(initial=0.0)
        largest = 3.0 * n.H + max(n.c2 + n.c1 * most, self.margin.max(initial=0.0))
        whole = len(starts) * 3.0 * n.H * most + n.eta / 2.0 * K * largest**2
        counts = (low & (drift >= 0.0)).all(axis=0)  # the proof drops the pull of the drift, which must not be upwards
        self.dual_sum.take((-dual * excess).sum(axis=0), whole, counts, where="constraint {}".format)
        over = np.add.reduceat(excess, starts, axis=0)
        bound = dual[ends] / n.eta + _without_last(drift, starts, ends) + 3.0 * n.H
        uncapped = np.maximum.reduceat(dual, starts, axis=0) < dual_cap(self.setting)
        self.violation.take(over, bound, low[ends] & uncapped, where=say)

    def _say(self, starts: Ints, ends: Ints):
        return lambda e, i: f"episodes {starts[e] + 1:,} to {ends[e] + 1:,}, constraint {i}"


def _without_last(amounts: Floats, starts: Ints, ends: Ints) -> Floats:
    """[E, m]: sums over each stretch but its last episode."""
    return np.add.reduceat(amounts, starts, axis=0) - amounts[ends]
