"""What spec would make this run again? TOML from a manifest; `tightrope run` takes it as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tightrope import learners
from tightrope.problems import names as gallery
from tightrope.show.reading import Kept

TOP = ("episodes", "record_every", "trace")


def spec_text(kept: Kept) -> str:
    """A spec with every setting spelt out; the preset that they came from does not matter any more."""
    spec = kept.spec
    problem, losses, learner = spec["problem"], dict(spec["losses"]), _learner(spec["learner"])
    if losses.get("seed") == kept.seed:  # each run's own, unless the spec gave all runs the same
        del losses["seed"]
    lines = [f"{key} = {_value(spec[key])}" for key in TOP if spec.get(key) is not None]
    lines += [f"seeds = [{kept.seed}]"]
    if kept.traced and "trace" not in spec:
        lines.append("trace = true")
    lines += ["", "[problem]", *_problem(problem)]
    lines += ["", "[losses]", *_entries(losses)]
    lines += ["", "[learner]", *_entries(learner)]
    return "\n".join(lines) + "\n"


def _problem(problem: Mapping[str, Any]) -> list[str]:
    if problem["name"] in gallery():
        return [f"name = {_value(problem['name'])}", *_entries(problem["parameters"])]
    return [
        f'file = "problem.npz"  # {_comment(problem["name"])}, digest {problem["digest"]}; it stands beside the run'
    ]


def _learner(told: Mapping[str, Any]) -> dict[str, Any]:
    """What can be set of the learner; what it was told by the oracle it is to ask for again."""
    name = told.get("name")
    if name not in learners.names():
        return dict(told)
    known = learners.parameters(name)
    asked = getattr(learners.class_of(name), "from_oracle", ()) if told.get("knowledge") == "oracle" else ()
    preset = {"preset": "theory"} if "delta" in told else {}  # the only one that takes it
    return {"name": name, **preset} | {key: x for key, x in told.items() if key in known and key not in asked}


def _comment(text: str) -> str:
    """Text for a comment, which ends with the line."""
    return json.dumps(text)


def _entries(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None]


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_entries(value)) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(x) for x in value) + "]"
    if isinstance(value, float):
        return repr(value) if "." in repr(value) or "e" not in repr(value) else repr(value).replace("e", ".0e")
    return json.dumps(value, ensure_ascii=False)
