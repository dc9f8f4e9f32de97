"""Who is better, and how surely? Paired differences with their 95% intervals, a row a learner, a panel a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tightrope.problems.tables import Floats
from tightrope.show import style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_intervals(axes: Axes, y: Floats, mean: Floats, low: Floats, high: Floats, size: float = 4.0) -> None:
    """Means with their intervals, all [n], at the heights y; filled where the interval excludes no difference."""
    axes.hlines(y, low, high, color=style.BLUE, linewidth=0.35 * size)
    sure = (low > 0) | (high < 0)
    axes.plot(mean[sure], y[sure], "o", color=style.BLUE, markersize=size)
    axes.plot(mean[~sure], y[~sure], "o", color=style.BLUE, markerfacecolor="white", markersize=size)
    axes.axvline(0.0, color=style.GREY, linewidth=0.7)


@style.styled
def draw_forest(frame: pl.DataFrame, against: str, note: str = "") -> Figure:
    """Differences to `against`, negative where the row is better.

    Parameters
    ----------
    frame: `group` (the row), `measure` (the panel), `mean`, `low`, `high` of the paired difference.
    """
    measures = frame["measure"].unique(maintain_order=True).to_list()
    rows = frame["group"].unique(maintain_order=True).to_list()
    figure = style.new_figure(style.panels(len(measures), height=0.9 + 0.2 * len(rows)))
    for axes, measure in zip(figure.subplots(1, len(measures), squeeze=False, sharey=True)[0], measures):
        own = frame.filter(frame["measure"] == measure)
        y = np.array([rows.index(group) for group in own["group"]])
        mean, low, high = (own[name].to_numpy() for name in ("mean", "low", "high"))
        draw_intervals(axes, y, mean, low, high)
        axes.set_title(measure)
        axes.set_xlabel(f"difference to {against}")
        axes.xaxis.set_major_formatter(style.short_number)
        axes.locator_params(axis="x", nbins=4)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(False, axis="y")
    style.foot(figure, f"paired over seeds, 95% intervals by Student's t; hollow: the interval contains 0. {note}")
    return figure
