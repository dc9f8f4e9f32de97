"""`tightrope run --dry-run`: how many runs, how long, how much disk; nothing is made."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.console import Console

from tightrope.cli.progress import span
from tightrope.lab.estimate import Estimate, estimate
from tightrope.lab.plan import Plan
from tightrope.lab.runner import Options
from tightrope.lab.store import Store


def tell_dry_run(plan: Plan, folder: Path, options: Options) -> None:
    """Say what the same command without --dry-run would do."""
    store = Store(folder)
    store.check()
    found = estimate(plan.specs, store, options)
    console = Console(highlight=False, soft_wrap=True)
    for line in _lines(plan, found, folder):
        console.print(line, markup=False)


def _lines(plan: Plan, found: Estimate, folder: Path) -> list[str]:
    axes = " x ".join(f"{axis.name} ({len(axis.values)})" for axis in plan.axes)
    settings = len(plan.specs)
    of = f" of {settings:,} {'setting' if settings == 1 else 'settings'}{': ' + axes if axes else ''}"
    there = f"; {found.there:,} are there already" if found.there else ""
    begun = f", {found.begun:,} are half done" if found.begun else ""
    lines = [f"runs  {found.runs:,}{of}{there}{begun}"]
    if found.runs == found.there:
        return [*lines, f"Nothing is left to do in {folder}."]
    how = (
        f"measured on {found.measured:,} of {found.kinds:,} kinds of runs"
        if found.kinds > 1
        else "from a short measurement"
    )
    threads = f"{found.workers} {'thread' if found.workers == 1 else 'threads'}"
    lines.append(f"time  about {span(found.seconds)} with {threads} for {found.episodes:,} episodes, {how}")
    free = shutil.disk_usage(_existing(folder)).free
    warning = "; more than is free" if found.disk > free else ""
    lines.append(f"disk  at most {size(found.disk)} in {folder}, where {size(free)} are free{warning}")
    return [*lines, "Nothing was made: this was a dry run."]


def _existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())


def size(n: float) -> str:
    """Bytes as people say them."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" or n >= 10 else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:,.1f} TB"
