"""Every kind of losses by its definition, and what cannot be losses refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tightrope as tr

CMDP = tr.problems.make("job-scheduling")
assert CMDP.loss_profiles is not None
TWO = CMDP.loss_profiles  # [2, H, d]
THREE = np.concatenate([TWO, TWO.mean(axis=0, keepdims=True)])


def made(kind: str, episodes: int, **given: Any) -> tr.losses.Profiles:
    losses = tr.losses.make(kind, CMDP, episodes, **given)
    assert isinstance(losses, tr.losses.Profiles) and losses.episodes == episodes
    return losses


def test_drift_goes_from_nine_tenths_of_the_first_profile_to_none_as_in_the_paper():
    """In each of ten blocks the count of profile 0 lies within 4.5 standard deviations of the paper's probabilities."""
    K = 50_000
    share = np.array([0.9 - 0.9 * (k - 1) / (K - 1) for k in range(1, K + 1)])
    assert share[-1] == pytest.approx(0.0, abs=1e-12) and share[0] == 0.9
    for seed in range(3):
        first = made("drift", K, seed=seed).sequence == 0
        for block in np.split(np.arange(K), 10):
            spread = math.sqrt((share[block] * (1 - share[block])).sum())
            assert abs(first[block].sum() - share[block].sum()) <= 4.5 * spread
        assert not first[-1]
    assert (made("drift", 1).sequence < 2).all()


def test_drift_is_drawn_from_its_seed_alone_and_not_from_the_draws_of_a_run():
    same, other = made("drift", 1000, seed=7).sequence, made("drift", 1000, seed=8).sequence
    assert np.array_equal(same, made("drift", 1000, seed=np.int64(7)).sequence)
    assert not np.array_equal(same, other)
    play = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(1,))).random(1000)
    share = 0.9 - 0.9 * np.arange(1000) / 999
    assert not np.array_equal(same, (play >= share).astype(int))


@pytest.mark.parametrize("profiles", [TWO, THREE, TWO[:1]])
def test_alternating_takes_the_profiles_in_turn(profiles):
    losses = made("alternating", 11, profiles=profiles)
    assert losses.sequence.tolist() == [k % len(profiles) for k in range(11)]
    assert np.array_equal(losses.profiles, profiles)


@pytest.mark.parametrize("period", [1, 3, 100])
def test_switching_takes_the_next_profile_every_period(period):
    losses = made("switching", 20, profiles=THREE, period=period)
    assert losses.sequence.tolist() == [k // period % 3 for k in range(20)]
    assert tr.losses.parameters("switching") == {"period": 2000}


@pytest.mark.parametrize(("episodes", "period"), [(50, 8), (50, 1000), (7, 7), (3, 1)])
def test_sinusoid_weighs_two_profiles_by_a_cosine(episodes, period):
    losses = made("sinusoid", episodes, period=period)
    for k in range(episodes):
        share = 0.5 * (1 + math.cos(2 * math.pi * k / period))
        wanted = share * TWO[0] + (1 - share) * TWO[1]
        np.testing.assert_allclose(losses.profiles[losses.sequence[k]], wanted, atol=1e-12)


def test_fixed_is_one_profile_for_ever():
    assert made("fixed", 5).sequence.tolist() == [0] * 5
    assert made("fixed", 5, profile=1).sequence.tolist() == [1] * 5


def test_the_mean_is_the_average_over_the_first_episodes():
    losses = made("drift", 300, seed=2)
    for n in (1, 17, 300):
        np.testing.assert_allclose(losses.mean(n), TWO[losses.sequence[:n]].mean(axis=0), atol=1e-12)


def test_best_response_hurts_most_and_prefers_the_first_of_equals():
    random = np.random.default_rng(1)
    tables = random.random((3, CMDP.horizon, CMDP.dim))
    adversary = tr.losses.make("best-response", CMDP, 10, profiles=np.concatenate([tables, tables]))
    assert isinstance(adversary, tr.losses.BestResponse)
    adversary.start(CMDP, 10)
    chosen = set()
    for k in range(20):
        policy = random.dirichlet([0.3, 0.3], size=(CMDP.horizon, CMDP.n_states))
        values = [tr.oracle.start_value(CMDP, policy, w) for w in tables]
        hurts = int(np.argmax(values))
        assert np.array_equal(adversary.next(k, policy), tables[hurts])
        chosen.add(hurts)
    assert len(chosen) > 1


def test_losses_say_how_they_were_made_in_plain_words():
    about = made("switching", 9, seed=np.int64(3), period=np.int64(4)).about
    assert about == {"kind": "switching", "seed": 3, "period": 4}
    assert {type(about[key]) for key in ("seed", "period")} == {int}
    mine = made("fixed", 9, profiles=TWO).about
    assert set(mine) == {"kind", "seed", "profile", "profiles"}
    assert mine["profiles"] != made("fixed", 9, profiles=THREE).about["profiles"]


def test_losses_do_not_change_when_what_they_were_made_from_does():
    profiles, sequence = TWO.copy(), np.array([0, 1, 0])
    losses = tr.losses.Profiles(profiles, sequence)
    profiles[:], sequence[:] = 9.0, 1
    assert np.array_equal(losses.profiles, TWO) and losses.sequence.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="read-only"):
        losses.profiles[0, 0, 0] = 1.0


OVER = TWO.copy()
OVER[1, 2, 3] = 1.5
HOLED = TWO.copy()
HOLED[0, 0, 0] = np.nan


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("switching", {"period": 0}, "period: 0, wanted a whole number from 1 up"),
        ("switching", {"period": 2.5}, "period: 2.5, wanted a whole number"),
        ("sinusoid", {"period": -3}, "period: -3, wanted a whole number"),
        ("sinusoid", {"period": "fast"}, "period: 'fast', wanted a whole number"),
        ("sinusoid", {"period": 10**9, "episodes": 10**9}, "wanted a shorter period"),
        ("fixed", {"profile": 2}, "profile: 2, wanted one of the 2 profiles 0..1"),
        ("fixed", {"profile": -1}, "profile: -1, wanted a whole number from 0 up"),
        ("drift", {"profiles": TWO[:1]}, "profiles: 1, wanted at least 2 for losses of kind 'drift'"),
        ("sinusoid", {"profiles": TWO[0]}, "profiles: 1, wanted at least 2"),
        ("fixed", {"profiles": OVER}, "profiles[1]: loss 1.5 at step h=2, s=1, a=1 is outside [0, 1]"),
        ("fixed", {"profiles": -TWO}, "is outside [0, 1]"),
        ("fixed", {"profiles": HOLED}, "profiles: contains NaN or infinity"),
        ("fixed", {"profiles": TWO[:, :4]}, "profiles: shape (2, 4, 20), wanted [L, H, d] = (L, 10, 20)"),
        ("fixed", {"profiles": np.zeros((0, 10, 20))}, "profiles: shape (0, 10, 20), wanted [L, H, d]"),
        ("fixed", {"profiles": "cheap"}, "profiles: wanted an array of numbers"),
        ("fixed", {"episodes": 0}, "episodes: 0, wanted a whole number from 1 up"),
        ("fixed", {"seed": -1}, "seed: -1, wanted a whole number from 0 up"),
        ("fixed", {"seed": 1.5}, "seed: 1.5"),
        ("switching", {"perod": 4}, "losses 'switching' have no parameter 'perod'; did you mean 'period'?"),
        ("alternating", {"period": 4}, "losses 'alternating' have no parameter 'period'"),
        ("driff", {}, "unknown losses 'driff'; did you mean 'drift'?"),
    ],
)
def test_what_cannot_be_losses_is_refused_in_one_line(kind, given, told):
    with pytest.raises(tr.InputError) as caught:
        tr.losses.make(kind, CMDP, **{"episodes": 10} | given)
    assert told in str(caught.value) and len(caught.value.problems) == 1


def test_every_mistake_has_its_line_and_missing_profiles_are_one():
    bare = tr.LinearCMDP(CMDP.feature_table, CMDP.kernel_table, CMDP.cost_weights, CMDP.budgets, 9)
    with pytest.raises(tr.InputError) as caught:
        tr.losses.make("fixed", bare, 0, seed=-1, profil=1)
    starts = [line.split(":")[0] for line in caught.value.problems]
    assert starts == [
        "losses 'fixed' have no parameter 'profil'; did you mean 'profile'?",
        "episodes",
        "seed",
        "profiles",
    ]


@pytest.mark.parametrize(
    ("profiles", "sequence", "told"),
    [
        (TWO, [0, 2], "sequence: 2 is not one of the 2 profiles 0..1"),
        (TWO, [0, -1], "sequence: -1 is not one"),
        (TWO, [], "wanted ints [K] with K >= 1"),
        (TWO, [0.0, 1.0], "sequence: float64 of shape (2,), wanted ints [K]"),
        (TWO, [[0]], "shape (1, 1), wanted ints [K]"),
        (TWO, [[0], [0, 1]], "sequence: rows of different lengths, wanted ints [K]"),
        (HOLED, [0], "profiles: contains NaN"),
    ],
)
def test_a_sequence_names_profiles_that_are_there(profiles, sequence, told):
    with pytest.raises(tr.InputError) as caught:
        tr.losses.Profiles(profiles, sequence)
    assert told in str(caught.value)


class Says(tr.losses.Adversary):
    """An adversary that always says the same."""

    def __init__(self, said: Any):
        self.said = said

    def next(self, k, policy):
        return self.said


@pytest.mark.parametrize(
    ("losses", "told"),
    [
        (tr.losses.Profiles(TWO, np.zeros(9, int)), "losses: a sequence of 9 episodes, wanted at least episodes = 10"),
        (tr.losses.Profiles(OVER, np.zeros(10, int)), "losses: profiles[1]: loss 1.5"),
        (tr.losses.Profiles(TWO[:, :, :5], np.zeros(10, int)), "wanted [L, H, d] = (L, 10, 20)"),
        (tr.losses.BestResponse(OVER), "losses: profiles[1]: loss 1.5"),
        (Says(OVER[1]), "losses: Says.next(0): loss 1.5 at step h=2, s=1, a=1 is outside [0, 1]"),
        (Says(HOLED[0]), "losses: Says.next(0): 1 of 200 entries are NaN or infinite"),
        (Says(TWO), "losses: Says.next(0): shape (2, 10, 20), wanted [H, d] = (10, 20)"),
        (Says(None), "losses: Says.next(0): None, wanted an array of numbers"),
        (Says("dear"), "losses: Says.next(0): 'dear', wanted an array of numbers"),
        (TWO, "losses: ndarray, wanted Profiles, an Adversary or what losses.make returns"),
        (None, "losses: NoneType, wanted Profiles"),
    ],
)
def test_a_run_refuses_losses_that_do_not_fit_its_problem(losses, told):
    with pytest.raises(tr.InputError) as caught:
        tr.simulate(CMDP, losses, tr.PDPO.practical(CMDP, 10), 10)
    assert told in str(caught.value) and len(caught.value.problems) == 1


@pytest.mark.parametrize("given", ["job-scheduling", None])
def test_the_name_of_a_problem_is_not_taken_for_the_problem(given):
    told = f"cmdp: {given!r}, wanted a LinearCMDP"
    with pytest.raises(tr.InputError, match=told):
        tr.losses.make("fixed", given, 10)
    with pytest.raises(tr.InputError, match=told):
        tr.simulate(given, made("fixed", 10), tr.PDPO.practical(CMDP, 10), 10)
