"""Dynamic regret: one stretch is regret again, shorter stretches ask for more, and equal losses are one stretch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import tightrope as tr

CMDP = tr.problems.make("priced-jobs")
K = 600


@pytest.fixture(scope="module")
def drifting():
    losses = tr.losses.make("drift", CMDP, K)
    return losses, tr.simulate(CMDP, losses, tr.PDPO.practical(CMDP, K), K, record_every=1)


def test_one_stretch_of_all_episodes_is_regret(drifting):
    losses, run = drifting
    np.testing.assert_allclose(run.dynamic_regret(losses, stretch=K), run.regret, atol=1e-6)


def test_shorter_stretches_ask_for_more_at_the_end(drifting):
    losses, run = drifting
    ends = [run.dynamic_regret(losses, stretch)[-1] for stretch in (K, 200, 50, 10, 1)]
    assert all(longer < shorter for longer, shorter in pairwise(ends))


def test_of_each_episode_it_is_the_sum_of_the_best_values_of_their_losses(drifting):
    losses, run = drifting
    best = np.array([tr.oracle.best_policy(CMDP, profile).value for profile in losses.profiles])
    np.testing.assert_allclose(run.dynamic_regret(losses), run.loss - np.cumsum(best[losses.sequence]), atol=1e-8)


def test_under_losses_that_stay_there_is_nothing_to_follow():
    losses = tr.losses.make("fixed", CMDP, 50)
    assert isinstance(losses, tr.losses.Profiles)
    run = tr.simulate(CMDP, losses, tr.PDPO.practical(CMDP, 50), 50)
    np.testing.assert_allclose(run.dynamic_regret(losses), run.regret, atol=1e-6)


def test_what_cannot_be_compared_is_refused(drifting):
    losses, run = drifting
    with pytest.raises(tr.InputError, match=r"^losses: a sequence of 10 episodes, wanted those of the run, 600"):
        run.dynamic_regret(tr.losses.Profiles(losses.profiles, losses.sequence[:10]))
    with pytest.raises(tr.InputError, match=r"^stretch: 0, wanted a whole number from 1 up"):
        run.dynamic_regret(losses, stretch=0)
