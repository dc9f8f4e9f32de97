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
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


WIDE = 20.0  # least ratio of an axis's ends that is told by powers of ten alone
FEW = 4  # lengths of runs that are told each


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
    colours = dict(zip(groups(frame), style.colours()))  # the same in every panel
    figure = style.new_figure(style.panels(len(measures)))
    for axes, measure in zip(figure.subplots(1, len(measures), squeeze=False)[0], measures):
        own = frame.filter((frame["measure"] == measure) & (frame["value"] > 0))
        axes.set_title(measure)
        axes.set_xlabel("episodes K")
        if own.height:
            for group in groups(own):
                _points(axes, own.filter(own["group"] == group), group, colours[group], (found or {}).get(measure))
            _guides(axes, own, declared, lower if measure != "violation" else None)
            axes.set_xscale("log")
            axes.set_yscale("log")
            _ticks(axes.xaxis, own["episodes"].to_numpy().astype(float), FEW)
            _ticks(axes.yaxis, own["value"].to_numpy().astype(float))
            if axes.get_legend_handles_labels()[1]:  # points at one K alone have no line, and so no label
                axes.legend(loc="best")
    left_out = frame.filter(frame["value"] <= 0).height
    lost = f"{left_out} of {frame.height} values are not positive and left out. " if left_out else ""
    how = "least squares in logarithms" if found is None else "mean over seeds of least squares in logarithms"
    style.foot(figure, f"a point a run; lines: {how}. {lost}{note}")
    return figure


def _ticks(axis: Axis, shown: Floats, most_each: int = 0) -> None:
    """Plain numbers: powers of ten; where those are few, the lengths themselves, or 2 and 5 times the powers too."""
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

    few = np.unique(shown).tolist()
    if shown.max() > WIDE * shown.min():
        axis.set_major_locator(LogLocator())
    else:
        axis.set_major_locator(FixedLocator(few) if len(few) <= most_each else LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(style.short_number)
    axis.set_minor_formatter(NullFormatter())


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
