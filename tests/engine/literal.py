"""The slow twin of the engine: Algorithm 1 of paper.tex as it is printed, read as `learners.pdpo` says.

A rival that differs in a rule is told by its `Rules`, each of which stands here in plain words where it acts.

Nothing is clever here: policies are arrays [H, S, A] over all states, every episode sums over the whole history, matrices are
inverted afresh, determinants are taken by `slogdet`. Line numbers are the paper's. Episodes are 0-based, so the paper's k is
k + 1 and its [k-1] are the rows before k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope.learners.rules import Rules
from tightrope.problems.cmdp import LinearCMDP


@dataclass
class Literal:
    """What the algorithm did; `dual` and `policies` are those that each episode used, after any reset."""

    states: np.ndarray  # [K, H+1]
    actions: np.ndarray  # [K, H]
    costs: np.ndarray  # [K, H, m]
    policies: np.ndarray  # [K, H, S, A]
    last_policy: np.ndarray  # [H, S, A]
    dual: np.ndarray  # [K+1, m]
    values: np.ndarray  # [K, 1+m], V-hat at the first state
    epoch_starts: list[int]
    contractions: list[np.ndarray]  # of each epoch, [H, S, A]
    mixed_apart: list[int]  # episodes that mixed a policy which was not uniform


def algorithm1(cmdp: LinearCMDP, loss_weights: np.ndarray, learner: Any, uniforms: np.ndarray) -> Literal:
    """Play K = len(uniforms) episodes; loss_weights [K, H, d], uniforms [K, 1 + 2H]; the learner has `rules`."""
    K, H, S, A = len(uniforms), cmdp.horizon, cmdp.n_states, cmdp.n_actions
    d, m = cmdp.dim, cmdp.n_constraints
    phi, b = cmdp.features, cmdp.budgets
    rules: Rules = learner.rules(K)
    out = _blank(K, H, S, A, m)
    seen = np.zeros((K, H, d))  # phi(s_h^tau, a_h^tau)
    log_policy = np.full((H, S, A), -np.log(A))
    Y = np.zeros(m)
    gram_e = np.zeros((H, d, d))
    contraction, norms, mixing_from = np.zeros((H, S, A)), np.zeros((H, S, A)), 0
    v_ahead = np.zeros((1 + m, H + 1, S))  # the values that the plan of this episode was made by
    for k in range(K):  # line 1
        gram = _gram(seen, k)  # line 12
        if k == 0 or _doubled(gram, gram_e):  # line 2
            out.epoch_starts.append(k)  # line 3
            if k == 0 or not rules.warm:
                log_policy[:] = -np.log(A)  # line 4
                Y = np.zeros(m)  # line 5
                mixing_from = k
            gram_e = gram
            norms = _norms(phi, gram_e)
            contraction = np.exp(
                -np.logaddexp(0, rules.beta_w * norms - rules.contraction_offset)
            )  # line 6, the sigmoid
            out.contractions.append(contraction)
        policy = np.exp(log_policy)
        out.policies[k], out.dual[k] = policy, Y
        _play(cmdp, policy, uniforms[k], out, k)  # lines 8 to 10
        for h in range(H):
            seen[k, h] = phi[out.states[k, h], out.actions[k, h]]
        if (
            rules.ahead
        ):  # the dual steps by the plan of this episode; the next one is planned with all data and this loss
            out.values[k] = v_ahead[:, 0, out.states[k, 0]]
            Y = _dual(rules, Y, out.values[k, 1:], out.costs[: k + 1], b)
            history, gram = k + 1, _gram(seen, k + 1)
        else:
            history = k
        bonus = rules.beta_b * contraction * (_norms(phi, gram) if rules.refresh else norms)
        q, v, chosen = _estimates(cmdp, loss_weights[k], rules, Y, policy, contraction, bonus, gram, seen, out, history)
        if rules.current:
            log_policy = chosen
        else:
            if (k - mixing_from) % rules.mixing_period == 0:  # line 20
                if np.ptp(policy) > 1e-3 and rules.theta > 0:
                    out.mixed_apart.append(k)
                log_policy = np.log((1 - rules.theta) * policy + rules.theta / A)  # line 21
            log_policy = log_policy - rules.alpha * (q[0] + np.einsum("i,ihsa->hsa", Y, q[1:]))  # line 25
            log_policy -= np.logaddexp.reduce(log_policy, axis=2, keepdims=True)
        if rules.ahead:
            v_ahead = v
        else:
            out.values[k] = v[:, 0, out.states[k, 0]]
            Y = _dual(rules, Y, out.values[k, 1:], out.costs[: k + 1], b)
    out.dual[K], out.last_policy = Y, np.exp(log_policy)
    return out


def _gram(seen: np.ndarray, episodes: int) -> np.ndarray:
    """[H, d, d] of the first so many episodes."""
    d = seen.shape[2]
    return np.stack([np.eye(d) + seen[:episodes, h].T @ seen[:episodes, h] for h in range(seen.shape[1])])


def _dual(rules: Rules, Y: np.ndarray, values: np.ndarray, costs: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Line 27, cut off where a rival says so; costs [k, H, m] of the episodes so far."""
    ascent = rules.eta * (values - b + _margin(rules, costs, b)) - rules.dual_drift
    raised = np.maximum(0, (1 - rules.dual_decay) * Y + ascent)
    return np.minimum(raised, rules.dual_cap)


def _blank(K: int, H: int, S: int, A: int, m: int) -> Literal:
    return Literal(
        states=np.zeros((K, H + 1), int),
        actions=np.zeros((K, H), int),
        costs=np.zeros((K, H, m)),
        policies=np.zeros((K, H, S, A)),
        last_policy=np.zeros((H, S, A)),
        dual=np.zeros((K + 1, m)),
        values=np.zeros((K, 1 + m)),
        epoch_starts=[],
        contractions=[],
        mixed_apart=[],
    )


def _margin(learner: Rules, costs: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of `tighten`, beyond the paper: what was overspent in all episodes, and `guard` deviations, over tighten/5; [m]."""
    if learner.tighten == 0:
        return np.zeros(len(b))
    excess = costs.sum(axis=1) - b
    owed = excess.sum(axis=0) + learner.guard * np.sqrt((excess**2).sum(axis=0))
    return np.clip(5.0 * owed / learner.tighten, 0.0, 0.1 * b)


def _doubled(gram: np.ndarray, gram_e: np.ndarray) -> bool:
    """Line 2, with an allowance for rounding."""
    now, then = np.linalg.slogdet(gram)[1], np.linalg.slogdet(gram_e)[1]
    return bool((now >= then + np.log(2) - 1e-12).any())


def _norms(phi: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """|phi(s, a)| in the norm of Lambda^{-1}, [H, S, A]."""
    return np.sqrt(np.stack([np.einsum("sai,ij,saj->sa", phi, np.linalg.inv(step), phi) for step in gram]))


def _estimates(cmdp, loss, rules, Y, policy, contraction, bonus, gram, seen, out, k):
    """Lines 11 to 19: Q-hat [1+m, H, S, A] and V-hat [1+m, H+1, S] from the first k episodes.

    Where the current estimates decide, V-hat is of the policy that they make step by step, whose logarithm comes third.
    """
    H, S, A, m = cmdp.horizon, cmdp.n_states, cmdp.n_actions, cmdp.n_constraints
    q, v, chosen = np.zeros((1 + m, H, S, A)), np.zeros((1 + m, H + 1, S)), np.log(policy)
    for h in reversed(range(H)):  # line 11
        inverse = np.linalg.inv(gram[h])
        for c in range(1 + m):  # line 15
            if c == 0:
                theta_hat = loss[h]  # line 13
            else:
                theta_hat = inverse @ (seen[:k, h].T @ out.costs[:k, h, c - 1])  # line 14
            next_values = v[c, h + 1, out.states[:k, h + 1]]
            psi_v = inverse @ (seen[:k, h].T @ next_values)  # line 16
            bar_phi = cmdp.features * contraction[h][:, :, None]
            lift = rules.optimism if c == 0 and h < H - 1 else 1.0  # of `optimism`, beyond the paper
            q[c, h] = bar_phi @ (theta_hat + psi_v) - lift * bonus[h]  # line 17
        if rules.clip:
            q[:, h] = np.clip(q[:, h], 0, H)
        if rules.current:
            logits = -rules.alpha * (q[0, h] + np.einsum("i,isa->sa", Y, q[1:, h]))
            chosen[h] = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        plays = np.exp(chosen[h]) if rules.current else policy[h]
        v[:, h] = (plays * q[:, h]).sum(axis=2)  # line 18
    return q, v, chosen


def _play(cmdp: LinearCMDP, policy: np.ndarray, uniforms: np.ndarray, out: Literal, k: int) -> None:
    """Lines 8 to 10: uniforms [1 + 2H] for the first state, then action and next state of every step."""
    s = _inverse(cmdp.initial_distribution, uniforms[0])
    out.states[k, 0] = s
    for h in range(cmdp.horizon):
        a = _inverse(policy[h, s], uniforms[1 + 2 * h])
        arrived = _inverse(cmdp.features[s, a] @ cmdp.kernel[h], uniforms[2 + 2 * h])
        if cmdp.transition_costs is None:
            out.costs[k, h] = cmdp.cost_weights[h] @ cmdp.features[s, a]
        else:
            out.costs[k, h] = cmdp.transition_costs[:, h, s, a, arrived]
        out.actions[k, h], out.states[k, h + 1] = a, arrived
        s = arrived


def _inverse(chances: np.ndarray, u: float) -> int:
    """The first outcome whose distribution function exceeds u."""
    return min(int(np.searchsorted(np.cumsum(chances), u, side="right")), int(np.flatnonzero(chances > 0)[-1]))
