"""How does a learner play on the engine? One run by its rules: the tables it learns into, driven in long compiled strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.engine import tables
from tightrope.engine.episode import Model, Options, Record, Tally, begin_epoch_if_due, run_episodes
from tightrope.engine.learn import learn_batch
from tightrope.errors import InputError
from tightrope.learners import worlds
from tightrope.learners.protocol import Episode
from tightrope.learners.rules import Rules
from tightrope.oracle.reading import read_array
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats, Ints


class CompiledPlayer:
    """One run of Algorithm 1 or of a rival that differs in a rule; the `Player` that `PDPO.start` returns."""

    def __init__(self, rules: Rules, cmdp: LinearCMDP, episodes: int):
        self.horizon, self.dim, self.episodes = cmdp.horizon, cmdp.dim, episodes
        self.world = worlds.new_world(cmdp, episodes, rules.clip)
        self.state = tables.new_state(cmdp.n_actions, cmdp.horizon, cmdp.n_states, cmdp.n_constraints)
        self.settings = rules.settings(cmdp.horizon)
        self.budgets = cmdp.budgets.copy()
        self.room = tables.new_episode(cmdp.horizon, cmdp.n_constraints)

    @property
    def estimates(self) -> Floats:
        """[1+m], v_hat(s_1) of the last episode."""
        return self.state.estimates.copy()

    @property
    def dual(self) -> Floats:
        """[m], Y of the coming episode, after any reset."""
        self._begin()
        return self.state.dual.copy()

    @property
    def epoch(self) -> int:
        """How many epochs have begun."""
        self._begin()
        return int(self.state.counters[2])

    def policy(self) -> Floats:
        """[H, S, A], of the coming episode."""
        self._begin()
        return tables.policy_out(self.state.policy, self.horizon)

    def learn(self, episode: Episode) -> None:
        """Take in an episode, or a batch of them, played by somebody else with the last policy shown."""
        loss, states, actions, costs = self._read(episode)
        self.world = tables.with_room(self.world, len(states))
        self._begin()
        played = (tables.inward(self.world, loss), states, actions, costs)
        with worlds.threads_for(self.world):
            wrong = learn_batch(self.world, self.state, self.settings, self.budgets, *played)
        if wrong >= 0:
            b, h = divmod(wrong, self.horizon)
            s, a, x = states[b, h], actions[b, h], states[b, h + 1]
            which = f"episode {episode.k}" + (f", number {b} of the batch" if len(states) > 1 else "")
            raise InputError(f"{which}: the transition {s} -> {x} at step h={h}, a={a} cannot happen in this problem")

    def _read(self, episode: Episode) -> tuple[Floats, Ints, Ints, Floats]:
        """Losses [H, d], states [B, H+1], actions [B, H], costs [B, H, m] as the kernels want them: they check nothing."""
        H, (n_actions, columns), m = self.horizon, self.state.policy.shape, len(self.budgets)
        lead = np.shape(episode.states)[:1] if np.ndim(episode.states) > 1 else ()
        letters = "B, " if lead else ""
        if self.state.counters[0] >= self.episodes:
            raise InputError(
                f"episode {episode.k}: this player was started for {self.episodes} episodes and has had them"
            )
        of = f"episode {episode.k}: "
        loss = read_array(of + "loss_weights", episode.loss_weights, (H, self.dim), "[H, d]")
        states = _places(of + "states", episode.states, (*lead, H + 1), columns // H, f"[{letters}H+1]")
        actions = _places(of + "actions", episode.actions, (*lead, H), n_actions, f"[{letters}H]")
        costs = read_array(of + "costs", episode.costs, (*lead, H, m), f"[{letters}H, m]")
        states, actions, costs = states.reshape(-1, H + 1), actions.reshape(-1, H), costs.reshape(-1, H, m)
        if not (states[:, 0] == states[0, 0]).all():
            raise InputError(f"{of}states: the episodes of a batch begin in different states; wanted one first state")
        return loss, states, actions, np.array(costs, order="C")

    def run(
        self,
        model: Model,
        tally: Tally,
        profiles: Floats,
        sequence: Ints,
        uniforms: Floats,
        options: Options,
        record: Record,
    ) -> None:
        """Play and learn len(sequence) episodes; see `engine.episode.run_episodes`."""
        learning, flat = (self.world, self.state, self.settings), profiles.reshape(len(profiles), -1)
        with worlds.threads_for(self.world):
            run_episodes(*learning, model, tally, profiles, flat, sequence, uniforms, options, record, self.room)

    @property
    def last_dual(self) -> Floats:
        """[m], Y after the last update, before any reset."""
        return self.state.dual.copy()

    @property
    def last_policy(self) -> Floats:
        """[H, S, A], the policy after the last update, before any reset."""
        return tables.policy_out(self.state.policy, self.horizon)

    def _begin(self) -> None:
        with worlds.threads_for(self.world):
            begin_epoch_if_due(self.world, self.state, self.settings)


def _places(name: str, given: Any, shape: tuple[int, ...], below: int, letters: str) -> Ints:
    """Indices of this shape in 0..below-1, or an `InputError`."""
    places = np.array(given)
    wrong = places.shape != shape or places.dtype.kind not in "iu" or not places.size
    if wrong or places.min() < 0 or places.max() >= below:
        told = shown(given) if places.size > 50 else repr(given)
        raise InputError(f"{name}: {told}, wanted ints {letters} = {shape} in 0..{below - 1}")
    return places.astype(np.int64)
