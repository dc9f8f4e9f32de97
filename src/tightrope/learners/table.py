"""What do tabular learners count? Visits, transitions and costs of the pairs that play can reach.

They work on triples (h, s, a, x): in state s at step h the action a can lead to x. Which triples there are is read from the
problem's model (states that no policy reaches, and transitions that cannot happen, have no place in a programme); how likely
they are is not. A layer is the triples of one step, a node a pair (h, s), a pair is (h, s, a).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightrope.errors import InputError
from tightrope.learners.protocol import Episode
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats


def need_table(name: str, cmdp: LinearCMDP) -> None:
    """Refuse a problem in which pairs share features."""
    table = cmdp.feature_table
    if not isinstance(table, AxisFeatures) or len(np.unique(table.index)) < table.index.size:
        raise InputError(f"learner {name!r} is for tables, and the features of {cmdp.name!r} are not one for each pair")


class Table:
    """Counts of one run, and the shape of what is possible; n triples, P pairs, N nodes."""

    def __init__(self, cmdp: LinearCMDP):
        H, S, A = cmdp.horizon, cmdp.n_states, cmdp.n_actions
        self.shape = H, S, A
        rows, here = [], cmdp.initial_distribution > 0
        for h in range(H):
            possible = sp.csr_array(cmdp.transitions(h)).toarray().reshape(S, A, S) > 0
            possible &= here[:, None, None]
            rows.append(np.column_stack([np.full(possible.sum(), h), *np.nonzero(possible)]))
            here = possible.any(axis=(0, 1))
        self.triples = np.concatenate(rows)  # [n, 4] h, s, a, x
        h, s, a, _ = self.triples.T
        self.layer = h
        self.of_pair = np.unique((h * S + s) * A + a, return_inverse=True)[1]  # [n]
        self.first = np.flatnonzero(np.diff(self.of_pair, prepend=-1))  # [P] a triple of each pair
        self.pair_index = tuple(self.triples[self.first, :3].T)  # (h, s, a) of each pair
        self.width_of_pair = np.bincount(self.of_pair)  # [P] how many next states
        self.flow, self.inflow = self._flow(cmdp.initial_distribution)
        self.place = {tuple(row): i for i, row in enumerate(self.triples.tolist())}
        self.counts = np.zeros(len(self.triples))
        self.cost_sums = np.zeros((cmdp.n_constraints, len(self.first)))

    def _flow(self, start: Floats) -> tuple[sp.csr_array, Floats]:
        """Rows [N, n]: what leaves a node less what enters it; and what must come of it [N]."""
        h, s, _, x = self.triples.T
        S, n = self.shape[1], len(self.triples)
        nodes, leaves = np.unique(h * S + s, return_inverse=True)
        enters = np.searchsorted(nodes, (h + 1) * S + x)
        onward = h < self.shape[0] - 1
        matrix = sp.csr_array((np.ones(n), (leaves, np.arange(n))), shape=(len(nodes), n))
        matrix -= sp.csr_array((np.ones(onward.sum()), (enters[onward], np.flatnonzero(onward))), shape=(len(nodes), n))
        return sp.csr_array(matrix), np.where(nodes < S, start[nodes % S], 0.0)

    def learn(self, episode: Episode) -> None:
        for h in range(self.shape[0]):
            i = self.place[(h, int(episode.states[h]), int(episode.actions[h]), int(episode.states[h + 1]))]
            self.counts[i] += 1.0
            self.cost_sums[:, self.of_pair[i]] += episode.costs[h]

    @property
    def visits(self) -> Floats:
        """[P]"""
        return np.bincount(self.of_pair, weights=self.counts).astype(float)

    def chances(self) -> Floats:
        """[n], the empirical kernel; even where a pair has not been visited."""
        visits = self.visits[self.of_pair]
        return np.where(visits > 0, self.counts / np.maximum(visits, 1.0), 1.0 / self.width_of_pair[self.of_pair])

    def costs(self) -> Floats:
        """[m, P], the mean observed; 0 where a pair has not been visited."""
        return self.cost_sums / np.maximum(self.visits, 1.0)

    def on_triples(self, table: Floats) -> Floats:
        """[n] from a table [H, S, A]."""
        h, s, a, _ = self.triples.T
        return table[h, s, a]

    def policy(self, occupancy: Floats) -> Floats:
        """[H, S, A] of an occupancy of triples [n]; uniform where it does not go."""
        pairs = np.zeros(self.shape)
        pairs[self.pair_index] = np.maximum(np.bincount(self.of_pair, weights=occupancy), 0.0)
        total = pairs.sum(axis=2, keepdims=True)
        return np.where(total > 1e-13, pairs / np.where(total > 1e-13, total, 1.0), 1.0 / self.shape[2])

    def follow(self, policy: Floats, chances: Floats) -> Floats:
        """The occupancy [n] of a policy [H, S, A] under a kernel [n]."""
        h, s, a, x = self.triples.T
        share, out = policy[h, s, a] * chances, np.zeros(len(h))
        here = np.zeros(self.shape[1])
        for step in range(self.shape[0]):
            rows = self.layer == step
            if step == 0:
                nodes = np.unique(s[rows])
                here[nodes] = self.inflow[: len(nodes)]
            out[rows] = here[s[rows]] * share[rows]
            here = np.bincount(x[rows], weights=out[rows], minlength=self.shape[1])
        return out
