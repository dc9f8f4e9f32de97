"""What is a policy worth, exactly? Values backwards, occupancies forwards, both through the features.

paper.tex, "Problem Setting": `Q_h(s,a) = phi(s,a) . (w_h + psi_h V_{h+1})`, `V_h(s) = sum_a pi_h(a|s) Q_h(s,a)`, `V_{H+1} = 0`.
With the feature occupancy `mu_h = E[phi(s_h, a_h)]` the same value is `sum_h w_h . mu_h`.

No array of size S*A*S is ever made: a step costs one product with the features and one with `psi_h`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.oracle.reading import read_policy, read_weights
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats


def values(cmdp: LinearCMDP, policy: Any, weights: Any) -> Floats:
    """Values [H+1, S] of a policy [H, S, A] for losses or costs with weights [H, d]."""
    return _backward(cmdp, read_policy(cmdp, policy), read_weights(cmdp, weights))[1]


def q_values(cmdp: LinearCMDP, policy: Any, weights: Any) -> Floats:
    """Action values [H, S, A] of a policy [H, S, A] for losses or costs with weights [H, d]."""
    return _backward(cmdp, read_policy(cmdp, policy), read_weights(cmdp, weights))[0]


def start_value(cmdp: LinearCMDP, policy: Any, weights: Any) -> float:
    """The value of a whole episode: the mean of V_1 over the initial distribution."""
    first = values(cmdp, policy, weights)[0]
    return float(cmdp.initial_distribution @ first)


def occupancy(cmdp: LinearCMDP, policy: Any) -> Floats:
    """[H, S, A]: the probability of being in s and taking a at step h."""
    return _forward(cmdp, read_policy(cmdp, policy))[0]


def feature_occupancy(cmdp: LinearCMDP, policy: Any) -> Floats:
    """mu [H, d]: the mean feature met at each step."""
    return _forward(cmdp, read_policy(cmdp, policy))[1]


def _backward(cmdp: LinearCMDP, policy: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Q [H, S, A] and V [H+1, S]."""
    q = np.empty(policy.shape)
    v = np.zeros((cmdp.horizon + 1, cmdp.n_states))
    for h in range(cmdp.horizon - 1, -1, -1):
        q[h] = cmdp.feature_table.apply(weights[h] + cmdp.kernel_table.backup(h, v[h + 1]))
        v[h] = np.einsum("sa,sa->s", policy[h], q[h])
    return q, v


def _forward(cmdp: LinearCMDP, policy: Floats) -> tuple[Floats, Floats]:
    """Occupancy [H, S, A] and mu [H, d]."""
    pairs = np.empty(policy.shape)
    mu = np.empty((cmdp.horizon, cmdp.dim))
    states = cmdp.initial_distribution
    for h in range(cmdp.horizon):
        pairs[h] = states[:, None] * policy[h]
        mu[h] = cmdp.feature_table.gather(pairs[h])
        states = cmdp.kernel_table.push(h, mu[h])
    return pairs, mu
