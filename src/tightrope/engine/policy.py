"""How do values become policies? Contraction at an epoch's start, mixing, and the multiplicative step; on flat arrays [A, N].

Each works on the columns first..end, so that callers may share the columns out. `room` [2, WIDTH] is scratch, one for each
thread.
"""

from __future__ import annotations

import numpy as np

from tightrope.engine.exponential import exp, exp_into
from tightrope.engine.jit import compiled

WIDTH = 512  # columns handled at a time: their scratch stays in the first cache
_TOP, _SUM = np.uint64(0), np.uint64(1)  # the rows of `room`


@compiled
def contract(beta_b, beta_w, offset, contraction, bonus, room, first, end):
    """From norms |phi| in `bonus`: sigma(-beta_w |phi| + offset) and beta_b |phi-bar| (line 6, last term of line 18)."""
    for start in range(first, end, WIDTH):
        n = min(WIDTH, end - start)
        for a in range(bonus.shape[0]):
            for i in range(n):
                room[0, i] = beta_w * bonus[a, start + i] - offset
            exp_into(room[0], room[0], n)
            for i in range(n):
                sigma = 1.0 / (1.0 + room[0, i])
                contraction[a, start + i] = sigma
                bonus[a, start + i] = beta_b * sigma * bonus[a, start + i]


@compiled(inner=True)
def lift_of(settings, h, horizon):
    """So many times the others' is the bonus of the losses at step h: a last step leads nowhere, and its losses are known."""
    return settings.optimism if h + 1 < horizon else 1.0


@compiled
def forget(logits, first, end):
    """Logits of the uniform policy."""
    for a in range(logits.shape[0]):
        for i in range(first, end):
            logits[a, i] = 0.0


@compiled
def mix(logits, policy, theta, first, end):
    """Line 21: logits = log((1 - theta) pi + theta / A)."""
    n_actions = policy.shape[0]
    for a in range(n_actions):
        for i in range(first, end):
            logits[a, i] = np.log((1.0 - theta) * policy[a, i] + theta / n_actions)


@compiled
def improve(logits, policy, gain, shift, alpha, room, first, end):
    """Line 26: logits -= alpha gain, policy = softmax; the largest logit of a state becomes 0.

    gain [A, n] holds q_f + sum_i Y_i q_g_i; the column i of the policy stands there at i - shift.
    """
    for begin in range(first, end, WIDTH):
        n = np.uint64(min(WIDTH, end - begin))
        _raise(logits, gain, np.uint64(begin), np.uint64(begin - shift), alpha, room, n)
        _normalise(logits, policy, np.uint64(begin), room, n)


@compiled(forceinline=True)
def renew(logits, policy, gain, alpha, room, first, end):
    """The same from a uniform policy; `first` and `end` are unsigned."""
    for begin in range(first, end, np.uint64(WIDTH)):
        n = min(np.uint64(WIDTH), end - begin)
        for a in range(np.uint64(logits.shape[0])):
            for i in range(n):
                x = -alpha * gain[a, begin + i]
                logits[a, begin + i] = x
                room[_TOP, i] = x if a == 0 else max(room[_TOP, i], x)
        _normalise(logits, policy, begin, room, n)


@compiled(forceinline=True)
def _raise(logits, gain, begin, place, alpha, room, n):
    """logits -= alpha gain, and room[_TOP] = the largest logit of each column."""
    for a in range(np.uint64(logits.shape[0])):
        for i in range(n):
            x = logits[a, begin + i] - alpha * gain[a, place + i]
            logits[a, begin + i] = x
            room[_TOP, i] = x if a == 0 else max(room[_TOP, i], x)


@compiled(forceinline=True)
def _normalise(logits, policy, begin, room, n):
    """Take the largest logit off, and policy = exp(logits) / sum."""
    n_actions = np.uint64(logits.shape[0])
    for i in range(n):
        room[_SUM, i] = 0.0
    for a in range(n_actions):
        for i in range(n):
            x = logits[a, begin + i] - room[_TOP, i]
            logits[a, begin + i] = x
            x = exp(x)
            policy[a, begin + i] = x
            room[_SUM, i] += x
    for i in range(n):
        room[_SUM, i] = 1.0 / room[_SUM, i]
    for a in range(n_actions):
        for i in range(n):
            policy[a, begin + i] *= room[_SUM, i]
