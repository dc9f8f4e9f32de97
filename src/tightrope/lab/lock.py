"""Who works in a folder of runs? One process at a time; the others are told its owner's name.

The lock is the operating system's own, so that it goes with its owner however that ends; what the file says is only for people.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tightrope.errors import TightropeError

try:
    import fcntl
except ImportError:  # Windows: no lock, and nobody else is told
    fcntl = None

AGAIN_SECONDS = 0.5  # between two tries of somebody who waits


class BusyError(TightropeError):
    """Another process has the folder."""


@contextlib.contextmanager
def owned(folder: Path, waits: bool = False, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Have a folder for oneself; `folder/lock` is there from then on.

    Parameters
    ----------
    waits: wait for whoever has it; otherwise a `BusyError` says who that is.
    tell: called once with the owner's name when there is something to wait for.
    """
    with (folder / "lock").open("a+", encoding="utf-8") as file:
        told = False
        while not _taken(file.fileno()):
            owner = f"{folder.parent}: in use by {_owner(folder / 'lock')}"
            if not waits:
                raise BusyError(f"{owner}; wait for it, here with --wait, or choose another folder")
            if tell is not None and not told:
                tell(f"{owner}; waiting")
            told = True
            time.sleep(AGAIN_SECONDS)
        file.truncate(0)
        file.write(json.dumps(_self()) + "\n")
        file.flush()
        yield


def _taken(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: better alone without a lock than not at all
        return True
    return True


def _self() -> dict[str, object]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        user = f"user {os.getuid()}"
    command = " ".join(["tightrope", *sys.argv[1:]])[:200]
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    return {"user": user, "host": platform.node(), "process": os.getpid(), "since": since, "command": command}


def _owner(path: Path) -> str:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return f"{said['user']} on {said['host']}, process {said['process']}, since {said['since']} ({said['command']})"
    except (OSError, ValueError, KeyError, TypeError):  # taken an instant ago, nothing said yet
        return "another process"
