"""Is this what an agent can learn from? Features, costs, actions and steps, read or refused before anything has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import whole_wrong
from tightrope.problems.reading import read_floats, shown
from tightrope.problems.tables import Floats

TOLERANCE = 1e-9  # how far a norm may exceed 1, a cost leave [0, 1]


@dataclass
class Sizes:
    """What is fixed about an agent; `dim` is None until the first features have been seen."""

    n_actions: int
    horizon: int
    n_constraints: int
    dim: int | None


def read_features(features: Callable[[Any], Any], obs: Any, sizes: Sizes) -> Floats:
    """[A, d], what the feature map makes of an observation."""
    given = features(obs)
    block = read_floats("features", given)
    wanted = f"[A, d] = ({sizes.n_actions}, {sizes.dim or 'd'})"
    if block.ndim != 2 or block.shape[0] != sizes.n_actions or block.shape[1] != (sizes.dim or block.shape[1] or 1):
        raise InputError(f"features: shape {block.shape} for observation {shown(obs)}, wanted {wanted}")
    if not np.isfinite(block).all():
        a, j = np.argwhere(~np.isfinite(block))[0]
        raise InputError(f"features: {block[a, j]} at action {a}, coordinate {j} for observation {shown(obs)}")
    norms = np.sqrt(np.einsum("aj,aj->a", block, block))
    if norms.max() > 1.0 + TOLERANCE:
        a = int(norms.argmax())
        raise InputError(
            f"features: length {norms[a]:.6g} at action {a} for observation {shown(obs)}, wanted at most 1 "
            "(the maps of tr.features are scaled so)"
        )
    return block


def read_cost(given: Any, m: int) -> Floats:
    """[m], the cost of one step."""
    wanted = "a number in [0, 1]" if m == 1 else f"{m} numbers in [0, 1], one for each constraint"
    cost = np.atleast_1d(read_floats("cost", given))
    if cost.shape != (m,):
        raise InputError(f"cost: {shown(given)}, wanted {wanted}")
    if not (np.isfinite(cost).all() and cost.min() >= -TOLERANCE and cost.max() <= 1.0 + TOLERANCE):
        raise InputError(f"cost: {shown(given)}, wanted {wanted}")
    return np.clip(cost, 0.0, 1.0)


def read_action(given: Any, n_actions: int) -> int:
    """One of the actions."""
    return _place("action", given, n_actions, "one of")


def read_step(given: Any, horizon: int) -> int:
    """One of the steps."""
    return _place("h", given, horizon, "a step in")


def _place(name: str, given: Any, n: int, wanted: str) -> int:
    """A whole number below n."""
    if whole_wrong(given, 0) is None and int(given) < n:
        return int(given)
    raise InputError(f"{name}: {shown(given)}, wanted {wanted} 0..{n - 1}")
