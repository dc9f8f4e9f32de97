"""`tightrope study practical`: the practical preset on a suite, and what each of its pieces is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from tightrope.errors import InputError, suggest
from tightrope.numbers_in import whole_wrong
from tightrope.studies.practical import (
    MEDIAN,
    REGRET,
    SLOPE,
    VARIANTS,
    VIOLATION,
    Outcome,
    outcomes,
    seeds_of,
    summary,
    write,
)
from tightrope.studies.suites import EPISODES, SUITES, Task


def show_practical(
    suite: str,
    problem: str | None,
    variants: bool,
    episodes: list[int],
    seeds: int | None,
    out: Path | None,
    quiet: bool,
) -> None:
    """Run the suite, or its tasks of one problem, print a row for each task, then the summary beside its targets."""
    wrong = [] if suite in SUITES else [f"--suite: unknown {suite!r}; {suggest(suite, SUITES)}"]
    known = sorted({task.name for task in SUITES.get(suite, ())})
    if problem is not None and known and problem not in known:
        wrong.append(f"--problem: {problem!r} is not in this suite; {suggest(problem, known)}")
    wrong += [f"--episodes: {text}" for K in episodes if (text := whole_wrong(K, 1))]
    if seeds is not None and (text := whole_wrong(seeds, 1)):
        wrong.append(f"--seeds: {text}")
    if suite == "confirming" and variants:
        wrong.append("--variants: they are for the training suite; nothing is chosen by the confirming one")
    if wrong:
        raise InputError(wrong)
    tasks = [task for task in SUITES[suite] if problem in (None, task.name)]
    part = suite if problem is None else f"{suite}-{problem}"
    path = (Path("results") / "practical" if out is None else out) / f"{part}.json"
    console = Console(highlight=False)
    for name in VARIANTS if variants else list(VARIANTS)[:1]:
        found = _run(console, name, tasks, tuple(sorted(set(episodes))) or EPISODES, seeds, quiet or variants)
        write(path, name, found)
        _tell(console, name, found)
    console.print(str(path))


def _run(
    console: Console, name: str, tasks: Sequence[Task], episodes: Sequence[int], seeds: int | None, quiet: bool
) -> list[Outcome]:
    found = []
    of_each = seeds_of if seeds is None else lambda K: range(seeds)
    for outcome in outcomes(tasks, VARIANTS[name], episodes, seeds=of_each):
        found.append(outcome)
        if not quiet:
            shares = "  ".join(f"{100 * r:6.2f} {100 * v:5.2f}" for r, v in zip(outcome.regret, outcome.violation))
            slope = "   -" if outcome.slope is None else f"{outcome.slope:4.2f}"
            console.print(f"{outcome.task[:38]:38} {outcome.losses:13} slope {slope}  {shares}", soft_wrap=True)
    return found


def _tell(console: Console, name: str, found: list[Outcome]) -> None:
    """The summary, and whether it meets what is wanted."""
    said = summary(found)
    share = "  ".join(f"{100 * x:.2f}%" for x in said["share_mean"])
    console.print(f"[bold]{name}[/bold]: regret + violation {share} of H an episode, K = {_list(found[0].episodes)}")
    rows = (
        ("median slope", said["slope_median"], MEDIAN),
        ("largest slope", said["slope_largest"], SLOPE),
        (f"largest regret at K = {said['shares_at']:,}", said["regret_largest"], REGRET),
        (f"largest violation at K = {said['shares_at']:,}", said["violation_largest"], VIOLATION),
    )
    for word, value, target in rows:
        if value is not None:
            verdict = "met" if value <= target else "NOT met"
            console.print(f"  {word:34} {value:9.5f}, wanted at most {target:g}: {verdict}")
    if said["regret_worst_run"] is not None:
        told = f"largest regret of one run, K = {said['shares_at']:,}"
        console.print(f"  {told:34} {said['regret_worst_run']:9.5f}")
    if said["slopes_above_target"]:
        console.print(f"  {said['slopes_above_target']} of {said['rows']} slopes are above {SLOPE:g}")
    if said["nothing_to_measure"]:
        console.print(f"  {said['nothing_to_measure']} of {said['rows']} rows have nothing left to measure")


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(f"{int(x):,}" for x in np.array(numbers))
