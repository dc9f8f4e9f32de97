"""How does a problem come onto the engine's tables? One world a run: the problem's dynamics, and what is learnt of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numba
import numpy as np
import scipy.sparse as sp

from tightrope.engine import tables
from tightrope.engine.tables import World
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures

THREADS_FROM = 500_000  # numbers in the features from which a pass over them is worth sharing out

# Numba's threads serve one caller at a time; whoever finds them busy works alone. The results are the same.
_threads = threading.Lock()


def new_world(cmdp: LinearCMDP, episodes: int, clips: bool = False) -> World:
    """Tables for a run of so many episodes; `clips`: of a learner that clips its estimates."""
    if isinstance(cmdp.feature_table, AxisFeatures):
        steps = [sp.csr_array(cmdp.kernel_table.step(h)) for h in range(cmdp.horizon)]
        rows = [(step.indptr, step.indices, step.data) for step in steps]
        table = cmdp.feature_table
        return tables.axis_world(table.index, table.value, rows, cmdp.dim, cmdp.n_constraints)
    return tables.dense_world(cmdp.features, cmdp.kernel, cmdp.n_constraints, episodes, clips)


@contextmanager
def threads_for(world: World) -> Iterator[None]:
    """Let a large dense world use Numba's threads while nobody else does."""
    flag = getattr(world, "threads", None)
    wanted = flag is not None and world.features.size >= THREADS_FROM  # pyright: ignore[reportAttributeAccessIssue]
    with threads_if(wanted, flag):
        yield


@contextmanager
def threads_if(wanted: bool, flag: np.ndarray | None) -> Iterator[None]:
    """Set the flag [1] of a world to the number of threads, if that is wanted and nobody else uses Numba's threads."""
    if flag is None or not wanted or not _threads.acquire(blocking=False):
        yield
        return
    try:
        flag[0] = numba.get_num_threads()
        yield
    finally:
        flag[0] = 0
        _threads.release()
