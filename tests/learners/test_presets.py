"""The presets are the formulas of the paper, typed a second time; and settings that cannot be are refused, one line each."""

from __future__ import annotations

import dataclasses
from math import ceil, log, nan, sqrt
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners import Sizes

CASES = [(1, 2, 2, 1), (400, 4, 6, 6), (100_000, 2, 20, 10), (3_000_000, 7, 33, 3)]  # K, A, d, H


@pytest.mark.parametrize(("K", "A", "d", "H"), CASES)
@pytest.mark.parametrize("delta", [0.1, 0.003])
def test_theory_is_the_input_line_of_algorithm_1(K, A, d, H, delta):
    s = tr.PDPO.theory(Sizes(n_actions=A, horizon=H, dim=d), K, delta=delta)
    beta_b = 2 * sqrt(2 * d * log(6 * K * H / delta)) + 50 * (K ** (1 / 4) + 1) * d * H * sqrt(
        log(5 * H**2 * K**2 * A / delta)
    )
    assert s.beta_b == pytest.approx(beta_b, rel=1e-14)
    assert s.beta_w == pytest.approx(4 * beta_b * log(K), rel=1e-14)
    assert s.alpha == pytest.approx(H**-1 * K ** (-3 / 4), rel=1e-14)
    assert s.eta == pytest.approx(H**-2 * K ** (-3 / 4), rel=1e-14)
    assert s.theta == pytest.approx(K**-1, rel=1e-14)
    assert_derived(s, H)
    assert (s.restart, s.contraction_offset) == ("paper", pytest.approx(log(K)))


def assert_derived(s: tr.PDPO, H: int) -> None:
    """Line 27: (1 - 4 alpha eta H^3) Y + eta (V - b - 4 alpha H^3 - 4 theta H^2)."""
    assert s.dual_decay == pytest.approx(4 * s.alpha * s.eta * H**3, rel=1e-14)
    assert s.dual_drift == pytest.approx(s.eta * 4 * s.alpha * H**3 + s.eta * 4 * s.theta * H**2, rel=1e-14)


@pytest.mark.parametrize(("K", "A", "d", "H"), CASES)
def test_experiment_is_the_numerical_section(K, A, d, H):
    s = tr.PDPO.experiment(Sizes(n_actions=A, horizon=H, dim=d), K)
    assert (s.alpha, s.beta_b) == (0.1, pytest.approx(K ** (1 / 4)))
    assert s.beta_w == pytest.approx(K ** (1 / 4) * log(K))
    assert (s.eta, s.theta) == (pytest.approx(H**-2 * K ** (-3 / 4)), pytest.approx(1 / K))
    assert_derived(s, H)


@pytest.mark.parametrize(
    ("K", "period"), [(1, 1), (16, 8), (17, 9), (10_000, 1000), (10_001, 1001), (100_000, 5624), (10**8, 10**6)]
)
def test_the_mixing_period_is_the_power_three_quarters_of_k_rounded_up_but_for_rounding_errors(K, period):
    for preset in ("theory", "experiment", "practical"):
        assert tr.learners.make("pdpo", Sizes(2, 10, 20), K, preset).mixing_period == period
    assert ceil(K**0.75 - 1e-6) == period


@pytest.mark.parametrize(("K", "A", "d", "H"), CASES)
def test_practical_has_large_steps_wins_back_what_was_overspent_and_has_neither_drift_nor_decay_nor_resets(K, A, d, H):
    s = tr.PDPO.practical(Sizes(n_actions=A, horizon=H, dim=d), K)
    assert s.alpha == pytest.approx(64 * sqrt(log(A)) / (H * sqrt(K)))
    assert s.eta == pytest.approx(64 / (H * sqrt(K)))
    assert (s.beta_b, s.beta_w) == (0.02, pytest.approx(0.02 * log(K)))
    assert (s.dual_decay, s.dual_drift, s.restart) == (0.0, 0.0, "warm")
    assert (s.tighten, s.guard) == (pytest.approx(100 * sqrt(K)), 0.0)
    assert s.optimism == pytest.approx(max(1.0, 125 / H))


def test_what_is_derived_follows_an_override_and_can_be_overridden_itself():
    sizes, K, H = Sizes(2, 10, 20), 5000, 10
    for preset, width in (("theory", 4), ("experiment", 1)):
        s = tr.learners.make("pdpo", sizes, K, preset, beta_b=0.3, alpha=0.01, eta=0.02, theta=0.5)
        assert s.beta_w == pytest.approx(width * 0.3 * log(K))
        assert (s.dual_decay, s.dual_drift) == (
            pytest.approx(4 * 0.01 * 0.02 * H**3),
            pytest.approx(0.02 * (4 * 0.01 * H**3 + 4 * 0.5 * H**2)),
        )
        s = tr.learners.make("pdpo", sizes, K, preset, beta_b=0.3, beta_w=7, dual_decay=0, dual_drift=0.25)
        assert (s.beta_w, s.dual_decay, s.dual_drift) == (7.0, 0.0, 0.25)
    s = tr.PDPO.practical(sizes, K, alpha=0.5, beta_b=2.0)
    assert (s.beta_w, s.dual_decay, s.dual_drift) == (pytest.approx(2 * log(K)), 0.0, 0.0)


def test_replace_derives_nothing():
    s = tr.PDPO.experiment(Sizes(2, 10, 20), 5000)
    assert dataclasses.asdict(s.replace(alpha=1.0)) == dataclasses.asdict(s) | {"alpha": 1.0}


def test_a_problem_and_its_sizes_give_the_same_settings():
    cmdp = tr.problems.make("random-linear")
    sizes = Sizes(cmdp.n_actions, cmdp.horizon, cmdp.dim)
    for preset in ("theory", "experiment", "practical"):
        assert tr.learners.make("pdpo", cmdp, 700, preset) == tr.learners.make("pdpo", sizes, 700, preset)


GOOD = {"alpha": 0.1, "eta": 0.1, "theta": 0.1, "beta_b": 0.1, "beta_w": 0.1, "mixing_period": 3}


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"alpha": nan}, "alpha: nan, wanted a number from 0 up"),
        ({"alpha": -0.1}, "alpha: -0.1, wanted a number from 0 up"),
        ({"eta": float("inf")}, "eta: inf, wanted a number from 0 up"),
        ({"eta": "0.1"}, "eta: '0.1', wanted a number from 0 up"),
        ({"beta_b": None}, "beta_b: None, wanted a number from 0 up"),
        ({"beta_w": True}, "beta_w: True, wanted a number from 0 up"),
        ({"beta_w": 10**400}, r"beta_w: 10+, wanted a number from 0 up"),
        ({"theta": 1.5}, r"theta: 1.5, wanted a number in \[0, 1\]"),
        ({"mixing_period": 0}, "mixing_period: 0, wanted a whole number from 1 up"),
        ({"mixing_period": 2.0}, "mixing_period: 2.0, wanted a whole number from 1 up"),
        ({"dual_decay": -1}, "dual_decay: -1, wanted a number from 0 up"),
        ({"dual_drift": nan}, "dual_drift: nan"),
        ({"contraction_offset": nan}, "contraction_offset: nan, wanted a number"),
        ({"tighten": -1}, "tighten: -1, wanted a number from 0 up"),
        ({"guard": nan}, "guard: nan"),
        ({"restart": "cold"}, "restart: 'cold', wanted 'paper' or 'warm'"),
        ({"restart": None}, "restart: None, wanted 'paper' or 'warm'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_one_line(bad, told):
    with pytest.raises(tr.InputError, match=f"^{told}") as caught:
        tr.PDPO(**GOOD | bad)
    assert len(caught.value.problems) == 1


def test_every_wrong_setting_has_its_line():
    with pytest.raises(tr.InputError) as caught:
        tr.PDPO(**GOOD | {"alpha": -1.0, "theta": 2.0, "restart": "never"})
    assert [line.split(":")[0] for line in caught.value.problems] == ["alpha", "theta", "restart"]


@pytest.mark.parametrize("make", [tr.PDPO.theory, tr.PDPO.experiment, tr.PDPO.practical])
def test_presets_refuse_what_the_settings_refuse_and_names_that_are_none(make):
    sizes = Sizes(2, 10, 20)
    for given, told in (
        ({"episodes": 0}, "episodes: 0, wanted a whole number from 1 up"),
        ({"episodes": 10.0}, "episodes: 10.0"),
        ({"episodes": 10, "alpha": "x"}, "alpha: 'x', wanted a number"),
        ({"episodes": 10, "beta_b": -1.0}, "beta_b: -1.0"),
        ({"episodes": 10, "alfa": 1.0}, "alfa: not a setting of PDPO; did you mean 'alpha'?"),
        ({"episodes": 10, "mixing_perod": 1.0}, "did you mean 'mixing_period'?"),
    ):
        with pytest.raises(tr.InputError) as caught:
            make(sizes, **given)
        assert told in str(caught.value) and len(caught.value.problems) == 1


@pytest.mark.parametrize("delta", [0, 1, -0.5, nan, "0.1", None])
def test_delta_lies_between_0_and_1(delta):
    with pytest.raises(tr.InputError, match=r"^delta: .* wanted a number between 0 and 1"):
        tr.PDPO.theory(Sizes(2, 10, 20), 10, delta=delta)


def test_learners_are_found_by_name_with_the_nearest_suggested():
    sizes = Sizes(2, 10, 20)
    assert "pdpo" in tr.learners.names()
    assert tr.learners.make("pdpo", sizes, 50) == tr.PDPO.practical(sizes, 50)
    assert tr.learners.make("pdpo", sizes, 50, "theory", delta=0.01) == tr.PDPO.theory(sizes, 50, delta=0.01)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"name": "pdop"}, "unknown learner 'pdop'; did you mean 'pdpo'?"),
        ({"name": "pdpo", "preset": "teory"}, "preset: unknown 'teory'; did you mean 'theory'?"),
        ({"name": "pdpo", "etta": 1.0}, "etta: not a setting of 'pdpo'; did you mean 'eta'?"),
        ({"name": "pdpo", "delta": 0.1}, "delta: only preset 'theory' has it"),
    ]
    for arguments, told in wrong:
        with pytest.raises(tr.InputError) as caught:
            tr.learners.make(arguments.pop("name"), sizes, 50, **arguments)
        assert str(caught.value) == told


def test_numpy_numbers_are_settings_as_good_as_any():
    numbers = {"alpha": np.float32(0.5), "eta": np.int64(2), "mixing_period": np.int32(3)}
    s = tr.PDPO(**GOOD | numbers)
    assert s == tr.PDPO(**GOOD | {"alpha": 0.5, "eta": 2.0, "mixing_period": 3})
    assert {type(s.alpha), type(s.eta)} == {float} and type(s.mixing_period) is int


def test_the_dual_is_enforced_only_above_the_drift():
    H, budgets = 10, np.array([5.6])
    s = tr.PDPO.experiment(Sizes(2, H, 20), 100_000)
    above = 4 * s.alpha * H**3 + 4 * s.theta * H**2
    assert s.enforced_budgets(budgets) == pytest.approx(budgets + above)
    assert above > H  # in the paper's experiment the dual is inert
    assert tr.PDPO.practical(Sizes(2, H, 20), 100_000).enforced_budgets(budgets) == pytest.approx(budgets)
    assert np.isinf(s.replace(eta=0.0).enforced_budgets(budgets)).all()
