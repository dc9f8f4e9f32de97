"""`tightrope study nightly-batch`: prices in, the share of the bill that was saved out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tightrope import losses, problems
from tightrope.safe_files import write_file
from tightrope.studies.nightly import Study, findings, first_sentence, nightly_batch_study

NAME = "nightly-batch"


class Columns(NamedTuple):
    """How a file of prices is to be read."""

    time: str | None
    price: str | None
    zone: str | None


class Night(NamedTuple):
    """What a night is like."""

    budget: float
    jobs: int
    hours: int
    start: int
    machines: int
    reserve: float
    seed: int


def show_nightly(prices: Path | None, columns: Columns, night: Night, out: Path | None, quiet: bool) -> None:
    """Run the study, write its files, say what was found."""
    cmdp = problems.make(NAME, budget=night.budget, jobs=night.jobs, hours=night.hours)
    read = losses.synthetic_prices(seed=night.seed) if prices is None else losses.read_prices(prices, *columns)
    console = Console(highlight=False)
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("nights", total=None)
        study = nightly_batch_study(
            cmdp,
            losses.prices(read, cmdp, start=night.start),
            night.machines,
            night.seed,
            reserve=night.reserve,
            progress=lambda done, of: bar.update(task, completed=done, total=of),
        )
    found = {"prices": read.name, "first_sentence": ""} | findings(study)
    found["first_sentence"] = first_sentence(found)
    console.print(f"[bold]{found['first_sentence']}[/bold]\n", soft_wrap=True)
    console.print(_table(found))
    console.print(f"\n{_words(found)}", soft_wrap=True)
    for path in _files(study, found, Path("results") / NAME if out is None else out):
        console.print(str(path))


def _table(found: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("plan", no_wrap=True)
    for column in (
        "paid,\nyear",
        "paid,\n2nd half",
        "saved",
        "gap\nclosed",
        "jobs left,\nyear",
        "jobs left,\n2nd half",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for name, half in found["second_half"].items():
        year = found["year"][name]
        money = [f"{row['money']:,.1f}" for row in (year, half)]
        shares = ["-" if half[key] is None else f"{half[key]:.1%}" for key in ("saved", "gap_closed")]
        left = [f"{row['jobs_left']:.2f}{'' if row['within_budget'] else '!'}" for row in (year, half)]
        table.add_row(name, *money, *shares, *left)
    return table


def _words(found: dict[str, Any]) -> str:
    """What the table's numbers are, and what was noticed in the file."""
    lines = [
        f"{found['prices']}: {found['nights']} nights from {found['from']} to {found['to']}, {found['machines']} machines.",
        "Paid: a machine and night, in the prices' unit for an hour of running. Saved and gap closed: in the second half,",
        f"against processing at once; the gap is down to the best fixed policy. At most {found['jobs_left_allowed']:.2f} of "
        f"{found['jobs']} jobs may be left in the mean; ! marks more.",
    ]
    return "\n".join([*lines, *(f"Note: {line}." for line in found["report"])])


def _files(study: Study, found: dict[str, Any], folder: Path) -> list[Path]:
    from tightrope.show.style import rendered
    from tightrope.studies.nightly_figure import nightly_figure

    folder.mkdir(parents=True, exist_ok=True)
    figure = nightly_figure(study)
    contents = {f"{NAME}.{kind}": rendered(figure, kind) for kind in ("png", "pdf")}
    contents["study.json"] = (json.dumps(found, indent=2) + "\n").encode()
    contents["nights.csv"] = _nights(study)
    return [write_file(folder / name, content) for name, content in contents.items()]


def _nights(study: Study) -> bytes:
    """A row a night: what the learner and each plan paid, and their costs."""
    import polars as pl

    columns: dict[str, Any] = {"date": [str(day) for day in study.nights.dates]}
    for plan in (study.learner, *study.year):
        columns[f"{plan.name}: paid"], columns[f"{plan.name}: cost"] = plan.money, plan.cost
    buffer = io.BytesIO()
    pl.DataFrame(columns | {"dual": study.dual}).write_csv(buffer)
    return buffer.getvalue()
