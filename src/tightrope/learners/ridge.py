"""What do learners in Python know of a linear CMDP? Ridge estimates of the kernel and of the costs, from every episode so far.

    Lambda_h = rho I + sum phi phi^T,   P_hat_h(s'|s,a) = phi(s,a) . Lambda_h^{-1} sum phi 1{s' followed},
    bonus |phi| in the norm of Lambda_h^{-1}

Of the problem it reads features and sizes alone. The inverse is kept by Sherman-Morrison.
"""

from __future__ import annotations

import numpy as np

from tightrope.learners.protocol import Episode
from tightrope.problems.cmdp import LinearCMDP


class Ridge:
    """Estimates of one run; arrays are those of the coming episode."""

    def __init__(self, cmdp: LinearCMDP, rho: float = 1.0):
        H, S, A, d = cmdp.horizon, cmdp.n_states, cmdp.n_actions, cmdp.dim
        self.shape = H, S, A
        self.phi = cmdp.features.reshape(S * A, d)
        self.n_actions = A
        self.inverse = np.broadcast_to(np.eye(d) / rho, (H, d, d)).copy()
        self.sums = np.zeros((H, d, S))
        self.utility_sums = np.zeros((H, d))
        self.kernel = np.zeros((H, S * A, S))  # P_hat
        self.utility = np.zeros((H, S * A))  # of 1 - cost
        self.bonus = np.broadcast_to(np.linalg.norm(self.phi, axis=1) / np.sqrt(rho), (H, S * A)).copy()

    def learn(self, episode: Episode) -> None:
        """Take in an episode; with one constraint."""
        rows = self.phi[episode.states[:-1] * self.n_actions + episode.actions]  # [H, d]
        moves = (self.inverse @ rows[:, :, None])[..., 0]
        self.inverse -= moves[:, :, None] * (moves / (1.0 + (rows * moves).sum(axis=1, keepdims=True)))[:, None, :]
        self.sums[np.arange(self.shape[0]), :, episode.states[1:]] += rows
        self.utility_sums += rows * (1.0 - episode.costs[:, :1])
        weighed = self.phi @ self.inverse  # [H, S*A, d]
        self.kernel = np.maximum(weighed @ self.sums, 0.0)
        self.utility = (weighed @ self.utility_sums[:, :, None])[..., 0]
        self.bonus = np.sqrt(np.maximum((weighed * self.phi).sum(axis=-1), 0.0))
