"""Which policy do a few numbers make? The parameterisation of paper.tex (eq. param pi, lem:pol param), run forwards.

A segment is a stretch of episodes without mixing or change of contraction. Its policy is
`pi ~ base exp(-alpha sum_j (Q_f^j + Y_j Q_g^j))`, and the sum needs two parameters alone: `w = sum_j (w_f^j + Y_j w_g^j)`,
[H, d], and `sum_j (1 + Y_j)`, the paper's `beta_i` over `-alpha beta_b`; [H], with the factor of the losses' bonus for the 1.
"""

from __future__ import annotations

import numpy as np

from tightrope.problems.tables import Floats
from tightrope.theory.replay import Chunk, Setting


def normalised(logits: Floats) -> Floats:
    """Log-probabilities over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def mixed(log_policy: Floats, theta: Floats | float, n_actions: int) -> Floats:
    """log((1 - theta) pi + theta/A), line 21; theta broadcasts."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(log_policy + np.log1p(-np.asarray(theta)), np.log(np.asarray(theta) / n_actions))


class Segments:
    """Rebuilds every policy from the parameters of its segments, chunk after chunk."""

    def __init__(self, setting: Setting):
        cmdp = setting.cmdp
        self.setting = setting
        self.base = np.full((cmdp.horizon, cmdp.n_states, cmdp.n_actions), -np.log(cmdp.n_actions))
        self.sigma, self.norms = np.ones(self.base.shape), np.zeros(self.base.shape)
        self._fresh()

    def _fresh(self) -> None:
        cmdp = self.setting.cmdp
        self.w, self.price = np.zeros((cmdp.horizon, cmdp.dim)), np.zeros(cmdp.horizon)

    def log_policy(self, w: Floats | None = None, price: Floats | None = None) -> Floats:
        """[..., H, S, A] for parameters w [..., H, d] and prices [..., H]; those of now unless given."""
        weights = self.w if w is None else w
        prices = self.price if price is None else price
        learner, cmdp = self.setting.learner, self.setting.cmdp
        bonus = learner.beta_b * prices[..., None, None] * self.norms
        return normalised(self.base - learner.alpha * self.sigma * (cmdp.feature_table.apply(weights) - bonus))

    def rebuild(self, chunk: Chunk) -> Floats:
        """[B, H, S, A]: the log-policies of the chunk's episodes."""
        out = np.empty(chunk.policies.shape)
        step = chunk.weights[0] + np.einsum("bi,ibhd->bhd", chunk.dual, chunk.weights[1:])  # [B, H, d]
        losses = self.setting.learner.bonus_factors(self.setting.cmdp.horizon, chunk.dual.shape[1])[0]
        price = losses + chunk.dual.sum(axis=1, keepdims=True)  # [B, H]
        breaks = sorted({0, *chunk.starts, *np.flatnonzero(chunk.theta > 0).tolist()})
        out[0] = self.log_policy()
        for i, j in zip(breaks, [*breaks[1:], chunk.size]):
            self._break(chunk, i, out)
            w, prices = self.w + np.cumsum(step[i:j], axis=0), self.price + np.cumsum(price[i:j], axis=0)
            kept = min(j, chunk.size - 1) - i
            out[i + 1 : i + 1 + kept] = self.log_policy(w[:kept], prices[:kept])
            self.w, self.price = w[-1], prices[-1]
        return out

    def _break(self, chunk: Chunk, i: int, out: Floats) -> None:
        """Episode i begins an epoch, or mixes, or is the chunk's first."""
        if i in chunk.starts:
            if chunk.first + i == 0 or not self.setting.warm:
                out[i] = -np.log(out.shape[-1])
            self.base, self.sigma, self.norms = out[i].copy(), chunk.sigma[i], chunk.epoch_norms[chunk.place[i]]
            self._fresh()
        if chunk.theta[i] > 0:
            self.base = mixed(out[i], float(chunk.theta[i]), out.shape[-1])
            self._fresh()
