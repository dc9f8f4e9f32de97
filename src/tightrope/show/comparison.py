"""How do learners compare? A few comparisons as curves over the episodes, many as a page of paired differences a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tightrope.lab.comparison import Cell, Row
from tightrope.lab.summary import band
from tightrope.run import Run
from tightrope.show import style
from tightrope.show.figures.forest import draw_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

A_PAGE = 4  # so many comparisons fit a page as curves
LINEAR = 0.01  # differences smaller than this are drawn to scale, larger ones by their logarithm
LINE = 0.115  # inches for a learner


@style.styled
def curves(cells: Sequence[Cell], runs: dict[str, Run]) -> Figure:
    """A row of two panels for each cell: mean and 95% band over paired seeds; runs by key."""
    width, height = style.TWO_PANELS
    figure = style.new_figure((width, height * len(cells)))
    for cell, pair in zip(cells, figure.subplots(len(cells), 2, squeeze=False)):
        _curves(cell, runs, pair)
    return figure


def _curves(cell: Cell, runs: dict[str, Run], panels: Sequence[Axes]) -> None:
    looks = list(
        zip([style.BLUE, style.VERMILION, style.GREEN, style.PURPLE, style.ORANGE, style.GREY] * 2, "-" * 6 + ":" * 6)
    )
    for spec, (colour, dash) in zip(cell.specs, looks):
        found = [runs[spec.key(seed)] for seed in cell.seeds]
        episodes = found[0].episodes
        name = found[0].about["learner"]["name"]
        for panel, lines in zip(panels, ([run.regret for run in found], [run.violation.max(axis=1) for run in found])):
            over = band(np.stack(lines) / episodes)
            panel.fill_between(
                episodes, over.mean - over.half, over.mean + over.half, color=colour, alpha=0.2, linewidth=0
            )
            panel.plot(episodes, over.mean, dash, color=colour, label=name)
    for panel, what in zip(panels, ("regret per episode", "violation per episode")):
        panel.axhline(0.0, color=style.GREY, linewidth=0.7)
        panel.set_xlabel("episode")
        panel.set_ylabel(what)
        panel.xaxis.set_major_formatter(style.thousands)
    panels[0].set_title(cell.title)
    panels[1].legend(ncols=2)


def figures(told: Sequence[tuple[Cell, Sequence[Row]]], runs: dict[str, Run]) -> dict[str, Figure]:
    """The figures of some comparisons, by name, none larger than a page."""
    if len(told) <= A_PAGE:
        return {"figure-compare": curves([cell for cell, _ in told], runs)}
    return {f"figure-compare-{problem}": figure for problem, figure in pages(told).items()}


def pages(told: Sequence[tuple[Cell, Sequence[Row]]]) -> dict[str, Figure]:
    """A figure for each problem: a row of panels for each kind of losses, with every learner's difference to the first."""
    return {
        problem: _page(problem, [(cell, rows) for cell, rows in told if cell.problem == problem])
        for problem in dict.fromkeys(cell.problem for cell, _ in told)
    }


@style.styled
def _page(problem: str, told: Sequence[tuple[Cell, Sequence[Row]]]) -> Figure:
    kinds = list(dict.fromkeys(cell.losses for cell, _ in told))
    longest = max(cell.episodes for cell, _ in told)
    by_kind = {kind: [(cell, row) for cell, rows in told if cell.losses == kind for row in rows[1:]] for kind in kinds}
    heights = [0.45 + LINE * len(by_kind[kind]) for kind in kinds]
    figure = style.new_figure((style.TWO_PANELS[0], 0.6 + sum(heights)))
    panels = figure.subplots(len(kinds), 2, squeeze=False, sharex="col", sharey="row", height_ratios=heights)
    for kind, pair in zip(kinds, panels):
        for axes, measure in zip(pair, ("regret", "violation")):
            _differences(axes, [row for _, row in by_kind[kind]], measure)
        names = [
            row.learner + ("" if cell.episodes == longest else f" ({cell.episodes:,})") for cell, row in by_kind[kind]
        ]
        pair[0].set_yticks(range(len(names)), names)
        pair[0].set_ylim(len(names) - 0.5, -0.5)
        pair[0].set_title(f"{kind} losses")
    first = told[0][1][0].learner
    for axes, measure in zip(panels[-1], ("regret", "violation")):
        axes.set_xlabel(f"{measure} per episode, less {first}'s")
    figure.suptitle(f"{problem}, {longest:,} episodes where nothing else is said", fontsize=9.0)
    style.foot(figure, "paired over seeds, 95% intervals by Student's t; hollow: the interval contains 0")
    return figure


def _differences(axes: Axes, rows: Sequence[Row], measure: str) -> None:
    mean = np.array([row.difference[measure] for row in rows])
    half = np.array([row.half[measure] for row in rows])
    draw_intervals(axes, np.arange(len(rows), dtype=float), mean, mean - half, mean + half, size=3.0)
    axes.set_xscale("symlog", linthresh=LINEAR)
    axes.set_xticks([-1.0, -0.1, 0.0, 0.1, 1.0])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(style.short_number)
    axes.grid(False, axis="y")
