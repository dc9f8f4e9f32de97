"""How do learners compare? Regret and violation of each over the episodes, mean and 95% band over paired seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tightrope.lab.comparison import Cell
from tightrope.lab.summary import band
from tightrope.run import Run
from tightrope.show import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison(cells: Sequence[Cell], runs: dict[str, Run]) -> Figure:
    """A row of two panels for each cell; runs by key."""
    import matplotlib as mpl

    width, height = style.TWO_PANELS
    with mpl.rc_context(style.RULES):
        figure = style.new_figure((width, height * len(cells)))
        panels = figure.subplots(len(cells), 2, squeeze=False)
        for cell, pair in zip(cells, panels):
            _cell(cell, runs, pair)
    return figure


def _cell(cell: Cell, runs: dict[str, Run], panels) -> None:
    looks = list(
        zip([style.BLUE, style.VERMILION, style.GREEN, style.PURPLE, style.ORANGE, style.GREY] * 2, "-" * 6 + ":" * 6)
    )
    for spec, (colour, dash) in zip(cell.specs, looks):
        found = [runs[spec.key(seed)] for seed in cell.seeds]
        episodes = found[0].episodes
        name = found[0].about["learner"]["name"]
        for panel, curves in zip(panels, ([run.regret for run in found], [run.violation.max(axis=1) for run in found])):
            over = band(np.stack(curves) / episodes)
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
