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
from tightrope.problems.reading import shown

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
    n_actions = getattr(actions, "n", actions)
    if hasattr(space, "n"):  # Discrete
        if more:
            raise InputError(
                f"{', '.join(sorted(more))}: a discrete space has one-hot features, which have no parameters"
            )
        return OneHot(n_actions, int(space.n), int(getattr(space, "start", 0)))
    if not hasattr(space, "low") or not hasattr(space, "high"):
        raise InputError(
            f"space: {shown(space)}, wanted a Discrete or a Box; for others give a function of the observation"
        )
    if kind not in KINDS:
        raise InputError(f"kind: unknown {kind!r}; {suggest(str(kind), KINDS)}")
    known = [name for name in inspect.signature(KINDS[kind]).parameters if name not in ("n_actions", "low", "high")]
    wrong = [f"{key}: not a parameter of {kind!r}; {suggest(key, known)}" for key in more if key not in known]
    if wrong:
        raise InputError(wrong)
    bounds = [
        np.broadcast_to(own if given is None else given, space.shape)
        for given, own in ((low, space.low), (high, space.high))
    ]
    endless = np.flatnonzero(~np.isfinite(np.concatenate([np.ravel(b)[None] for b in bounds])).all(axis=0))
    if len(endless):
        raise InputError(
            f"space: without bounds in dimension {endless.tolist()}; say with low= and high= where observations stay"
        )
    return KINDS[kind](n_actions, *bounds, **more)
