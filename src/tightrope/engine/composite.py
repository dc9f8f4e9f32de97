"""How does a learner plan by a composite softmax? The backward pass of OPSE-LCMDP, for one multiplier, on an estimated kernel.

In rewards `r = 1 - f` and utilities `u = 1 - g`, as in the paper; `learners.opse` turns losses and costs round.
"""

from __future__ import annotations

import numpy as np

from tightrope.engine.jit import compiled


@compiled(allocates=True)
def plan(kernel, bonus, reward, utility, multiplier, kappa, widths, pessimistic, policy, v):
    """Fill policy [H, S, A]; v [2, 3, S] is room, and v[0, 2] afterwards the estimated utility of the policy at each state.

    kernel [H, S*A, S], bonus, reward and utility [H, S, A]; widths [4]: of the bonus on rewards, on the value of bonuses, on
    utilities, and the bonus as a reward itself. `pessimistic` 1: OPSE; 0: optimistic utilities, no entropy and no value of
    bonuses (Ghosh et al. 2024).
    """
    horizon, n_states, n_actions = policy.shape
    q = np.empty((3, n_actions))
    for c in range(3):
        for s in range(n_states):
            v[horizon % 2, c, s] = 0.0
    entropy = kappa if pessimistic else 0.0
    for back in range(horizon):
        h = horizon - 1 - back
        left, now, after = back + 1.0, h % 2, (h + 1) % 2
        for s in range(n_states):
            for a in range(n_actions):
                one, two, three = 0.0, 0.0, 0.0
                for x in range(n_states):
                    p = kernel[h, s * n_actions + a, x]
                    one += p * v[after, 0, x]
                    two += p * v[after, 1, x]
                    three += p * v[after, 2, x]
                b = bonus[h, s, a]
                most = (1.0 + entropy * np.log(n_actions)) * left
                q[0, a] = reward[h, s, a] + min(max(widths[0] * b + one, 0.0), most)
                if pessimistic:
                    q[1, a] = widths[3] * b + min(max(widths[1] * b + two, 0.0), widths[3] * left)
                    q[2, a] = min(max(utility[h, s, a] + three - widths[2] * b, 0.0), left)
                else:
                    q[1, a] = 0.0
                    q[2, a] = min(max(utility[h, s, a] + three + widths[2] * b, 0.0), left)
            _choose(q, multiplier, kappa, policy[h, s])
            for c in range(3):
                v[now, c, s] = 0.0
            for a in range(n_actions):
                chance = policy[h, s, a]
                v[now, 1, s] += chance * q[1, a]
                v[now, 2, s] += chance * q[2, a]
                v[now, 0, s] += chance * q[0, a]
                if chance > 0.0:
                    v[now, 0, s] -= entropy * chance * np.log(chance)


@compiled(inner=True)
def _choose(q, multiplier, kappa, chances):
    """chances = softmax((q_r + q_d + multiplier q_u) / kappa)."""
    top, total = -np.inf, 0.0
    for a in range(chances.shape[0]):
        chances[a] = (q[0, a] + q[1, a] + multiplier * q[2, a]) / kappa
        top = max(top, chances[a])
    for a in range(chances.shape[0]):
        chances[a] = np.exp(chances[a] - top)
        total += chances[a]
    for a in range(chances.shape[0]):
        chances[a] /= total


@compiled(allocates=True)
def search(kernel, bonus, reward, utility, kappa, widths, pessimistic, start, limit, most, rounds, bracket, policy, v):
    """`plan` for the smallest multiplier up to `most` whose policy has at least the utility `limit`, by bisection.

    Whole episodes of planning in one call, so that others run meanwhile. bracket [4]: the multipliers between which it lies,
    and their utilities, the second enough; where none is needed both are 0, where none is enough both are `most`.
    """
    low, at_low = 0.0, _utility(kernel, bonus, reward, utility, 0.0, kappa, widths, pessimistic, start, policy, v)
    high, at_high = low, at_low
    if at_low < limit:
        high = most
        at_high = _utility(kernel, bonus, reward, utility, most, kappa, widths, pessimistic, start, policy, v)
        if at_high < limit:
            low, at_low = high, at_high
        else:
            for _ in range(rounds):
                middle = (low + high) / 2.0
                at = _utility(kernel, bonus, reward, utility, middle, kappa, widths, pessimistic, start, policy, v)
                if at >= limit:
                    high, at_high = middle, at
                else:
                    low, at_low = middle, at
            _utility(kernel, bonus, reward, utility, high, kappa, widths, pessimistic, start, policy, v)
    bracket[0], bracket[1], bracket[2], bracket[3] = low, high, at_low, at_high


@compiled(inner=True, allocates=True)
def _utility(kernel, bonus, reward, utility, multiplier, kappa, widths, pessimistic, start, policy, v):
    """The estimated utility of the policy that a multiplier makes, which is left in `policy`."""
    plan(kernel, bonus, reward, utility, multiplier, kappa, widths, pessimistic, policy, v)
    total = 0.0
    for s in range(start.shape[0]):
        total += start[s] * v[0, 2, s]
    return total
