"""`tightrope figure`: a figure of stored runs as PNG and PDF, with its data as CSV and a LaTeX table beside it."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from tightrope.cli.options import one_of, together
from tightrope.errors import InputError
from tightrope.safe_files import write_file
from tightrope.show.bands import INTERVALS
from tightrope.show.kinds import KINDS, Choice, check_choice, draw
from tightrope.show.reading import read_folder
from tightrope.show.style import rendered
from tightrope.show.tables import latex


def make_figure(kind: str, folder: Path, out: Path | None, choice: Choice) -> None:
    """Draw, write aside, rename, and say where."""
    *_, collection = together(
        lambda: one_of("KIND", kind, KINDS),
        lambda: one_of("--interval", choice.interval, INTERVALS),
        lambda: check_choice(kind, choice),
        lambda: read_folder(folder),
    )
    drawn = draw(kind, collection, choice)
    content = {
        "png": rendered(drawn.figure, "png"),
        "pdf": rendered(drawn.figure, "pdf"),
        "csv": drawn.data.write_csv().encode(),
        "tex": latex(drawn.table, drawn.caption).encode(),
    }
    console = Console(highlight=False, soft_wrap=True)
    for ending, bytes_ in content.items():
        console.print(write_product((out or folder) / f"figure-{kind}.{ending}", bytes_), markup=False)
    for line in collection.broken:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"left out: {line}", markup=False)


def write_product(path: Path, content: bytes) -> Path:
    """Write aside, then rename into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_file(path, content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
