"""How do episodes go in which Python takes part? One at a time: an adversary or a learner of one's own is asked, then taught.

What Python answers is checked here, so that a mistake of its author is told in one line and no number is made from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.engine import tables
from tightrope.engine.episode import Model, Options, Record, Tally, stage_episode
from tightrope.engine.tables import World
from tightrope.errors import InputError
from tightrope.learners.compiled import CompiledPlayer
from tightrope.learners.protocol import Episode, Player
from tightrope.losses.profiles import fit
from tightrope.oracle.reading import read_array, read_policy
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints


class OneByOne:
    """Plays the episodes of one run that cannot be left to compiled strides.

    Parameters
    ----------
    losses: the `Adversary` that is asked for weights, or None where `profiles` [L, H, d] are given.
    """

    def __init__(
        self,
        cmdp: LinearCMDP,
        losses: Any,
        player: Player,
        world: World,
        model: Model,
        tally: Tally,
        profiles: Floats | None,
    ):
        self.cmdp, self.losses, self.player = cmdp, losses, player
        self.world, self.model, self.tally = world, model, tally
        self.profiles = profiles
        self.inward = None if profiles is None else tables.inward(world, profiles)  # in the engine's order

    def play(self, first: int, record: Record, sequence: Ints, uniforms: Floats, options: Options) -> Floats | None:
        """Play the episodes first, first + 1, ...; returns the weights [n, H, d] that an adversary set, if one did.

        The sequence [n] names the profile of each episode; -1 is filled in with the one under which the policy loses most.
        """
        n, cmdp = len(sequence), self.cmdp
        weights = np.zeros((n, cmdp.horizon, cmdp.dim)) if self.profiles is None else None
        for i in range(n):
            k, rows = first + i, slice(i, i + 1)
            one = Record(*(part[rows] for part in record))
            policy = None if isinstance(self.player, CompiledPlayer) else self.ask_policy(k)
            if weights is not None:
                weights[i] = self._ask_adversary(k, self.player.policy() if policy is None else policy.copy())
                inward = tables.inward(self.world, weights[rows])
            else:
                inward = self.inward
            assert inward is not None
            if isinstance(self.player, CompiledPlayer):
                self.player.run(self.model, self.tally, inward, sequence[rows], uniforms[rows], options, one)
                continue
            assert policy is not None
            played = self._stage(policy, one, sequence[rows], inward, uniforms[rows], options)
            self._teach(k, played, weights[i] if self.profiles is None else self.profiles[sequence[i]])  # pyright: ignore[reportOptionalSubscript]
        return weights

    def _ask_adversary(self, k: int, policy: Floats) -> Floats:
        asked = f"losses: {type(self.losses).__name__}.next({k})"
        weights = read_array(asked, self.losses.next(k, policy), (self.cmdp.horizon, self.cmdp.dim), "[H, d]")
        return fit(self.cmdp, weights[None], asked)[0]

    def ask_policy(self, k: int) -> Floats:
        """The policy [H, S, A] of a Python learner, asked once an episode."""
        try:
            return np.maximum(read_policy(self.cmdp, self.player.policy()), 0.0)
        except InputError as error:
            told = str(error).removeprefix("policy: ")
            raise InputError(f"learner: {type(self.player).__name__}.policy() in episode {k}: {told}") from None

    def _stage(
        self, policy: Floats, one: Record, chosen: Ints, inward: Floats, uniforms: Floats, options: Options
    ) -> Record:
        """Let a policy play; returns the record with the episode in it, which is kept for `learn` in any case."""
        cmdp, m = self.cmdp, self.cmdp.n_constraints
        one.dual[0] = self._told("dual", m, "[m]")
        one.epoch[0] = int(getattr(self.player, "epoch", 0))
        full = one
        if not len(one.states):
            room = tables.new_record(1, cmdp.n_actions, cmdp.horizon, cmdp.n_states, m, True)
            full = one._replace(states=room.states, actions=room.actions, costs=room.costs, policies=room.policies)
        keep = Options(options.evaluate, 1)
        columns = tables.policy_in(policy)
        stage_episode(self.world, self.model, columns, self.tally, inward, chosen, uniforms, keep, full)
        return full

    def _teach(self, k: int, played: Record, loss: Floats) -> None:
        loss = loss.copy()
        self.player.learn(Episode(k, played.states[0].copy(), played.actions[0].copy(), played.costs[0].copy(), loss))
        played.estimates[0] = self._told("estimates", 1 + self.cmdp.n_constraints, "[1+m]")

    def _told(self, attribute: str, size: int, letters: str) -> Floats:
        """An optional attribute of a Python player; zeros where it has none."""
        given = getattr(self.player, attribute, None)
        if given is None:
            return np.zeros(size)
        name = f"learner: {type(self.player).__name__}.{attribute}"
        return read_array(name, np.atleast_1d(given), (size,), letters)
