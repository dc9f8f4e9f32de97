"""Is this a linear CMDP as the paper defines it? Every violated condition, found in one pass.

Conditions (paper.tex, "Problem Setting"): `|phi(s,a)| <= 1`; `P_h(.|s,a) = phi(s,a) . psi_h` is a distribution; losses and
costs `phi . theta` lie in [0, 1]; `max(| sum_s' |psi_h|(s') |, |theta_f|, |theta_g|) <= sqrt(d)`; budgets lie in [0, H].
A condition on parts whose shape or numbers are wrong is left out; all the others are still judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tightrope.problems.tables import (
    AxisFeatures,
    Features,
    Floats,
    Kernel,
    Step,
    dense_of,
    row_range,
    row_sums,
    stored,
)

TOLERANCE = 1e-9
Line = tuple[str, str]  # the part that is wrong, and what is wrong with it


@dataclass(frozen=True, eq=False)
class Parts:
    """What a problem is made of; None is what could not be read, or what an optional part is without."""

    features: Features | None
    kernel: Kernel | None
    cost_weights: Floats | None  # [H, m, d]
    budgets: Floats | None  # [m]
    initial_state: Floats | None  # [S]
    loss_profiles: Floats | None  # [L, H, d]
    costs: Floats | None  # on transitions, [m, H, S, A, S]


def violations(parts: Parts, tolerance: float = TOLERANCE) -> list[str]:
    """Return one line for each violated condition."""
    wrong = [*_sizes(parts), *_shapes(parts), *_numbers(parts)]
    broken = {part for part, _ in wrong}
    conditions = (
        (_feature_norms, ("features",)),
        (_distributions, ("features", "kernel")),
        (_kernel_norms, ("kernel",)),
        (_weights, ("features", "cost_weights")),
        (_profiles, ("features", "loss_profiles")),
        (_transition_costs, ("features", "kernel", "cost_weights", "costs")),
        (_budgets, ("budgets",)),
        (_initial, ("initial_state",)),
    )
    found = [f"{part}{text}" for part, text in wrong]
    for condition, needed in conditions:
        if not broken.intersection(needed) and all(getattr(parts, part) is not None for part in needed):
            found += condition(parts, tolerance)
    return found


def _sizes(parts: Parts) -> Iterator[Line]:
    table, kernel = parts.features, parts.kernel
    if table is None:
        return
    n_states, n_actions, dim = table.shape
    if 0 in (n_states, n_actions, dim):
        yield "features", f": S, A and d must be positive, not {(n_states, n_actions, dim)}"
    for i, step in enumerate(() if kernel is None else kernel.steps):
        if step.shape != (dim, n_states):
            assert kernel is not None
            h = kernel.which.index(i)
            yield "kernel", f": shape {step.shape} at step h={h}, wanted [d, S] = {(dim, n_states)}"
    if isinstance(table, AxisFeatures):
        if table.index.shape != table.value.shape:
            yield "features", f": positions {table.index.shape} and values {table.value.shape} differ in shape"
        elif table.index.size and (table.index.min() < 0 or table.index.max() >= dim):
            yield "features", f": positions from {table.index.min()} to {table.index.max()}, wanted 0..{dim - 1}"


def _shapes(parts: Parts) -> Iterator[Line]:
    S, A, d = ("S", "A", "d") if parts.features is None else parts.features.shape
    H = "H" if parts.kernel is None else parts.kernel.horizon
    m: int | str = "m"
    if parts.budgets is not None:
        if parts.budgets.ndim != 1 or len(parts.budgets) == 0:
            yield "budgets", f": shape {parts.budgets.shape}, wanted [m] with m >= 1, one for each constraint"
        else:
            m = len(parts.budgets)
    for part, letters, wanted in (
        ("cost_weights", "[H, m, d]", (H, m, d)),
        ("initial_state", "an int or [S]", (S,)),
        ("loss_profiles", "[L, H, d]", ("L", H, d)),
        ("costs", "[m, H, S, A, S]", (m, H, S, A, S)),
    ):
        array = getattr(parts, part)
        if array is not None and not _fits(array.shape, wanted):
            where = " on transitions," if part == "costs" else ""
            yield part, f":{where} shape {array.shape}, wanted {letters} = {_tuple(wanted)}"


def _fits(shape: tuple[int, ...], wanted: tuple[int | str, ...]) -> bool:
    """A letter stands for any size that is not known, but 0."""
    return len(shape) == len(wanted) and all(
        size > 0 if isinstance(want, str) else size == want for size, want in zip(shape, wanted)
    )


def _tuple(sizes: tuple[int | str, ...]) -> str:
    return f"({', '.join(str(size) for size in sizes)}{',' if len(sizes) == 1 else ''})"


def _numbers(parts: Parts) -> Iterator[Line]:
    table, kernel = parts.features, parts.kernel
    if table is not None:
        yield from _finite("features", table.value if isinstance(table, AxisFeatures) else table.dense)
    if kernel is not None:
        for i, step in enumerate(kernel.steps):
            yield from _finite("kernel", stored(step), f" at step h={kernel.which.index(i)}")
    for part in ("cost_weights", "budgets", "initial_state", "loss_profiles", "costs"):
        array = getattr(parts, part)
        if array is not None:
            yield from _finite(part, array)


def _finite(part: str, array: Floats, place: str = "") -> Iterator[Line]:
    bad = ~np.isfinite(array)
    if bad.any():
        first = ", ".join(str(i) for i in np.argwhere(bad)[0])
        yield (
            part,
            f": contains NaN or infinity in {int(bad.sum())} of {bad.size} entries{place}, the first at [{first}]",
        )


def _feature_norms(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.features is not None
    norms = parts.features.norms()
    s, a = np.unravel_index(np.argmax(norms), norms.shape)
    if norms[s, a] > 1 + tolerance:
        count = int((norms > 1 + tolerance).sum())
        yield (
            f"features: longer than 1 for {count} of {norms.size} state-action pairs; "
            f"worst |phi(s={s}, a={a})| = {norms[s, a]:.12g}"
        )


def _distributions(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.features is not None and parts.kernel is not None
    features, kernel = parts.features, parts.kernel
    for i, step in enumerate(kernel.steps):
        h = kernel.which.index(i)
        sums = features.apply(row_sums(step))
        off = np.abs(sums - 1.0)
        s, a = np.unravel_index(np.argmax(off), off.shape)
        if off[s, a] > tolerance:
            yield (
                f"kernel: not a distribution at step h={h}, s={s}, a={a}: "
                f"probabilities sum to {sums[s, a]:.12g} ({int((off > tolerance).sum())} of {off.size} pairs)"
            )
        least = _least_chances(features, step)
        s, a = np.unravel_index(np.argmin(least), least.shape)
        if least[s, a] < -tolerance:
            yield (
                f"kernel: negative probability {least[s, a]:.6g} at step h={h}, s={s}, a={a} "
                f"({int((least < -tolerance).sum())} of {least.size} pairs)"
            )


def _least_chances(features: Features, step: Step) -> Floats:
    """[S, A]: the smallest entry of every `phi(s,a) . psi`; no array of size S*A*S, and no product where signs settle it."""
    if isinstance(features, AxisFeatures):
        low, high = row_range(step)
        return np.minimum(features.value * low[features.index], features.value * high[features.index])
    entries = stored(step)
    if features.dense.min() >= 0 and (entries.size == 0 or entries.min() >= 0):
        return np.zeros(features.shape[:2])
    measures = dense_of(step)
    return np.array([(rows @ measures).min(axis=1) for rows in features.dense])  # one state at a time: memory A*S


def _kernel_norms(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.kernel is not None
    limit = np.sqrt(parts.kernel.shape[1])
    for i, step in enumerate(parts.kernel.steps):
        size = float(np.linalg.norm(row_sums(abs(step))))
        if size > limit + tolerance:
            h = parts.kernel.which.index(i)
            yield f"kernel: |sum over s' of |psi_h|(s')| = {size:.12g} at step h={h}, over sqrt(d) = {limit:.12g}"


def _weights(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.features is not None and parts.cost_weights is not None
    weights = parts.cost_weights.swapaxes(0, 1)
    for i, profile in enumerate(weights):
        yield from _norm(f"cost_weights[:, {i}]", profile, tolerance)
        yield from _range(f"cost {i}", parts.features.apply, profile, tolerance)


def _profiles(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.features is not None and parts.loss_profiles is not None
    for i, profile in enumerate(parts.loss_profiles):
        yield from _norm(f"loss_profiles[{i}]", profile, tolerance)
        yield from _range(f"loss {i}", parts.features.apply, profile, tolerance)


def _norm(name: str, profile: Floats, tolerance: float) -> Iterator[str]:
    """|theta_h| <= sqrt(d) for theta [H, d]."""
    limit = np.sqrt(profile.shape[1])
    sizes = np.linalg.norm(profile, axis=1)
    h = int(np.argmax(sizes))
    if sizes[h] > limit + tolerance:
        yield f"{name}: |theta| = {sizes[h]:.12g} at step h={h}, over sqrt(d) = {limit:.12g}"


def _range(name: str, apply, profile: Floats, tolerance: float) -> Iterator[str]:
    """`phi . theta_h` in [0, 1] for theta [H, d]; the worst of all steps."""
    worst, count, line = tolerance, 0, None
    for h, theta in enumerate(profile):
        values = apply(theta)
        out = np.maximum(-values, values - 1.0)
        count += int((out > tolerance).sum())
        s, a = np.unravel_index(np.argmax(out), out.shape)
        if out[s, a] > worst:
            worst, line = out[s, a], f"{name}: {values[s, a]:.12g} at step h={h}, s={s}, a={a} is outside [0, 1]"
    if line is not None:
        yield f"{line} ({count} of {profile.shape[0] * values.size} entries)"


def _transition_costs(parts: Parts, tolerance: float) -> Iterator[str]:
    """Costs on transitions lie in [0, 1] where the transition can happen, and their mean is the linear cost."""
    assert parts.features is not None and parts.kernel is not None
    assert parts.costs is not None and parts.cost_weights is not None
    for i, costs in enumerate(parts.costs):
        worst_gap, at, outside = tolerance, 0, None
        for h in range(parts.kernel.horizon):
            chances = _chances(parts.features, parts.kernel.step(h))
            seen = np.where(chances > tolerance, costs[h], 0.0)
            out = np.maximum(-seen, seen - 1.0)
            s, a, x = np.unravel_index(np.argmax(out), out.shape)
            if outside is None and out[s, a, x] > tolerance:
                outside = f"{seen[s, a, x]:.12g} on the transition {s} -> {x} at step h={h}, a={a} is outside [0, 1]"
            means = np.einsum("sax,sax->sa", chances, costs[h])
            gap = float(np.abs(means - parts.features.apply(parts.cost_weights[h, i])).max())
            if gap > worst_gap:
                worst_gap, at = gap, h
        if outside is not None:
            yield f"cost {i}: {outside}"
        if worst_gap > tolerance:
            yield f"cost {i}: costs on transitions at step h={at} average to other means than cost_weights (by {worst_gap:.3g})"


def _chances(features: Features, step: Step) -> Floats:
    """[S, A, S]"""
    if isinstance(features, AxisFeatures):
        return features.value[:, :, None] * dense_of(step)[features.index]
    return features.dense @ dense_of(step)


def _budgets(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.budgets is not None
    horizon = np.inf if parts.kernel is None else parts.kernel.horizon
    range_ = "[0, H]" if parts.kernel is None else f"[0, H] = [0, {horizon}]"
    for i, b in enumerate(parts.budgets):
        if not -tolerance <= b <= horizon + tolerance:
            yield f"budgets[{i}]: {b:.12g} is outside {range_}"


def _initial(parts: Parts, tolerance: float) -> Iterator[str]:
    assert parts.initial_state is not None
    low, total = parts.initial_state.min(), parts.initial_state.sum()
    if low < -tolerance or abs(total - 1.0) > tolerance:
        yield f"initial_state: not a distribution (smallest {low:g}, sum {total:.12g})"
