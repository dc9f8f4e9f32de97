"""How does one see a box in patches? Several grids laid over it, each shifted a little; a point is one tile of each grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.features.maps import Box, FeatureMap
from tightrope.numbers_in import whole
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats

LARGEST = 100_000


class TileCoding(FeatureMap):
    """T grids of `tiles` cells a dimension: T entries are 1/sqrt(T), the others 0, so the length is exactly 1.

    (Sutton and Barto 2018, section 9.5.4.) Grid t is shifted by t/T of a cell in every dimension times an odd number of the
    dimension's own, and has one more cell a dimension, so that every point has its tile.
    """

    def __init__(self, n_actions: int, low: Any, high: Any, tiles: int | list[int] = 4, tilings: int = 4):
        self.box, self.tilings = Box(low, high), whole("tilings", tilings, 1)
        n = self.box.size
        given = tiles if isinstance(tiles, list | tuple | np.ndarray) else [tiles] * n
        if len(given) != n:
            raise InputError(f"tiles: {shown(tiles)}, wanted a whole number or {n}, one for each dimension")
        self.tiles = np.array([whole("tiles", t, 1) for t in given])
        self.cells = self.tiles + (1 if self.tilings > 1 else 0)
        each = float(np.prod(self.cells.astype(float)))
        if each * self.tilings > LARGEST:
            raise InputError(f"tiles: {each * self.tilings:.3g} of them in all, wanted at most {LARGEST:,}")
        self.each = int(each)
        super().__init__(n_actions, self.tilings * self.each)
        odd = 2 * np.arange(n) + 1
        self.shifts = (np.arange(self.tilings)[:, None] * odd / self.tilings) % 1.0  # [T, n]

    def base(self, obs: Any) -> Floats:
        x = self.box.place(obs) * self.tiles  # [n]
        cells = np.minimum((x + self.shifts).astype(np.int64), self.cells - 1)  # [T, n]
        row = np.zeros(self.size)
        at = np.ravel_multi_index(tuple(cells.T), tuple(int(c) for c in self.cells))
        row[at + self.each * np.arange(self.tilings)] = 1.0 / np.sqrt(self.tilings)
        return row
