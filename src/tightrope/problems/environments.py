"""How does a problem become a Gymnasium environment? States and actions as numbers, costs in `info`, the horizon its end.

Every step gives `info["cost"]`, a float, or an array when there are several constraints, and `info["loss"]`; the last step
gives `info["loss_weights"]` [H, d] of the whole episode: who learns here sees all losses once an episode is over, but only
the costs of what was done (paper.tex, "Problem Setting"). The reward is minus the loss.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from tightrope.errors import InputError
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import read_floats, read_state, shown
from tightrope.problems.tables import Floats


class LossSequence:
    """Which losses [H, d] each episode has: a sequence of profiles, which begins again when it is over."""

    def __init__(self, losses: Any, own: Floats | None, shape: tuple[int, int]):
        if losses is None and own is None:
            raise InputError("losses: missing; the problem has no loss profiles of its own")
        if losses is not None and hasattr(losses, "profiles") and hasattr(losses, "sequence"):
            self.profiles, self.sequence = losses.profiles, losses.sequence
        else:
            given = own if losses is None else read_floats("losses", losses)
            assert given is not None
            self.profiles = given[None] if given.ndim == 2 else given
            self.sequence = np.arange(len(self.profiles))
        if self.profiles.ndim != 3 or self.profiles.shape[1:] != shape:
            raise InputError(
                f"losses: shape {self.profiles.shape}, wanted profiles [L, H, d] = (L, {shape[0]}, {shape[1]})"
            )

    def of(self, k: int) -> Floats:
        """[H, d], of episode k (0-based)."""
        return self.profiles[self.sequence[k % len(self.sequence)]]


class CostedEnv(gymnasium.Env):
    """What the environments here share: steps and episodes counted, losses and costs told.

    A `reset` with a seed begins the sequence of losses anew, so that a seed says everything that follows.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own name and type)

    def __init__(self, horizon: int, budgets: Floats):
        self.horizon, self.budgets = horizon, np.array(budgets)
        self.h, self.k = horizon, -1

    def _begin(self, seed: int | None) -> None:
        gymnasium.Env.reset(self, seed=seed)
        self.k = 0 if seed is not None else self.k + 1
        self.h = 0

    def _check(self, action: Any) -> int:
        if self.h >= self.horizon:
            raise InputError("step: the episode is over; call reset first")
        if not self.action_space.contains(action):
            raise InputError(f"action: {shown(action)}, wanted one of {self.action_space}")
        return int(action)

    def _info(self, cost: Floats, loss: float, weights: Floats | None) -> tuple[float, bool, dict[str, Any]]:
        """Reward, whether it was the last step, and the info; the step counts from here."""
        self.h += 1
        info: dict[str, Any] = {"cost": float(cost[0]) if len(cost) == 1 else np.array(cost), "loss": float(loss)}
        if self.h == self.horizon and weights is not None:
            info["loss_weights"] = np.array(weights)
        return -float(loss), self.h == self.horizon, info


class CMDPEnv(CostedEnv):
    """A `LinearCMDP`, state by state.

    Parameters
    ----------
    losses: `Profiles` (profiles and a sequence), or profiles [L, H, d] taken in turn; by default the problem's own, in turn.
    """

    def __init__(self, cmdp: LinearCMDP, losses: Any = None):
        super().__init__(cmdp.horizon, cmdp.budgets)
        self.cmdp = cmdp
        self.losses = LossSequence(losses, cmdp.loss_profiles, (cmdp.horizon, cmdp.dim))
        self.observation_space, self.action_space = spaces.Discrete(cmdp.n_states), spaces.Discrete(cmdp.n_actions)
        self._state = 0
        self._chances: dict[tuple[int, int, int], Floats] = {}

    def features(self, obs: Any) -> Floats:
        """[A, d] of a state: the problem's own."""
        return self.cmdp.features[read_state(obs, 0, self.cmdp.n_states)]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """The first state, drawn as the problem says, or `options={"state": s}`."""
        given = (options or {}).get("state")
        if given is not None and not self.observation_space.contains(given):
            raise InputError(f"options: state {shown(given)}, wanted one of 0..{self.cmdp.n_states - 1}")
        self._begin(seed)
        start = self.cmdp.initial_distribution
        self._state = int(self.np_random.choice(len(start), p=start)) if given is None else int(given)
        return np.int64(self._state), {}

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        a, h, s, cmdp = self._check(action), self.h, self._state, self.cmdp
        chances = self._row(h, s, a)
        arrived = int(self.np_random.choice(len(chances), p=chances))
        phi = cmdp.features[s, a]
        cost = (
            cmdp.cost_weights[h] @ phi if cmdp.transition_costs is None else cmdp.transition_costs[:, h, s, a, arrived]
        )
        weights = self.losses.of(self.k)
        self._state = arrived
        reward, last, info = self._info(cost, float(weights[h] @ phi), weights)
        return np.int64(arrived), reward, last, False, info

    def _row(self, h: int, s: int, a: int) -> Floats:
        """P_h(. | s, a) [S], to the last digit a distribution; kept, because a sparse row is slow to find."""
        key = (h, s, a)
        if key not in self._chances:
            step = self.cmdp.kernel_table.step(h)
            row = np.maximum(np.asarray(step.T @ self.cmdp.features[s, a]).ravel(), 0.0)
            if len(self._chances) * len(row) > LARGEST:
                self._chances.clear()
            self._chances[key] = row / row.sum()
        return self._chances[key]


LARGEST = 10_000_000  # numbers kept of transitions


def make_finite(problem: str, losses: Any = None, **parameters: Any) -> CMDPEnv:
    """A ready problem of the gallery as an environment."""
    from tightrope.problems import make

    return CMDPEnv(make(problem, **parameters), losses)
