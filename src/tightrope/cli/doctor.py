"""`tightrope doctor`: can the settings of a spec work? A readable report, or JSON; nothing is run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tightrope.lab.plan import read_plan
from tightrope.lab.spec_checks import Spec
from tightrope.theory import Finding, Report
from tightrope.theory import doctor as judge

COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}
FOUND_ERROR = 3  # the exit code of --strict


def diagnose(spec: Spec) -> Report:
    """The doctor's report on the spec's settings, with the losses of its first seed."""
    return judge(spec.cmdp, spec.learner, spec.document.episodes, spec.losses(spec.document.seed_list()[0]))


def error_lines(spec: Spec) -> list[str]:
    """One line for each error, for whoever is about to run the spec."""
    return [finding.line for finding in diagnose(spec).errors]


def examine(path: Path, strict: bool, as_json: bool) -> None:
    """Read the spec and say what is found, of every setting of a sweep; exit 3 with `strict` when some of it is an error."""
    specs = read_plan(path).specs
    found = [(_point(spec), diagnose(spec)) for spec in specs]
    if as_json:
        entries = [entry | ({"setting": point} if point else {}) for point, r in found for entry in r.as_list()]
        print(json.dumps(entries, indent=2, ensure_ascii=False))
    else:
        for point, report in found:
            _tell(report, f"{path}, {point}" if point else str(path))
    if strict and not all(report.ok for _, report in found):
        sys.stdout.flush()
        raise typer.Exit(FOUND_ERROR)


def _point(spec: Spec) -> str:
    """The values of a sweep that a setting has, in words."""
    return ", ".join(f"{name} = {value}" for name, value in spec.point.items())


def _tell(found: Report, title: str) -> None:
    console = Console(highlight=False)
    facts = "; ".join(f"{name} {value}" for name, value in found.facts.items())
    console.print(Text(f"{title}: {facts}", style="dim"))
    for finding in found.findings:
        _tell_one(console, finding)
    counts = [(word, sum(f.severity == word for f in found.findings)) for word in COLOURS]
    told = ", ".join(f"{n} {word}{'s' if n != 1 and word != 'info' else ''}" for word, n in counts if n)
    verdict = "These settings can work here." if found.ok else "These settings cannot do what they are for."
    if not found.judged:
        verdict = "The problem alone was judged."
    console.print(Text(f"{verdict} Found: {told or 'nothing'}.", style="bold"))


def _tell_one(console: Console, finding: Finding) -> None:
    console.print(Text.assemble((finding.severity, COLOURS[finding.severity]), "  ", (finding.id, "bold")))
    for word, text in (("", finding.text), ("because ", finding.inequality), ("remedy  ", finding.remedy)):
        console.print(Padding(Text.assemble((word, "dim"), text), (0, 0, 0, 2)))
