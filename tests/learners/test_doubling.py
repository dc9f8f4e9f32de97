"""Without a number of episodes: the settings of the next power of two, and nothing forgotten when they change."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners.doubling import FIRST, Doubling, horizon_at

CMDP = tr.problems.make("priced-jobs")


def test_the_settings_are_those_of_the_next_power_of_two():
    assert [horizon_at(k) for k in (0, 999, 1000, 1999, 2000, 4000, 100_000)] == [
        *(1000, 1000, 2000, 2000, 4000, 8000, 128_000)
    ]
    learner = tr.PDPO.practical(CMDP, None, beta_b=0.1)
    assert isinstance(learner, Doubling)
    assert learner.settings_at(2500) == tr.PDPO.practical(CMDP, 4000, beta_b=0.1)
    assert pickle.loads(pickle.dumps(learner)) == learner
    assert learner == tr.learners.make("pdpo", CMDP, None, beta_b=0.1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(tr.InputError, match="did you mean 'alpha'"):
        tr.PDPO.practical(CMDP, None, alhpa=1.0)


def test_the_first_stretch_is_a_run_with_its_settings_and_strides_change_nothing():
    losses = tr.losses.make("alternating", CMDP, 3 * FIRST)
    unknown, known = tr.PDPO.practical(CMDP, None), tr.PDPO.practical(CMDP, FIRST)
    long = tr.simulate(CMDP, losses, unknown, 3 * FIRST, record_every=1)
    short = tr.simulate(CMDP, losses, known, FIRST, record_every=1)
    assert np.array_equal(long.dual[:FIRST], short.dual)
    assert long.about["learner"]["episodes"] == "doubling from 1000"
    from tightrope.simulation import Simulation

    cut = Simulation(CMDP, losses, unknown, 3 * FIRST, record_every=1)
    for n in (700, 700, 1600):
        cut.advance(n)
    assert np.array_equal(cut.finish().dual, long.dual)
    assert np.abs(long.dual[FIRST + 1 :]).max() > 0.0 and long.dual[FIRST, 0] > 0.0  # the dual lives on


def test_not_knowing_k_costs_little():
    K = 6 * FIRST  # in the middle of a stretch
    losses = tr.losses.make("alternating", CMDP, K)
    for learner in (tr.PDPO.practical(CMDP, None), tr.PDPO.practical(CMDP, K)):
        run = tr.simulate(CMDP, losses, learner, K)
        assert max(run.regret[-1], 0.0) + max(run.violation[-1, 0], 0.0) <= 0.02 * 10 * K
