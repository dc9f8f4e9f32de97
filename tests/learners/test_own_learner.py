"""A learner of one's own, in NumPy, runs in `simulate`; and Algorithm 1 behind the same two methods is the same run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners import Episode

MIXED: dict[str, Any] = {"alpha": 0.3, "eta": 0.4, "theta": 0.1, "beta_b": 0.01, "beta_w": 2.0, "mixing_period": 5}
BINDING = {  # problems whose budget the dual has to defend
    "random-linear": lambda: tr.problems.make("random-linear", seed=4),
    "priced-jobs": lambda: tr.problems.make("priced-jobs", budget=5.55),
}


@dataclass(frozen=True)
class Hedge:
    """Exponential weights in every state, on the action values of the true model; the budgets are ignored.

    Against any policy its regret is at most `H^2 sqrt(K log(A) / 2)`: for each step and state the regret of exponential
    weights for losses in [0, H] with the step `sqrt(8 log(A) / K) / H`, summed by the performance difference lemma.
    """

    def start(self, cmdp: tr.LinearCMDP, episodes: int) -> HedgePlayer:
        return HedgePlayer(cmdp, math.sqrt(8 * math.log(cmdp.n_actions) / episodes) / cmdp.horizon)

    def regret_bound(self, cmdp: tr.LinearCMDP, episodes: int) -> float:
        return cmdp.horizon**2 * math.sqrt(episodes * math.log(cmdp.n_actions) / 2)


class HedgePlayer:
    def __init__(self, cmdp: tr.LinearCMDP, step: float):
        self.cmdp, self.step = cmdp, step
        self.total = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))  # of the action values so far

    def policy(self) -> np.ndarray:
        weight = np.exp(-self.step * (self.total - self.total.min(axis=2, keepdims=True)))
        return weight / weight.sum(axis=2, keepdims=True)

    def learn(self, episode: Episode) -> None:
        policy, v = self.policy(), np.zeros(self.cmdp.n_states)
        for h in reversed(range(self.cmdp.horizon)):
            q = self.cmdp.features @ (episode.loss_weights[h] + self.cmdp.kernel[h] @ v)
            v = (policy[h] * q).sum(axis=1)
            self.total[h] += q


@dataclass(frozen=True)
class Uniform:
    def start(self, cmdp, episodes):
        return Told(np.full((cmdp.horizon, cmdp.n_states, cmdp.n_actions), 1 / cmdp.n_actions))


class Told:
    """Shows the same thing in every episode."""

    def __init__(self, policy: Any):
        self.shown = policy

    def policy(self):
        return self.shown

    def learn(self, episode):
        pass


@pytest.mark.parametrize("kind", ["alternating", "best-response"])
def test_a_learner_of_forty_lines_keeps_its_regret_bound_where_uniform_play_does_not(kind):
    cmdp, K = tr.problems.make("job-scheduling"), 1500
    bound = Hedge().regret_bound(cmdp, K)
    run = tr.simulate(cmdp, tr.losses.make(kind, cmdp, K), Hedge(), K)
    assert run.regret[-1] <= bound
    assert tr.simulate(cmdp, tr.losses.make(kind, cmdp, K), Uniform(), K).regret[-1] > bound
    assert run.dual.max() == 0.0 and run.about["learner"]["name"] == "Hedge"


@dataclass(frozen=True)
class Behind:
    """Algorithm 1 behind `policy` and `learn`, so that `simulate` takes it for a learner of one's own."""

    learner: tr.PDPO

    def start(self, cmdp, episodes):
        return BehindPlayer(self.learner.start(cmdp, episodes))


class BehindPlayer:
    def __init__(self, player):
        self.player, self.estimates, self.last_shown = player, np.zeros_like(player.estimates), None

    dual = property(lambda self: self.player.dual)
    epoch = property(lambda self: self.player.epoch)

    def policy(self):
        return self.player.policy()

    def learn(self, episode):
        self.player.learn(episode)
        self.estimates = self.player.estimates


@pytest.mark.parametrize("name", BINDING)
@pytest.mark.parametrize("restart", ["paper", "warm"])
@pytest.mark.parametrize("kind", ["drift", "best-response"])
def test_algorithm_1_behind_the_protocol_gives_the_run_of_the_fast_path(name, restart, kind):
    cmdp, K = BINDING[name](), 600
    learner = tr.PDPO(**MIXED, restart=restart)
    fast = tr.simulate(cmdp, tr.losses.make(kind, cmdp, K), learner, K, seed=5, trace=True)
    slow = tr.simulate(cmdp, tr.losses.make(kind, cmdp, K), Behind(learner), K, seed=5, trace=True)
    assert fast.trace is not None and slow.trace is not None
    assert fast.epoch[-1] > 2 and fast.dual.max() > 0
    for part in ("states", "actions", "costs", "loss_weights", "epoch_starts"):
        assert np.array_equal(getattr(fast.trace, part), getattr(slow.trace, part)), part
    for part in ("policies", "values", "exact_values"):
        np.testing.assert_allclose(getattr(fast.trace, part), getattr(slow.trace, part), rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast.trace.dual[:-1], slow.trace.dual[:-1], rtol=0, atol=1e-12)
    for part in ("regret", "violation", "hard_violation", "dual", "epoch"):
        np.testing.assert_allclose(getattr(fast, part), getattr(slow, part), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", BINDING)
def test_a_player_driven_by_hand_through_a_trace_learns_what_it_learnt_there(name):
    cmdp, K = BINDING[name](), 80
    learner = tr.PDPO.practical(cmdp, K)
    run = tr.simulate(cmdp, tr.losses.make("sinusoid", cmdp, K), learner, K, trace=True)
    trace = run.trace
    assert trace is not None
    player = learner.start(cmdp, K)
    for k in range(K):
        np.testing.assert_allclose(player.policy(), trace.policies[k], rtol=0, atol=1e-12)
        np.testing.assert_allclose(player.dual, trace.dual[k], rtol=0, atol=1e-12)
        player.learn(Episode(k, trace.states[k], trace.actions[k], trace.costs[k], trace.loss_weights[k]))
        np.testing.assert_allclose(player.estimates, trace.values[k], rtol=0, atol=1e-11)
    np.testing.assert_allclose(player.last_policy, run.policy, rtol=0, atol=1e-12)
    np.testing.assert_allclose(player.last_dual, trace.dual[K], rtol=0, atol=1e-12)


def hand_played(cmdp, **changed) -> Episode:
    H = cmdp.horizon
    parts: dict[str, Any] = {
        "k": 0,
        "states": np.full(H + 1, 9),
        "actions": np.zeros(H, int),
        "costs": np.ones((H, 1)),
        "loss_weights": np.zeros((H, cmdp.dim)),
    }
    return Episode(**(parts | changed))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"states": np.arange(11) % 10}, r"the transition 0 -> 1 at step h=0, a=0 cannot happen"),
        ({"states": np.full(11, 10)}, r"states: .* wanted ints \[H\+1\] = \(11,\) in 0\.\.9"),
        ({"states": np.full(11, -1)}, "states"),
        ({"states": np.full(10, 9)}, "states"),
        ({"actions": np.full(10, 2)}, r"actions: .* in 0\.\.1"),
        ({"actions": np.full(10, 0.0)}, "actions"),
        ({"costs": np.ones(10)}, r"costs: shape \(10,\), wanted \[H, m\] = \(10, 1\)"),
        ({"costs": np.full((10, 1), np.nan)}, "costs: 10 of 10 entries are NaN"),
        ({"loss_weights": np.zeros((10, 3))}, r"loss_weights: shape \(10, 3\), wanted \[H, d\]"),
    ],
)
def test_an_episode_that_cannot_have_happened_is_refused_and_not_learnt(changed, told):
    cmdp = tr.problems.make("job-scheduling")
    player = tr.PDPO.practical(cmdp, 3).start(cmdp, 3)
    with pytest.raises(tr.InputError, match=told):
        player.learn(hand_played(cmdp, **changed))
    assert player.state.counters[0] == 0 and (player.world.gram == 1).all()
    player.learn(hand_played(cmdp))
    assert player.state.counters[0] == 1


def test_a_player_refuses_more_episodes_than_it_was_started_for():
    cmdp = tr.problems.make("job-scheduling")
    player = tr.PDPO.practical(cmdp, 2).start(cmdp, 2)
    for _ in range(2):
        player.learn(hand_played(cmdp))
    with pytest.raises(tr.InputError, match="started for 2 episodes"):
        player.learn(hand_played(cmdp))


EVEN = np.full((10, 10, 2), 0.5)


def changed(place, number):
    out = EVEN.copy()
    out[place] = number
    return out


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (EVEN[0], r"shape \(10, 2\), wanted \[H, S, A\] = \(10, 10, 2\)"),
        (changed((2, 3), 0.6), "row at step h=2, s=3 sums to 1.2, wanted 1"),
        (changed((2, 3), [-0.5, 1.5]), "-0.5 at step h=2, s=3, a=0, wanted probabilities"),
        (changed((2, 3), np.nan), "2 of 200 entries are NaN"),
        (None, "None, wanted an array of numbers"),
        ("uniform", "'uniform', wanted an array of numbers"),
    ],
)
def test_a_learner_that_shows_no_probabilities_is_refused_with_its_name_and_the_episode(shown, told):
    @dataclass(frozen=True)
    class Broken:
        def start(self, cmdp, episodes):
            return Told(shown)

    cmdp = tr.problems.make("job-scheduling")
    losses = tr.losses.make("fixed", cmdp, 4)
    with pytest.raises(tr.InputError, match=rf"^learner: Told\.policy\(\) in episode 0: .*{told}") as caught:
        tr.simulate(cmdp, losses, Broken(), 4)
    assert len(caught.value.problems) == 1


def test_rounding_errors_of_a_learner_are_forgiven():
    @dataclass(frozen=True)
    class Rounded:
        def start(self, cmdp, episodes):
            return Told(changed((0, 9), [1 + 1e-12, -1e-12]))

    cmdp = tr.problems.make("job-scheduling")
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 4), Rounded(), 4, trace=True)
    assert run.trace is not None and run.trace.policies.min() == 0.0


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (object(), "learner: object, wanted PDPO"),
        (None, "learner: NoneType"),
        (tr.PDPO, "learner: the class PDPO, wanted PDPO with its settings"),
        (type("Empty", (), {"start": lambda self, cmdp, episodes: None})(), r"Empty\.start gave None"),
    ],
)
def test_what_is_no_learner_is_refused(learner, told):
    cmdp = tr.problems.make("job-scheduling")
    with pytest.raises(tr.InputError, match=told):
        tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 4), learner, 4)


@pytest.mark.parametrize(
    ("attribute", "given", "told"),
    [
        ("dual", np.zeros(2), r"Told\.dual: shape \(2,\), wanted \[m\] = \(1,\)"),
        ("estimates", [np.nan, 0], "estimates"),
    ],
)
def test_what_a_player_says_of_itself_must_be_numbers_of_the_right_shape(attribute, given, told):
    class Says:
        def start(self, cmdp, episodes):
            player = Told(EVEN)
            setattr(player, attribute, given)
            return player

    cmdp = tr.problems.make("job-scheduling")
    with pytest.raises(tr.InputError, match=told):
        tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 4), Says(), 4)


def test_a_policy_is_asked_once_an_episode_and_once_after_the_last_also_when_an_adversary_watches():
    class Counting(Told):
        asked = 0

        def policy(self):
            Counting.asked += 1
            return EVEN

    class Counted:
        def start(self, cmdp, episodes):
            return Counting(EVEN)

    class Vandal(tr.losses.Adversary):
        def next(self, k, policy):
            policy[:] = -1.0  # what an adversary does to its copy is its own business
            return np.zeros((10, 20))

    cmdp = tr.problems.make("job-scheduling")
    run = tr.simulate(cmdp, Vandal(), Counted(), 7)
    assert Counting.asked == 8
    assert (np.asarray(run.policy) == 0.5).all()


def test_a_batch_counts_as_one_episode_and_is_learnt_from_in_full():
    """One update by the tables of before, then all of it enters them: the order inside a batch is no matter."""
    cmdp = tr.problems.make("random-linear", constraints=2)
    assert cmdp.loss_profiles is not None
    played = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 12), tr.PDPO.practical(cmdp, 12), 12, trace=True).trace
    assert played is not None
    batch = Episode(0, played.states, played.actions, played.costs, cmdp.loss_profiles[0])
    backwards = Episode(0, played.states[::-1], played.actions[::-1], played.costs[::-1], batch.loss_weights)
    single = Episode(0, played.states[0], played.actions[0], played.costs[0], batch.loss_weights)
    learner = tr.PDPO.practical(cmdp, 3)
    one, other, few = (learner.start(cmdp, 3) for _ in range(3))
    for player, episode in ((one, batch), (other, backwards), (few, single)):
        player.learn(episode)
    np.testing.assert_allclose(one.policy(), few.policy(), atol=1e-12)  # the update came before the tables grew
    for k in (1, 2):
        for player, episode in ((one, batch), (other, backwards), (few, single)):
            player.learn(Episode(k, episode.states, episode.actions, episode.costs, episode.loss_weights))
    np.testing.assert_allclose(one.policy(), other.policy(), atol=1e-10)
    assert np.abs(one.policy() - few.policy()).max() > 1e-3
    assert int(one.state.counters[0]) == 3
    assert one.world.gram[0].trace() - cmdp.dim == pytest.approx(
        sum(3 * (cmdp.features[s, a] ** 2).sum() for s, a in zip(played.states[:, 0], played.actions[:, 0]))
    )


def test_a_batch_from_two_first_states_or_with_an_impossible_transition_is_refused():
    cmdp = tr.problems.make("priced-jobs")
    assert cmdp.loss_profiles is not None
    states = np.array([[9] * 11, [9] * 11])
    rest = np.zeros((2, 10), int), np.ones((2, 10, 1)), cmdp.loss_profiles[0]
    player = tr.PDPO.practical(cmdp, 2).start(cmdp, 2)
    with pytest.raises(tr.InputError, match="begin in different states"):
        player.learn(Episode(0, np.array([[9] * 11, [8] * 11]), *rest))
    states[1, 5:] = 3
    with pytest.raises(tr.InputError, match=r"number 1 of the batch: the transition 9 -> 3 at step h=4, a=0"):
        player.learn(Episode(0, states, *rest))
