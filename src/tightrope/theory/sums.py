"""What had the learner seen before each episode? Gram matrices, cost sums and next-state sums, from the recorded data alone.

Nothing here comes from the engine: `Lambda_h^k = I + sum over tau < k of phi phi'` (paper.tex, Algorithm 1, line 12) is added
up again, for a window of B episodes at a time. With features of one non-zero everything is diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats, Ints


class Sums:
    """Everything absorbed so far; `open` shows what each episode of a window saw, `close` absorbs the window."""

    def __init__(self, cmdp: LinearCMDP):
        H, d, m = cmdp.horizon, cmdp.dim, cmdp.n_constraints
        self.cmdp, self.table = cmdp, cmdp.feature_table
        self.diagonal = isinstance(self.table, AxisFeatures)
        self.gram: Floats = np.ones((H, d)) if self.diagonal else np.broadcast_to(np.eye(d), (H, d, d)).copy()
        self.costs = np.zeros((H, m, d))
        empty: Any = sp.csr_array((d, cmdp.n_states)) if self.diagonal else np.zeros((d, cmdp.n_states))
        self.next = [empty.copy() for _ in range(H)]

    def open(self, states: Ints, actions: Ints, costs: Floats) -> Window:
        """states [B, H+1], actions [B, H], costs [B, H, m]"""
        phi = self.visited(states[:, :-1], actions)
        grown = phi**2 if self.diagonal else phi[..., :, None] * phi[..., None, :]
        paid = costs[..., None] * phi[:, :, None, :]
        gram, cost_sums = _before(self.gram, grown), _before(self.costs, paid)
        return Window(self, states, phi, gram[:-1], cost_sums[:-1], (gram[-1], cost_sums[-1]))

    def visited(self, states: Ints, actions: Ints) -> Floats:
        """The features met: [..., d]."""
        if not isinstance(self.table, AxisFeatures):
            return self.table.dense[states, actions]
        phi = np.zeros((*states.shape, self.cmdp.dim))
        index, value = self.table.index[states, actions], self.table.value[states, actions]
        np.put_along_axis(phi, index[..., None], value[..., None], axis=-1)
        return phi

    def close(self, window: Window) -> None:
        self.gram, self.costs = window.after
        for h in range(self.cmdp.horizon):
            arrived = window.states[:, h + 1]
            shape = len(arrived), self.cmdp.n_states
            led = sp.csr_array((np.ones(len(arrived)), (np.arange(len(arrived)), arrived)), shape)
            added = sp.csr_array(window.met[h]).T @ led
            self.next[h] = self.next[h] + (added if self.diagonal else added.toarray())


def _before(start: Floats, added: Floats) -> Floats:
    """[B+1, ...]: the sum before each of B additions, and after the last."""
    return np.cumsum(np.concatenate([start[None], added]), axis=0)


@dataclass(eq=False)
class Window:
    """What each of B episodes saw."""

    sums: Sums
    states: Ints  # [B, H+1]
    phi: Floats  # [B, H, d], met in each episode
    gram: Floats  # [B, H, d] or [B, H, d, d], before each episode
    costs: Floats  # [B, H, m, d]
    after: tuple[Floats, Floats]

    def __post_init__(self) -> None:
        self.inverse: Any = (
            1.0 / self.gram if self.sums.diagonal else np.linalg.inv(self.gram)
        )  # [B, H, d] or [B, H, d, d]
        n, H = self.phi.shape[:2]
        self.earlier = np.tri(n, k=-1)  # [B, B]: which episodes of the window come before which
        self.met = [
            sp.csr_array(self.phi[:, h]) if self.sums.diagonal else self.phi[:, h] for h in range(H)
        ]  # H of [B, d]

    def solve(self, h: int, rhs: Floats) -> Floats:
        """(Lambda_h^k)^{-1} x for x [B, d]."""
        if self.sums.diagonal:
            return self.inverse[:, h] * rhs
        return np.einsum("bij,bj->bi", self.inverse[:, h], rhs)

    def length(self, h: int, x: Floats) -> Floats:
        """|x| in the norm of Lambda_h^k, [B], for x [B, d]."""
        if self.sums.diagonal:
            return np.sqrt((self.gram[:, h] * x**2).sum(axis=1))
        return np.sqrt(np.maximum(np.einsum("bi,bij,bj->b", x, self.gram[:, h], x), 0.0))

    def norms(self, gram_inverse: Floats | None = None) -> Floats:
        """|phi(s, a)| in the norm of (Lambda_h^k)^{-1}, [B, H, S, A]."""
        inverse = self.inverse if gram_inverse is None else gram_inverse
        table = self.sums.table
        if isinstance(table, AxisFeatures):
            return np.abs(table.value) * np.sqrt(inverse[..., table.index])
        flat = table.dense.reshape(-1, self.sums.cmdp.dim)
        squares = ((flat @ inverse) * flat).sum(axis=-1)
        return np.sqrt(np.maximum(squares, 0.0)).reshape(*inverse.shape[:2], *table.shape[:2])

    def met_norms(self) -> Floats:
        """|phi(s_h^k, a_h^k)| in the norm of (Lambda_h^k)^{-1}, [B, H]."""
        if self.sums.diagonal:
            return np.sqrt((self.inverse * self.phi**2).sum(axis=-1))
        return np.sqrt(np.maximum(np.einsum("bhi,bhij,bhj->bh", self.phi, self.inverse, self.phi), 0.0))

    def logdet(self) -> Floats:
        """[B, H]"""
        return np.log(self.gram).sum(axis=-1) if self.sums.diagonal else np.linalg.slogdet(self.gram)[1]

    def next_values(self, h: int, values: Floats) -> Floats:
        """sum over tau < k of phi(s_h^tau, a_h^tau) V^k(s_{h+1}^tau), [B, d], for values [B, S] (line 17)."""
        older = np.asarray((self.sums.next[h] @ values.T).T)
        within = self.met[h].T @ (self.earlier * values[:, self.states[:, h + 1]]).T
        return older + np.asarray(within).T
