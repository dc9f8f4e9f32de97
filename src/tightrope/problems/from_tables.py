"""How does a table of probabilities become a linear CMDP? One-hot features, column `s*A + a`; units converted on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightrope.errors import InputError
from tightrope.numbers_in import whole
from tightrope.problems.check import TOLERANCE
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import all_of, read_bounds, read_floats
from tightrope.problems.tables import Floats, Step, axis_features, dense_of, kernel_from_steps
from tightrope.problems.units import Scale, Units, scale_of


def from_tables(
    transitions: Any,
    costs: Any = None,
    budgets: Any = None,
    initial_state: Any = 0,
    *,
    horizon: int | None = None,
    losses: Any = None,
    rewards: Any = None,
    utilities: Any = None,
    limits: Any = None,
    name: str = "custom",
    parameters: dict[str, Any] | None = None,
) -> LinearCMDP:
    """Make a `LinearCMDP` with one-hot features from tables.

    Parameters
    ----------
    transitions: [H, S, A, S] or [S, A, S]; or SciPy sparse [S*A, S], one matrix or a sequence of H.
    costs: [H, S, A], or on transitions [H, S, A, S]; with a leading [m] when m > 1. In [0, 1].
    budgets: [m], the most an episode may cost in the mean.
    horizon: not needed, since costs say H; if given, it must agree.
    losses: [H, S, A] or [L, H, S, A] in [0, 1], kept as the problem's own loss profiles.
    rewards: like `losses`, to maximise, in any units: `loss = (high - r) / (high - low)`.
    utilities, limits: instead of costs and budgets, in any units: the utility of an episode must be at least `limits` [m].
    """
    read = all_of(
        {
            "transitions": lambda: _read_transitions(transitions),
            "constraints": lambda: _read_constraints(costs, budgets, utilities, limits),
            "losses": lambda: _read_losses(losses, rewards),
        }
    )
    steps, n_states, n_actions, known_horizon = read["transitions"]
    if horizon is not None and whole("horizon", horizon, 1) != (known_horizon or horizon):
        raise InputError(f"horizon: {horizon}, but transitions have {known_horizon} steps")
    word, table, bounds = read["constraints"]
    table, horizon = _with_channels(word, table, len(bounds), (n_states, n_actions), known_horizon or horizon)
    loss_word, loss_table = read["losses"]
    profiles = _shaped_losses(loss_word, loss_table, (horizon, n_states, n_actions))
    if known_horizon is None:
        steps = steps * horizon
    scales, table, budget = _constraints_inward(word, table, bounds, horizon)
    loss_scale, inner = _losses_inward(loss_word, profiles)
    means, on_transitions = _read_costs(table, steps)
    plain = loss_scale.plain and all(scale.plain for scale in scales)
    index = np.arange(n_states * n_actions).reshape(n_states, n_actions)
    try:
        return LinearCMDP(
            axis_features(index, np.ones(index.shape), index.size),
            kernel_from_steps(steps),
            means.reshape(len(bounds), horizon, -1).swapaxes(0, 1),
            budget,
            initial_state,
            loss_profiles=inner,
            transition_costs=on_transitions,
            name=name,
            units=None if plain else Units(loss_scale, tuple(scales)),
            parameters=parameters,
        )
    except InputError as error:
        unreal = [*_unreal("transitions", transitions), *_unreal(word, costs), *_unreal(loss_word, loss_table)]
        raise InputError([*unreal, *(line for line in error.problems if not _told(line, unreal))]) from None


def _unreal(word: str, given: Any) -> list[str]:
    """NaN and infinities of a table, in its own name and places: those of the arrays made of it say nothing to the user."""
    if given is None:
        return []
    parts = given if isinstance(given, list | tuple) and given and sp.issparse(given[0]) else [given]
    arrays = [sp.coo_array(part).data if sp.issparse(part) else read_floats(word, part) for part in parts]
    bad = sum(int((~np.isfinite(array)).sum()) for array in arrays)
    if not bad:
        return []
    place = ""
    if not sp.issparse(parts[0]):
        place = f", the first at [{', '.join(str(i) for i in np.argwhere(~np.isfinite(arrays[0]))[0])}]"
    return [f"{word}: contains NaN or infinity in {bad} of {sum(array.size for array in arrays)} entries{place}"]


def _told(line: str, unreal: list[str]) -> bool:
    """Whether a mistake found in what was made of the tables is one of those already told of the tables themselves."""
    made = ("kernel", "cost_weights", "costs", "loss_profiles")
    return bool(unreal) and line.startswith(tuple(f"{part}: contains NaN" for part in made))


def _read_transitions(given: Any) -> tuple[list[Step], int, int, int | None]:
    """Return CSR steps [S*A, S], S, A, and H if the array says it."""
    if sp.issparse(given):
        matrices, known = [given], None
    elif isinstance(given, list | tuple) and given and all(sp.issparse(step) for step in given):
        matrices, known = list(given), len(given)
    else:
        return _read_dense_transitions(given)
    shapes = sorted({step.shape for step in matrices})
    rows, n_states = matrices[0].shape if matrices[0].ndim == 2 else (0, 0)
    if len(shapes) != 1 or rows == 0 or n_states == 0 or rows % n_states:
        raise InputError(f"transitions: sparse shapes {shapes}, wanted [S*A, S] for every step")
    if any(step.dtype.kind not in "biuf" for step in matrices):
        raise InputError("transitions: wanted an array of numbers")
    return [sp.csr_array(step) for step in matrices], n_states, rows // n_states, known


def _read_dense_transitions(given: Any) -> tuple[list[Step], int, int, int | None]:
    table = read_floats("transitions", given)
    if table.ndim not in (3, 4) or table.shape[-1] != table.shape[-3] or 0 in table.shape:
        raise InputError(f"transitions: shape {table.shape}, wanted [H, S, A, S] or [S, A, S]")
    n_states, n_actions = table.shape[-3:-1]
    flat = table.reshape(-1, n_states * n_actions, n_states)
    return [sp.csr_array(step) for step in flat], n_states, n_actions, table.shape[0] if table.ndim == 4 else None


def _read_constraints(costs, budgets, utilities, limits) -> tuple[str, Floats, Floats]:
    """The word for the tables, the tables as given, and the bounds [m]."""
    if (costs is None) == (utilities is None):
        raise InputError("costs: give either costs with budgets, or utilities with limits")
    word, table, bound_word, bounds = (
        ("costs", costs, "budgets", budgets) if utilities is None else ("utilities", utilities, "limits", limits)
    )
    if utilities is None and limits is not None:
        raise InputError("limits: they belong to utilities; costs have budgets")
    if utilities is not None and budgets is not None:
        raise InputError("budgets: they belong to costs; utilities have limits")
    if bounds is None:
        raise InputError(f"{bound_word}: missing; {word} need one number for each constraint")
    read = all_of({word: lambda: read_floats(word, table), bound_word: lambda: read_bounds(bound_word, bounds)})
    if read[bound_word].ndim != 1 or not len(read[bound_word]):
        raise InputError(f"{bound_word}: shape {read[bound_word].shape}, wanted [m] with m >= 1")
    return word, read[word], read[bound_word]


def _with_channels(word: str, table: Floats, m: int, pair: tuple[int, int], horizon: int | None) -> tuple[Floats, int]:
    """The table with its channel axis, [m, H, S, A] or [m, H, S, A, S], and H; the forms without that axis come first."""
    for tail in (pair, (*pair, pair[0])):
        if m == 1 and table.ndim == 1 + len(tail) and table.shape[1:] == tail and horizon in (None, len(table)):
            return table[None], len(table)
    for tail in (pair, (*pair, pair[0])):
        fits = table.ndim == 2 + len(tail) and table.shape[0] == m and table.shape[2:] == tail
        if fits and horizon in (None, table.shape[1]):
            return table, table.shape[1]
    lead, known = ("" if m == 1 else f"m={m}, "), ("H" if horizon is None else f"H={horizon}")
    sizes = f"{lead}{known}, S={pair[0]}, A={pair[1]}"
    raise InputError(f"{word}: shape {table.shape}, wanted [{sizes}] or, on transitions, [{sizes}, S={pair[0]}]")


def _check_limits(limits: Floats, scales: list[Scale], horizon: int) -> None:
    """In the user's own units: no policy reaches more than H*high, every policy reaches H*low."""
    wrong = [
        f"limits[{i}]: {limit:.12g} is outside [{horizon * s.low:.12g}, {horizon * s.high:.12g}], what {horizon} steps bring"
        for i, (limit, s) in enumerate(zip(limits, scales))
        if not horizon * s.low - TOLERANCE * s.width <= limit <= horizon * s.high + TOLERANCE * s.width
    ]
    if wrong:
        raise InputError(wrong)


def _constraints_inward(word: str, table: Floats, bounds: Floats, horizon: int) -> tuple[list[Scale], Floats, Floats]:
    """The scale of each constraint, and costs [m, ...] and budgets [m] in the algorithm's units."""
    if word == "costs":
        return [Scale()] * len(bounds), table, bounds
    scales = [scale_of(f"{word}[{i}]", part) for i, part in enumerate(table)]
    _check_limits(bounds, scales, horizon)
    budgets = [(horizon * scale.high - bound) / scale.width for bound, scale in zip(bounds, scales)]
    return scales, np.stack([scale.inward(part) for scale, part in zip(scales, table)]), np.array(budgets)


def _losses_inward(word: str, profiles: Floats | None) -> tuple[Scale, Floats | None]:
    """The scale of losses or rewards [L, H, S, A], and the loss weights [L, H, S*A] in the algorithm's units."""
    if profiles is None:
        return Scale(), None
    scale = scale_of(word, profiles) if word == "rewards" else Scale()
    return scale, scale.inward(profiles).reshape(*profiles.shape[:2], -1)


def _read_costs(table: Floats, steps: list[Step]) -> tuple[Floats, Floats | None]:
    """Return mean costs [m, H, S, A], and the costs on transitions [m, H, S, A, S] if that is what was given."""
    if table.ndim == 4:
        return table, None
    means = np.empty(table.shape[:-1])
    for h, step in enumerate(steps):
        chances = dense_of(step).reshape(table.shape[2:])
        means[:, h] = np.einsum("sax,msax->msa", chances, table[:, h])
    return means, table


def _read_losses(losses: Any, rewards: Any) -> tuple[str, Floats | None]:
    """The word for the table, and the table as given."""
    if losses is not None and rewards is not None:
        raise InputError("losses: give either losses or rewards, not both")
    word, given = ("losses", losses) if rewards is None else ("rewards", rewards)
    return word, None if given is None else read_floats(word, given)


def _shaped_losses(word: str, table: Floats | None, sizes: tuple[int, int, int]) -> Floats | None:
    """The table as [L, H, S, A]."""
    if table is None:
        return None
    if table.shape == sizes:
        table = table[None]
    if table.ndim != 4 or table.shape[1:] != sizes or 0 in table.shape:
        raise InputError(f"{word}: shape {table.shape}, wanted [H, S, A] = {sizes} or [L, H, S, A]")
    return table
