"""What may an agent be made of? Learner, feature map, sizes, budgets, limits: read together, so that every mistake is told."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.learners.pdpo import PDPO
from tightrope.numbers_in import whole
from tightrope.problems.reading import all_of, read_bounds, shown
from tightrope.problems.tables import Floats

DTYPES = ("float64", "float32")
WHEN_FULL = ("nearest", "refuse")


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """What `Agent(...)` was given, by name; `settings` are those of its learner, `features` become d where it is told."""
    readers: dict[str, Any] = {}
    for name in ("horizon", "n_actions", "max_segments"):
        readers[name] = lambda name=name: whole(name, given[name], 1)
    for name in ("episodes", "dim", "max_states"):
        readers[name] = lambda name=name: None if given[name] is None else whole(name, given[name], 1)
    readers |= {
        "seed": lambda: whole("seed", given["seed"], 0),
        "budgets": lambda: _read_budgets(given["budgets"]),
        "settings": lambda: _read_learner(given["learner"], given["episodes"]),
        "features": lambda: _read_map(given["features"], given["n_actions"], given["dim"]),
        "dtype": lambda: _one_of("dtype", given["dtype"], DTYPES),
        "when_full": lambda: _one_of("when_full", given["when_full"], WHEN_FULL),
    }
    return all_of(readers)


def _read_budgets(given: Any) -> Floats:
    budgets = read_bounds("budgets", given).copy()
    if budgets.ndim != 1 or not len(budgets) or not np.isfinite(budgets).all() or budgets.min() < 0.0:
        raise InputError(f"budgets: {shown(given)}, wanted [m] numbers, each what an episode may cost")
    return budgets


def _read_learner(learner: Any, episodes: Any) -> Any:
    if not isinstance(learner, PDPO):
        given = learner.__name__ if isinstance(learner, type) else type(learner).__name__
        raise InputError(f"learner: {given}, wanted PDPO with its settings: an agent runs Algorithm 1")
    if learner.contraction_offset is None and episodes is None:
        raise InputError(
            "episodes: missing; this learner's contraction needs log K: give Agent(..., episodes=K) or contraction_offset"
        )
    return learner.rules(episodes or 1).settings()


def _read_map(features: Any, n_actions: Any, dim: int | None) -> int | None:
    """d, where the map or the user tells."""
    if not callable(features):
        raise InputError(f"features: {shown(features)}, wanted a function of an observation that gives [A, d]")
    own, actions = getattr(features, "dim", None), getattr(features, "n_actions", None)
    if isinstance(actions, int) and actions != n_actions:
        raise InputError(f"features: made for {actions} actions, the agent has n_actions = {n_actions}")
    if isinstance(own, int) and dim is not None and own != dim:
        raise InputError(f"dim: {dim}, the features have {own}")
    return own if isinstance(own, int) else dim


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> str:
    if given not in known:
        raise InputError(f"{name}: {shown(given)}, wanted {' or '.join(repr(x) for x in known)}")
    return given
