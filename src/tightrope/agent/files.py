"""How does an agent get to a file and back? One `.npz`: a header in JSON, and every array bit for bit.

The feature map is code and stays outside; what is in the file is checked against the one that is given when loading.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope._version import __version__
from tightrope.agent.increments import Increment
from tightrope.agent.play import Played
from tightrope.errors import InputError
from tightrope.learners.pdpo import PDPO
from tightrope.problems.reading import shown
from tightrope.safe_files import write_file

if TYPE_CHECKING:
    from tightrope.agent.agent import Agent

KIND = "tightrope agent 2"
_COUNTERS = ("episodes", "epoch_start", "epochs", "mixing_from", "updates", "folded", "factor_of")


def save(agent: Agent, path: Any) -> None:
    """Write the file whole or not at all."""
    content, place = to_bytes(agent), _read_path(path)
    try:
        write_file(place, content)
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror or error})") from None


def to_bytes(agent: Agent) -> bytes:
    """What stands in the file."""
    header: dict[str, Any] = {
        "kind": KIND,
        "version": __version__,
        "learner": asdict(agent.learner),
        "sizes": asdict(agent.sizes),
        "settings": agent.settings._asdict(),
        "options": agent.options,
        "random": agent.random.bit_generator.state,
        "turned_away": [agent._turned_away, agent._farthest],
        "residual": agent._losses.residual,
    }
    arrays: dict[str, np.ndarray] = {"budgets": agent.budgets, "hard_violation": agent._hard_violation}
    if agent._player is not None:
        header["counters"] = {name: getattr(agent._player, name) for name in _COUNTERS}
        arrays |= {f"player_{k}": v for k, v in agent._player.tables.arrays().items()}
        arrays["estimates"] = agent._player.estimates
    episodes = [*agent._batch, *([] if agent.current is None else [agent.current])]
    header["episodes"] = [[played.chosen, played.ended] for played in episodes]
    header["under_way"] = agent.current is not None
    for i, played in enumerate(episodes):
        for name in ("blocks", "places", "policies", "actions", "costs"):
            arrays[f"episode{i}_{name}"] = np.array(getattr(played, name))
    arrays |= agent._losses.arrays()
    if agent._merged is not None:
        _put_increment(agent._merged, header, arrays)
    arrays["header"] = np.array(json.dumps(header))
    content = io.BytesIO()
    np.savez(content, **arrays)  # pyright: ignore[reportArgumentType]
    return content.getvalue()


def load(path: Any, features: Any) -> Agent:
    """The agent that `save` wrote."""
    place = _read_path(path)
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{place}: no such file") from None
    except OSError as error:
        raise InputError(f"{place}: cannot be read ({error.strerror or error})") from None
    return from_bytes(content, features, str(place))


def from_bytes(content: bytes, features: Any, path: str = "agent") -> Agent:
    """The agent that `to_bytes` put down; `path` is what mistakes are told of."""
    from tightrope.agent.agent import Agent

    header, arrays = _read(path, content)
    try:
        sizes, options = header["sizes"], header["options"]
        actions, own = getattr(features, "n_actions", None), getattr(features, "dim", None)
        for name, given, kept in (("n_actions", actions, sizes["n_actions"]), ("dim", own, sizes["dim"])):
            if isinstance(given, int) and kept is not None and given != kept:
                raise InputError(f"{path}: features: {name} = {given}, the agent in this file has {name} = {kept}")
        learner = PDPO(**header["learner"])
        agent = Agent(
            learner.replace(contraction_offset=header["settings"]["offset"]),
            features,
            sizes["horizon"],
            sizes["n_actions"],
            arrays["budgets"],
            dim=sizes["dim"],
            **options,
        )
        agent.learner = learner
        _fill(agent, header, arrays)
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
        raise InputError(f"{path}: damaged, or not of this version ({type(error).__name__}: {error})") from None
    return agent


def _read_path(given: Any) -> Path:
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"path: {shown(given)}, wanted the name of a file")
    return Path(given)


def _read(path: str, content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays."""
    try:
        file = np.load(io.BytesIO(content), allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise ValueError("a single array")
        with file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not an agent that was saved here ({error})") from None
    try:
        header = json.loads(str(arrays.pop("header")))
        assert header["kind"] == KIND
    except (KeyError, ValueError, TypeError, AssertionError):
        raise InputError(f"{path}: not an agent that was saved here (no header of kind {KIND!r})") from None
    return header, arrays


def _fill(agent: Agent, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Everything beyond the settings."""
    agent.random.bit_generator.state = header["random"]
    agent._turned_away, agent._farthest = header["turned_away"]
    agent._hard_violation = arrays["hard_violation"]
    agent._losses.residual = header["residual"]
    if "counters" in header:
        player = agent._ready()
        for name in _COUNTERS:
            setattr(player, name, header["counters"][name])
        player.estimates[:] = arrays["estimates"]
        player.tables.restore({k.removeprefix("player_"): v for k, v in arrays.items() if k.startswith("player_")})
    episodes = []
    for i, (chosen, ended) in enumerate(header["episodes"]):
        part = {name: arrays[f"episode{i}_{name}"] for name in ("blocks", "places", "policies", "actions", "costs")}
        actions, places = part["actions"].tolist(), part["places"].tolist()
        lists = {name: list(part[name]) for name in ("blocks", "policies", "costs")}
        episodes.append(Played(**lists, places=places, actions=actions, chosen=chosen, ended=ended))
    agent.current = episodes.pop() if header["under_way"] else None
    agent._batch = episodes
    agent._losses.restore(arrays)
    if "increment" in header:
        agent._merged = _get_increment(header, arrays)


_SUMS = ("gram", "cost_sums", "violation", "squares", "hard_violation")


def _put_increment(increment: Increment, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    header["increment"] = {"snapshot": increment.snapshot, "episodes": increment.episodes}
    arrays |= {f"increment_{name}": getattr(increment, name) for name in _SUMS}
    for h, (states, sums) in enumerate(zip(increment.states, increment.sums)):
        arrays |= {f"increment_states{h}": states, f"increment_sums{h}": sums}


def _get_increment(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Increment:
    steps = range(header["sizes"]["horizon"])
    return Increment(
        tuple(header["increment"]["snapshot"]),
        header["increment"]["episodes"],
        **{name: arrays[f"increment_{name}"] for name in _SUMS},
        states=[arrays[f"increment_states{h}"] for h in steps],
        sums=[arrays[f"increment_sums{h}"] for h in steps],
    )
