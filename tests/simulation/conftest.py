"""What the tests of runs share: problems, settings under which much happens in few episodes, and what same means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tightrope as tr

LIVELY: dict[str, Any] = {
    "alpha": 0.3,
    "eta": 0.4,
    "theta": 0.1,
    "beta_b": 0.01,
    "beta_w": 2.0,
    "mixing_period": 5,
    "restart": "warm",
}
CURVES = ("episodes", "regret", "loss", "violation", "hard_violation", "dual", "epoch", "policy", "occupancy")
TRACE = (
    "states",
    "actions",
    "costs",
    "loss_weights",
    "dual",
    "values",
    "exact_values",
    "epoch_starts",
    "policies",
)


def problem(name: str) -> tr.LinearCMDP:
    """Problems of both kinds of features whose budgets bind, with one constraint and with several."""
    if name == "jobs":
        return tr.problems.make("priced-jobs", budget=5.8)
    if name == "dense":
        return tr.problems.make("random-linear", seed=4)
    assert name == "dense, m=3"
    return tr.problems.make("random-linear", seed=4, constraints=3)


PROBLEMS = ("jobs", "dense", "dense, m=3")


@pytest.fixture(params=PROBLEMS)
def cmdp(request) -> tr.LinearCMDP:
    return problem(request.param)


@pytest.fixture
def lively() -> Callable[..., tr.PDPO]:
    """Settings of Algorithm 1 under which much happens in few episodes."""
    return lambda **more: tr.PDPO(**LIVELY | more)


@pytest.fixture
def assert_same_bytes() -> Callable[[tr.Run, tr.Run], None]:
    """Two runs are the same, to the last bit of every curve, policy and trace."""

    def check(one: tr.Run, other: tr.Run) -> None:
        assert one.trace is not None and other.trace is not None
        for run_part, names in (("curves", CURVES), ("trace", TRACE)):
            a, b = (one, other) if run_part == "curves" else (one.trace, other.trace)
            for name in names:
                x, y = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
                assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes(), name
        for name in vars(one.extremes):
            assert np.array_equal(getattr(one.extremes, name), getattr(other.extremes, name)), name

    return check
