"""Why this action? What Algorithm 1 estimated at an episode of a trace: losses and costs to go, bonus, contraction.

The estimates are made again from what was seen before that episode (paper.tex, Algorithm 1, lines 6 and 11 to 19; order as in
`engine.episode`), so they are the learner's own, not the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightrope.problems.tables import Floats, Ints
from tightrope.recorder import Trace
from tightrope.run import Run

LARGEST = 20_000_000  # S*A*d and S*d*H up to which the sums are made again
WIDEST = 600  # d up to which its matrices are inverted


@dataclass(frozen=True, eq=False)
class Reasons:
    """What stood behind the policy of one episode; arrays [H, S, A], with [m] in front where there is one a constraint."""

    episode: int  # 0-based
    policy: Floats
    loss: Floats  # of the episode's losses, at once
    loss_to_go: Floats  # Q-hat of the losses
    cost_to_go: Floats  # [m, H, S, A], Q-hat of each cost
    dual: Floats  # [m]
    visits: Floats | None = None  # of the pair at the step, before the episode
    contraction: Floats | None = None  # None where the learner has none
    bonus: Floats | None = None


def can_replay(run: Run) -> bool:
    """Whether this module can make the estimates of a run again."""
    settings, cmdp = run.about["learner"], run.cmdp
    size = max(cmdp.n_states * cmdp.n_actions, cmdp.n_states * cmdp.horizon) * cmdp.dim
    known = settings.get("name") == "pdpo" and not settings.get("rules")
    return run.trace is not None and known and size <= LARGEST and cmdp.dim <= WIDEST


def replay(run: Run, episodes: Ints) -> Iterator[Reasons]:
    """The reasons of the given episodes (0-based, rising)."""
    assert run.trace is not None
    trace, sums = run.trace, _Sums(run)
    epoch = _epoch_of(trace, episodes)
    for k, start in zip(episodes, epoch):
        if start != sums.epoch_start:
            sums.take(start)
            sums.begin_epoch(start)
        sums.take(k)
        yield sums.reasons(k)


def _epoch_of(trace: Trace, episodes: Ints) -> Ints:
    """The first episode of the epoch of each."""
    return trace.epoch_starts[np.searchsorted(trace.epoch_starts, episodes, side="right") - 1]


class _Sums:
    """Everything seen before an episode, summed up: gram, costs and next states."""

    def __init__(self, run: Run):
        assert run.trace is not None
        self.run, self.cmdp, self.trace = run, run.cmdp, run.trace
        cmdp, self.settings = run.cmdp, run.about["learner"]
        H, d, S, m = cmdp.horizon, cmdp.dim, cmdp.n_states, cmdp.n_constraints
        self.features = cmdp.features
        self.gram = np.tile(np.eye(d), (H, 1, 1))
        self.costs = np.zeros((H, m, d))
        self.nexts = np.zeros((H, d, S))  # F_h: sum of the features that led to each state
        self.visits = np.zeros((H, S, cmdp.n_actions))
        self.done, self.epoch_start = 0, -1
        offset = self.settings.get("contraction_offset")
        self.offset = math.log(run.about["episodes"]) if offset is None else float(offset)
        self.contraction = self.norms = np.zeros((H, S, cmdp.n_actions))

    def take(self, until: int) -> None:
        """Take in the episodes up to, and without, this one."""
        rows = slice(self.done, until)
        n = until - self.done
        if n <= 0:
            return
        for h in range(self.cmdp.horizon):
            s, a = self.trace.states[rows, h], self.trace.actions[rows, h]
            phi = self.features[s, a]
            arrived = sp.csr_array(
                (np.ones(n), (np.arange(n), self.trace.states[rows, h + 1])), (n, self.cmdp.n_states)
            )
            self.gram[h] += phi.T @ phi
            self.costs[h] += self.trace.costs[rows, h].T @ phi
            self.nexts[h] += (arrived.T @ phi).T
            np.add.at(self.visits[h], (s, a), 1.0)
        self.done = until

    def begin_epoch(self, start: int) -> None:
        """Line 6: contraction and norms from the gram of the epoch's start."""
        squares = [
            np.einsum("sai,ij,saj->sa", self.features, np.linalg.inv(gram), self.features, optimize=True)
            for gram in self.gram
        ]
        self.norms = np.sqrt(np.maximum(np.stack(squares), 0.0))
        self.contraction = np.exp(-np.logaddexp(0.0, self.settings["beta_w"] * self.norms - self.offset))
        self.epoch_start = start

    def reasons(self, k: int) -> Reasons:
        """Lines 11 to 19, channel 0 the loss."""
        cmdp, policy, m = self.cmdp, self.trace.policies[k], self.cmdp.n_constraints
        q = np.zeros((1 + m, *policy.shape))
        v = np.zeros((1 + m, cmdp.n_states))
        bonus = self.settings["beta_b"] * self.contraction * self.norms
        lifted = bonus.copy()  # the losses have one of their own where a step follows
        lifted[:-1] *= self.settings.get("optimism", 1.0)
        for h in reversed(range(cmdp.horizon)):
            fitted = np.linalg.solve(self.gram[h], np.concatenate([self.costs[h], v @ self.nexts[h].T]).T).T
            weights = np.concatenate([self.trace.loss_weights[k, h][None], fitted[:m]]) + fitted[m:]  # [1+m, d]
            estimates = self.contraction[h] * np.einsum("sai,ci->csa", self.features, weights)
            q[0, h], q[1:, h] = estimates[0] - lifted[h], estimates[1:] - bonus[h]
            v = np.einsum("sa,csa->cs", policy[h], q[:, h])
        loss = cmdp.losses(self.trace.loss_weights[k])
        dual = self.trace.dual[k]
        return Reasons(k, policy, loss, q[0], q[1:], dual, self.visits.copy(), self.contraction, lifted)
