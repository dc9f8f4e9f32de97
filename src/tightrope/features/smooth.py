"""How does one see a box smoothly? Cosines, random cosines and sines, monomials; each with the proof of its length."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.features.maps import Box, FeatureMap
from tightrope.numbers_in import real_wrong, whole
from tightrope.problems.tables import Floats

LARGEST = 20_000


class Fourier(FeatureMap):
    """`cos(pi c . x) / sqrt(p)` for the p vectors c in {0..order}^n of order sum at most `most`: each is at most 1/sqrt(p).

    (Konidaris, Osentoski and Thomas 2011.) x is the place in the box, in [0, 1]^n; so the length is at most 1.
    """

    def __init__(self, n_actions: int, low: Any, high: Any, order: int = 3, most: int | None = None):
        self.box = Box(low, high)
        order = whole("order", order, 0)
        most = order if most is None and self.box.size > 1 else most
        self.frequencies = _exponents(self.box.size, order, most).astype(np.float64)  # [p, n]
        super().__init__(n_actions, len(self.frequencies))

    def base(self, obs: Any) -> Floats:
        return np.cos(np.pi * (self.frequencies @ self.box.place(obs))) / math.sqrt(self.size)


class RandomFourier(FeatureMap):
    """`(cos(w_i . x), sin(w_i . x)) / sqrt(p/2)` for p/2 normal w_i: cos^2 + sin^2 = 1, so the length is exactly 1.

    (Rahimi and Recht 2007: inner products come near those of a Gaussian kernel.) x is the place in the box, in [0, 1]^n;
    `width` is the kernel's, in the same units.
    """

    def __init__(self, n_actions: int, low: Any, high: Any, size: int = 32, width: float = 0.3, seed: int = 0):
        self.box, size = Box(low, high), whole("size", size, 2)
        if size % 2:
            raise InputError(f"size: {size}, wanted an even number: cosines and sines go in pairs")
        if real_wrong(width, 0.0) or not width > 0:
            raise InputError(f"width: {width!r}, wanted a number above 0")
        super().__init__(n_actions, size)
        random = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, 0)))
        self.frequencies = random.normal(size=(size // 2, self.box.size)) / width

    def base(self, obs: Any) -> Floats:
        angles = self.frequencies @ self.box.place(obs)
        return np.concatenate([np.cos(angles), np.sin(angles)]) / math.sqrt(self.size / 2)


class Polynomial(FeatureMap):
    """All p monomials of degree at most `degree` in 2x - 1, x the place in the box, over sqrt(p): each is at most 1/sqrt(p)."""

    def __init__(self, n_actions: int, low: Any, high: Any, degree: int = 2):
        self.box, degree = Box(low, high), whole("degree", degree, 0)
        self.exponents = _exponents(self.box.size, degree, degree)  # [p, n]
        super().__init__(n_actions, len(self.exponents))

    def base(self, obs: Any) -> Floats:
        centred = 2.0 * self.box.place(obs) - 1.0
        return np.prod(centred**self.exponents, axis=1) / math.sqrt(self.size)


def _exponents(n: int, order: int, most: int | None) -> np.ndarray:
    """[p, n]: all vectors in {0..order}^n whose sum is at most `most`."""
    count = (order + 1) ** n if most is None else math.comb(n + min(order, most), n)
    if count > LARGEST:
        raise InputError(f"order: {count:,} features of {n} dimensions, wanted at most {LARGEST:,}")
    if most is None:
        return np.array(list(itertools.product(range(order + 1), repeat=n)))
    return np.array(_bounded(n, order, whole("most", most, 0)))


def _bounded(n: int, order: int, most: int) -> list[list[int]]:
    if n == 0:
        return [[]]
    return [[first, *rest] for first in range(min(order, most) + 1) for rest in _bounded(n - 1, order, most - first)]
