"""How does a file get onto the disk so that neither a kill nor a power cut leaves half of it? Aside, synced, renamed.

Text that must be trusted later carries a checksum of its own bytes in its first line; `read_sealed` refuses any other.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tightrope.errors import InputError

PART = ".part"  # how a file ends that is being written


def aside_of(path: Path) -> Path:
    """Where a file is written before it is whole; no two writers share it."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{PART}")


def is_aside(path: Path) -> bool:
    """Whether something was being written when its process was stopped."""
    return path.name.startswith(".") and path.name.endswith(PART)


def write_file(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all; one that is there is replaced."""
    aside = aside_of(path)
    try:
        _put(aside, content)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)
    return path


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder of files whole or not at all; the place must be free, or an empty folder."""
    aside = aside_of(path)
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        for name, content in files.items():
            _put(aside / name, content)
        sync_folder(aside)
        aside.rename(path)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    sync_folder(path.parent)


def _put(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make the names in a folder last; where folders cannot be synced (Windows) there is nothing to do."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _get(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: missing or unreadable ({error.strerror})") from None


def read_checked(path: Path, checksum: str, said_by: str) -> bytes:
    """The content of a file that has this checksum, or an `InputError`; `said_by`: the file that the checksum is from."""
    content = _get(path)
    if digest(content) != checksum:
        raise InputError(f"{path}: damaged; its checksum is not the one in {said_by}")
    return content


def sealed(about: Mapping[str, Any]) -> bytes:
    """JSON whose first line has the checksum of all that follows; it is JSON as a whole, too."""
    rest = json.dumps(about, indent=2, default=plain).removeprefix("{") + "\n"
    return b'{"checksum": "' + digest(rest.encode()).encode() + b'",' + rest.encode()


def read_sealed(path: Path) -> dict[str, Any]:
    """What `sealed` wrote, or an `InputError`; the file must be there."""
    content = _get(path)
    head, _, rest = content.partition(b'",')
    if head != b'{"checksum": "' + digest(rest).encode():
        raise InputError(f"{path}: damaged; what it says does not have the checksum that it carries")
    try:
        found = json.loads(content)
    except ValueError as error:  # sealed by somebody who writes no JSON
        raise InputError(f"{path}: not readable ({error})") from None
    del found["checksum"]
    return found


def plain(given: Any) -> Any:
    """What JSON has no word for: NumPy's numbers and arrays as Python's, anything else as it prints."""
    if hasattr(given, "tolist"):
        return given.tolist()
    return dict(given) if isinstance(given, Mapping) else repr(given)
