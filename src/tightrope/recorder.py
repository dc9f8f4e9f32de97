"""What does a run leave behind? Curves at every n-th episode, extremes of every episode, the trace where asked.

Sums are carried on one episode at a time, so that a run gives the same bytes however it is cut into strides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.engine.episode import Record
from tightrope.engine.tables import policy_out
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints


@dataclass(eq=False)
class Trace:
    """Everything that happened, episode by episode (0-based); plain NumPy arrays.

    `dual[k]` and `policies[k]` are those that episode k used, after any reset; `dual[K]` is the last update.
    """

    states: Ints  # [K, H+1]
    actions: Ints  # [K, H]
    costs: Floats  # [K, H, m], observed
    loss_weights: Floats  # [K, H, d]
    dual: Floats  # [K+1, m]
    values: Floats  # [K, 1+m], v_hat at s_1, as the learner estimated
    exact_values: Floats  # [K, 1+m] of the policy that played, or what was paid where evaluation is off
    epoch_starts: Ints  # [E]
    policies: Floats  # [K, H, S, A]


def new_trace(cmdp: LinearCMDP, episodes: int) -> Trace:
    K, H, m = episodes, cmdp.horizon, cmdp.n_constraints
    return Trace(
        states=np.zeros((K, H + 1), np.int64),
        actions=np.zeros((K, H), np.int64),
        costs=np.zeros((K, H, m)),
        loss_weights=np.zeros((K, H, cmdp.dim)),
        dual=np.zeros((K + 1, m)),
        values=np.zeros((K, 1 + m)),
        exact_values=np.zeros((K, 1 + m)),
        epoch_starts=np.zeros(0, np.int64),
        policies=np.zeros((K, H, cmdp.n_states, cmdp.n_actions)),
    )


@dataclass(eq=False)
class Extremes:
    """Taken over every episode, recorded or not; episodes count from 1, 0 where there is none."""

    violation_peak: Floats  # [m] largest running violation
    violation_peak_episode: Ints  # [m]
    violation_zero_crossing: Ints  # [m] the episode at which the running violation last came back to zero or below
    dual_max: Floats  # [m]


class Recorder:
    """Takes in strides of episodes and keeps the curves."""

    def __init__(self, cmdp: LinearCMDP, episodes: int, record_every: int, n_profiles: int, trace: bool):
        m = cmdp.n_constraints
        self.cmdp, self.episodes, self.record_every = cmdp, episodes, record_every
        self.at = recorded_episodes(episodes, record_every)  # [R], the last is K
        R = len(self.at)
        self.loss = np.zeros(R)  # cumulative
        self.violation, self.hard_violation, self.dual = np.zeros((R, m)), np.zeros((R, m)), np.zeros((R, m))
        self.epoch = np.zeros(R, np.int64)
        self.counts = np.zeros((R, n_profiles), np.int64)  # how often each profile was the loss so far
        self.weights = np.zeros((R, cmdp.horizon, cmdp.dim)) if n_profiles == 0 else None  # their sum, for adversaries
        self.trace = new_trace(cmdp, episodes) if trace else None
        self.extremes = Extremes(np.zeros(m), np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m))
        self.done = self.filled = self.last_epoch = 0
        self.total = np.zeros(1 + 2 * m)  # loss, violations, hard violations so far
        self.count = np.zeros(n_profiles, np.int64)
        self.weight = np.zeros((cmdp.horizon, cmdp.dim))

    def take(self, record: Record, sequence: Ints, weights: Floats | None = None) -> None:
        """A stride: its record, and the profile [n] or the loss weights [n, H, d] of each episode."""
        n, m = len(record.epoch), self.cmdp.n_constraints
        excess = record.values[:, 1:] - self.cmdp.budgets
        steps = np.concatenate([record.values[:, :1], excess, np.maximum(excess, 0.0)], axis=1)
        running = np.cumsum(np.concatenate([self.total[None], steps]), axis=0)  # [n+1, 1+2m]
        places = self.at[self.filled : np.searchsorted(self.at, self.done + n, side="right")] - self.done
        rows = slice(self.filled, self.filled + len(places))
        self.loss[rows] = running[places, 0]
        self.violation[rows], self.hard_violation[rows] = running[places, 1 : 1 + m], running[places, 1 + m :]
        self.dual[rows], self.epoch[rows] = record.dual[places - 1], record.epoch[places - 1]
        self._losses(rows, places, sequence, weights)
        self._extremes(running[:, 1 : 1 + m], record.dual)
        self.total, self.last_epoch = running[-1], int(record.epoch[-1])
        self.done, self.filled = self.done + n, self.filled + len(places)

    def _losses(self, rows: slice, places: Ints, sequence: Ints, weights: Floats | None) -> None:
        if self.weights is not None:
            assert weights is not None
            running = np.cumsum(np.concatenate([self.weight[None], weights]), axis=0)
            self.weights[rows], self.weight = running[places], running[-1]
            return
        begin = 0
        for row, place in zip(range(rows.start, rows.stop), places):
            self.count = self.count + np.bincount(sequence[begin:place], minlength=len(self.count))
            self.counts[row], begin = self.count, place
        self.count = self.count + np.bincount(sequence[begin:], minlength=len(self.count))

    def _extremes(self, running: Floats, dual: Floats) -> None:
        """running [n+1, m]: the running violation before the stride and after each of its episodes."""
        found = self.extremes
        found.dual_max = np.maximum(found.dual_max, dual.max(axis=0))
        for i in range(running.shape[1]):
            best = int(np.argmax(running[1:, i])) + 1
            if running[best, i] > found.violation_peak[i]:
                found.violation_peak[i], found.violation_peak_episode[i] = running[best, i], self.done + best
            crossed = np.flatnonzero((running[:-1, i] > 0.0) & (running[1:, i] <= 0.0))
            if len(crossed):
                found.violation_zero_crossing[i] = self.done + crossed[-1] + 1

    def take_trace(self, record: Record, loss_weights: Floats) -> None:
        """Before `take`: the stride's part of the trace; loss_weights [n, H, d]."""
        trace = self.trace
        assert trace is not None
        rows = slice(self.done, self.done + len(record.epoch))
        trace.states[rows], trace.actions[rows], trace.costs[rows] = record.states, record.actions, record.costs
        trace.dual[rows], trace.values[rows], trace.exact_values[rows] = record.dual, record.estimates, record.values
        trace.loss_weights[rows] = loss_weights
        trace.policies[rows] = policy_out(record.policies, self.cmdp.horizon)
        starts = np.flatnonzero(np.diff(record.epoch, prepend=self.last_epoch) > 0) + self.done
        trace.epoch_starts = np.concatenate([trace.epoch_starts, starts])

    def mean_weights(self, profiles: Floats | None) -> Floats:
        """The average loss weights [H, d] of the episodes so far."""
        if self.weights is not None or profiles is None:
            return self.weight / self.done
        return np.tensordot(self.count / self.done, profiles, axes=1)

    def comparator_loss(self, mu: Floats, profiles: Floats | None) -> Floats:
        """[R], the running loss of one policy with mean features mu [H, d].

        Sums run along rows, so that a number does not depend on how many others are recorded; a matrix product's do.
        """
        if self.weights is not None or profiles is None:
            assert self.weights is not None
            return (self.weights * mu).reshape(len(self.weights), -1).sum(axis=1)
        return (self.counts * np.einsum("lhd,hd->l", profiles, mu)).sum(axis=1)


def every_by_default(episodes: int) -> int:
    """Between two points of the curves where nobody says: some 1,000 of them."""
    return -(-episodes // 1000)


def recorded_episodes(episodes: int, record_every: int) -> Ints:
    """[R]: every n-th episode, counted from 1, and the last."""
    at = np.arange(record_every, episodes + 1, record_every)
    return at if len(at) and at[-1] == episodes else np.append(at, episodes)
