"""What may a problem be made of? Features, kernel and initial state, each read by itself so that all mistakes can be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from tightrope.errors import InputError
from tightrope.problems.reading import read_floats, shown
from tightrope.problems.tables import (
    AxisFeatures,
    DenseFeatures,
    Features,
    Floats,
    Kernel,
    features_from_dense,
    kernel_from_steps,
)

Read = TypeVar("Read")


def attempt(wrong: list[str], read: Callable[..., Read], *given: Any) -> Read | None:
    """What `read` makes of the rest, or None with its mistakes added to `wrong`."""
    try:
        return read(*given)
    except InputError as error:
        wrong += error.problems
        return None


def read_features(given: Any) -> Features:
    """From [S, A, d], or a table of features as it is."""
    if isinstance(given, AxisFeatures | DenseFeatures):
        return given
    rows = read_floats("features", given)
    if rows.ndim != 3:
        raise InputError(f"features: shape {rows.shape}, wanted [S, A, d]")
    return features_from_dense(rows)


def read_kernel(given: Any) -> Kernel:
    """From [H, d, S], H arrays [d, S], or a kernel as it is."""
    if isinstance(given, Kernel):
        return given
    if isinstance(given, list | tuple) and any(sp.issparse(s) for s in given):
        steps = [s if sp.issparse(s) else read_floats("kernel", s) for s in given]
    else:
        steps = list(np.atleast_1d(read_floats("kernel", given)))
    if not steps or any(step.ndim != 2 or 0 in step.shape for step in steps):
        shapes = sorted({step.shape for step in steps})
        raise InputError(f"kernel: shapes {shapes} at {len(steps)} steps, wanted [H, d, S] or H arrays [d, S]")
    if any(step.dtype.kind not in "biuf" for step in steps):
        raise InputError("kernel: wanted an array of numbers")
    return kernel_from_steps(steps)


def read_initial(given: Any, n_states: int | None) -> Floats | None:
    """[S]; None for a state that cannot be judged, as nobody knows how many there are."""
    wanted = "wanted a state or a distribution [S]"
    if n_states is not None:
        wanted = f"wanted a state in 0..{n_states - 1} or a distribution [S] over {n_states} states"
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError(f"initial_state: {shown(given)}, {wanted}") from None
    if array.ndim > 0:
        return read_floats("initial_state", given)
    if array.dtype.kind not in "iu" or int(array) < 0 or (n_states is not None and int(array) >= n_states):
        raise InputError(f"initial_state: {shown(given)}, {wanted}")
    if n_states is None:
        return None
    point = np.zeros(n_states)
    point[int(array)] = 1.0
    return point
