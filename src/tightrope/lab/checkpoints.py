"""Where do runs under way stand, on disk? Per run a small head, replaced every few seconds, and the parts of its trace.

A head begins with the checksum of all that follows, and names its parts with theirs. Parts are on the disk before the head that
names them, so whatever instant the program is killed in, the last head is whole and leads to whole parts.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from tightrope import safe_files
from tightrope.errors import InputError
from tightrope.snapshot import Snapshot

FORMAT = 1


class Checkpoints:
    """The snapshots of unfinished runs, by key."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._parts: dict[str, list[list[str]]] = {}  # of each run: name and checksum of the parts on the disk

    def save(self, key: str, episodes: int, head: bytes, new_rows: bytes | None) -> None:
        """Put a snapshot on the disk; `new_rows` are those of the trace since the last one, if there are any."""
        self.folder.mkdir(parents=True, exist_ok=True)
        parts = self._parts.setdefault(key, [])
        if new_rows is not None:
            name = f"{key}.{len(parts)}.rows"
            safe_files.write_file(self.folder / name, new_rows)
            parts.append([name, safe_files.digest(new_rows)])
        about = {"format": FORMAT, "run": key, "episodes": episodes, "parts": parts}
        rest = json.dumps(about).encode() + b"\n" + head
        safe_files.write_file(self._path(key), safe_files.digest(rest).encode() + b"\n" + rest)

    def load(self, key: str) -> Snapshot | None:
        """The last snapshot of a run; None where there is none. One that is damaged is an `InputError`."""
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self._path(key)}: unreadable ({error.strerror})") from None
        checksum, _, rest = content.partition(b"\n")
        if checksum != safe_files.digest(rest).encode():
            raise InputError(f"{self._path(key)}: damaged; its checksum is not that of its content")
        line, _, head = rest.partition(b"\n")
        about = json.loads(line)
        if about["format"] != FORMAT:
            return None
        rows = tuple(self._part(name, checksum) for name, checksum in about["parts"])
        self._parts[key] = about["parts"]
        return Snapshot(about["episodes"], head, rows)

    def _part(self, name: str, checksum: str) -> bytes:
        path = self.folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: missing or unreadable ({error.strerror})") from None
        if safe_files.digest(content) != checksum:
            raise InputError(f"{path}: damaged; its checksum is not the one in {self._path(name.split('.')[0]).name}")
        return content

    def files(self, key: str) -> list[Path]:
        """Everything that is kept of a run."""
        return sorted(self.folder.glob(f"{key}.*"))

    def forget(self, key: str) -> None:
        """The run is finished: its head goes first, so that no head ever names a part that is gone."""
        self._parts.pop(key, None)
        self._path(key).unlink(missing_ok=True)
        for path in self.folder.glob(f"{key}.*.rows"):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def run_keys(self) -> set[str]:
        """The runs that have anything here."""
        return {path.name.split(".")[0] for path in self.folder.glob("[!.]*.*")}

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.head"
