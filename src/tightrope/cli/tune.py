"""`tightrope tune`: search the ranges of a spec, and tell what was found on runs that the search never saw."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope.cli.making import while_making
from tightrope.cli.options import run_options, together
from tightrope.cli.progress import shown
from tightrope.errors import InputError
from tightrope.lab.plan import Plan, read_plan
from tightrope.lab.store import Store
from tightrope.lab.tuning import Found, Score, tune


def tune_spec_file(path: Path, out: Path | None, how: Sequence[Any], quiet: bool) -> None:
    """Read the spec, search, and show the best settings beside the spec's own; `how`: what `run_options` takes."""
    options, plan = together(lambda: run_options(*how), lambda: _plan(path))
    folder = Path("results") / plan.name if out is None else out
    store = Store(folder)
    store.check()
    with while_making(folder), shown(plan.name, quiet) as show:
        found = tune(plan, store, path.parent, options, show)
    _tell(Console(highlight=False), plan, found)


def _plan(path: Path) -> Plan:
    """A spec with ranges, and without a grid."""
    plan = read_plan(path)
    wrong = []
    if plan.tune is None:
        wrong.append(f"{path}: tune: missing; expected a table [tune] (`tightrope spec` shows one)")
    if plan.axes:
        wrong.append(f"{path}: sweep: a grid; expected ranges in [tune] alone for a search")
    if wrong:
        raise InputError(wrong)
    return plan


def _tell(console: Console, plan: Plan, found: Found) -> None:
    console.print("[learner]  # the best settings found", markup=False, style="bold")
    for name, value in found.settings.items():
        console.print(f"{name.partition('.')[2]} = {json.dumps(value)}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("objective, mean a run ± 95%")
    for column in ("training", "held out"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_row("these settings", _score(found.best_training), _score(found.best_held_out))
    table.add_row("the spec's own", _score(found.own_training), _score(found.own_held_out))
    for word in ("regret", "violation"):
        both = (getattr(found.best_training, word), getattr(found.best_held_out, word))
        table.add_row(f"{word} of these settings", *(f"{x:,.1f}" for x in both))
    console.print(table)
    sizes = f"{found.best_training.runs} training and {found.best_held_out.runs} held-out runs a setting"
    console.print(
        f"{found.trials} trials, {found.pruned} given up early; {sizes}: {found.path}", soft_wrap=True, markup=False
    )
    console.print(_verdict(found))


def _score(score: Score) -> str:
    return f"{score.mean:,.1f}" + (f" ± {score.half:,.1f}" if score.runs > 1 else "")


def _verdict(found: Found) -> str:
    """The held-out runs decide, not the training runs that the settings were chosen by."""
    best, own = found.best_held_out, found.own_held_out
    if best.mean >= own.mean:
        return "On runs that the search never saw the spec's own settings are as good or better: keep them."
    share = 1.0 - best.mean / own.mean
    doubt = (
        " The intervals overlap: more held-out seeds would tell." if best.mean + best.half > own.mean - own.half else ""
    )
    return f"On runs that the search never saw these settings are better by {share:.0%}.{doubt}"
