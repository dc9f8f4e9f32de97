"""How fast do regret and violation grow? Log-log over the number of episodes, with the declared and the fitted slope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tightrope.problems.tables import Floats
from tightrope.show import style
from tightrope.show.bands import groups

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@style.styled
def draw_rates(
    frame: pl.DataFrame,
    declared: float | None = None,
    lower: float | None = None,
    note: str = "",
    found: Mapping[str, tuple[float | None, float | None]] | None = None,
) -> Figure:
    """A panel a measure.

    Parameters
    ----------
    frame: `group`, `measure`, `episodes` (the K of a run), `value`; a row a run. Values that are not positive have no
        logarithm: they are left out, and the foot says how many.
    declared: the slope that the learner declares, drawn as a guide; `lower` the slope of a lower bound on the regret.
    found: slope and half its 95% interval by measure, where they were taken another way than from all points at once.
    """
    measures = frame["measure"].unique(maintain_order=True).to_list()
    figure = style.new_figure(style.panels(len(measures)))
    for axes, measure in zip(figure.subplots(1, len(measures), squeeze=False)[0], measures):
        own = frame.filter((frame["measure"] == measure) & (frame["value"] > 0))
        axes.set_title(measure)
        axes.set_xlabel("episodes K")
        if own.height:
            for group, colour in zip(groups(own), style.colours()):
                _points(axes, own.filter(own["group"] == group), group, colour, (found or {}).get(measure))
            _guides(axes, own, declared, lower if measure != "violation" else None)
            axes.set_xscale("log")
            axes.set_yscale("log")
            _ticks(axes, own["episodes"].to_numpy())
            if axes.get_legend_handles_labels()[1]:  # points at one K alone have no line, and so no label
                axes.legend(loc="best")
    left_out = frame.filter(frame["value"] <= 0).height
    lost = f"{left_out} of {frame.height} values are not positive and left out. " if left_out else ""
    how = "least squares in logarithms" if found is None else "mean over seeds of least squares in logarithms"
    style.foot(figure, f"a point a run; lines: {how}. {lost}{note}")
    return figure


def fitted(episodes: Floats, values: Floats) -> tuple[float, float] | None:
    """Slope and intercept in logarithms; None with fewer than two different K."""
    if len(np.unique(episodes)) < 2:
        return None
    slope, intercept = np.polyfit(np.log(episodes), np.log(values), 1)
    return float(slope), float(intercept)


def _points(
    axes: Axes, own: pl.DataFrame, group: str, colour: str, known: tuple[float | None, float | None] | None
) -> None:
    """Points, and a line through their middle of the slope that is known, or fits them."""
    x, y = own["episodes"].to_numpy().astype(float), own["value"].to_numpy()
    fit = fitted(x, y)
    slope, half = known or (None if fit is None else fit[0], None)
    axes.plot(x, y, "o", color=colour, markersize=2.5, alpha=0.6)
    if slope is not None:
        ends = np.array([x.min(), x.max()])
        line = np.exp(np.log(y).mean() + slope * (np.log(ends) - np.log(x).mean()))
        interval = "" if half is None else f" ± {half:.2f}"
        axes.plot(ends, line, color=colour, label=f"{group}: slope {slope:.2f}{interval}")


def _ticks(axes: Axes, episodes: Floats) -> None:
    """Decades; where fewer than two are in sight, the first and the last number of episodes instead."""
    from matplotlib.ticker import NullFormatter

    axes.xaxis.set_minor_formatter(NullFormatter())
    first, last = int(episodes.min()), int(episodes.max())
    if np.floor(np.log10(last)) - np.ceil(np.log10(first)) < 1:
        ends = sorted({first, last})
        axes.set_xticks(ends, [f"{K:,}" for K in ends])


def _guides(axes: Axes, own: pl.DataFrame, declared: float | None, lower: float | None) -> None:
    """Lines of given slopes through the largest first value, and through the smallest."""
    ends = np.array([own["episodes"].min(), own["episodes"].max()], dtype=float)
    if ends[0] == ends[1]:
        return
    first = own.filter(own["episodes"] == own["episodes"].min())["value"]
    for slope, word, start, dash in (
        (declared, "declared", first.max(), "--"),
        (lower, "lower bound", first.min(), ":"),
    ):
        if slope is not None:
            label = f"{word}: slope {slope:g}"
            axes.plot(ends, start * (ends / ends[0]) ** slope, dash, color=style.GREY, linewidth=1.0, label=label)
