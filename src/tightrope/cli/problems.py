"""Which ready problems are there? Their sizes, budgets and parameters, on the terminal."""

from __future__ import annotations

import inspect
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope import problems
from tightrope.errors import InputError, suggest
from tightrope.oracle import best_policy, slater
from tightrope.problems.cmdp import LinearCMDP


def show_problems(name: str | None) -> None:
    """All in a table, or one in full."""
    console = Console(highlight=False)
    if name is not None and name not in (*problems.names(), *problems.ENDLESS):
        raise InputError(f"NAME: unknown problem {name!r}; {suggest(name, (*problems.names(), *problems.ENDLESS))}")
    if name in problems.ENDLESS:
        console.print(f"{name}: {problems.ENDLESS[name][1]}; states cannot be listed, so it is for an agent:")
        console.print(f'tr.train(tr.problems.environment("{name}"))', style="bold")
        return
    console.print(_all() if name is None else _one(name))
    if name is None:
        for endless, (_, what) in problems.ENDLESS.items():
            console.print(f"{endless}: {what} (endless states, for tr.Agent and tr.train)")
        console.print("[dim]S states, A actions, d features, H steps. More on one: tightrope problems NAME[/dim]")


def _all() -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    for letter in "SAdH":
        table.add_column(letter, justify="right", no_wrap=True)
    table.add_column("budgets", no_wrap=True)
    table.add_column("what it is")
    for name in problems.names():
        cmdp = problems.make(name)
        sizes = (cmdp.n_states, cmdp.n_actions, cmdp.dim, cmdp.horizon)
        table.add_row(name, *(str(size) for size in sizes), _budgets(cmdp), _first_line(name))
    return table


def _one(name: str) -> Table:
    cmdp = problems.make(name)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_row(name, _first_line(name))
    for word, value in _facts(cmdp):
        table.add_row(word, value)
    for parameter, default in problems.parameters(name).items():
        table.add_row("parameter", f"{parameter} = {default}")
    return table


def _facts(cmdp: LinearCMDP) -> list[tuple[str, str]]:
    kind = "one feature a pair" if cmdp.feature_table.shape[2] == cmdp.n_states * cmdp.n_actions else "dense features"
    facts = [
        ("states S", str(cmdp.n_states)),
        ("actions A", str(cmdp.n_actions)),
        ("features d", f"{cmdp.dim} ({kind})"),
        ("horizon H", str(cmdp.horizon)),
        ("budgets", _budgets(cmdp)),
        ("Slater's constant", f"{slater(cmdp).gamma:.4g}"),
    ]
    profiles: Any = cmdp.loss_profiles
    for i, profile in enumerate([] if profiles is None else profiles):
        best = best_policy(cmdp, profile)
        multipliers = ", ".join(f"{x:.3g}" for x in best.multipliers)
        facts.append((f"loss profile {i}", f"best loss within budget {best.value:.4g}, multiplier {multipliers}"))
    return facts


def _budgets(cmdp: LinearCMDP) -> str:
    return ", ".join(f"{b:.4g}" for b in cmdp.budgets)


def _first_line(name: str) -> str:
    return (inspect.getdoc(problems.GALLERY[name]) or "").splitlines()[0]
