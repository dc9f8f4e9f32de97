"""Is what the oracle was given usable? Shapes, numbers and probabilities, each refused with one line that names it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import read_bounds, read_floats, shown
from tightrope.problems.tables import Floats

ROW_TOLERANCE = 1e-8  # how far from 1 a policy's probabilities in one state may sum


def read_array(name: str, given: Any, wanted: tuple[int, ...], letters: str) -> Floats:
    """Return finite numbers of the wanted shape; `letters` is that shape in the paper's letters."""
    array = read_floats(name, given)
    if array.shape != wanted:
        raise InputError(f"{name}: shape {array.shape}, wanted {letters} = {wanted}")
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise InputError(f"{name}: {bad} of {array.size} entries are NaN or infinite, wanted numbers")
    return array


def read_problem(cmdp: Any) -> LinearCMDP:
    """A problem with a model."""
    if not isinstance(cmdp, LinearCMDP):
        raise InputError(f"cmdp: {shown(cmdp)}, wanted a LinearCMDP, such as tr.problems.make returns")
    return cmdp


def read_policy(cmdp: LinearCMDP, policy: Any) -> Floats:
    """[H, S, A]: non-negative, each row summing to 1."""
    read_problem(cmdp)
    wanted = (cmdp.horizon, cmdp.n_states, cmdp.n_actions)
    array = read_array("policy", policy, wanted, "[H, S, A]")
    if array.min() < -ROW_TOLERANCE:
        h, s, a = np.unravel_index(array.argmin(), array.shape)
        raise InputError(f"policy: {array.min():.6g} at step h={h}, s={s}, a={a}, wanted probabilities >= 0")
    off = np.abs(array.sum(axis=2) - 1.0)
    if off.max() > ROW_TOLERANCE:
        h, s = np.unravel_index(off.argmax(), off.shape)
        total = array[h, s].sum()
        raise InputError(f"policy: row at step h={h}, s={s} sums to {total:.9g}, wanted 1")
    return array


def read_weights(cmdp: LinearCMDP, weights: Any, name: str = "weights") -> Floats:
    """[H, d]"""
    read_problem(cmdp)
    return read_array(name, weights, (cmdp.horizon, cmdp.dim), "[H, d]")


def read_budgets(cmdp: LinearCMDP, budgets: Any) -> Floats:
    """[m]: those given, or the problem's own."""
    read_problem(cmdp)
    if budgets is None:
        return cmdp.budgets
    return read_array("budgets", read_bounds("budgets", budgets), (cmdp.n_constraints,), "[m]")
