"""What may stand in a spec, as a JSON schema for editors and as a template with comments for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tightrope import learners, losses, problems
from tightrope.lab.spec_checks import PRICES, READING
from tightrope.lab.spec_format import LARGEST, MOST_SEEDS

_SEED = {"type": "integer", "minimum": 0, "maximum": LARGEST}
_COUNT = {"type": "integer", "minimum": 1, "maximum": LARGEST}
_SEEDS = {
    "oneOf": [
        {"type": "integer", "minimum": 1, "maximum": MOST_SEEDS, "description": "how many; they are 0, 1, 2, …"},
        {"type": "array", "items": _SEED, "minItems": 1, "maxItems": MOST_SEEDS, "uniqueItems": True},
    ]
}
_VALUES = {"type": "array", "minItems": 1, "uniqueItems": True}
_RANGE = {
    "oneOf": [
        {"type": "array", "minItems": 2, "uniqueItems": True, "description": "one of these"},
        {
            "type": "object",
            "properties": {
                "low": {"type": "number"},
                "high": {"type": "number"},
                "log": {"type": "boolean"},
                "whole": {"type": "boolean"},
            },
            "required": ["low", "high"],
            "additionalProperties": False,
        },
    ]
}


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a spec."""
    tables = {"problem": _problem(), "losses": _losses(), "learner": _learner()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tightrope spec",
        "type": "object",
        "properties": {
            "episodes": _COUNT | {"description": "episodes of each run, K"},
            "seeds": _SEEDS | {"description": "one run for each"},
            "record_every": _COUNT | {"description": "the curves have every n-th episode and the last"},
            "trace": {"type": "boolean", "description": "keep everything that happened, episode by episode"},
            **tables,
            "sweep": _sweep(),
            "tune": _tune(tables["losses"]),
        },
        "required": ["problem", "losses"],
        "anyOf": [
            {"required": ["episodes"]},
            {"properties": {"sweep": {"required": ["episodes"]}}, "required": ["sweep"]},
        ],
        "additionalProperties": False,
    }


def _one_of(key: str, kinds: Mapping[str, Mapping[str, Any]], others: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """A table that names its kind, with the parameters of that kind."""
    found: list[dict[str, Any]] = [
        {
            "properties": {key: {"const": name}, **parameters},
            "required": [key],
            "additionalProperties": False,
        }
        for name, parameters in kinds.items()
    ]
    return {"type": "object", "oneOf": [*found, *others]}


def _problem() -> dict[str, Any]:
    kinds = {name: {k: _like(v) for k, v in problems.parameters(name).items()} for name in problems.names()}
    file = {"properties": {"file": {"type": "string"}}, "required": ["file"], "additionalProperties": False}
    return _one_of("name", kinds, [file])


def _losses() -> dict[str, Any]:
    kinds = {
        kind: {k: _like(v) for k, v in losses.parameters(kind).items()} | {"seed": _SEED} for kind in losses.names()
    }
    return _one_of("kind", kinds, [_prices()])


def _prices() -> dict[str, Any]:
    """Losses from a file of hourly prices."""
    fields = {key: {"type": "string"} for key in READING} | {
        "kind": {"const": PRICES},
        "start": {"type": "integer", "minimum": 0, "maximum": 23},
        "scale": {"oneOf": [{"enum": ["median", "quantile", "whole"]}, {"type": "number", "exclusiveMinimum": 0}]},
        "action": {"type": "integer", "minimum": 0},
    }
    return {"properties": fields, "required": ["kind", "file"], "additionalProperties": False}


def _learner() -> dict[str, Any]:
    every = sorted({key for name in learners.names() for key in learners.parameters(name)})
    return {
        "type": "object",
        "properties": {
            "name": {"enum": learners.names()},
            "preset": {"enum": list(learners.PRESETS)},
            **{key: {} for key in every},
        },
        "additionalProperties": False,
    }


def _sweep() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "a list of values for each setting; every combination is run",
        "additionalProperties": {"oneOf": [_VALUES, {"type": "object", "additionalProperties": _VALUES}]},
    }


def _tune(losses_table: dict[str, Any]) -> dict[str, Any]:
    runs = {
        "type": "object",
        "properties": {"seeds": _SEEDS, "losses": {"type": "array", "items": losses_table, "minItems": 1}},
        "required": ["seeds"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "trials": {"type": "integer", "minimum": 1},
            "penalty": {"type": "number", "minimum": 0},
            "prune": {"type": "boolean"},
            "seed": _SEED,
            "training": runs,
            "held_out": runs,
            "ranges": {"type": "object", "minProperties": 1, "additionalProperties": {"oneOf": [*_RANGE["oneOf"]]}},
        },
        "required": ["training", "held_out", "ranges"],
        "additionalProperties": False,
    }


def _like(default: Any) -> dict[str, Any]:
    """What is of the kind of a default."""
    if isinstance(default, bool):
        return {"type": "boolean", "default": default}
    if isinstance(default, int):
        return {"type": "integer", "default": default}
    if isinstance(default, float):
        return {"type": "number", "default": default}
    return {"type": "string", "default": default} if isinstance(default, str) else {}


TEMPLATE = """\
# A spec of tightrope: what to run. Run it with `tightrope run THIS_FILE --out DIR`; the same command goes on after anything
# that stopped it. `tightrope doctor THIS_FILE` says beforehand whether the settings can work.

episodes = 20_000          # of each run, K
seeds = 3                  # how many runs of each setting (their seeds are 0, 1, 2), or a list such as [7, 11]
# record_every = 20        # the curves have every n-th episode and the last; by default some 1,000 points
# trace = false            # keep everything that happened, episode by episode; large

[problem]                  # `tightrope problems` lists them and their parameters
name = "priced-jobs"       # {problems}
budget = 7.0
# file = "mine.npz"        # instead of a name: your own, from LinearCMDP.save; looked for beside this file

[losses]
kind = "alternating"       # {losses}
# seed = 0                 # of the losses' own randomness; by default the seed of the run
# file = "prices.csv"      # with kind "prices": one night of hourly prices an episode; looked for beside this file

[learner]
name = "pdpo"              # {learners}
preset = "practical"       # {presets}; settings below replace the preset's
# alpha = 0.1              # step of the policy
# eta = 0.1                # step of the dual

# Every combination of the values listed here is run, with each seed. Any setting of this file can be swept, but the seeds.
# [sweep]
# "learner.alpha" = [0.01, 0.1]
# "problem.budget" = [6.0, 7.0]

# `tightrope tune THIS_FILE` looks in these ranges for the settings with the least max(regret, 0) + penalty max(violation, 0) in
# the mean over the training runs, and reports what they are worth on held-out runs that the search never saw.
# [tune]
# trials = 40
# penalty = 1.0
# prune = true             # give up trials whose curves are worse than the median of earlier ones
# [tune.training]
# seeds = 2
# losses = [{{ kind = "alternating" }}, {{ kind = "drift" }}]   # by default those of [losses]
# [tune.held_out]
# seeds = 5                # a count here means the seeds after those of training; or a list
# losses = [{{ kind = "switching", period = 500 }}]
# [tune.ranges]
# "learner.alpha" = {{ low = 0.001, high = 1.0, log = true }}
# "learner.restart" = ["paper", "warm"]
"""


def template() -> str:
    """A spec that runs as it stands, and says in comments what else can be said."""
    return TEMPLATE.format(
        problems=", ".join(problems.names()),
        losses=", ".join([*losses.names(), PRICES]),
        learners=", ".join(learners.names()),
        presets=", ".join(learners.presets("pdpo")),
    )
