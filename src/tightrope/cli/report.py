"""`tightrope report`: a page about stored runs, as one file or served on this machine while the runs are made."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from tightrope.cli.figure import write_product
from tightrope.cli.options import together
from tightrope.errors import InputError
from tightrope.show.page.html import report
from tightrope.show.reading import read_folder

NAME = "report.html"


def make_report(folder: Path, out: Path | None, serve: bool, port: int) -> None:
    """Write the page and say where, or serve it until interrupted."""
    console = Console(highlight=False, soft_wrap=True)
    if serve:
        _serve(folder, out, port, console)
        return
    _, collection = together(lambda: _check_out(out), lambda: read_folder(folder))
    path = write_product(out or folder / NAME, report(collection).encode())
    console.print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)", markup=False)
    for line in collection.broken:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"left out: {line}", markup=False)


def _check_out(out: Path | None) -> None:
    if out is not None and out.is_dir():
        raise InputError(f"--out: {out} is a folder; expected the name of an HTML file")


def _check_no_out(out: Path | None) -> None:
    if out is not None:
        raise InputError("--out: not together with --serve, which writes no file")


def _serve(folder: Path, out: Path | None, port: int, console: Console) -> None:
    from tightrope.show.serve import check, server

    together(lambda: _check_no_out(out), lambda: check(folder, port))
    with server(folder, port) as serving:
        address, number = serving.server_address[:2]
        console.print(f"http://{address}:{number}/ shows {folder}; Ctrl-C ends it", markup=False)
        try:
            serving.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            console.print("Ended.")
