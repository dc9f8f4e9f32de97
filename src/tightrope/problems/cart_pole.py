"""CartPole with a budget: keep the pole up, and the cart near the middle. NOT a linear CMDP; no bound of the paper holds here.

Gymnasium's CartPole-v1 (Barto, Sutton and Anderson 1983) for H of its frames. The loss of a step is 1 once the pole has
fallen or the cart has left the track, else 0; the cost is the cart's distance from the middle, a share of the track's half,
and 1 after a fall. A fallen pole stays where it is until the horizon, so that an early end is no way out of losses. No
feature map makes these dynamics linear: what is learnt here is an approximation, and how good, only trying tells.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from tightrope.numbers_in import whole
from tightrope.problems.environments import CostedEnv
from tightrope.problems.reading import between
from tightrope.problems.tables import Floats

TRACK, ANGLE = 2.4, 0.2095  # where an episode of CartPole-v1 ends
BOUNDS = np.array([TRACK, 3.0, ANGLE, 3.5])  # position, speed, angle, angular speed; speeds beyond are told as these


class CartPoleEnv(CostedEnv):
    """Observations: position, speed, angle and angular speed, each as a share of its bound, and 1 once fallen, else 0."""

    def __init__(self, horizon: int = 50, budget: float = 5.0):
        super().__init__(whole("horizon", horizon, 1), np.array([between("budget", budget, 0.0, 1e9)]))
        self._cart: Any = gymnasium.make("CartPole-v1").unwrapped
        self.observation_space = spaces.Box(np.array([-1.0] * 4 + [0.0]), np.ones(5), dtype=np.float64)
        self.action_space = spaces.Discrete(2)
        self._obs = np.zeros(5)

    @staticmethod
    def loss(h: int, obs: Any, action: int) -> float:
        """1 once fallen."""
        return float(obs[4])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        self._begin(seed)
        state, _ = self._cart.reset(seed=int(self.np_random.integers(2**31)))
        self._obs = self._read(state, False)
        return self._obs.copy(), {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        a, obs = self._check(action), self._obs
        fallen = bool(obs[4])
        cost = np.array([1.0 if fallen else abs(float(obs[0]))])
        loss = self.loss(self.h, obs, a)
        if not fallen:
            state, _, ended, _, _ = self._cart.step(a)
            self._obs = self._read(state, bool(ended))
        reward, last, info = self._info(cost, loss, None)
        return self._obs.copy(), reward, last, False, info

    def close(self) -> None:
        self._cart.close()

    @staticmethod
    def _read(state: Any, fallen: bool) -> Floats:
        return np.append(np.clip(np.asarray(state, dtype=np.float64) / BOUNDS, -1.0, 1.0), float(fallen))
