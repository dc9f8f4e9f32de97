"""Every feature map keeps its rows within length 1 because of what it is, wherever in the space one looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope as tr

LOW, HIGH = [-2.0, 0.0, 10.0], [3.0, 0.5, 11.0]
MAPS = {
    "fourier": lambda: tr.features.Fourier(2, LOW, HIGH, order=3),
    "all of fourier": lambda: tr.features.Fourier(2, LOW, HIGH, order=2, most=6),
    "random fourier": lambda: tr.features.RandomFourier(2, LOW, HIGH, size=24),
    "polynomial": lambda: tr.features.Polynomial(2, LOW, HIGH, degree=3),
    "tiles": lambda: tr.features.TileCoding(2, LOW, HIGH, tiles=[3, 2, 4], tilings=5),
    "one grid": lambda: tr.features.TileCoding(2, LOW, HIGH, tiles=3, tilings=1),
}


@pytest.mark.parametrize("name", MAPS)
@settings(deadline=None, max_examples=60)
@given(x=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_no_row_is_longer_than_one_anywhere(name, x):
    features = MAPS[name]()
    block = features(x)
    assert block.shape == (2, features.dim)
    norms = np.linalg.norm(block, axis=1)
    assert norms.max() <= 1 + 1e-12
    assert np.array_equal(block[0, : features.size], block[1, features.size :])  # a block for each action
    assert not block[0, features.size :].any() and not block[1, : features.size].any()
    if name in ("tiles", "one grid", "random fourier"):
        np.testing.assert_allclose(norms, 1.0, rtol=1e-12)


def test_fourier_features_are_the_cosines_of_the_book():
    features = tr.features.Fourier(1, [0.0], [2.0], order=2)
    np.testing.assert_allclose(features([0.5])[0] * math.sqrt(3), [1.0, math.cos(math.pi / 4), math.cos(math.pi / 2)])


def test_polynomial_features_are_the_monomials():
    features = tr.features.Polynomial(1, [-1.0, -1.0], [1.0, 1.0], degree=2)
    assert sorted(map(tuple, features.exponents)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    x, y = 0.5, -0.3
    wanted = sorted([1, y, y * y, x, x * y, x * x])
    np.testing.assert_allclose(sorted(features([x, y])[0] * math.sqrt(6)), wanted)


def test_random_fourier_features_come_near_the_gaussian_kernel():
    features = tr.features.RandomFourier(1, [0.0, 0.0], [1.0, 1.0], size=20_000, width=0.4, seed=3)
    x, y = np.array([0.2, 0.9]), np.array([0.5, 0.6])
    wanted = math.exp(-float((x - y) @ (x - y)) / (2 * 0.4**2))
    assert features(x)[0] @ features(y)[0] == pytest.approx(wanted, abs=0.02)


def test_tiles_are_shared_by_neighbours_and_not_by_strangers():
    features = tr.features.TileCoding(1, [0.0], [1.0], tiles=5, tilings=4)
    near = features([0.500])[0] @ features([0.56])[0]
    assert 0.25 <= near < 1.0
    assert features([0.1])[0] @ features([0.9])[0] == 0.0
    assert np.count_nonzero(features([0.3])[0]) == 4


def test_one_hot_features_are_a_coordinate_each():
    features = tr.features.OneHot(3, 4, start=1)
    assert np.array_equal(np.argmax(features(2), axis=1), [1, 5, 9])
    for wrong in (0, 5, 1.5, "a", True):
        with pytest.raises(tr.InputError, match=r"wanted a state in 1\.\.4"):
            features(wrong)


def test_a_function_of_ones_own_is_scaled_by_its_bound_and_held_to_it():
    features = tr.features.Custom(2, lambda x: [x, 1.0], size=2, bound=math.sqrt(2))
    assert np.linalg.norm(features(1.0)[0]) == pytest.approx(1.0)
    with pytest.raises(tr.InputError, match="above its bound"):
        features(1.5)
    with pytest.raises(tr.InputError, match=r"shape \(3,\)"):
        tr.features.Custom(2, lambda x: [1, 2, 3], size=2, bound=9)(0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: f.Fourier(2, [0.0], [0.0]), "wanted low below high"),
        (lambda f: f.Fourier(2, [0.0, 0.0], [1.0]), "wanted two of the same size"),
        (lambda f: f.Fourier(2, [0.0], [np.inf]), "not finite in dimension"),
        (lambda f: f.Fourier(2, [0.0] * 9, [1.0] * 9, order=9, most=81), "wanted at most 20,000"),
        (lambda f: f.Fourier(2, [0.0], [1.0], order=-1), "order: -1"),
        (lambda f: f.RandomFourier(2, [0.0], [1.0], size=5), "wanted an even number"),
        (lambda f: f.RandomFourier(2, [0.0], [1.0], width=0), "wanted a number above 0"),
        (lambda f: f.TileCoding(2, [0.0], [1.0], tiles=[2, 2]), "wanted a whole number or 1"),
        (lambda f: f.TileCoding(2, [0.0] * 6, [1.0] * 6, tiles=9), "wanted at most 100,000"),
        (lambda f: f.Polynomial(0, [0.0], [1.0]), "n_actions: 0"),
        (lambda f: f.Custom(1, lambda x: x, 1, 0.0), "bound: 0.0"),
        (lambda f: f.Custom(1, lambda x: x, 1, True), "bound: True"),
        (lambda f: f.Fourier(2, [], []), "of no dimension"),
        (lambda f: f.OneHot(2, 4, start=1.5), "start: 1.5"),
    ],
)
def test_what_cannot_be_a_map_is_refused(make, said):
    with pytest.raises(tr.InputError, match=said):
        make(tr.features)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    "obs", [[1.0], [1.0, np.nan, 2.0], "abc", None, {"x": 1.0}, ([1, 2], [3]), ["1", "2", "3"], [1j] * 3]
)
def test_an_observation_that_does_not_fit_is_refused(name, obs):
    with pytest.raises(tr.InputError, match="observation: "):
        MAPS[name]()(obs)


def test_a_box_as_wide_as_floats_go_is_refused_and_one_nearly_so_is_not():
    with pytest.raises(tr.InputError, match="further apart than 2e"):
        tr.features.Fourier(1, [-1.7e308], [1.7e308])
    features = tr.features.Fourier(1, [-9e299], [9e299])
    for x in (-1.7e308, 0.0, 1.7e308):
        assert 0 < np.linalg.norm(features([x])) <= 1 + 1e-12


def test_spaces_become_maps():
    gymnasium = pytest.importorskip("gymnasium")
    spaces = gymnasium.spaces
    assert tr.features.for_space(spaces.Discrete(5, start=2), spaces.Discrete(3)).dim == 15
    box = spaces.Box(np.array([0.0, -1.0]), np.array([1.0, 1.0]), dtype=np.float64)
    for kind in tr.features.names():
        features = tr.features.for_space(box, 2, kind)
        assert np.linalg.norm(features(box.sample()), axis=1).max() <= 1 + 1e-12
    assert tr.features.for_space(box, 2, "tiles", tiles=2, tilings=1).size == 4
    endless = spaces.Box(-np.inf, np.inf, (2,))
    with pytest.raises(tr.InputError, match=r"without bounds in dimension \[0, 1\]"):
        tr.features.for_space(endless, 2)
    assert tr.features.for_space(endless, 2, low=-3, high=3).dim > 0
    for more, said in (
        ({"kind": "furier"}, "did you mean 'fourier'"),
        ({"degre": 2, "kind": "polynomial"}, "did you mean 'degree'"),
    ):
        with pytest.raises(tr.InputError, match=said):
            tr.features.for_space(box, 2, **more)
    others = (spaces.MultiDiscrete([2, 2]), spaces.MultiBinary(3), spaces.MultiBinary([2, 2]))
    for other in (*others, spaces.Dict(a=box), spaces.Tuple((box,)), spaces.Text(3), None):
        with pytest.raises(tr.InputError, match="wanted a Discrete or a Box"):
            tr.features.for_space(other, 2)
    with pytest.raises(tr.InputError, match="n_actions: MultiBinary"):
        tr.features.for_space(box, spaces.MultiBinary(3))
    more: Any
    for more, said in (
        ({"low": [0, 0, 0]}, r"low: shape \(3,\), wanted a number or the shape \(2,\)"),
        ({"high": "x"}, "high: 'x'"),
        ({"kind": ["fourier"]}, "kind: unknown"),
    ):
        with pytest.raises(tr.InputError, match=said):
            tr.features.for_space(box, 2, **more)
    for more, said in (({"high": 1}, "high: a discrete space has one-hot"), ({"kind": "foo"}, "kind: unknown 'foo'")):
        with pytest.raises(tr.InputError, match=said):
            tr.features.for_space(spaces.Discrete(3), 2, **more)
    with pytest.raises(tr.InputError, match="one-hot features, which have no parameters"):
        tr.features.for_space(spaces.Discrete(3), 2, order=2)
