"""How is a run kept on disk? One folder: `manifest.json`, `curves.parquet`, `policies.npz`, and `trace.npz` where asked.

These are the result, the same bytes whenever, wherever and in how many pieces the run was made. What does depend on that, the
seconds and the host, stands apart in `host.json`. A problem that the gallery cannot make again is added as `problem.npz`. The
folder appears whole; the manifest has a checksum of every file of the result, and manifest and host facts carry their own.
"""

from __future__ import annotations

import functools
import io
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tightrope import problems, safe_files
from tightrope.errors import InputError
from tightrope.oracle.certificate import BestPolicy
from tightrope.problems.cmdp import LinearCMDP
from tightrope.recorder import Extremes, Trace
from tightrope.run import Run, host_facts, judged

FORMAT = 2
MANIFEST, CURVES, POLICIES, TRACE, PROBLEM, HOST = (
    "manifest.json",
    "curves.parquet",
    "policies.npz",
    "trace.npz",
    "problem.npz",
    "host.json",
)
_CHANNELS = ("violation", "hard_violation", "dual")  # curves with one column a constraint


def save_run(run: Run, directory: Path) -> None:
    """Write aside, then rename into place."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise InputError(f"{directory}: not a directory; wanted a new or empty one for the run")
    if directory.exists() and any(directory.iterdir()):
        held = "a run" if (directory / MANIFEST).exists() else "something else"
        raise InputError(f"{directory}: already holds {held}; wanted a new or empty directory, nothing is overwritten")
    safe_files.write_folder(directory.resolve(), files_of(run))


def files_of(run: Run, digest: str | None = None, made: Mapping[str, Any] | None = None) -> dict[str, bytes]:
    """The content of each file of a run's folder.

    Parameters
    ----------
    digest: of everything that determines the run, where it has one (`lab.spec_checks.Spec.key`).
    made: more about how it was made, for `host.json`.
    """
    files = {CURVES: _curves(run), POLICIES: _arrays(_policies(run))}
    if run.trace is not None:
        files[TRACE] = _arrays({f.name: getattr(run.trace, f.name) for f in fields(Trace)})
    if not in_gallery(run.cmdp):
        files[PROBLEM] = run.cmdp.to_bytes()
    checksums = {name: safe_files.digest(content) for name, content in files.items()}
    files[MANIFEST] = safe_files.sealed(manifest(run, checksums, digest))
    files[HOST] = safe_files.sealed({"seconds": dict(run.seconds), **this_host(), **(made or {})})
    return files


def manifest(run: Run, checksums: Mapping[str, str], digest: str | None) -> dict[str, Any]:
    """Everything about a run that is not an array, and does not depend on when and where it was made."""
    cmdp = run.cmdp
    return {
        "format": FORMAT,
        "digest": digest,
        "seed": run.seed,
        "spec": {
            **run.about,
            "problem": {"name": cmdp.name, "parameters": dict(cmdp.parameters), "digest": cmdp.digest},
        },
        "final": final_numbers(run),
        "extremes": {f.name: getattr(run.extremes, f.name).tolist() for f in fields(Extremes)},
        "comparator": _comparator(run.comparator),
        "versions": host_facts(),
        "sha256": dict(checksums),
    }


def final_numbers(run: Run) -> dict[str, Any]:
    """Where the curves end: what a list of runs shows without opening them."""
    found: dict[str, Any] = {"regret": None if np.isnan(run.regret[-1]) else float(run.regret[-1])}
    for name in _CHANNELS:
        curve = getattr(run, name)
        found |= dict(zip(channel_names(name, curve.shape[1]), curve[-1].tolist()))
    return found | {"epochs": int(run.epoch[-1])}


def this_host() -> dict[str, Any]:
    """Who makes a run, and when."""
    return {
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "platform": platform.platform(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _comparator(best: BestPolicy | None) -> dict[str, Any] | None:
    if best is None:
        return None
    return {
        "value": best.value,
        "costs": best.costs.tolist(),
        "multipliers": best.multipliers.tolist(),
        "gap": best.gap,
        "residual": best.residual,
        "method": best.method,
    }


def channel_names(name: str, m: int) -> list[str]:
    """Column names of a curve: its own for one constraint, numbered from 0 for more."""
    return [name] if m == 1 else [f"{name}_{i}" for i in range(m)]


def _curves(run: Run) -> bytes:
    import polars as pl

    columns: dict[str, Any] = {"episode": run.episodes, "regret": run.regret, "loss": run.loss}
    for name in _CHANNELS:
        curve = getattr(run, name)
        columns |= dict(zip(channel_names(name, curve.shape[1]), curve.T))
    columns["epoch"] = run.epoch
    buffer = io.BytesIO()
    pl.DataFrame({key: np.ascontiguousarray(column) for key, column in columns.items()}).write_parquet(buffer)
    return buffer.getvalue()


def _policies(run: Run) -> dict[str, np.ndarray]:
    found = {"policy": np.asarray(run.policy), "mean_loss_weights": run.mean_loss_weights}
    if run.comparator is not None:
        found["comparator"] = run.comparator.policy
    if run.occupancy is not None:
        found["occupancy"] = run.occupancy
    return found


def _arrays(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def in_gallery(cmdp: LinearCMDP) -> bool:
    """Whether the gallery makes exactly this problem from its name and parameters."""
    if cmdp.name not in problems.names():
        return False
    try:
        return _gallery_digest(cmdp.name, tuple(cmdp.parameters.items())) == cmdp.digest
    except TypeError:  # a parameter that is an array
        return _digest_of(cmdp.name, cmdp.parameters) == cmdp.digest


@functools.lru_cache(maxsize=256)
def _gallery_digest(name: str, parameters: tuple[tuple[str, Any], ...]) -> str | None:
    return _digest_of(name, dict(parameters))


def _digest_of(name: str, parameters: Mapping[str, Any]) -> str | None:
    try:
        return problems.make(name, **parameters).digest
    except InputError:
        return None


def load_run(directory: Path) -> Run:
    """Read and check; every file must have the checksum of the manifest."""
    import polars as pl

    about = read_manifest(directory)
    files = {
        name: safe_files.read_checked(directory / name, digest, MANIFEST) for name, digest in about["sha256"].items()
    }
    host = safe_files.read_sealed(directory / HOST)
    try:
        cmdp = _problem(directory, about["spec"]["problem"], PROBLEM in files)
        curves = pl.read_parquet(io.BytesIO(files[CURVES]))
        m = cmdp.n_constraints
        per_constraint = {name: _column(curves, *channel_names(name, m)) for name in _CHANNELS}
        arrays = dict(np.load(io.BytesIO(files[POLICIES])))
        trace = dict(np.load(io.BytesIO(files[TRACE]))) if TRACE in files else None
        spec = {key: value for key, value in about["spec"].items() if key != "problem"}
        run = Run(
            cmdp=cmdp,
            about=spec,
            seconds=host["seconds"],
            episodes=_column(curves, "episode")[:, 0],
            regret=_column(curves, "regret")[:, 0],
            loss=_column(curves, "loss")[:, 0],
            epoch=_column(curves, "epoch")[:, 0],
            extremes=Extremes(**{key: np.array(value) for key, value in about["extremes"].items()}),
            policy=judged(cmdp, arrays["policy"], arrays["mean_loss_weights"]),
            comparator=_read_comparator(about["comparator"], arrays),
            mean_loss_weights=arrays["mean_loss_weights"],
            occupancy=arrays.get("occupancy"),
            trace=None if trace is None else Trace(**trace),
            **per_constraint,
        )
        _check_final(directory, about["final"], final_numbers(run))
        return run
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{directory}: not a run of this version ({type(error).__name__}: {error})") from None


def _check_final(directory: Path, told: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """What a list of runs shows is where the curves end."""
    wrong = [name for name in {**found, **told} if name not in told or name not in found or told[name] != found[name]]
    if wrong:
        name = wrong[0]
        raise InputError(
            f"{directory / MANIFEST}: final: {name} {told.get(name)}, but the curves end at {found.get(name)}"
        )


def _column(curves: Any, *names: str) -> np.ndarray:
    """[R, len(names)], an array of one's own."""
    return np.stack([curves[name].to_numpy() for name in names], axis=1)


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a run's folder, or an `InputError`."""
    path = directory / MANIFEST
    if not path.is_file():
        raise InputError(f"{directory}: not a run; wanted a folder with {MANIFEST}")
    found = safe_files.read_sealed(path)
    if found.get("format") != FORMAT or not isinstance(found.get("sha256"), dict):
        raise InputError(f"{path}: not the manifest of a run in format {FORMAT}")
    return found


def damage(directory: Path) -> str | None:
    """What is wrong with the files of a run's folder, in one line; None where each has its checksum."""
    try:
        for name, digest in read_manifest(directory)["sha256"].items():
            safe_files.read_checked(directory / name, digest, MANIFEST)
        safe_files.read_sealed(directory / HOST)
    except InputError as error:
        return error.problems[0]
    return None


def _problem(directory: Path, about: dict[str, Any], beside: bool) -> LinearCMDP:
    if beside:
        return LinearCMDP.load(directory / PROBLEM)
    try:
        cmdp = problems.make(about["name"], **about["parameters"])
    except InputError as error:
        raise InputError(f"{directory}: its problem cannot be made any more ({error})") from None
    if cmdp.digest != about["digest"]:
        raise InputError(
            f"{directory}: problem {about['name']!r} is not the one of the run any more (digest {cmdp.digest})"
        )
    return cmdp


def _read_comparator(about: dict[str, Any] | None, arrays: dict[str, np.ndarray]) -> BestPolicy | None:
    if about is None:
        return None
    parts = {key: np.array(about[key]) for key in ("costs", "multipliers")}
    return BestPolicy(
        about["value"],
        arrays["comparator"],
        gap=about["gap"],
        residual=about["residual"],
        method=about["method"],
        **parts,
    )
