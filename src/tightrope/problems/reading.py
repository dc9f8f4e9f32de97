"""Are these numbers? What a user gives as arrays and parameters, read or refused with one line that names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.numbers_in import real_wrong, whole_wrong
from tightrope.problems.tables import Floats

_SHOWN = 60


def shown(given: Any) -> str:
    """What was given, short enough for one line."""
    text = " ".join(repr(given).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def read_floats(name: str, given: Any) -> Floats:
    """Return an array of numbers; text, objects and complex numbers are refused, also where NumPy would convert them."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: wanted an array of numbers ({error})") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: {shown(given)}, wanted an array of numbers")
    return array.astype(np.float64, copy=False)


def read_bounds(name: str, given: Any) -> Floats:
    """[m] from budgets or limits: a number or a list of numbers, no booleans."""
    array = read_floats(name, given)
    if np.asarray(given).dtype.kind == "b":
        raise InputError(f"{name}: {shown(given)}, wanted numbers")
    return np.atleast_1d(array)


def read_observation(obs: Any) -> Floats:
    """[n] numbers of an observation that is an array of any shape; text, dicts and objects are refused."""
    if type(obs) is np.ndarray and obs.dtype == np.float64:  # as most come
        return obs.ravel()
    return read_floats("observation", obs).ravel()


def read_state(obs: Any, start: int, n_states: int) -> int:
    """The place of an observation among the states `start, start + 1, ...`."""
    given = obs.item() if isinstance(obs, np.ndarray) and obs.size == 1 else obs
    if whole_wrong(given, start) is not None or not given - start < n_states:
        raise InputError(f"observation: {shown(obs)}, wanted a state in {start}..{start + n_states - 1}")
    return int(given) - start


def between(name: str, given: Any, low: float, high: float) -> float:
    """A finite number in [low, high]."""
    wrong = real_wrong(given, low, high)
    if wrong is not None:
        raise InputError(f"{name}: {wrong}")
    return float(given)


def all_of(readers: Mapping[str, Any]) -> dict[str, Any]:
    """Call every reader and return what each returned; raise all their mistakes at once."""
    out: dict[str, Any] = {}
    wrong: list[str] = []
    for name, read in readers.items():
        try:
            out[name] = read()
        except InputError as error:
            wrong += error.problems
    if wrong:
        raise InputError(wrong)
    return out
