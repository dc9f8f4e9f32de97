"""What does an agent see of a state? Feature maps `phi(s, .)` as [A, d], rows of length at most 1 by proof, not by clipping.

Each map knows `dim` (d) and `n_actions`; a map of the state alone (`base`, length at most 1) becomes one of state and action by
giving every action its own block: `phi(s, a) = e_a (x) base(s)`, whose length is that of `base(s)`.
"""

from __future__ import annotations

from tightrope.features.discrete import OneHot
from tightrope.features.maps import Custom, FeatureMap
from tightrope.features.smooth import Fourier, Polynomial, RandomFourier
from tightrope.features.spaces import KINDS, for_space
from tightrope.features.tiles import TileCoding


def names() -> list[str]:
    """The kinds that `for_space` knows for boxes."""
    return sorted(KINDS)


__all__ = [
    "Custom",
    "FeatureMap",
    "Fourier",
    "OneHot",
    "Polynomial",
    "RandomFourier",
    "TileCoding",
    "for_space",
    "names",
]
