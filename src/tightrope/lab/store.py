"""Where are runs kept? In one folder, a folder a run, named by the digest of what determines it; nothing is overwritten.

Beside the runs, `.lab` has what belongs to the folder as a whole: `lock`, `checkpoints` of runs under way, `specs` as they
were asked for, and `damaged`, where files go that were found to be so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tightrope import safe_files
from tightrope.errors import InputError
from tightrope.lab.checkpoints import Checkpoints
from tightrope.run import Run
from tightrope.run_files import MANIFEST, damage, files_of, load_run

PRODUCTS = (".png", ".pdf", ".json")  # what a figure leaves beside the runs
INNER = ".lab"


class Store:
    """A folder of runs."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.inner = folder / INNER
        self.checkpoints = Checkpoints(self.inner / "checkpoints")

    def check(self) -> None:
        """Refuse a folder that holds anything but our runs and figures, before anything is computed."""
        if self.folder.is_symlink() and not self.folder.exists():
            raise InputError(f"{self.folder}: a link that leads nowhere; expected a folder for the runs")
        if not self.folder.exists():
            self._check_parent()
            return
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: not a folder; expected a new or empty one, or one with earlier runs")
        try:
            entries = sorted(self.folder.iterdir())
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be read ({error.strerror})") from None
        strangers = [] if self.inner.is_dir() else [entry.name for entry in entries if not self._ours(entry)]
        if strangers:
            more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
            raise InputError(
                f"{self.folder}: holds {strangers[0]!r}{more}, not made by tightrope; "
                "expected a new or empty folder, or one with earlier runs"
            )
        if not os.access(self.folder, os.W_OK):
            raise InputError(f"{self.folder}: cannot be written to; expected a folder for the runs")

    def _check_parent(self) -> None:
        for parent in self.folder.absolute().parents:
            if parent.exists():
                if not parent.is_dir() or not os.access(parent, os.W_OK):
                    raise InputError(f"{self.folder}: cannot be made, {parent} is not a folder that can be written to")
                return

    def _ours(self, entry: Path) -> bool:
        if entry.is_dir():
            return (entry / MANIFEST).is_file() or safe_files.is_aside(entry)
        marks = ("figure", "summary", ".figure", ".summary")
        return entry.name.startswith(marks) and entry.suffix in (*PRODUCTS, safe_files.PART)

    def open(self) -> None:
        """Make the folder, and `.lab` in it, by which it is known as ours from then on."""
        self.checkpoints.folder.mkdir(parents=True, exist_ok=True)
        for place in (self.folder.absolute().parent, self.folder, self.inner):
            safe_files.sync_folder(place)

    def path(self, key: str) -> Path:
        return self.folder / key

    def run_keys(self) -> list[str]:
        """The runs that are there, in the order of their names."""
        try:
            with os.scandir(self.folder) as entries:
                names = [e.name for e in entries if not e.name.startswith(".") and e.is_dir()]
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be read ({error.strerror}); expected a folder of runs") from None
        whole = str(self.folder)  # names as text: a list of ten thousand runs makes no ten thousand paths
        return sorted(name for name in names if os.path.isfile(f"{whole}/{name}/{MANIFEST}"))  # noqa: PTH113

    def holds(self, key: str) -> bool:
        return (self.folder / key / MANIFEST).is_file()

    def load(self, key: str) -> Run:
        return load_run(self.folder / key)

    def save(self, key: str, run: Run) -> None:
        self.put(key, files_of(run, key))

    def put(self, key: str, files: Mapping[str, bytes]) -> None:
        """Keep a finished run; its checkpoint is not needed from then on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        safe_files.write_folder(self.folder / key, files)
        self.checkpoints.forget(key)

    def sound(self, key: str) -> tuple[bool, str | None]:
        """Whether a run is there and whole. One that is damaged is set aside, and a line says so."""
        if not (self.folder / key).exists():
            return False, None
        wrong = damage(self.folder / key)
        if wrong is None:
            return True, None
        return False, f"{wrong}; set aside in {self._set_aside([self.folder / key])}, the run is made again"

    def drop_checkpoint(self, key: str, wrong: str) -> str:
        """Set a damaged checkpoint aside; returns a line that says so."""
        place = self._set_aside(self.checkpoints.files(key))
        self.checkpoints.forget(key)
        return f"{wrong}; set aside in {place}, the run begins again"

    def set_aside_note(self, path: Path) -> str:
        """Set a damaged file of `.lab` aside; returns a line that says so."""
        return f"{path}: damaged; set aside in {self._set_aside([path])}"

    def _set_aside(self, paths: list[Path]) -> Path:
        damaged = self.inner / "damaged"
        damaged.mkdir(parents=True, exist_ok=True)
        n = 1
        while (damaged / str(n)).exists():
            n += 1
        place = damaged / str(n)
        place.mkdir()
        for path in paths:
            path.rename(place / path.name)
        return place

    def sweep_up(self) -> None:
        """Remove what a stopped process was writing, and checkpoints of finished runs; only the folder's owner may."""
        for place in (self.folder, self.inner / "specs", self.checkpoints.folder):
            for entry in place.glob(f".*{safe_files.PART}"):
                if entry.is_dir():
                    shutil.rmtree(entry, ignore_errors=True)
                elif place != self.folder:  # there it may be a figure that somebody is writing now
                    entry.unlink(missing_ok=True)
        for key in self.checkpoints.run_keys():
            if self.holds(key):
                self.checkpoints.forget(key)

    def write(self, name: str, content: bytes) -> Path:
        """Write a product aside, then rename it into place."""
        return safe_files.write_file(self.folder / name, content)

    def keep_spec(self, name: str, about: Mapping[str, Any]) -> Path:
        """Keep what was asked for, once, under its own digest."""
        content = safe_files.sealed(about)
        path = self.inner / "specs" / f"{name}-{safe_files.digest(content)[:12]}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            safe_files.write_file(path, content)
        return path

    def specs(self) -> list[dict[str, Any]]:
        """What was asked for, of the specs whose record is whole, in the order of their names."""
        found = []
        for path in sorted((self.inner / "specs").glob("[!.]*.json")):
            try:
                found.append(safe_files.read_sealed(path))
            except InputError:
                continue  # only the settings as written are lost; the runs say theirs themselves
        return found
