"""How does one see states that can be numbered? A coordinate of its own for each pair of state and action."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.features.maps import FeatureMap
from tightrope.numbers_in import whole, whole_wrong
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats


class OneHot(FeatureMap):
    """States `start, start + 1, ...`: `phi(s, a) = e_{a S + s}`, of length 1."""

    def __init__(self, n_actions: int, n_states: int, start: int = 0):
        super().__init__(n_actions, whole("n_states", n_states, 1))
        self.start = start

    def base(self, obs: Any) -> Floats:
        given = obs.item() if isinstance(obs, np.ndarray) and obs.size == 1 else obs
        if whole_wrong(given, self.start) is not None or not given - self.start < self.size:
            last = self.start + self.size - 1
            raise InputError(f"observation: {shown(obs)}, wanted a state in {self.start}..{last}")
        row = np.zeros(self.size)
        row[given - self.start] = 1.0
        return row
