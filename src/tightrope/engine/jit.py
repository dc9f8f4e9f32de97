"""How are kernels compiled? Once, without the GIL, kept on disk, and again when any file of this folder changes.

Numba's own disk cache looks only at the file that holds a kernel, not at the files that kernel calls into; an upgrade could
then run old code. The stamp here covers the whole folder. Nor does it expect several processes that compile at once (`_Files`).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

# Sums may be reordered and multiply-adds fused, which lets loops use vector registers; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
# For loops over a few entries: without reordering they stay scalar, where vector registers would only slow them down.
AS_WRITTEN = {"contract", "nsz", "arcp"}
# Numba counts references to an array whenever a kernel takes it out of a tuple, by atomic instructions: a third of the time of
# an episode. Kernels that allocate nothing borrow the arrays of their callers, so they go without.
OPTIONS: Any = {
    "nogil": True,
    "fastmath": FAST,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


@functools.cache
def folder_stamp() -> str:
    """A digest of every source file of the engine."""
    total = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def compiled(function: Callable | None = None, inner: bool = False, allocates: bool = False, **more: Any) -> Any:
    """Compile with the engine's options.

    `inner`: only kernels call it, never Python, so that no wrapper to unpack its tuples need be compiled, which takes longer
    than the kernel itself. `allocates`: it makes arrays. `parallel`: it splits its work over threads.
    """
    if function is None:
        return lambda f: compiled(f, inner, allocates, **more)
    options = OPTIONS | {"_nrt": allocates or more.get("parallel", False), "no_cpython_wrapper": inner} | more
    kernel = numba.njit(cache=True, **options)(function)
    if inner:
        kernel.__class__ = _inner(type(kernel))
    cache_file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if isinstance(cache_file, IndexDataCacheFile):
        cache_file.__class__ = _Files
        cache_file._source_stamp = (cache_file._source_stamp, folder_stamp())  # pyright: ignore[reportAttributeAccessIssue]
    return kernel


@functools.cache
def ready_threads() -> None:
    """What kernels that use threads need before they are loaded from disk.

    Numba sees to it for such a kernel itself, but not for one that calls it: loaded in a process that has compiled nothing,
    none of the names it calls are known, and its first call brings the process down.
    """
    from numba.np.ufunc.parallel import _launch_threads

    _launch_threads()


class _Files(IndexDataCacheFile):
    """A kernel's compiled forms, each in a file named by what it was compiled for.

    Numba numbers the files: two processes that compile a kernel for different arguments at the same time may give both forms
    the same number, and whoever loads them later runs the one for the other's arguments, and crashes.
    """

    def save(self, key: Any, data: Any) -> None:
        digest = hashlib.sha256(f"{key!r} {self._source_stamp!r}".encode()).hexdigest()
        name: str = self._data_name(int(digest[:16], 16))
        self._save_data(name, data)
        forms = self._load_index()
        if forms.get(key) != name:
            forms[key] = name
            self._save_index(forms)


@functools.cache
def _inner(kind: type) -> type:
    """The kind of dispatcher that refuses Python, where a call without a wrapper would bring the process down."""

    def refuse(self: Any, *args: Any) -> None:
        raise TypeError(f"{self.__name__} is for kernels only: it has no wrapper that Python could call")

    return type("InnerKernel", (kind,), {"__call__": refuse})
