"""Who waits for the compiler? Only who makes an agent, and is told what the wait is for; nobody who plays."""

from __future__ import annotations

import sys
import threading

import numpy as np

from tightrope.engine.episode import Settings
from tightrope.learners.endless import ready_kernels

COMPILING = "tightrope: compiling the kernels of an agent (some 20 seconds, once; then kept on disk)"
PATIENCE = 3.0  # seconds that kernels take at most to be loaded from disk


def compile_now(settings: Settings, dtype: np.dtype) -> None:
    """Have the kernels of an agent compiled, or loaded from disk; on a terminal a long wait is explained."""
    told = threading.Timer(PATIENCE, lambda: print(COMPILING, file=sys.stderr, flush=True))
    told.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        told.start()
    try:
        ready_kernels(settings, dtype)
    finally:
        told.cancel()
