"""What is to be decided? `LinearCMDP`: features, transition measures, linear costs, budgets; immutable once made.

paper.tex, "Problem Setting": `P_h(s'|s,a) = phi(s,a) . psi_h(s')`, `g_h(s,a) = phi(s,a) . theta_g,h`, and in every episode k
`f_h^k(s,a) = phi(s,a) . theta_f,h^k`. The paper has one constraint; here there are m >= 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from tightrope import safe_files
from tightrope.errors import InputError
from tightrope.problems import check as _check
from tightrope.problems.parts import attempt, read_features, read_initial, read_kernel
from tightrope.problems.reading import read_bounds, read_floats
from tightrope.problems.tables import (
    AxisFeatures,
    DenseFeatures,
    Features,
    Floats,
    Kernel,
    Step,
    axis_features,
    dense_of,
    frozen,
    kernel_from_steps,
)
from tightrope.problems.units import Units


class LinearCMDP:
    """A finite-horizon linear constrained MDP.

    Parameters
    ----------
    features: [S, A, d], `phi(s, a)`; stored sparsely when no row has two non-zeros.
    kernel: [H, d, S], `psi_h(s')`; or a sequence of H arrays [d, S], NumPy or SciPy sparse.
    cost_weights: [H, m, d], `theta_g,h` of each constraint.
    budgets: [m].
    initial_state: an int, or a distribution [S].
    loss_profiles: [L, H, d], the losses that `losses.make` uses unless it is given others.
    transition_costs: [m, H, S, A, S], observed costs that depend on the next state; without them the mean cost is observed.

    Raises `InputError` with one line for each condition of the paper that does not hold.
    """

    def __init__(
        self,
        features: Any,
        kernel: Any,
        cost_weights: Any,
        budgets: Any,
        initial_state: int | Any = 0,
        *,
        loss_profiles: Any = None,
        transition_costs: Any = None,
        name: str = "custom",
        units: Units | None = None,
        parameters: Mapping[str, Any] | None = None,
    ):
        wrong: list[str] = []
        table = attempt(wrong, read_features, features)
        measures = attempt(wrong, read_kernel, kernel)
        read_weights = attempt(wrong, read_floats, "cost_weights", cost_weights)
        read_budgets = attempt(wrong, read_bounds, "budgets", budgets)
        profiles = None if loss_profiles is None else attempt(wrong, read_floats, "loss_profiles", loss_profiles)
        costs = None if transition_costs is None else attempt(wrong, read_floats, "costs", transition_costs)
        start = attempt(wrong, read_initial, initial_state, None if table is None else table.shape[0])
        wrong += _check.violations(_check.Parts(table, measures, read_weights, read_budgets, start, profiles, costs))
        if wrong:
            raise InputError(wrong)
        self._features, self._kernel = cast(Features, table), cast(Kernel, measures)
        self.budgets: Floats = frozen(cast(Floats, read_budgets))
        self.cost_weights: Floats = frozen(cast(Floats, read_weights))
        self.initial_distribution: Floats = frozen(cast(Floats, start))
        self.loss_profiles: Floats | None = None if profiles is None else frozen(profiles)
        self.transition_costs: Floats | None = None if costs is None else frozen(costs)
        self.name = name
        self.units = units
        self.parameters: Mapping[str, Any] = MappingProxyType(dict(parameters or {}))
        self._sealed = True

    def __setattr__(self, key: str, value: Any) -> None:
        # cached properties write to __dict__ directly, so they still work.
        if getattr(self, "_sealed", False):
            raise AttributeError(f"a LinearCMDP does not change: cannot set {key!r}; make another one")
        super().__setattr__(key, value)

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a LinearCMDP does not change: cannot delete {key!r}; make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made, and so checked and closed to writing, like any other problem."""
        options = {
            "loss_profiles": self.loss_profiles,
            "transition_costs": self.transition_costs,
            "name": self.name,
            "units": self.units,
            "parameters": dict(self.parameters),
        }
        steps = [self._kernel.step(h) for h in range(self.horizon)]
        given = (self.features if isinstance(self._features, DenseFeatures) else self._features.arrays(), steps)
        return _remake, (*given, self.cost_weights, self.budgets, self.initial_distribution, options)

    # ---- sizes -------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        return self._features.shape[0]

    @property
    def n_actions(self) -> int:
        return self._features.shape[1]

    @property
    def dim(self) -> int:
        return self._features.shape[2]

    @property
    def horizon(self) -> int:
        return self._kernel.horizon

    @property
    def n_constraints(self) -> int:
        return len(self.budgets)

    # ---- arrays ------------------------------------------------------------------------------------------------

    @property
    def features(self) -> Floats:
        """[S, A, d], read-only (made on demand when stored sparsely)."""
        return self._features.dense

    @property
    def kernel(self) -> Floats:
        """[H, d, S], read-only (made on demand when stored sparsely)."""
        return self._kernel.dense

    @property
    def feature_table(self) -> Features:
        return self._features

    @property
    def kernel_table(self) -> Kernel:
        return self._kernel

    @property
    def initial_state(self) -> int | None:
        """The state every episode starts in, or None when it is drawn."""
        best = int(np.argmax(self.initial_distribution))
        return best if self.initial_distribution[best] == 1.0 else None

    def transitions(self, h: int) -> Step:
        """P_h as [S*A, S], row s*A + a; CSR when the kernel is."""
        step = self._kernel.step(h)
        if isinstance(self._features, AxisFeatures):
            rows, values = self._features.index.ravel(), self._features.value.ravel()
            if sp.issparse(step):
                return sp.csr_array(sp.diags_array(values) @ step[rows])
            return values[:, None] * dense_of(step)[rows]
        flat = self._features.dense.reshape(-1, self.dim)
        return flat @ dense_of(step)

    def losses(self, weights: Any) -> Floats:
        """Tables [..., H, S, A] of the losses or costs with weights [..., H, d]."""
        return self._features.apply(np.asarray(weights, dtype=float))

    # ---- checks and files --------------------------------------------------------------------------------------

    def check(self, tolerance: float = _check.TOLERANCE) -> None:
        """Raise an `InputError` that lists every condition that does not hold."""
        parts = _check.Parts(
            self._features,
            self._kernel,
            self.cost_weights,
            self.budgets,
            self.initial_distribution,
            self.loss_profiles,
            self.transition_costs,
        )
        found = _check.violations(parts, tolerance)
        if found:
            raise InputError(found)

    @cached_property
    def digest(self) -> str:
        """A short name for everything that determines the problem, however its arrays are stored."""
        steps = [sp.csr_array(step) for step in self._kernel.steps]
        arrays = self._arrays(kernel_from_steps([steps[i] for i in self._kernel.which]))
        total = hashlib.sha256()
        for key, array in sorted(arrays.items()):
            array = np.ascontiguousarray(array, dtype=np.int64 if array.dtype.kind in "iu" else np.float64)
            total.update(f"{key}:{array.dtype.str}:{array.shape}".encode())
            total.update(array.tobytes())
        return total.hexdigest()[:16]

    def _arrays(self, kernel: Kernel | None = None) -> dict[str, np.ndarray]:
        out = self._features.arrays() | (kernel or self._kernel).arrays()
        out |= {"cost_weights": self.cost_weights, "budgets": self.budgets, "initial_state": self.initial_distribution}
        if self.loss_profiles is not None:
            out["loss_profiles"] = self.loss_profiles
        if self.transition_costs is not None:
            out["transition_costs"] = self.transition_costs
        return out

    def save(self, path: str | Path) -> None:
        """Write the arrays and the name to a `.npz` file."""
        safe_files.write_file(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        from tightrope.problems.files import problem_bytes

        return problem_bytes(self, self._arrays())

    @classmethod
    def load(cls, path: str | Path) -> LinearCMDP:
        """Read a problem from a `.npz` file: one that `save` wrote, or one with the arrays named as above."""
        from tightrope.problems.files import load_problem

        return load_problem(Path(path))

    @classmethod
    def from_tables(cls, transitions: Any, costs: Any = None, budgets: Any = None, initial_state: Any = 0, **more: Any):
        """Make a problem from tables; see `tightrope.problems.from_tables.from_tables` for every argument."""
        from tightrope.problems.from_tables import from_tables

        return from_tables(transitions, costs, budgets, initial_state, **more)

    def __repr__(self) -> str:
        kind = "axis" if isinstance(self._features, AxisFeatures) else "dense"
        return (
            f"LinearCMDP({self.name!r}: S={self.n_states}, A={self.n_actions}, d={self.dim} ({kind}), "
            f"H={self.horizon}, budgets={self.budgets.tolist()})"
        )


def _remake(features, kernel, cost_weights, budgets, initial_state, options: dict[str, Any]) -> LinearCMDP:
    if isinstance(features, dict):
        features = axis_features(features["feature_index"], features["feature_value"], int(features["feature_dim"]))
    return LinearCMDP(features, kernel, cost_weights, budgets, initial_state, **options)
