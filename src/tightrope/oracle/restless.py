"""What would have been best, had one been allowed to change? The best feasible policy of every episode, or of every stretch.

Regret compares with one policy for all episodes. Where losses change, one may ask for more: dynamic regret compares with the
best feasible policy of each episode for that episode's losses (in a stretch of equal losses, the best of the stretch is the
best of each of its episodes), or with the best of each stretch of `stretch` episodes for its mean losses; with a stretch of
all episodes that is regret again.
"""

from __future__ import annotations

import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import whole
from tightrope.oracle.best import best_policy
from tightrope.oracle.evaluation import feature_occupancy
from tightrope.oracle.reading import read_array, read_problem
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints

MOST = 20_000  # linear programmes


def restless_losses(cmdp: LinearCMDP, profiles: Floats, sequence: Ints, at: Ints, stretch: int = 1) -> Floats:
    """[R], the cumulative loss of the best feasible policy of each stretch, after the episodes at [R].

    Parameters
    ----------
    profiles, sequence: [L, H, d] and [K], as in `losses.Profiles`.
    stretch: episodes that share a policy; 1 compares with the best policy of each episode.
    """
    read_problem(cmdp)
    n = whole("stretch", stretch, 1)
    weights = read_array("profiles", profiles, (len(profiles), cmdp.horizon, cmdp.dim), "[L, H, d]")
    needed = len(np.unique(sequence)) if n == 1 else -(-len(sequence) // n)
    if needed > MOST:
        raise InputError(f"stretch: {n}, which makes {needed:,} best policies to be found; wanted at most {MOST:,}")
    paid = _of_each(cmdp, weights, sequence) if n == 1 else _of_stretches(cmdp, weights, sequence, n)
    return np.cumsum(paid)[np.asarray(at) - 1]


def _of_each(cmdp: LinearCMDP, profiles: Floats, sequence: Ints) -> Floats:
    """[K]; equal losses are solved once."""
    values = np.zeros(len(profiles))
    for profile in np.unique(sequence):
        values[profile] = best_policy(cmdp, profiles[profile]).value
    return values[sequence]


def _of_stretches(cmdp: LinearCMDP, profiles: Floats, sequence: Ints, n: int) -> Floats:
    """[K]; the best policy of a stretch's mean losses, paid at each episode's own."""
    paid = np.empty(len(sequence))
    known: dict[bytes, Floats] = {}
    for first in range(0, len(sequence), n):
        part = sequence[first : first + n]
        counts = np.bincount(part, minlength=len(profiles))
        key = counts.tobytes()
        if key not in known:
            mu = feature_occupancy(cmdp, best_policy(cmdp, np.tensordot(counts / len(part), profiles, axes=1)).policy)
            known[key] = np.einsum("lhd,hd->l", profiles, mu)
        paid[first : first + n] = known[key][part]
    return paid
