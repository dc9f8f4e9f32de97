"""`tightrope certify`: every claim of the paper's appendix on a run that kept its trace, one row each."""

from __future__ import annotations

import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tightrope.cli.runs import wide_console
from tightrope.errors import InputError
from tightrope.learners.pdpo import PDPO
from tightrope.run import Run
from tightrope.run_files import MANIFEST, TRACE, read_manifest
from tightrope.theory import Certificate, Row, certify
from tightrope.theory.files import CERTIFICATE, DECOMPOSITION, save_certificate

FOUND_FAILURE = 3
WIDE = 110  # columns of a terminal from which the places of the worst cases are shown


def certify_folder(directory: Path, delta: float, quiet: bool) -> None:
    """Certify the run in a folder, or every run with a trace in its folders; exit 3 where a row that applies fails."""
    console = wide_console()
    ok = True
    for folder in _runs(directory):
        run = Run.load(folder)
        found = certify(run, delta, _progress(folder, quiet))
        save_certificate(found, folder)
        ok &= found.ok
        _tell(console, folder, found)
        if run.cmdp.units is not None and run.cmdp.units.sentence:
            console.print(Text(f"Numbers are in the paper's units: {run.cmdp.units.sentence}.", style="dim"))
    if not ok:
        sys.stdout.flush()
        raise typer.Exit(FOUND_FAILURE)


def _runs(directory: Path) -> list[Path]:
    """The folder itself, or those in it that hold a run with a trace."""
    if (directory / MANIFEST).is_file():
        return [directory]
    folders = [path.parent for path in sorted(directory.glob(f"*/{MANIFEST}"))]
    traced = [folder for folder in folders if (folder / TRACE).is_file()]
    ours = [folder for folder in traced if read_manifest(folder)["spec"]["learner"]["name"] == PDPO.name]
    if not ours:
        kind = f"of learner {PDPO.name!r} " if traced else ""
        count = f"{len(folders)} run{'s' if len(folders) > 1 else ''}"
        held = f"{count}, none {kind}with a trace" if folders else "no run"
        raise InputError(f"{directory}: holds {held}; wanted a run made with `trace = true` in its spec")
    if len(traced) > len(ours):
        print(
            f"{len(traced) - len(ours)} runs of other learners are left out; the paper analyses {PDPO.name!r}",
            file=sys.stderr,
        )
    return ours


def _progress(folder: Path, quiet: bool):
    if quiet or not sys.stderr.isatty():
        return None

    def show(done: int, of: int) -> None:
        end = "\n" if done == of else ""
        print(f"\r{folder.name}: {done:,}/{of:,} episodes checked", end=end, file=sys.stderr, flush=True)

    return show


def _tell(console: Console, folder: Path, found: Certificate) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, justify in (("", "left"), ("claim", "left"), ("computed", "right"), ("", "left"), ("claimed", "right")):
        table.add_column(column, justify=justify, no_wrap=True)  # pyright: ignore[reportArgumentType]
    table.add_column("places", justify="right", no_wrap=True)
    wide = console.width >= WIDE
    if wide:
        table.add_column("worst at")
    for row in sorted(found.rows, key=lambda row: row.ok):
        sign = "=" if row.kind == "equality" else "<="
        places = f"{row.counted:,}" if row.counted == row.places else f"{row.counted:,}/{row.places:,}"
        cells = [_verdict(row), row.name, f"{row.computed:.5g}", sign, f"{row.claimed:.5g}", places]
        table.add_row(*cells, *([row.where] if wide else []))
    console.print(table)
    style = "bold" if found.ok else "bold red"
    console.print(Text(f"{folder}: {found}. Kept in {CERTIFICATE} and {DECOMPOSITION}.", style=style))
    for row in found.failures:
        console.print(Text(f"  {row.name} ({row.place}), at {row.where}: {row.claim}", style="red"))


def _verdict(row: Row) -> Text:
    """A row that does not apply says nothing, whether its claim holds or not."""
    if not row.ok:
        return Text("FAILS", style="bold red")
    return Text("holds", style="green") if row.applies else Text("n/a", style="dim")
