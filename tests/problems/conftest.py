"""Small problems to spoil, and random ones of every shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tightrope as tr


@pytest.fixture
def parts() -> dict[str, Any]:
    """The arrays of a sound problem, S = 3, A = 2, d = 2, H = 2, m = 1: two features, each leading to two states."""
    features = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]], [[0.25, 0.75], [1.0, 0.0]]])
    measures = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
    return {
        "features": features,
        "kernel": np.stack([measures, measures]),
        "cost_weights": np.array([[[0.2, 0.8]], [[0.4, 0.6]]]),
        "budgets": np.array([1.0]),
    }


@pytest.fixture
def mistakes(parts):
    """The lines that a problem is refused with when some of its parts are replaced."""

    def refuse(**spoilt: Any) -> tuple[str, ...]:
        with pytest.raises(tr.InputError) as refused:
            tr.LinearCMDP(**(parts | spoilt))
        return refused.value.problems

    return refuse
