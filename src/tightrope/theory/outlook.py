"""How will the counts grow? Epochs and visits to come, in the mean, under uniform play; nothing is run.

With `M_h = E[phi phi']` under uniform play, `Lambda_h^{k+1}` is near `I + k M_h`. Epochs end when some `log det` has grown
by log 2 (paper.tex, Algorithm 1, line 2); a pair (s, a) opens when `beta_w |phi|_{Lambda^{-1}} <= offset` (line 6). The
policy will leave uniform play and counts fluctuate, so these are expectations of a simpler process, good to a factor of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tightrope.oracle import occupancy
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats

GRID = 6000  # points of the curve k -> log det(I + k M_h)
BLOCK = 256  # eigenvalues at a time
MOST_PAIRS = 4000  # pairs (s, a) for which openings are computed, the most visited ones


@dataclass(frozen=True, eq=False)
class Growth:
    """The spectra of M_h, and each pair's features in them."""

    spectrum: Floats  # [H, d] eigenvalues of M_h
    weights: Floats  # [H, S, A]: the chance of each pair under uniform play
    chosen: list[np.ndarray]  # H of [n], positions s*A + a of pairs
    squares: list[
        Floats
    ]  # H of [n, r]: squared coordinates of their features along some eigenvectors, all that they have
    rates: list[Floats]  # H of [n or 1, r]: the eigenvalues of these


def growth(cmdp: LinearCMDP) -> Growth:
    """Follow uniform play once."""
    shape = (cmdp.horizon, cmdp.n_states, cmdp.n_actions)
    weights = occupancy(cmdp, np.full(shape, 1.0 / cmdp.n_actions))
    table = cmdp.feature_table
    spectrum, squares, rates, chosen = np.zeros((cmdp.horizon, cmdp.dim)), [], [], []
    for h in range(cmdp.horizon):
        flat = weights[h].ravel()
        best = np.argsort(-flat, kind="stable")[:MOST_PAIRS]
        best = best[flat[best] > 0]
        if isinstance(table, AxisFeatures):
            index, value = table.index.ravel(), table.value.ravel()
            spectrum[h] = np.bincount(index, flat * value**2, minlength=cmdp.dim)
            rows, rate = value[best][:, None] ** 2, spectrum[h][index[best]][:, None]
        else:
            phi = table.dense.reshape(-1, cmdp.dim)
            spectrum[h], basis = np.linalg.eigh((phi * flat[:, None]).T @ phi)
            spectrum[h] = np.maximum(spectrum[h], 0.0)
            rows, rate = (phi[best] @ basis) ** 2, spectrum[h][None, :]
        squares.append(rows)
        rates.append(rate)
        chosen.append(best)
    return Growth(spectrum, weights, chosen, squares, rates)


def epoch_lengths(grown: Growth, episodes: int) -> Floats:
    """[E]: the lengths of the epochs to come."""
    at = np.concatenate([[0.0], np.geomspace(1.0, max(float(episodes), 2.0), GRID)])
    logdet = np.stack([_logdet(at, row[row > 0]) for row in grown.spectrum])  # [H, G]
    logdet += np.linspace(0.0, 1e-9, len(at))  # strictly rising, so that it can be inverted
    starts, k = [0], 0.0
    while True:
        now = [np.interp(k, at, row) + math.log(2.0) for row in logdet]
        ends = [np.interp(level, row, at, right=math.inf) for level, row in zip(now, logdet)]
        k = max(k + 1.0, math.ceil(min(ends))) if min(ends) < math.inf else math.inf
        if k >= episodes:
            return np.diff([*starts, episodes]).astype(float)
        starts.append(int(k))


def _logdet(at: Floats, spectrum: Floats) -> Floats:
    """log det(I + k M) for k in `at` [G], a block of eigenvalues at a time."""
    total = np.zeros(len(at))
    for first in range(0, len(spectrum), BLOCK):
        total += np.log1p(at[:, None] * spectrum[first : first + BLOCK]).sum(axis=1)
    return total


def episodes_to_open(grown: Growth, limit: float) -> list[Floats]:
    """H of [n]: episodes of uniform play until `|phi|_{Lambda^{-1}} <= limit`; infinite where never."""
    if limit <= 0:
        return [np.full(len(rows), math.inf) for rows in grown.squares]
    found = []
    for rows, rate in zip(grown.squares, grown.rates):
        low, high = np.zeros(len(rows)), np.full(len(rows), 1e18)
        for _ in range(80):  # bisection in the logarithm of k + 1
            middle = np.expm1((np.log1p(low) + np.log1p(high)) / 2.0)
            closed = (rows / (1.0 + middle[:, None] * rate)).sum(axis=1) > limit**2
            low, high = np.where(closed, middle, low), np.where(closed, high, middle)
        opens = np.where((rows.sum(axis=1) <= limit**2), 0.0, high)
        found.append(np.where(high > 1e17, math.inf, opens))
    return found


def share_closed(grown: Growth, opening: list[Floats], episodes: int) -> float:
    """The share of all steps that uniform play takes at pairs whose feature is still closed."""
    total, closed = 0.0, 0.0
    for weights, chosen, when in zip(grown.weights, grown.chosen, opening):
        chances = weights.ravel()[chosen]
        total += float(chances.sum())
        closed += float((chances * np.minimum(when, episodes)).sum()) / episodes
    return closed / total
