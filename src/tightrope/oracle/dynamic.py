"""Which deterministic policy is best for one weight per step? Dynamic programming, and what mixtures of its answers are.

paper.tex, "Problem Setting", without the constraint: `V*_h(s) = min_a phi(s,a) . (w_h + psi_h V*_{h+1})`. With `w = theta_f +
sum_i lambda_i theta_g,i` this is the minimum over policies of the Lagrangian, up to the constant `lambda . b`.

A deterministic policy is a vertex of the set of occupancies; a mixture of vertices, drawn once an episode, has the mixed
occupancy, and so has the one Markov policy `pi_h(a|s) = x_h(s,a) / sum_a' x_h(s,a')`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints

UNREACHED = 1e-13  # occupancy below which a state's action probabilities are not read from a quotient


@dataclass(frozen=True, eq=False)
class Vertex:
    """A deterministic policy and where it goes."""

    actions: Ints  # [H, S]
    states: Floats  # [H, S], the probability of being in s at step h
    features: Floats  # mu [H, d]

    def value(self, weights: Floats) -> float:
        """sum_h w_h . mu_h for weights [H, d]."""
        return float(np.vdot(weights, self.features))

    def costs(self, cmdp: LinearCMDP) -> Floats:
        """[m]"""
        return np.einsum("hid,hd->i", cmdp.cost_weights, self.features)


def lagrangian(cmdp: LinearCMDP, loss_weights: Floats, multipliers: Floats) -> Floats:
    """theta_f + sum_i lambda_i theta_g,i, [H, d]."""
    return loss_weights + np.einsum("i,hid->hd", multipliers, cmdp.cost_weights)


def greedy(cmdp: LinearCMDP, weights: Floats) -> tuple[Ints, Floats]:
    """Best actions [H, S] and their values at the first step [S]; the lowest action wins a tie."""
    actions = np.empty((cmdp.horizon, cmdp.n_states), dtype=np.int64)
    v = np.zeros(cmdp.n_states)
    for h in range(cmdp.horizon - 1, -1, -1):
        q = cmdp.feature_table.apply(weights[h] + cmdp.kernel_table.backup(h, v))
        actions[h] = q.argmin(axis=1)
        v = np.take_along_axis(q, actions[h][:, None], axis=1)[:, 0]
    return actions, v


def least_value(cmdp: LinearCMDP, weights: Floats) -> float:
    """The smallest value of an episode that any policy has for weights [H, d]."""
    return float(cmdp.initial_distribution @ greedy(cmdp, weights)[1])


def best_vertex(cmdp: LinearCMDP, weights: Floats) -> Vertex:
    """The best deterministic policy for weights [H, d], followed forwards."""
    actions, _ = greedy(cmdp, weights)
    states = np.empty(actions.shape)
    features = np.empty((cmdp.horizon, cmdp.dim))
    here = cmdp.initial_distribution
    for h in range(cmdp.horizon):
        states[h] = here
        features[h] = cmdp.feature_table.gather(_one_hot(actions[h], cmdp.n_actions, here))
        here = cmdp.kernel_table.push(h, features[h])
    return Vertex(actions, states, features)


def mix(cmdp: LinearCMDP, vertices: Sequence[Vertex], chances: Floats) -> Floats:
    """The Markov policy [H, S, A] with the occupancy of a mixture of vertices with probabilities [n]."""
    pairs = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))
    chances = np.maximum(chances, 0.0) / np.maximum(chances, 0.0).sum()
    for vertex, chance in zip(vertices, chances):
        if chance > 0:
            pairs += _one_hot(vertex.actions, cmdp.n_actions, chance * vertex.states)
    return markov(pairs, vertices[int(np.argmax(chances))].actions)


def markov(pairs: Floats, elsewhere: Ints) -> Floats:
    """The policy [H, S, A] of an occupancy [H, S, A]; in states that it does not reach, the actions `elsewhere` [H, S]."""
    pairs = np.maximum(pairs, 0.0)
    total = pairs.sum(axis=2, keepdims=True)
    reached = total > UNREACHED
    sure = _one_hot(elsewhere, pairs.shape[2], np.ones(elsewhere.shape))
    return np.where(reached, pairs / np.where(reached, total, 1.0), sure)


def _one_hot(actions: Ints, n_actions: int, amounts: Floats) -> Floats:
    """[..., S, A] with amounts [..., S] at actions [..., S]."""
    out = np.zeros((*actions.shape, n_actions))
    np.put_along_axis(out, actions[..., None], amounts[..., None], axis=-1)
    return out
