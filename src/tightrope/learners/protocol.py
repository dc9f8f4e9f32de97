"""What is a learner to `simulate`? Settings that can start a player; a player shows a policy and learns from an episode.

The settings are immutable and can be used for any number of runs; all that changes lives in the player. A learner of one's
own needs nothing else of this package: a class with `start`, and one with `policy` and `learn`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tightrope.errors import InputError
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats, Ints


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode as it was played, with the losses that were then revealed (full information).

    Several episodes of one policy under one loss, from one first state, may come as a batch, with a leading axis [B] on
    states, actions and costs: the compiled players count it as one episode, make one update, and learn from all of it.
    """

    k: int  # 0-based
    states: Ints  # [H+1]
    actions: Ints  # [H]
    costs: Floats  # [H, m], observed
    loss_weights: Floats  # [H, d]


@runtime_checkable
class Player(Protocol):
    """One run of a learner.

    Optional attributes that `simulate` records where they are there: `dual` [m], the multipliers that the coming episode
    uses; `epoch`, how many epochs have begun; `estimates` [1+m], the values estimated for the last episode.
    """

    def policy(self) -> Floats:
        """The policy [H, S, A] of the coming episode; asked once an episode, before it is played, and once after the last."""
        ...

    def learn(self, episode: Episode) -> None:
        """Take in an episode that was played with the last policy shown."""
        ...


@runtime_checkable
class Learner(Protocol):
    """The settings of an algorithm."""

    def start(self, cmdp: LinearCMDP, episodes: int) -> Player:
        """Begin a run of so many episodes.

        Of `cmdp` an honest learner reads what the paper lets it know: features, sizes and budgets. One that reads more
        (a safe policy, Slater's constant) says so.
        """
        ...


@dataclass(frozen=True)
class Sizes:
    """The sizes of a problem that has no model; presets need nothing else."""

    n_actions: int
    horizon: int
    dim: int
    n_constraints: int = 1


def read_sizes(cmdp: Any) -> LinearCMDP | Sizes:
    """What a preset can be made for."""
    if not isinstance(cmdp, LinearCMDP | Sizes):
        raise InputError(
            f"cmdp: {shown(cmdp)}, wanted a LinearCMDP, such as tr.problems.make returns, or tr.learners.Sizes"
        )
    return cmdp


def describe(learner: Any) -> dict[str, Any]:
    """Name and settings, for the record of a run."""
    told: Callable[[], dict[str, Any]] | None = getattr(learner, "describe", None)
    return dict(told()) if told is not None else {"name": type(learner).__name__}
