"""A run that is put away and taken up again leaves the bytes of one that never was."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners.protocol import Episode
from tightrope.run_files import HOST, files_of
from tightrope.simulation import Simulation
from tightrope.snapshot import CannotBePutAwayError, Snapshot, put_away, take_up, trace_rows

K = 150


class Counting:
    """A learner in Python whose player remembers what it saw."""

    def describe(self):
        return {"name": "counting"}

    def start(self, cmdp, episodes):
        return CountingPlayer(cmdp)


class CountingPlayer:
    def __init__(self, cmdp):
        self.cmdp = cmdp
        self.seen = np.ones((cmdp.horizon, cmdp.n_states, cmdp.n_actions))

    def policy(self):
        return self.seen / self.seen.sum(axis=2, keepdims=True)

    def learn(self, episode: Episode):
        for h, (s, a) in enumerate(zip(episode.states, episode.actions)):
            self.seen[h, s, a] += 1.0


class Remembering(tr.losses.Adversary):
    """Repeats the profile that it has shown less often, and remembers how often that was."""

    def start(self, cmdp, episodes):
        assert cmdp.loss_profiles is not None
        self.profiles, self.shown = cmdp.loss_profiles, np.zeros(2)

    def next(self, k, policy):
        which = int(np.argmin(self.shown + 0.5 * policy[0, 0, 0]))
        self.shown[which] += 1 + k % 3
        return self.profiles[which]


def _result(simulation) -> dict[str, bytes]:
    """The files of the result: everything but the facts of the host."""
    while simulation.remaining:
        simulation.advance(40)
    return {name: content for name, content in files_of(simulation.finish()).items() if name != HOST}


KINDS = [
    (problem, kind, learner)
    for problem in ("priced-jobs", "random-linear")
    for kind in ("drift", "best-response", "own")
    for learner in ("pdpo", "own")
]


@pytest.mark.parametrize(("problem", "kind", "learner"), KINDS)
def test_taking_up_a_run_changes_no_byte(problem, kind, learner):
    cmdp = tr.problems.make(problem)

    def fresh() -> Simulation:
        losses = Remembering() if kind == "own" else tr.losses.make(kind, cmdp, K, seed=3)
        chosen = Counting() if learner == "own" else tr.PDPO.practical(cmdp, K)
        return Simulation(cmdp, losses, chosen, K, seed=3, record_every=7, trace=True)

    first = fresh()
    parts = []
    for end in (31, 90):
        begin = first.done
        first.advance(end - begin)
        rows = trace_rows(first, begin)
        assert rows is not None and rows.first == begin
        parts.append(rows.content)
    head = put_away(first)
    first.advance(20)  # what happens after it was put away does not matter
    again = fresh()
    take_up(again, Snapshot(90, head, tuple(parts)))
    assert again.done == 90
    assert _result(again) == _result(fresh())


def test_a_snapshot_does_not_carry_what_the_spec_makes_again():
    cmdp = tr.problems.make("random-linear", n_states=300, n_actions=4, dim=20)
    losses = tr.losses.make("drift", cmdp, 100_000)
    assert isinstance(losses, tr.losses.Profiles)
    simulation = Simulation(cmdp, losses, tr.PDPO.practical(cmdp, 100_000), 100_000, compare=False)
    simulation.advance(20)
    assert len(put_away(simulation)) < cmdp.features.nbytes + cmdp.kernel.nbytes + losses.sequence.nbytes


def test_a_player_that_does_not_pickle_is_told():
    class Closed(CountingPlayer):
        def __init__(self, cmdp):
            super().__init__(cmdp)
            self.choose = lambda: 0

    class Learner(Counting):
        def start(self, cmdp, episodes):
            return Closed(cmdp)

    cmdp = tr.problems.make("streaming")
    simulation = Simulation(cmdp, tr.losses.make("fixed", cmdp, 10), Learner(), 10)
    simulation.advance(3)
    with pytest.raises(CannotBePutAwayError, match=r"pickle|local object"):
        put_away(simulation)


@pytest.mark.parametrize("name", tr.learners.names())
def test_every_learner_of_the_package_can_be_taken_up(name):
    cmdp, K = tr.problems.make("streaming", budget=2.0), 16

    def fresh() -> Simulation:
        learner = tr.learners.make(name, cmdp, K)
        return Simulation(cmdp, tr.losses.make("drift", cmdp, K, seed=1), learner, K, seed=1, record_every=1)

    first = fresh()
    first.advance(7)
    head = put_away(first)
    again = fresh()
    take_up(again, Snapshot(7, head))
    assert _result(again) == _result(fresh())
