"""Algorithm 1 for dense features in careful NumPy: the same next-state sums as the engine, every product left to BLAS.

It learns from episodes that somebody else played. Arrays: the features whole and transposed, [d, A*S], so that every pass
is contiguous and works in place; for each step h the gram matrix and its inverse by Sherman-Morrison (afresh by Cholesky at
each epoch), sums F_h [n, d] for the n states reached so far, cost sums [m, d].
Line numbers are those of Algorithm 1 in paper.tex.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

import tightrope as tr


class NumpyTwin:
    """One run; `begin_epoch` is lines 2 to 7 once an epoch is due, `learn` lines 12 to 27 for one episode."""

    def __init__(self, cmdp: tr.LinearCMDP, learner: tr.PDPO, episodes: int):
        S, A, d = cmdp.features.shape
        H, m = cmdp.horizon, cmdp.n_constraints
        self.sizes = H, S, A, d, m
        self.phi_t = np.ascontiguousarray(cmdp.features.transpose(2, 1, 0).reshape(d, A * S))
        self.rows, self.q = np.empty((d, A * S)), np.empty((1 + m, A, S))
        self.learner, self.budgets, self.offset = learner, cmdp.budgets, math.log(episodes)
        self.gram = np.broadcast_to(np.eye(d), (H, d, d)).copy()
        self.inverse = self.gram.copy()
        self.sums = np.zeros((H, episodes, d))
        self.reached = np.zeros((H, episodes), np.int64)
        self.place_of = np.full((H, S), -1)
        self.n_reached = np.zeros(H, np.int64)
        self.cost_sums = np.zeros((H, m, d))
        self.logits = np.zeros((H, A, S))
        self.policy = np.full((H, A, S), 1.0 / A)
        self.contraction, self.bonus = np.zeros((H, A, S)), np.zeros((H, A, S))
        self.dual, self.growth = np.zeros(m), np.full(H, np.inf)
        self.k = self.mixing_from = self.epochs = 0
        self.estimates = np.zeros(1 + m)

    @property
    def due(self) -> bool:
        return bool((self.growth >= 2.0 * (1.0 - 1e-12)).any())

    def begin_epoch(self) -> None:
        H, S, A, _, _ = self.sizes
        self.epochs += 1
        if self.epochs == 1 or self.learner.restart == "paper":
            self.logits[:] = 0.0
            self.policy[:] = 1.0 / A
            self.dual[:] = 0.0
            self.mixing_from = self.k
        self.growth[:] = 1.0
        for h in range(H):
            factor = solve_triangular(np.linalg.cholesky(self.gram[h]), np.eye(len(self.gram[h])), lower=True)  # L^{-1}
            self.inverse[h] = factor.T @ factor
            rows = np.dot(factor, self.phi_t, out=self.rows)  # [d, A*S]
            norms = np.sqrt(np.einsum("jp,jp->p", rows, rows)).reshape(A, S)
            contraction = self.contraction[h]
            np.multiply(norms, self.learner.beta_w, out=contraction)
            contraction -= self.offset
            np.exp(np.minimum(contraction, 700.0, out=contraction), out=contraction)
            contraction += 1.0
            np.reciprocal(contraction, out=contraction)  # line 6
            np.multiply(contraction, norms, out=self.bonus[h])
            self.bonus[h] *= self.learner.beta_b

    def learn(self, loss: np.ndarray, states: np.ndarray, actions: np.ndarray, costs: np.ndarray) -> None:
        """loss [H, d], states [H+1], actions [H], costs [H, m]."""
        H, S, A, _, m = self.sizes
        v = np.zeros((1 + m, S))
        theta = self.learner.theta if (self.k - self.mixing_from) % self.learner.mixing_period == 0 else 0.0
        q = self.q
        for h in range(H - 1, -1, -1):
            n = self.n_reached[h]
            total = v[:, self.reached[h, :n]] @ self.sums[h, :n]  # [1+m, d]
            total[1:] += self.cost_sums[h]
            weights = total @ self.inverse[h]  # lines 13 to 17
            weights[0] += loss[h]
            np.dot(weights, self.phi_t, out=q.reshape(1 + m, A * S))
            q *= self.contraction[h]
            q -= self.bonus[h]
            policy, logits = self.policy[h], self.logits[h]
            v = np.einsum("as,cas->cs", policy, q)  # line 19
            for i in range(m):
                np.multiply(q[i + 1], self.dual[i], out=q[i + 1])
                q[0] += q[i + 1]
            if theta > 0.0:  # line 21
                np.log((1.0 - theta) * policy + theta / A, out=logits)
            q[0] *= self.learner.alpha
            logits -= q[0]  # line 26
            logits -= logits.max(axis=0)
            np.exp(logits, out=policy)
            policy /= policy.sum(axis=0)
        self.estimates = v[:, states[0]]
        ascent = self.learner.eta * (self.estimates[1:] - self.budgets) - self.learner.dual_drift
        self.dual = np.maximum(0.0, (1.0 - self.learner.dual_decay) * self.dual + ascent)  # line 27
        self._absorb(states, actions, costs)

    def _absorb(self, states: np.ndarray, actions: np.ndarray, costs: np.ndarray) -> None:
        """Line 12."""
        S = self.sizes[1]
        for h, (s, a, arrived) in enumerate(zip(states[:-1], actions, states[1:])):
            row = self.phi_t[:, a * S + s]
            move = self.inverse[h] @ row
            growth = 1.0 + row @ move
            self.inverse[h] -= np.outer(move / growth, move)
            self.gram[h] += np.outer(row, row)
            self.growth[h] *= growth
            if self.place_of[h, arrived] < 0:
                self.place_of[h, arrived] = self.n_reached[h]
                self.reached[h, self.n_reached[h]] = arrived
                self.n_reached[h] += 1
            self.sums[h, self.place_of[h, arrived]] += row
            self.cost_sums[h] += np.outer(costs[h], row)
        self.k += 1
