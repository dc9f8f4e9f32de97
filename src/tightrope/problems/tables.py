"""How are features and kernels stored? Sparse where they are sparse, behind the same few operations.

Notation: S states, A actions, d features, H steps. A *channel* array has a leading axis [C] (loss first, costs after).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


Step: TypeAlias = np.ndarray | sp.csr_array  # psi_h, [d, S]


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a contiguous array that nobody can write to; a copy, unless the given one is such an array already."""
    flags = array.flags
    if type(array) is np.ndarray and flags.owndata and flags.c_contiguous and not flags.writeable:
        return array
    return sealed(np.array(array, order="C", subok=False))


def sealed(array: np.ndarray) -> np.ndarray:
    """Close an array that was just made, and that nobody else holds, to writing."""
    array.flags.writeable = False
    return array


def dense_of(step: Step) -> Floats:
    """[d, S]"""
    return cast(Any, step).toarray() if sp.issparse(step) else cast(Floats, step)


def stored(step: Step) -> Floats:
    """The entries that are stored: all of a dense array [d, S], the non-zeros of a sparse one."""
    return cast(Floats, step.data if sp.issparse(step) else step)


def row_sums(step: Step) -> Floats:
    """[d]"""
    return np.asarray(cast(Any, step).sum(axis=1)).ravel()


def row_range(step: Step) -> tuple[Floats, Floats]:
    """The least and the greatest entry of every row, [d] and [d]."""
    if not sp.issparse(step):
        return cast(Floats, step).min(axis=1), cast(Floats, step).max(axis=1)
    matrix = cast(Any, step)
    return matrix.min(axis=1).toarray().ravel(), matrix.max(axis=1).toarray().ravel()


@dataclass(frozen=True, eq=False)
class AxisFeatures:
    """Features with at most one non-zero each: `phi(s, a) = value[s, a] * e_{index[s, a]}` (one-hot is value 1)."""

    index: Ints  # [S, A]
    value: Floats  # [S, A]
    dim: int

    @property
    def shape(self) -> tuple[int, int, int]:
        return (*self.index.shape, self.dim)

    @cached_property
    def dense(self) -> Floats:
        """[S, A, d]"""
        rows = np.zeros(self.shape)
        np.put_along_axis(rows, self.index[:, :, None], self.value[:, :, None], axis=2)
        return sealed(rows)

    def norms(self) -> Floats:
        """[S, A]"""
        return np.abs(self.value)

    def apply(self, weights: Floats) -> Floats:
        """phi(s, a) . w for weights [..., d] -> [..., S, A]."""
        return np.asarray(weights)[..., self.index] * self.value

    def gather(self, amounts: Floats) -> Floats:
        """sum over (s, a) of amounts[s, a] phi(s, a) -> [d]."""
        return np.bincount(self.index.ravel(), (amounts * self.value).ravel(), minlength=self.dim).astype(
            float, copy=False
        )

    def arrays(self) -> dict[str, np.ndarray]:
        return {"feature_index": self.index, "feature_value": self.value, "feature_dim": np.array(self.dim)}


@dataclass(frozen=True, eq=False)
class DenseFeatures:
    """Features stored whole."""

    dense: Floats  # [S, A, d]

    @property
    def dim(self) -> int:
        return self.dense.shape[2]

    @property
    def shape(self) -> tuple[int, int, int]:
        n_states, n_actions, dim = self.dense.shape
        return n_states, n_actions, dim

    def norms(self) -> Floats:
        """[S, A]"""
        return np.linalg.norm(self.dense, axis=2)

    def apply(self, weights: Floats) -> Floats:
        """phi(s, a) . w for weights [..., d] -> [..., S, A]."""
        weights = np.asarray(weights)
        n_states, n_actions, dim = self.dense.shape
        flat = weights.reshape(-1, dim) @ self.dense.reshape(-1, dim).T
        return flat.reshape(*weights.shape[:-1], n_states, n_actions)

    def gather(self, amounts: Floats) -> Floats:
        """sum over (s, a) of amounts[s, a] phi(s, a) -> [d]."""
        return amounts.ravel() @ self.dense.reshape(-1, self.dim)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"features": self.dense}


Features = AxisFeatures | DenseFeatures


def axis_features(index: np.ndarray, value: np.ndarray, dim: int) -> AxisFeatures:
    """From positions [S, A] and values [S, A], whatever their integer and float types."""
    return AxisFeatures(frozen(index.astype(np.int64)), frozen(value.astype(np.float64)), dim)


def features_from_dense(rows: np.ndarray) -> Features:
    """Choose the storage: axis features when no row has two non-zeros, dense otherwise."""
    if rows.ndim == 3 and rows.shape[2] and (np.count_nonzero(rows, axis=2) <= 1).all():
        index = np.argmax(rows != 0, axis=2)
        value = np.take_along_axis(rows, index[:, :, None], axis=2)[:, :, 0]
        return axis_features(index, value, rows.shape[2])
    return DenseFeatures(frozen(rows))


@dataclass(frozen=True, eq=False)
class Kernel:
    """The measures `psi_h` of every step, each a [d, S] array, dense or CSR; equal steps share one array.

    `which[h]` is the position in `steps` of step h's array, so a kernel that does not depend on the step is stored once.
    """

    steps: tuple[Step, ...]
    which: tuple[int, ...]

    @property
    def horizon(self) -> int:
        return len(self.which)

    @property
    def shape(self) -> tuple[int, int, int]:
        dim, n_states = cast(tuple[int, int], self.steps[0].shape)
        return self.horizon, dim, n_states

    def step(self, h: int) -> Step:
        return self.steps[self.which[h]]

    @cached_property
    def dense(self) -> Floats:
        """[H, d, S]"""
        made = [dense_of(step) for step in self.steps]
        return sealed(np.stack([made[i] for i in self.which]))

    def backup(self, h: int, values: Floats) -> Floats:
        """psi_h V for values [..., S] -> [..., d]."""
        return (self.step(h) @ np.asarray(values).T).T

    def push(self, h: int, amounts: Floats) -> Floats:
        """sum over j of amounts[j] psi_h[j, .] -> [S]: where the mass on features goes."""
        return amounts @ self.step(h)

    def arrays(self) -> dict[str, np.ndarray]:
        out: dict[str, np.ndarray] = {"kernel_which": np.array(self.which)}
        for i, step in enumerate(self.steps):
            if sp.issparse(step):
                parts = {part: np.asarray(getattr(step, part)) for part in ("data", "indices", "indptr", "shape")}
                out |= {f"kernel_{i}_{part}": array for part, array in parts.items()}
            else:
                out[f"kernel_{i}"] = cast(Floats, step)
        return out


def kernel_from_steps(steps: Sequence[Step]) -> Kernel:
    """Store each distinct step once; one sparse step makes all CSR."""
    sparse = any(sp.issparse(step) for step in steps)
    made: dict[int, Step] = {}  # by the identity of what was given: a step given H times is stored without comparing it
    distinct: list[Step] = []
    which: list[int] = []
    for given in steps:
        step = made.get(id(given))
        if step is None:
            step = made[id(given)] = _frozen_csr(given) if sparse else frozen(np.asarray(given))
        place = next((i for i, seen in enumerate(distinct) if seen is step or _same(seen, step)), len(distinct))
        if place == len(distinct):
            distinct.append(step)
        which.append(place)
    return Kernel(tuple(distinct), tuple(which))


def _same(a: Step, b: Step) -> bool:
    if not sp.issparse(a):
        return np.array_equal(cast(Floats, a), cast(Floats, b), equal_nan=True)
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, k), getattr(b, k)) for k in ("indptr", "indices", "data")
    )


def _frozen_csr(given: Step) -> sp.csr_array:
    """Sorted, without duplicates or stored zeros, so that equal matrices are stored alike."""
    step = sp.csr_array(given, dtype=np.float64, copy=True)
    step.sum_duplicates()
    step.eliminate_zeros()
    step.sort_indices()
    for part in (step.data, step.indices, step.indptr):
        cast(np.ndarray, part).flags.writeable = False
    return step
