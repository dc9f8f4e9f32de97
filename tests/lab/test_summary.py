"""The numbers of a summary, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from tightrope.lab.summary import band, slope, zero_crossing


def test_the_band_is_student_s_interval():
    curves = np.array([[1.0], [2.0], [3.0], [4.0]])
    found = band(curves)
    assert found.mean[0] == 2.5
    # t quantile 0.975 with 3 degrees of freedom is 3.182446 (tables); s = 1.290994, n = 4.
    assert found.half[0] == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-6)


def test_one_seed_has_a_band_of_no_width():
    found = band(np.array([[1.0, 5.0]]))
    assert found.half.tolist() == [0.0, 0.0]


def test_a_power_law_has_its_own_slope_whatever_comes_before_the_last_decade():
    episodes = np.arange(10, 10_001, 10)
    curve = np.array(3.0 * episodes**0.62, float)
    curve[episodes < 1000] = 1e6
    assert slope(episodes, curve) == pytest.approx(0.62, abs=1e-10)


def test_there_is_no_slope_of_a_curve_that_is_not_positive():
    episodes = np.arange(1, 101)
    assert slope(episodes, np.linspace(-1, 1, 100)) is None
    assert slope(np.array([5]), np.array([1.0])) is None


def test_the_last_way_down_is_the_crossing():
    episodes = np.array([10, 20, 30, 40, 50])
    assert zero_crossing(episodes, np.array([1.0, -1.0, 2.0, -6.0, -7.0])) == pytest.approx(32.5)
    assert zero_crossing(episodes, np.array([1.0, 2.0, 3.0, 4.0, 5.0])) is None
    assert zero_crossing(episodes, np.array([-1.0, 2.0, 3.0, 0.0, -5.0])) == pytest.approx(40.0)
