"""How is a run under way put away, and taken up again where it was?

Everything that lives from one episode to the next is pickled: tables of the engine, recorder, random numbers, player, and an
adversary with its memory. What the spec makes again (problem, learner, fixed losses, the tables that never change) is only
named, so a snapshot is small. The rows of a trace are large and never change once written: they are put away apart, each once.

A snapshot is a pickle, and unpickling runs code: take up only what you wrote yourself.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from tightrope import losses as _losses
from tightrope.recorder import Trace
from tightrope.simulation import Simulation

# Fields of a world that a run never writes.
SETTLED = (
    *("features", "measure", "block_measure"),
    *("index", "value", "order", "row_start", "successor", "column_start", "source", "column_measure"),
)
ROWS = tuple(f.name for f in fields(Trace) if f.name != "epoch_starts")  # one entry an episode


class CannotBePutAwayError(Exception):
    """Something in the player or the adversary does not pickle; the run can go on, but not be taken up again."""


@dataclass(frozen=True)
class Snapshot:
    """A run after so many episodes; `rows` are the parts of its trace, in order."""

    episodes: int
    head: bytes
    rows: tuple[bytes, ...] = ()


class Rows(NamedTuple):
    """The rows of a trace from an episode on, up to the one at which they were put away."""

    first: int
    content: bytes


def put_away(simulation: Simulation) -> bytes:
    """The head of a snapshot: everything but the rows of the trace."""
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, _settled(simulation)).dump(simulation.__dict__)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise CannotBePutAwayError(f"{type(error).__name__}: {error}") from None
    return buffer.getvalue()


def trace_rows(simulation: Simulation, first: int) -> Rows | None:
    """The rows of the trace from an episode on; None where there is no trace, or nothing new."""
    trace, end = simulation.recorder.trace, simulation.done
    if trace is None or end <= first:
        return None
    buffer = io.BytesIO()
    np.savez(buffer, span=np.array([first, end]), **{name: getattr(trace, name)[first:end] for name in ROWS})
    return Rows(first, buffer.getvalue())


def take_up(fresh: Simulation, snapshot: Snapshot) -> None:
    """Bring a simulation that was just made from the same spec to where the snapshot was taken."""
    fresh.__dict__.update(_Unpickler(io.BytesIO(snapshot.head), _settled(fresh)).load())
    trace = fresh.recorder.trace
    if trace is None:
        return
    for part in snapshot.rows:
        rows = np.load(io.BytesIO(part))
        first, end = rows["span"]
        for name in ROWS:
            getattr(trace, name)[first:end] = rows[name]


class _Pickler(pickle.Pickler):
    """Writes the name of a thing that is settled, in its place."""

    def __init__(self, file: io.BytesIO, settled: dict[str, Any]):
        super().__init__(file, protocol=5)
        self.names = {id(thing): name for name, thing in settled.items()}

    def persistent_id(self, obj: Any) -> str | None:
        return self.names.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, settled: dict[str, Any]):
        super().__init__(file)
        self.settled = settled

    def persistent_load(self, pid: Any) -> Any:
        return self.settled[pid]


def _settled(simulation: Simulation) -> dict[str, Any]:
    """By name, what a run finds rather than makes; the same names in a run that starts anew from the same spec."""
    found: dict[str, Any] = {"cmdp": simulation.cmdp, "learner": simulation.learner}
    if isinstance(simulation.losses, _losses.Profiles):
        found["losses"] = simulation.losses
    found |= {"profiles": simulation.profiles, "engine_profiles": simulation.engine_profiles}
    world: Any = simulation.world
    found |= {f"world.{name}": getattr(world, name) for name in SETTLED if hasattr(world, name)}
    if simulation.recorder.trace is not None:
        found |= {f"trace.{name}": getattr(simulation.recorder.trace, name) for name in ROWS}
    return {name: thing for name, thing in found.items() if thing is not None}
