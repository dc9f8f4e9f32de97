"""How do costs travel? In `info`, as Gymnasium has it, or as a sixth result of `step`, as Safety-Gymnasium does; both ways."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import real_wrong
from tightrope.problems.reading import shown

TOLD_ON = ("budgets", "features", "horizon", "loss")


class ToSafety(gymnasium.Wrapper):
    """`step` gives (observation, reward, cost, terminated, truncated, info), the cost taken from `info["cost"]`."""

    def step(self, action: Any) -> tuple[Any, Any, Any, bool, bool, dict[str, Any]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        obs, reward, terminated, truncated, info = self.env.step(action)
        if "cost" not in info:
            raise InputError('step: info has no "cost", which the six results of Safety-Gymnasium need')
        return obs, reward, info["cost"], terminated, truncated, info


class FromSafety(gymnasium.Env):
    """An environment whose `step` gives six results, with the cost put into `info["cost"]`, scaled to [0, 1].

    Safety-Gymnasium counts costs, so `largest` says what one step can cost at most; more than that is an error. Budgets that
    the environment tells are scaled with the costs; its horizon, features and losses are told on.
    """

    def __init__(self, env: Any, largest: float = 1.0):
        if real_wrong(largest, 0.0) or not largest > 0:
            raise InputError(f"largest: {shown(largest)}, wanted the most that one step can cost, a number above 0")
        self.env, self.largest = env, float(largest)
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.metadata = getattr(env, "metadata", {"render_modes": []})
        self.render_mode = getattr(env, "render_mode", None)
        self.spec = getattr(env, "spec", None)

    def __getattr__(self, name: str) -> Any:
        if name not in TOLD_ON or "env" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        told = getattr(getattr(self.env, "unwrapped", self.env), name)
        return np.asarray(told, dtype=float) / self.largest if name == "budgets" else told

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        told = self.env.step(action)
        if len(told) != 6:
            raise InputError(
                f"step: {len(told)} results, wanted six: observation, reward, cost, terminated, truncated, info"
            )
        obs, reward, cost, terminated, truncated, info = told
        scaled = np.asarray(cost, dtype=float) / self.largest
        if not (np.isfinite(scaled).all() and scaled.min() >= 0.0 and scaled.max() <= 1.0 + 1e-9):
            raise InputError(f"step: cost {cost}, wanted a number from 0 to largest = {self.largest:g}")
        return obs, reward, terminated, truncated, info | {"cost": float(scaled) if scaled.ndim == 0 else scaled}

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()
