"""What follows from a chunk's estimates? Rebuilt policies, where policies lead, and which hypotheses hold where.

Everything that more than one check needs, made once a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightrope.problems.tables import Floats
from tightrope.theory.replay import Chunk, Setting
from tightrope.theory.rows import EXACT, Bools
from tightrope.theory.segments import Segments, mixed, normalised


@dataclass(frozen=True, eq=False)
class Judges:
    """The policies that the proofs compare with."""

    star: Floats  # [H, S, A], the best feasible in hindsight
    slater: Floats  # [H, S, A]
    gamma: float
    fixed_start: bool  # the paper's episodes all start in one state


class Derived:
    """One chunk, and what follows from it."""

    def __init__(self, chunk: Chunk, segments: Segments, judges: Judges):
        self.chunk, self.setting, self.judges = chunk, chunk.setting, judges
        self.log_policy = segments.rebuild(chunk)  # [B, H, S, A]
        self.policy = np.exp(self.log_policy)

    @cached_property
    def gain(self) -> Floats:
        """Q_f + sum_i Y_i Q_g,i, [B, H, S, A]."""
        return self.chunk.q[0] + np.einsum("bi,ibhsa->bhsa", self.chunk.dual, self.chunk.q[1:])

    @cached_property
    def log_mixed(self) -> Floats:
        """log pi-tilde^k, [B, H, S, A] (line 21 where it is due)."""
        found = self.log_policy.copy()
        due = np.flatnonzero(self.chunk.theta > 0)
        if len(due):
            theta = self.chunk.theta[due][:, None, None, None]
            found[due] = mixed(found[due], theta, found.shape[-1])
        return found

    @cached_property
    def log_next(self) -> Floats:
        """log of what line 25 makes of pi-tilde^k, [B, H, S, A]; thrown away where an epoch begins."""
        return normalised(self.log_mixed - self.setting.learner.alpha * self.gain)

    @cached_property
    def good(self) -> Bools:
        """[C, B, H]: whether the errors that really are lie within beta_b: E1 and E2 with the run's own constants."""
        error = self.chunk.cost_error + self.chunk.kernel_error
        return error <= self.setting.learner.beta_b * (1.0 + EXACT)

    @cached_property
    def small(self) -> Bools:
        """[C, B, H, S]: |Q-hat| <= 2H at every action."""
        return np.abs(self.chunk.q).max(axis=-1) <= 2.0 * self.setting.cmdp.horizon + EXACT

    @cached_property
    def norms(self) -> Floats:
        """|phi(s, a)| in the norm of (Lambda_h^k)^{-1}, [B, H, S, A]."""
        return self.chunk.window.norms()

    @cached_property
    def pairs(self) -> Floats:
        """[B, H, S, A]: the chance of each pair under the recorded policy, from the first state that was."""
        setting, chunk = self.setting, self.chunk
        start = np.zeros((chunk.size, setting.cmdp.n_states))
        start[np.arange(chunk.size), chunk.window.states[:, 0]] = 1.0
        return forwards(setting, chunk.policies, None, start)

    def contracted(self, policy: Floats) -> Floats:
        """[n, H, S, A]: chances in the contracted problem of each epoch of the chunk under one policy [H, S, A]."""
        rho = self.chunk.contraction
        start = np.broadcast_to(self.setting.cmdp.initial_distribution, (len(rho), self.setting.cmdp.n_states))
        return forwards(self.setting, np.broadcast_to(policy, rho.shape), rho, start)

    @cached_property
    def star_pairs(self) -> Floats:
        """[n, H, S, A], of pi* in the contracted problem."""
        return self.contracted(self.judges.star)

    @cached_property
    def slater_pairs(self) -> Floats:
        """[n, H, S, A], of the Slater policy in the contracted problem."""
        return self.contracted(self.judges.slater)

    def total(self, pairs: Floats, amounts: Floats) -> Floats:
        """[..., B]: sums over (h, s, a) of pairs [n, ..] by epoch times amounts [..., B, H, S, A]."""
        return np.einsum("bhsa,...bhsa->...b", pairs[self.chunk.place], amounts)


def forwards(setting: Setting, policy: Floats, rho: Floats | None, start: Floats) -> Floats:
    """Chances [n, H, S, A] of pairs under policies [n, H, S, A], from start [n, S]; rho contracts the kernel."""
    cmdp = setting.cmdp
    pairs, here = np.empty(policy.shape), start
    for h in range(cmdp.horizon):
        pairs[:, h] = here[:, :, None] * policy[:, h]
        moving = pairs[:, h] if rho is None else pairs[:, h] * rho[:, h]
        here = np.asarray(cmdp.kernel_table.push(h, setting.gather(moving)))
    return pairs
