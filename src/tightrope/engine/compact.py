"""What is the policy at a state never seen? A few numbers a mixing segment and step say it, whatever the number of states.

paper.tex, appendix "Parameterizations and Function Classes", eq. `param pi`: between two mixings the policy is multiplied by
`exp(sum_j Q_j)`, and because the contraction of an epoch is one function of the features that sum is one pair `(w_i, beta_i)`:

    pi_0 = uniform;   pi~_i = (1 - theta_i) pi_i + theta_i / A;   pi_{i+1} ~ pi~_i exp(-sigma (phi . w_i - beta_i |phi|))

with `w_i = alpha sum_j (w_f^j + sum_c Y_c^j w_{g,c}^j)`, `beta_i = alpha beta_b sum_j (1 + sum_c Y_c^j)` over the episodes j of
the segment (with `optimism` in place of the 1 where a step follows, so that it is one for each step), `|phi|` in the norm of
`(Lambda^{k_e})^{-1}` and `sigma = sigma(-beta_w |phi| + offset)`. Signs are turned round beside the paper's. When the policy
outlives its epoch (restart "warm") the norm changes, so a segment ends there too, with nothing mixed (theta_i = 0), and each
segment names the epoch whose norm it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tightrope.engine.jit import compiled


class Segments(NamedTuple):
    """The parameters of the policy; N and E are room so far."""

    count: np.ndarray  # [2] segments in use, factors in use
    theta: np.ndarray  # [N] mixing weight at the segment's start
    beta: np.ndarray  # [N, H]
    weights: np.ndarray  # [N, H, D]
    epoch: np.ndarray  # [N] which factor its norm has
    factors: np.ndarray  # [E, H, D, D] L^{-1} of the epochs that segments still name
    room: np.ndarray  # [3, A]


@compiled(inner=True)
def contraction_of(settings, norm):
    """sigma(-beta_w |phi| + offset) (line 6)."""
    return 1.0 / (1.0 + np.exp(min(settings.beta_w * norm - settings.offset, 709.0)))


@compiled(inner=True)
def norms_of(factor, block, norms):
    """norms [A] = |L^{-1} phi_a| for features [A, D] and the triangle L^{-1} [D, D]."""
    for a in range(block.shape[0]):
        square = 0.0
        for i in range(factor.shape[0]):
            product = 0.0
            for j in range(i + 1):
                product += factor[i, j] * block[a, j]
            square += product * product
        norms[a] = np.sqrt(square)


@compiled(inner=True)
def softmax(logits, policy):
    """policy = exp(logits) / sum; the largest logit becomes 0."""
    top, total = logits[0], 0.0
    for a in range(logits.shape[0]):
        top = max(top, logits[a])
    for a in range(logits.shape[0]):
        logits[a] -= top
        policy[a] = np.exp(logits[a])
        total += policy[a]
    for a in range(logits.shape[0]):
        policy[a] /= total


@compiled
def log_policy(segments, settings, h, block, logits):
    """logits [A], the largest 0, of the policy of step h at a state with features [A, D] (eq. `param pi`)."""
    room, n_actions, last = segments.room, logits.shape[0], -1
    policy, norms, sigmas = room[0], room[1], room[2]
    for a in range(n_actions):
        logits[a] = 0.0
    for i in range(segments.count[0]):
        theta, e = segments.theta[i], segments.epoch[i]
        if theta > 0.0:
            softmax(logits, policy)
            for a in range(n_actions):
                logits[a] = np.log((1.0 - theta) * policy[a] + theta / n_actions)
        if e != last:
            norms_of(segments.factors[e, h], block, norms)
            for a in range(n_actions):
                sigmas[a] = contraction_of(settings, norms[a])
            last = e
        for a in range(n_actions):
            product = 0.0
            for j in range(block.shape[1]):
                product += block[a, j] * segments.weights[i, h, j]
            logits[a] -= sigmas[a] * (product - segments.beta[i, h] * norms[a])
    softmax(logits, policy)


@compiled(inner=True)
def accumulate(segments, h, weights, dual, alpha):
    """Add the step of one episode, with weights [1 + m, D], to the last segment's w."""
    last = segments.count[0] - 1
    for j in range(weights.shape[1]):
        total = weights[0, j]
        for i in range(dual.shape[0]):
            total += dual[i] * weights[i + 1, j]
        segments.weights[last, h, j] += alpha * total


@compiled(inner=True)
def accumulate_bonus(segments, h, dual, settings, lift):
    """And to its beta; the bonus of the losses is `lift` times that of the costs."""
    total = lift
    for i in range(dual.shape[0]):
        total += dual[i]
    segments.beta[segments.count[0] - 1, h] += settings.alpha * settings.beta_b * total
