"""What may an episode do, and when? begin, then act and observe in turn, until the horizon or an early end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tightrope.agent import reading
from tightrope.errors import InputError
from tightrope.numbers_in import real_wrong
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats


@dataclass(eq=False)
class Played:
    """An episode as far as it has come; n steps are done."""

    blocks: list[Floats] = field(default_factory=list)  # [A, D] of the states visited: n of them, and the one it is in
    places: list[int] = field(default_factory=list)  # where those are in the tables, -1 where they are not
    policies: list[Floats] = field(default_factory=list)  # [A] with which they were played
    actions: list[int] = field(default_factory=list)  # n
    costs: list[Floats] = field(default_factory=list)  # n, each [m]
    chosen: int | None = None  # the action that `act` gave for the step under way
    ended: bool = False  # early: nothing more is lost or paid

    @property
    def steps(self) -> int:
        return len(self.actions)


class Playing:
    """Plays episodes: the part that an `Agent` and its forks share. Whoever inherits says what a state's policy is."""

    def __init__(self, features: Callable[[Any], Any], sizes: reading.Sizes, seed: int):
        self.features, self.sizes = features, sizes
        self.random = np.random.default_rng(np.random.SeedSequence(seed))
        self.current: Played | None = None

    def _meet(self, h: int, features: Floats, obs: Any) -> tuple[Floats, int, Floats]:
        """A state of step h with features [A, d]: its block [A, D], its place in the tables or -1, and its policy [A]."""
        raise NotImplementedError

    def begin(self, obs: Any) -> None:
        """An episode begins in this state."""
        if self.current is not None:
            raise InputError(
                f"begin: an episode is under way, at step {self.current.steps} of {self.sizes.horizon}; "
                "finish it first, or abandon it"
            )
        features = reading.read_features(self.features, obs, self.sizes)
        block, place, policy = self._meet(0, features, obs)
        self.current = Played([block], [place], [policy])

    def act(self, uniform: float | None = None) -> int:
        """The action to take now, drawn from the policy; asked again before `observe`, the same one.

        `uniform` in [0, 1) decides, where given, instead of the agent's own randomness.
        """
        episode = self._under_way("act")
        if episode.chosen is None:
            if uniform is not None and (real_wrong(uniform, 0.0, 1.0) or uniform == 1.0):
                raise InputError(f"uniform: {shown(uniform)}, wanted a number in [0, 1)")
            episode.chosen = draw(episode.policies[-1], self.random.random() if uniform is None else uniform)
        return episode.chosen

    def observe(self, cost: Any, obs: Any = None, *, action: int | None = None, ended: bool = False) -> None:
        """What came of the action: its cost, a number or [m], in [0, 1], and the next state.

        Parameters
        ----------
        obs: the next state; not needed after the last step, nor when the episode has ended.
        action: what was really done, where somebody has overruled `act`.
        ended: the episode is over before the horizon; from here on nothing is lost and nothing is paid.
        """
        episode = self._under_way("observe")
        if action is None and episode.chosen is None:
            raise InputError("observe: no action has been chosen; call act first, or say which action was taken")
        taken = episode.chosen if action is None else reading.read_action(action, self.sizes.n_actions)
        paid = reading.read_cost(cost, self.sizes.n_constraints)
        h = episode.steps + 1
        if h < self.sizes.horizon and not ended:
            features = reading.read_features(self.features, obs, self.sizes)
            block, place, policy = self._meet(h, features, obs)
            episode.blocks.append(block)
            episode.places.append(place)
            episode.policies.append(policy)
        assert taken is not None
        episode.actions.append(taken)
        episode.costs.append(paid)
        episode.chosen, episode.ended = None, bool(ended)

    def abandon(self) -> None:
        """Forget the episode under way, as if it had not been played; states seen stay known."""
        self.current = None

    def _under_way(self, what: str) -> Played:
        """The episode under way, if another step is to come."""
        if self.current is None:
            raise InputError(f"{what}: no episode is under way; call begin first")
        if self.current.ended:
            raise InputError(f"{what}: the episode has ended after {self.current.steps} steps; finish it")
        if self.current.steps == self.sizes.horizon:
            raise InputError(f"{what}: all {self.sizes.horizon} steps have been played; finish the episode")
        return self.current

    def _whole(self, what: str) -> Played:
        """The episode under way, if it is over."""
        if self.current is None:
            raise InputError(f"{what}: no episode is under way; call begin first")
        if not self.current.ended and self.current.steps < self.sizes.horizon:
            raise InputError(
                f"{what}: after {self.current.steps} of {self.sizes.horizon} steps; if the episode is over, "
                "say so with observe(..., ended=True)"
            )
        return self.current


def draw(policy: Floats, u: float) -> int:
    """The first action whose distribution function exceeds u, as `simulate` draws."""
    reached, last = 0.0, len(policy) - 1
    for a in range(last):
        reached += policy[a]
        if u < reached:
            return a
    return last
