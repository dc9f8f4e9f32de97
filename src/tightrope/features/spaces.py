"""Which feature map suits a Gymnasium space? Discrete ones get a coordinate a state, boxes one of the maps by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tightrope.errors import InputError, suggest
from tightrope.features.discrete import OneHot
from tightrope.features.maps import FeatureMap
from tightrope.features.smooth import Fourier, Polynomial, RandomFourier
from tightrope.features.tiles import TileCoding
from tightrope.problems.reading import read_floats, shown

KINDS: dict[str, Callable[..., FeatureMap]] = {
    "fourier": Fourier,
    "polynomial": Polynomial,
    "random-fourier": RandomFourier,
    "tiles": TileCoding,
}


def for_space(
    space: Any, actions: Any, kind: str = "fourier", low: Any = None, high: Any = None, **more: Any
) -> FeatureMap:
    """A feature map for a Gymnasium observation space.

    Parameters
    ----------
    actions: how many there are, or the Discrete action space.
    kind: for a box: "fourier", "polynomial", "random-fourier" or "tiles"; a discrete space has one-hot features.
    low, high: bounds for a box, where its own are infinite or wider than what is ever seen.
    more: the map's own parameters, such as `order`, `degree`, `size`, `width`, `tiles`, `tilings`.
    """
    n_actions = actions.n if _is_discrete(actions) else actions
    if kind not in [*KINDS]:
        raise InputError(f"kind: unknown {kind!r}; {suggest(str(kind), KINDS)}")
    if _is_discrete(space):
        more |= {name: x for name, x in (("low", low), ("high", high)) if x is not None}
        if more:
            raise InputError(
                f"{', '.join(sorted(more))}: a discrete space has one-hot features, which have no parameters"
            )
        return OneHot(n_actions, int(space.n), int(space.start))
    if not hasattr(space, "low") or not hasattr(space, "high"):
        raise InputError(
            f"space: {shown(space)}, wanted a Discrete or a Box; for others give a function of the observation"
        )
    known = [name for name in inspect.signature(KINDS[kind]).parameters if name not in ("n_actions", "low", "high")]
    wrong = [f"{key}: not a parameter of {kind!r}; {suggest(key, known)}" for key in more if key not in known]
    if wrong:
        raise InputError(wrong)
    bounds = [_bound("low", low, space.low), _bound("high", high, space.high)]
    endless = np.flatnonzero(~np.isfinite(np.concatenate([np.ravel(b)[None] for b in bounds])).all(axis=0))
    if len(endless):
        raise InputError(
            f"space: without bounds in dimension {endless.tolist()}; say with low= and high= where observations stay"
        )
    return KINDS[kind](n_actions, *bounds, **more)


def _is_discrete(space: Any) -> bool:
    """Numbers from `start` on; a MultiBinary has an `n` too, but other observations."""
    return hasattr(space, "n") and hasattr(space, "start")


def _bound(name: str, given: Any, own: Any) -> np.ndarray:
    """One side of a box: its own, or what is given for all dimensions or each."""
    if given is None:
        return own
    read = read_floats(name, given)
    if read.shape not in ((), own.shape):
        raise InputError(f"{name}: shape {read.shape}, wanted a number or the shape {own.shape} of the space")
    return np.broadcast_to(read, own.shape)
