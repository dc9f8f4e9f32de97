"""How does one see states that can be numbered? A coordinate of its own for each pair of state and action."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.features.maps import FeatureMap
from tightrope.numbers_in import whole
from tightrope.problems.reading import read_state
from tightrope.problems.tables import Floats


class OneHot(FeatureMap):
    """States `start, start + 1, ...`: `phi(s, a) = e_{a S + s}`, of length 1."""

    def __init__(self, n_actions: int, n_states: int, start: int = 0):
        super().__init__(n_actions, whole("n_states", n_states, 1))
        self.start = whole("start", start, -(2**62))

    def base(self, obs: Any) -> Floats:
        row = np.zeros(self.size)
        row[read_state(obs, self.start, self.size)] = 1.0
        return row
