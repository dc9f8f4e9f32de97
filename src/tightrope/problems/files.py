"""How is a problem kept in a file? One `.npz` without pickles; arrays under the names of `LinearCMDP`."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightrope.errors import InputError, suggest
from tightrope.problems.reading import read_floats
from tightrope.problems.tables import AxisFeatures, Kernel, Step, axis_features, kernel_from_steps
from tightrope.problems.units import Scale, Units

if TYPE_CHECKING:
    from tightrope.problems.cmdp import LinearCMDP

WANTED = ("features", "kernel", "cost_weights", "budgets")
OPTIONAL = ("initial_state", "loss_profiles", "transition_costs", "about")


def problem_bytes(cmdp: LinearCMDP, arrays: dict[str, np.ndarray]) -> bytes:
    """The content of a problem's file."""
    about: dict[str, Any] = {"name": cmdp.name, "parameters": dict(cmdp.parameters)}
    if cmdp.units is not None:
        scales = [cmdp.units.loss, *cmdp.units.costs]
        about["units"] = [[s.low, s.high, s.plain] for s in scales]
    stored: dict[str, Any] = {"about": np.array(json.dumps(about, default=_plain)), **arrays}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **stored)
    return buffer.getvalue()


def load_problem(path: Path) -> LinearCMDP:
    """Read a file; every line of an error names the file and the array."""
    from tightrope.problems.cmdp import LinearCMDP

    arrays = _read(path)
    try:
        _insist_on_names(arrays)
        about = _about(arrays)
        return LinearCMDP(
            _features(arrays),
            _kernel(arrays),
            arrays["cost_weights"],
            arrays["budgets"],
            arrays.get("initial_state", np.array(0)),
            loss_profiles=arrays.get("loss_profiles"),
            transition_costs=arrays.get("transition_costs"),
            name=str(about.get("name", path.stem)),
            units=_units(about.get("units"), arrays["budgets"]),
            parameters=about.get("parameters"),
        )
    except InputError as error:
        raise InputError(f"{path}: {line}" for line in error.problems) from None


def _plain(value: Any) -> Any:
    """What JSON does not know, as something that it does."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def _read(path: Path) -> dict[str, np.ndarray]:
    wanted = "wanted a .npz with the arrays of LinearCMDP"
    arrays: dict[str, np.ndarray] = {}
    wrong: list[str] = []
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if not isinstance(stored, np.lib.npyio.NpzFile):
                raise InputError(f"{path}: holds a single array, {wanted}")
            for name in stored.files:
                try:
                    arrays[name] = np.asarray(stored[name])
                except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
                    wrong.append(f"{path}: {name}: cannot be read, wanted an array of numbers ({_first_line(error)})")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; {wanted}") from None
    except InputError:
        raise
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a readable .npz file, {wanted} ({_first_line(error)})") from None
    if wrong:
        raise InputError(wrong)
    return arrays


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _insist_on_names(arrays: dict[str, np.ndarray]) -> None:
    """Every wanted array is there, and none that nobody reads."""
    axis, stepwise = "feature_index" in arrays, "kernel_which" in arrays
    missing = [name for name in WANTED if name not in arrays]
    missing = [name for name in missing if not (name == "features" and axis) and not (name == "kernel" and stepwise)]
    wrong = [f"{name}: missing; wanted {', '.join(WANTED)} (and perhaps initial_state)" for name in missing]
    known = {*WANTED, *OPTIONAL, "feature_index", "feature_value", "feature_dim", "kernel_which"}
    strange = [name for name in arrays if name not in known and not (stepwise and name.startswith("kernel_"))]
    wrong += [f"{name}: unknown array; {suggest(name, {*WANTED, *OPTIONAL})}" for name in strange]
    if wrong:
        raise InputError(wrong)


def _about(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    try:
        about = json.loads(str(arrays.get("about", "{}")))
    except json.JSONDecodeError as error:
        raise InputError(f"about: wanted an object in JSON ({error})") from None
    if not isinstance(about, dict) or not isinstance(about.get("parameters") or {}, dict):
        raise InputError("about: wanted an object in JSON with a name and parameters")
    return about


def _features(arrays: dict[str, np.ndarray]) -> AxisFeatures | np.ndarray:
    if "feature_index" not in arrays:
        return arrays["features"]
    index, value = _part(arrays, "feature_index", "iu"), _part(arrays, "feature_value", "f")
    if index.ndim != 2:
        raise InputError(f"feature_index: shape {index.shape}, wanted [S, A]")
    dim = _part(arrays, "feature_dim", "iu")
    if dim.size != 1:
        raise InputError(f"feature_dim: shape {dim.shape}, wanted one number")
    return axis_features(index, value, int(dim.ravel()[0]))


def _kernel(arrays: dict[str, np.ndarray]) -> Kernel | np.ndarray:
    if "kernel_which" not in arrays:
        return arrays["kernel"]
    which = np.atleast_1d(_part(arrays, "kernel_which", "iu"))
    if which.size == 0 or which.min() < 0 or which.ndim != 1:
        raise InputError("kernel_which: wanted, for each step, the number of its array")
    steps = {i: _step(arrays, f"kernel_{i}") for i in sorted({int(i) for i in which})}
    return kernel_from_steps([steps[int(i)] for i in which])


def _step(arrays: dict[str, np.ndarray], name: str) -> Step:
    """A dense step under its own name, or a CSR one from its parts."""
    if f"{name}_data" not in arrays:
        step = read_floats(name, _part(arrays, name, "biuf"))
        if step.ndim != 2:
            raise InputError(f"{name}: shape {step.shape}, wanted [d, S]")
        return step
    data = _part(arrays, f"{name}_data", "f")
    indices, indptr, shape = (_part(arrays, f"{name}_{part}", "iu") for part in ("indices", "indptr", "shape"))
    try:
        step = sp.csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))
        step.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"{name}: not a sparse matrix [d, S] ({_first_line(error)})") from None
    return step


def _part(arrays: dict[str, np.ndarray], name: str, kinds: str) -> np.ndarray:
    if name not in arrays:
        raise InputError(f"{name}: missing")
    if arrays[name].dtype.kind not in kinds:
        word = "whole numbers" if "f" not in kinds else "numbers"
        raise InputError(f"{name}: wanted {word}, not {arrays[name].dtype.name!r}")
    return arrays[name]


def _units(given: Any, budgets: np.ndarray) -> Units | None:
    if given is None:
        return None
    try:
        loss, *costs = (Scale(float(low), float(high), bool(plain)) for low, high, plain in given)
    except (TypeError, ValueError):
        raise InputError("about: units, wanted low, high and plain for the loss and for each cost") from None
    if len(costs) != budgets.size:
        raise InputError(f"about: units for {len(costs)} costs, wanted {budgets.size}")
    return Units(loss, tuple(costs))
