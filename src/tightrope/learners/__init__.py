"""Who decides? One algorithm a file; `make` finds them by name, and loads a file when its algorithm is first asked for."""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import Any

from tightrope.errors import InputError, suggest
from tightrope.learners.pdpo import PDPO, settings_names
from tightrope.learners.protocol import Episode, Learner, Player, Sizes, describe, read_sizes
from tightrope.problems.cmdp import LinearCMDP

# Where each algorithm is: a file of this folder, and the class of its settings.
CLASSES = {
    "pdpo": ("pdpo", "PDPO"),
    "ghosh2022": ("ghosh2022", "Ghosh2022"),
    "naive": ("naive", "Naive"),
    "cfpo": ("cfpo", "CFPO"),
    "opse": ("opse", "OPSE"),
    "ghosh2024": ("ghosh2024", "Ghosh2024"),
    "ucpd": ("ucpd", "UCPD"),
    "dope": ("dope", "DOPE"),
    "uniform": ("uniform", "Uniform"),
    "hindsight": ("hindsight", "Hindsight"),
}
PRESETS = ("experiment", "practical", "theory")


def names() -> list[str]:
    """The names that `make` knows."""
    return list(CLASSES)


def class_of(name: str) -> Any:
    """The class of a learner's settings, with its guarantees in its module's docstring."""
    if not isinstance(name, str) or name not in CLASSES:
        raise InputError(f"unknown learner {name!r}; {suggest(str(name), names())}")
    module, kind = CLASSES[name]
    return getattr(importlib.import_module(f"tightrope.learners.{module}"), kind)


def presets(name: str) -> list[str]:
    """The presets that a learner has; every one has "practical"."""
    return [preset for preset in PRESETS if hasattr(class_of(name), preset)]


def parameters(name: str) -> list[str]:
    """What can be set of a learner, beside its preset."""
    if name == "pdpo":
        return [*settings_names(), "delta"]
    return [f.name for f in fields(class_of(name)) if f.name != "knowledge"]


def make(name: str, cmdp: LinearCMDP | Sizes, episodes: int, preset: str = "practical", **overrides: Any) -> Any:
    """A learner by name, for a problem and a number of episodes.

    What a learner needs to know beforehand (a safe policy, Slater's constant) is taken from the oracle, and its description
    then says `knowledge="oracle"`; a problem without a model is refused.

    Parameters
    ----------
    preset: "practical" (settings that work where budgets bind), "theory" (the paper's constants, where the learner has them)
        or, of "pdpo", "experiment" (the paper's numerical section).
    overrides: settings that replace those of the preset; what the preset derives from them follows.
    """
    kind = class_of(name)
    if preset not in presets(name):
        raise InputError(f"preset: unknown {preset!r}; {suggest(str(preset), presets(name))}")
    known = [key for key in parameters(name) if key != "delta" or preset == "theory"]
    wrong = [
        "delta: only preset 'theory' has it"
        if key == "delta" and name == "pdpo"
        else f"{key}: not a setting of {name!r}; {suggest(key, known)}"
        for key in overrides
        if key not in known
    ]
    if wrong:
        raise InputError(wrong)
    return getattr(kind, preset)(read_sizes(cmdp), episodes, **overrides)


__all__ = [
    "PDPO",
    "Episode",
    "Learner",
    "Player",
    "Sizes",
    "class_of",
    "describe",
    "make",
    "names",
    "parameters",
    "presets",
]
