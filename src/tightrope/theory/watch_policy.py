"""Did the policy move as the paper says? Its few parameters, the size of a step, mixing, and mirror descent."""

from __future__ import annotations

import numpy as np

from tightrope import constants
from tightrope.problems.tables import Floats
from tightrope.theory.derived import Derived
from tightrope.theory.replay import Setting
from tightrope.theory.rows import Check, Row, rows_of
from tightrope.theory.watch_record import CLOSE


class PolicyWatch:
    """Rows on policies."""

    def __init__(self, setting: Setting, numbers: constants.Numbers):
        self.setting, self.n = setting, numbers
        self.parameters = Check(
            "policies from their parameters", "lem:pol param", "pi^k = pi(. ; {beta_i, w_i}, Lambda)", "equality", CLOSE
        )
        lemma = "lem:policy inequality"
        self.moved = Check("step of the policy", f"{lemma} (1)", "|pi^{k+1} - pi-tilde^k|_1 <= alpha |Q_f + Y Q_g|")
        self.moved_2h = Check(
            "step of the policy, in H", f"{lemma} (1)", "|pi^{k+1} - pi-tilde^k|_1 <= 2 alpha H (1 + Y)"
        )
        self.cost = Check(
            "step in the costs", f"{lemma} (2)", "|<pi^{k+1} - pi^k, Q_g>| <= 4 alpha H^2 (1 + Y) + 4 theta H"
        )
        self.loss = Check(
            "step in the losses",
            f"{lemma} (3)",
            "<pi^k - pi^{k+1}, Q_f> - D(pi^{k+1}||pi-tilde^k)/alpha <= 2 alpha H^2 + 4H theta",
        )
        self.mixing = Check(
            "mixing, divergence gained", "lem:KL mixing", "D(pi||pi-tilde^k) - D(pi||pi^k) <= theta log A"
        )
        self.mixed = Check("mixing, divergence left", "lem:KL mixing", "D(pi||pi-tilde^k) <= log(A/theta)")
        self.descent = Check(
            "mirror descent",
            "lem:omd with mixing",
            "sum_{K_e} <Q_f + Y Q_g, pi^k - pi*> <= theta|K_e|log A/(alpha K^B) + (1+theta)log A/alpha + alpha|K_e|C5^2/2 "
            "+ 2 theta|K_e|C5/K^B + 2 theta C5 + 2 C5",
        )
        self._begin(0)

    def _begin(self, k: int) -> None:
        H, S = self.setting.cmdp.horizon, self.setting.cmdp.n_states
        self.inner, self.largest, self.begun, self.length = np.zeros((H, S)), 0.0, k, 0

    def see(self, d: Derived) -> None:
        self.parameters.take(d.policy, d.chunk.policies, where=d.chunk.at("bhsa"))
        self._steps(d)
        self._mixings(d)
        self._descents(d)

    def _steps(self, d: Derived) -> None:
        chunk, n = d.chunk, self.n
        after, before, mixed = np.exp(d.log_next), d.policy, np.exp(d.log_mixed)
        price = (1.0 + chunk.dual.sum(axis=1))[:, None, None]  # [B, 1, 1]
        theta = chunk.theta[:, None, None]
        small = d.small.all(axis=0)  # [B, H, S]
        moved = np.abs(after - mixed).sum(axis=-1)
        say = chunk.at("bhs")
        self.moved.take(moved, n.alpha * np.abs(d.gain).max(axis=-1), where=say)
        self.moved_2h.take(moved, 2.0 * n.alpha * n.H * price, small, where=say)
        change = np.abs(((after - before) * chunk.q[1:]).sum(axis=-1)).max(axis=0)
        self.cost.take(change, 4.0 * n.alpha * n.H**2 * price + 4.0 * theta * n.H, small, where=say)
        if n.alpha > 0:
            gained = ((before - after) * chunk.q[0]).sum(axis=-1)
            divergence = (after * (d.log_next - d.log_mixed)).sum(axis=-1)
            bound = 2.0 * n.alpha * n.H**2 + 4.0 * n.H * theta
            self.loss.take(gained - divergence / n.alpha, bound, small, where=say)

    def _mixings(self, d: Derived) -> None:
        due = np.flatnonzero((d.chunk.theta > 0) & (d.chunk.theta < 1))
        if not len(due):
            return
        theta = d.chunk.theta[due][:, None, None]

        def say(b: int, h: int, s: int) -> str:
            return d.chunk.at("bhs")(int(due[b]), h, s)

        for policy in (d.judges.star, d.judges.slater):
            gained = (policy * (d.log_policy[due] - d.log_mixed[due])).sum(axis=-1)
            self.mixing.take(gained, theta * np.log(self.n.A), where=say)
            self.mixed.take(_divergence(policy, d.log_mixed[due]), np.log(self.n.A / theta), where=say)

    def _descents(self, d: Derived) -> None:
        """Sum over the episodes between two resets; with warm restarts that is the run."""
        chunk = d.chunk
        inner = (d.gain * (d.policy - d.judges.star)).sum(axis=-1)  # [B, H, S]
        largest = np.abs(d.gain).max(axis=(1, 2, 3))
        resets = [i for i in chunk.starts if not self.setting.warm and chunk.first + i > 0]
        for i, j in zip([0, *resets], [*resets, chunk.size]):
            if i in resets:
                self._end()
                self._begin(chunk.first + i)
            if j > i:
                self.inner += inner[i:j].sum(axis=0)
                self.largest, self.length = max(self.largest, float(largest[i:j].max())), self.length + j - i

    def _end(self) -> None:
        if self.length and self.n.alpha > 0:
            bound = constants.mirror_descent(self.n, self.length, self.largest)
            where = f"episodes {self.begun + 1:,} to {self.begun + self.length:,}"
            self.descent.take(self.inner, bound, where=lambda h, s: f"{where}, step {h + 1}, state {s}")

    def finish(self) -> list[Row]:
        self._end()
        steps = (self.parameters, self.moved, self.moved_2h, self.cost, self.loss)
        return rows_of([*steps, self.mixing, self.mixed, self.descent])


def _divergence(policy: Floats, log_other: Floats) -> Floats:
    """D(policy || other) over the last axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(policy > 0, policy * np.log(policy), 0.0)
    return (own - policy * log_other).sum(axis=-1)
