"""What did the learner compute? Its estimates again, from the recorded data and policies, a window of episodes at a time.

Lines 11 to 19 of Algorithm 1 for B episodes at once, in NumPy: `Q-hat` from ridge estimates before each episode, `V-hat` by the
recorded policy. Nothing is taken from the engine, so that a record which was tampered with shows itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightrope.learners.pdpo import PDPO
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats, Ints
from tightrope.recorder import Trace
from tightrope.theory.sums import Sums, Window

MOST_EPISODES, MOST_NUMBERS = 256, 1_000_000  # of a window; numbers in its largest array
WINDOWS = 5.0  # `tighten` is so many times the number of episodes that an excess is spread over
ONE_THREAD = 262_144  # multiplications up to which OpenBLAS starts no threads, which cost more than they bring


@dataclass(frozen=True, eq=False)
class Setting:
    """The learner, the problem, and the record of one run."""

    cmdp: LinearCMDP
    learner: PDPO
    trace: Trace
    episodes: int
    offset: float  # log K of line 6
    phi: sp.csr_array | Floats  # [S*A, d]

    @property
    def warm(self) -> bool:
        return self.learner.restart == "warm"

    @property
    def channels(self) -> int:
        return 1 + self.cmdp.n_constraints

    def gather(self, amounts: Floats) -> Floats:
        """sum over (s, a) of amounts phi(s, a): [B, S, A] -> [B, d]."""
        return np.asarray((self.phi.T @ amounts.reshape(len(amounts), -1).T).T)


def new_setting(cmdp: LinearCMDP, learner: PDPO, trace: Trace, episodes: int) -> Setting:
    offset = np.log(episodes) if learner.contraction_offset is None else learner.contraction_offset
    table = cmdp.feature_table
    if isinstance(table, AxisFeatures):
        count = table.index.size
        phi = sp.csr_array((table.value.ravel(), table.index.ravel(), np.arange(count + 1)), shape=(count, cmdp.dim))
    else:
        phi = table.dense.reshape(-1, cmdp.dim)
    return Setting(cmdp, learner, trace, episodes, float(offset), phi)


@dataclass(eq=False)
class Chunk:
    """B episodes. C = 1 + m channels, the loss first; a channel's arrays have the channel first."""

    setting: Setting
    first: int  # the first episode, 0-based
    window: Window
    epoch: Ints  # [B], which epoch, counted from 0
    starts: list[int]  # positions in the chunk at which an epoch begins
    place: Ints  # [B], position in the two arrays below
    contraction: Floats  # [n, H, S, A] of the epochs of the chunk
    epoch_norms: Floats  # [n, H, S, A], |phi| in the norm of (Lambda_h^{k_e})^{-1}
    epoch_logdet: Floats  # [n, H]
    policies: Floats  # [B, H, S, A], as recorded
    dual: Floats  # [B, m]
    theta: Floats  # [B], of the mixing: 0 where there is none
    weights: Floats  # [C, B, H, d], theta-hat + psi-hat V-hat
    q: Floats  # [C, B, H, S, A]
    v: Floats  # [C, B, H+1, S]
    backup: Floats  # [C, B, H, S, A], phi . (theta + psi V-hat) with the true parameters
    cost_error: Floats  # [C, B, H], |theta - theta-hat| in the norm of Lambda_h^k
    kernel_error: Floats  # [C, B, H], |(psi - psi-hat) V-hat_{h+1}| in the norm of Lambda_h^k

    @property
    def size(self) -> int:
        return len(self.policies)

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.size)

    @property
    def sigma(self) -> Floats:
        """[B, H, S, A]"""
        return self.contraction[self.place]

    def at(self, axes: str) -> Callable[..., str]:
        """Words for a place whose indices mean: c channel, i constraint, b episode, h step, s state, a action.

        Episodes and steps count from 1 in words, as in the paper; the others from 0.
        """
        words = {"c": "channel", "i": "constraint", "h": "step", "s": "state", "a": "action"}

        def say(*indices: int) -> str:
            told = {x: i + (x in "bh") for x, i in zip(axes, indices)}
            episode = f"episode {self.first + told['b']:,}"
            return ", ".join([episode, *(f"{words[x]} {told[x]}" for x in "hsaci" if x in told)])

        return say


def mixing_weights(setting: Setting) -> Floats:
    """[K]: theta in the episodes that mix (line 20), counted from the epoch's start or, warm, from the first episode."""
    k = np.arange(setting.episodes)
    since = k - (0 if setting.warm else last_start(setting.trace.epoch_starts, setting.episodes))
    return np.where(since % setting.learner.mixing_period == 0, setting.learner.theta, 0.0)


def last_start(epoch_starts: Ints, episodes: int) -> Ints:
    """[K]: the first episode of each episode's epoch."""
    return epoch_starts[epoch_index(epoch_starts, episodes)]


def epoch_index(epoch_starts: Ints, episodes: int) -> Ints:
    """[K], from 0."""
    return np.maximum(np.searchsorted(epoch_starts, np.arange(episodes), side="right") - 1, 0)


def margins(setting: Setting) -> Floats:
    """[K, m]: by how much `tighten` undercut the budgets in each episode's dual step (`learners.pdpo`, departures).

    What the observed costs exceed the budgets by so far, the episode's own included, plus `guard` deviations of it, over a
    fifth of `tighten`; at most `widest_margin` of the budget.
    """
    learner, budgets = setting.learner, setting.cmdp.budgets
    excess = setting.trace.costs.sum(axis=1) - budgets
    if learner.tighten <= 0:
        return np.zeros(excess.shape)
    owed = np.cumsum(excess, axis=0) + learner.guard * np.sqrt(np.cumsum(excess**2, axis=0))
    return np.minimum(np.maximum(owed, 0.0) * WINDOWS / learner.tighten, learner.largest_margin(budgets))


def dual_cap(setting: Setting) -> float:
    """The most that a dual may be; infinite where there is no cap."""
    cap = getattr(setting.learner, "dual_cap", None)
    return np.inf if cap is None else float(cap)


def chunks(setting: Setting) -> Iterator[Chunk]:
    """The whole run, in order."""
    cmdp, trace, sums = setting.cmdp, setting.trace, Sums(setting.cmdp)
    width = cmdp.horizon * max(cmdp.n_states * cmdp.n_actions, cmdp.dim) * (1 if sums.diagonal else cmdp.dim)
    small = MOST_EPISODES if sums.diagonal else int(np.sqrt(ONE_THREAD / cmdp.dim))
    size = int(np.clip(MOST_NUMBERS // width, 1, min(small, MOST_EPISODES)))
    epoch, theta = epoch_index(trace.epoch_starts, setting.episodes), mixing_weights(setting)
    begins = set(trace.epoch_starts.tolist()) | {0}
    carried: tuple[Floats, Floats, Floats] | None = None
    for first in range(0, setting.episodes, size):
        rows = slice(first, min(first + size, setting.episodes))
        window = sums.open(trace.states[rows], trace.actions[rows], trace.costs[rows])
        starts = [k - first for k in range(rows.start, rows.stop) if k in begins]
        epochs = _epochs(setting, window, starts, carried)
        place = np.searchsorted(starts, np.arange(rows.stop - first), side="right") - (carried is None)
        chunk = _estimate(setting, window, first, epoch[rows], starts, place, epochs, theta[rows])
        carried = tuple(part[-1] for part in epochs)  # pyright: ignore[reportAssignmentType]
        yield chunk
        sums.close(window)


def _epochs(setting: Setting, window: Window, starts: list[int], carried) -> tuple[Floats, Floats, Floats]:
    """Line 6 for the epochs of a window: contraction, norms [n, H, S, A] and log-determinants [n, H]."""
    norms = window.norms(window.inverse[starts])
    with np.errstate(over="ignore"):
        contraction = 1.0 / (1.0 + np.exp(setting.learner.beta_w * norms - setting.offset))
    found = contraction, norms, window.logdet()[starts]
    if carried is None:
        return found
    contraction, norms, logdet = (np.concatenate([old[None], new]) for old, new in zip(carried, found))
    return contraction, norms, logdet


def _estimate(setting, window, first, epoch, starts, place, epochs, theta) -> Chunk:
    """Lines 11 to 19, backwards in h, for all episodes of the window."""
    cmdp, trace, C = setting.cmdp, setting.trace, setting.channels
    n, H, S, A = len(epoch), cmdp.horizon, cmdp.n_states, cmdp.n_actions
    rows = slice(first, first + n)
    chunk = Chunk(
        setting=setting,
        first=first,
        window=window,
        epoch=epoch,
        starts=starts,
        place=place,
        contraction=epochs[0],
        epoch_norms=epochs[1],
        epoch_logdet=epochs[2],
        policies=trace.policies[rows],
        dual=trace.dual[rows],
        theta=theta,
        weights=np.empty((C, n, H, cmdp.dim)),
        q=np.empty((C, n, H, S, A)),
        v=np.zeros((C, n, H + 1, S)),
        backup=np.empty((C, n, H, S, A)),
        cost_error=np.zeros((C, n, H)),
        kernel_error=np.empty((C, n, H)),
    )
    factors = setting.learner.bonus_factors(H, C - 1)
    for h in reversed(range(H)):
        sigma = epochs[0][place, h]
        bonus = setting.learner.beta_b * sigma * epochs[1][place, h]
        for c in range(C):
            _estimate_step(chunk, h, c, sigma, factors[c, h] * bonus)
    return chunk


def _estimate_step(chunk: Chunk, h: int, c: int, sigma: Floats, bonus: Floats) -> None:
    """One step and channel: lines 13 to 18, and how far the estimates are from the truth."""
    setting, window = chunk.setting, chunk.window
    cmdp, values = setting.cmdp, chunk.v[c, :, h + 1]
    if c == 0:
        theta = guess = setting.trace.loss_weights[chunk.rows, h]
    else:
        theta, guess = cmdp.cost_weights[h, c - 1], window.solve(h, window.costs[:, h, c - 1])
        chunk.cost_error[c, :, h] = window.length(h, theta - guess)
    kernel_guess = window.solve(h, window.next_values(h, values))
    kernel_truth = cmdp.kernel_table.backup(h, values)
    chunk.kernel_error[c, :, h] = window.length(h, kernel_truth - kernel_guess)
    chunk.weights[c, :, h] = guess + kernel_guess
    chunk.backup[c, :, h] = cmdp.feature_table.apply(theta + kernel_truth)
    chunk.q[c, :, h] = sigma * cmdp.feature_table.apply(chunk.weights[c, :, h]) - bonus
    chunk.v[c, :, h] = np.einsum("bsa,bsa->bs", chunk.policies[:, h], chunk.q[c, :, h])
