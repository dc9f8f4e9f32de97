"""The paper's figure 1 (paper.tex, "Numerical Experiment"): regret and constraint violation, mean and 95% band over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.lab.summary import Band, band
from tightrope.problems.tables import Ints
from tightrope.run import Run
from tightrope.show import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure1(runs: Sequence[Run], summary: dict[str, Any], note: str = "") -> Figure:
    """Two panels over the episodes; `note` stands below them."""
    import matplotlib as mpl

    with mpl.rc_context(style.RULES):
        figure = style.new_figure(style.TWO_PANELS)
        left, right = figure.subplots(1, 2)
        episodes = runs[0].episodes
        _panel(left, episodes, band(np.stack([run.regret for run in runs])), style.BLUE)
        left.set_title("(a) Regret")
        left.set_ylabel("cumulative regret")
        _panel(right, episodes, band(np.stack([run.violation[:, 0] for run in runs])), style.VERMILION)
        right.axhline(0.0, color=style.GREY, linewidth=0.7)
        right.set_title("(b) Constraint violation")
        right.set_ylabel("cumulative violation (signed)")
        _mark_violation(right, summary)
        seeds = len(runs)
        words = f"mean of {seeds} seeds, band: 95% interval" if seeds > 1 else "one seed"
        figure.supxlabel(f"{words}. {note}".strip(), fontsize=6.5, color=style.GREY)
    return figure


def _panel(axes: Axes, episodes: Ints, curve: Band, colour: str) -> None:
    x = np.concatenate([[0], episodes])
    mean, half = np.concatenate([[0.0], curve.mean]), np.concatenate([[0.0], curve.half])
    axes.fill_between(x, mean - half, mean + half, color=colour, alpha=0.25, linewidth=0)
    axes.plot(x, mean, color=colour)
    axes.set_xlim(0, episodes[-1])
    axes.set_xlabel("episode")
    axes.margins(y=0.1)  # room for the words at a peak
    axes.xaxis.set_major_formatter(style.thousands)
    axes.yaxis.set_major_formatter(style.thousands)
    axes.locator_params(nbins=5)


def _mark_violation(axes: Axes, summary: dict[str, Any]) -> None:
    """Where the violation peaks and where it is back at zero."""
    peak, at = summary["violation_peak"], summary["violation_peak_episode"]
    crossing = summary["violation_zero_crossing"]
    marks = [(at, peak, f"peak {peak:,.0f} at {at:,}")] if peak > 0 else []
    if crossing is not None:
        marks.append((crossing, 0.0, f"zero at {crossing:,.0f}"))
    for x, y, text in marks:
        axes.plot([x], [y], "o", color=style.GREY, markersize=2.5)
        axes.annotate(
            text, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=6.5, color=style.GREY, va="bottom"
        )
