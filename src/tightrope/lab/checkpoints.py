"""Where do runs under way stand, on disk? Per run a small head, replaced every few seconds, and the parts of its trace.

A head begins with the checksum of all that follows, and names its parts with theirs. Parts are on the disk before the head that
names them, so whatever instant the program is killed in, the last head is whole and leads to whole parts. A part is named by
the episodes it has, so that what arrives late, twice or out of order takes no other part's place; a head whose parts leave
a hole is not written.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from tightrope import safe_files
from tightrope.errors import InputError
from tightrope.snapshot import Rows, Snapshot

FORMAT = 2

Span = tuple[int, int]  # the first episode of a part, and the one after its last


class Checkpoints:
    """The snapshots of unfinished runs, by key."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._parts: dict[str, dict[Span, str]] = {}  # of each run: checksums of the parts on the disk
        self._reached: dict[str, int] = {}

    def save(self, key: str, episodes: int, head: bytes, rows: Rows | None) -> None:
        """Put a snapshot on the disk; `rows` are those of the trace since an earlier one, if there is a trace."""
        self.folder.mkdir(parents=True, exist_ok=True)
        parts: list[Span] | None = []
        if rows is not None:
            span = (rows.first, episodes)
            safe_files.write_file(self._part(key, span), rows.content)
            self._parts.setdefault(key, {})[span] = safe_files.digest(rows.content)
            parts = _without_holes(self._parts[key], episodes)
        if parts is None:
            return
        named = [[*span, self._parts[key][span]] for span in parts]
        about = {"format": FORMAT, "run": key, "episodes": episodes, "parts": named}
        rest = json.dumps(about).encode() + b"\n" + head
        safe_files.write_file(self._path(key), safe_files.digest(rest).encode() + b"\n" + rest)
        self._reached[key] = episodes

    def reached(self, key: str) -> int:
        """The episodes of the last snapshot that was saved or loaded here; 0 where there was none."""
        return self._reached.get(key, 0)

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
        parts = {(first, end): checksum for first, end, checksum in about["parts"]}
        rows = tuple(
            safe_files.read_checked(self._part(key, span), checksum, self._path(key).name)
            for span, checksum in parts.items()
        )
        self._parts[key], self._reached[key] = parts, about["episodes"]
        return Snapshot(about["episodes"], head, rows)

    def files(self, key: str) -> list[Path]:
        """Everything that is kept of a run."""
        return sorted(self.folder.glob(f"{key}.*"))

    def forget(self, key: str) -> None:
        """The run is finished: its head goes first, so that no head ever names a part that is gone."""
        self._parts.pop(key, None)
        self._reached.pop(key, None)
        self._path(key).unlink(missing_ok=True)
        for path in self.folder.glob(f"{key}.*.rows"):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def run_keys(self) -> set[str]:
        """The runs that have anything here."""
        return {path.name.split(".")[0] for path in self.folder.glob("[!.]*.*")}

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.head"

    def _part(self, key: str, span: Span) -> Path:
        return self.folder / f"{key}.{span[0]}-{span[1]}.rows"


def _without_holes(spans: Iterable[Span], episodes: int) -> list[Span] | None:
    """Parts that have every episode of so many, in order; None where some are missing."""
    found, end = [], 0
    for span in sorted(spans):
        if span[0] <= end < min(span[1], episodes):
            found.append(span)
            end = span[1]
    return found if end >= episodes else None
