"""How is an observation kept? Numbers, text, arrays, and lists, tuples and dicts of these, bit for bit."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import numpy as np


def kept(obs: Any) -> Any:
    """What stays as it is when the environment goes on to reuse its own arrays."""
    return copy.deepcopy(obs) if isinstance(obs, np.ndarray | list | tuple | dict) else obs


def pack(observations: list[Any]) -> np.ndarray | None:
    """Bytes from which `unpack` makes the same observations again; None when one is of a type that no file here can hold."""
    try:
        return np.frombuffer(json.dumps([_put(obs) for obs in observations]).encode(), np.uint8)
    except TypeError:
        return None


def unpack(packed: np.ndarray) -> list[Any]:
    """And back."""
    return [_get(one) for one in json.loads(packed.tobytes())]


def _put(obs: Any) -> Any:
    if obs is None or type(obs) in (bool, int, float, str):
        return obs
    if isinstance(obs, np.generic) or type(obs) is np.ndarray:
        if obs.dtype.kind not in "biufcSUmM":
            raise TypeError(f"an array of {obs.dtype}")
        flat = np.ascontiguousarray(obs)
        kind = "scalar" if isinstance(obs, np.generic) else "array"
        return {kind: [obs.dtype.str, list(obs.shape), base64.b64encode(flat.tobytes()).decode()]}
    if type(obs) in (list, tuple):
        return {type(obs).__name__: [_put(one) for one in obs]}
    if type(obs) is dict:
        return {"dict": [[_put(name), _put(one)] for name, one in obs.items()]}
    raise TypeError(f"a {type(obs).__name__}")


def _get(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    ((kind, content),) = told.items()
    if kind in ("scalar", "array"):
        dtype, shape, text = content
        array = np.frombuffer(base64.b64decode(text), dtype).reshape(shape).copy()
        return array[()] if kind == "scalar" else array
    if kind == "dict":
        return {_get(name): _get(one) for name, one in content}
    return (tuple if kind == "tuple" else list)(_get(one) for one in content)
