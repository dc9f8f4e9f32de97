"""Is a setting the number it should be? One check for counts and one for reals; NumPy's numbers count as Python's."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

from tightrope.errors import InputError


def whole_wrong(given: Any, least: int) -> str | None:
    """What is wrong with a whole number, or None."""
    if isinstance(given, bool) or not isinstance(given, numbers.Integral):
        return f"{given!r}, wanted a whole number from {least} up"
    return None if int(given) >= least else f"{given}, wanted a whole number from {least} up"


def real_wrong(given: Any, low: float = -math.inf, high: float = math.inf) -> str | None:
    """What is wrong with a finite real in [low, high], or None."""
    wanted = (
        "a number"
        if low == -math.inf
        else f"a number from {low:g} up"
        if high == math.inf
        else f"a number in [{low:g}, {high:g}]"
    )
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        return f"{given!r}, wanted {wanted}"
    try:
        number = float(given)
    except OverflowError:  # an integer or a fraction beyond every float
        number = math.inf
    return None if math.isfinite(number) and low <= number <= high else f"{given}, wanted {wanted}"


def whole(name: str, given: Any, least: int) -> int:
    """Return the whole number, or raise an `InputError` that names it."""
    wrong = whole_wrong(given, least)
    if wrong is not None:
        raise InputError(f"{name}: {wrong}")
    return operator.index(given)
