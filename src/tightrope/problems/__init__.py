"""What is to be decided? `LinearCMDP` and the gallery of ready problems."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tightrope.errors import InputError, suggest
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.gym import ENDLESS, environment, register
from tightrope.problems.machine_hall import machine_hall
from tightrope.problems.nightly import nightly_batch
from tightrope.problems.random_linear import random_linear
from tightrope.problems.scheduling import job_scheduling, priced_jobs
from tightrope.problems.streaming import streaming

GALLERY: dict[str, Callable[..., LinearCMDP]] = {
    "job-scheduling": job_scheduling,
    "machine-hall": machine_hall,
    "nightly-batch": nightly_batch,
    "priced-jobs": priced_jobs,
    "random-linear": random_linear,
    "streaming": streaming,
}


def names() -> list[str]:
    """The names that `make` knows."""
    return sorted(GALLERY)


def parameters(name: str) -> dict[str, Any]:
    """The parameters of a ready problem and their defaults."""
    return {p.name: p.default for p in inspect.signature(_maker(name)).parameters.values()}


def make(name: str, /, **given: Any) -> LinearCMDP:
    """Make a ready problem by name; unknown names and parameters are refused with the nearest known one."""
    maker = _maker(name)
    known = parameters(name)
    wrong = [f"problem {name!r} has no parameter {key!r}; {suggest(key, known)}" for key in given if key not in known]
    if wrong:
        raise InputError(wrong)
    return maker(**given)


def __getattr__(name: str) -> Any:
    """The adapters to Safety-Gymnasium, which need Gymnasium, when they are asked for."""
    if name in ("FromSafety", "ToSafety"):
        from tightrope.problems import safety

        return getattr(safety, name)
    raise AttributeError(f"module 'tightrope.problems' has no attribute {name!r}")


def _maker(name: str) -> Callable[..., LinearCMDP]:
    if name in ENDLESS:
        raise InputError(f"problem {name!r} has states that cannot be listed; use tr.problems.environment({name!r})")
    if not isinstance(name, str) or name not in GALLERY:
        raise InputError(f"unknown problem {name!r}; {suggest(str(name), GALLERY)}")
    return GALLERY[name]


__all__ = ["ENDLESS", "LinearCMDP", "environment", "make", "names", "parameters", "register"]
