"""tightrope: repeated decisions under a budget, against losses that nobody promises to keep still.

The public names are here; each loads its room when it is first used, so that importing the package stays quick.
"""

from __future__ import annotations

import importlib

from tightrope._version import __version__
from tightrope.after_import import after_import

_HOME = {
    "Agent": "tightrope.agent.agent",
    "LossValues": "tightrope.agent.losses",
    "LinearCMDP": "tightrope.problems.cmdp",
    "PDPO": "tightrope.learners.pdpo",
    "Run": "tightrope.run",
    "simulate": "tightrope.simulation",
    "train": "tightrope.agent.training",
    "doctor": "tightrope.theory.doctor",
    "InputError": "tightrope.errors",
    "InfeasibleError": "tightrope.errors",
    "CertificateError": "tightrope.errors",
}
_ROOMS = ("features", "lab", "learners", "losses", "oracle", "problems", "theory")

TYPE_CHECKING = False  # without `typing`, which would take half of the time that importing this takes
if TYPE_CHECKING:
    from typing import Any

    from tightrope import features, lab, learners, losses, oracle, problems, theory
    from tightrope.agent.agent import Agent
    from tightrope.agent.losses import LossValues
    from tightrope.agent.training import train
    from tightrope.errors import CertificateError, InfeasibleError, InputError
    from tightrope.learners.pdpo import PDPO
    from tightrope.problems.cmdp import LinearCMDP
    from tightrope.run import Run
    from tightrope.simulation import simulate
    from tightrope.theory.doctor import doctor


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"tightrope.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tightrope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOME, *_ROOMS, "__version__"])


def _register() -> None:
    """Tell Gymnasium of the gallery."""
    importlib.import_module("tightrope.problems.gym").register()


after_import("gymnasium", _register)

__all__ = [
    "PDPO",
    "Agent",
    "CertificateError",
    "InfeasibleError",
    "InputError",
    "LinearCMDP",
    "LossValues",
    "Run",
    "__version__",
    "doctor",
    "features",
    "lab",
    "learners",
    "losses",
    "oracle",
    "problems",
    "simulate",
    "theory",
    "train",
]
