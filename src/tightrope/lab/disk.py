"""What if the disk does not take what is written? It is told in one line, apart from the errors of runs, with what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tightrope.errors import TightropeError


class StorageError(TightropeError):
    """The disk does not take what is written; what was there before is whole."""


class DiskError(Exception):
    """What the disk said when a run was to be kept; an `OSError` of a run's own is that run's failure."""

    def __init__(self, error: OSError):
        super().__init__(str(error))
        self.error = error


@contextmanager
def storage(folder: Path, kept: Callable[[], str]) -> Iterator[None]:
    """Say in one line that the disk does not take what is written, and what is kept."""
    try:
        yield
    except (OSError, DiskError) as error:
        cause = error.error if isinstance(error, DiskError) else error
        said = cause.strerror or str(cause)
        raise StorageError(
            f"{folder}: cannot be written ({said}); {kept()}. Mend that, and the same command goes on from there"
        ) from None


@contextmanager
def disk() -> Iterator[None]:
    """Tell the disk's errors from those of a run."""
    try:
        yield
    except OSError as error:
        raise DiskError(error) from None
