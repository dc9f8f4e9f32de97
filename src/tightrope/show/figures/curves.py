"""Regret and violation side by side: means over seeds with 95% bands, a colour a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightrope.show import style
from tightrope.show.bands import Curve, channels, curve, groups, has, words

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def curves_of(frame: pl.DataFrame, name: str, interval: str = "t") -> list[Curve]:
    """Every group's mean curve of one measure, each constraint's apart."""
    columns = channels(frame, name)
    return [
        curve(frame, group, column, interval)
        for group in groups(frame)
        for column in columns
        if has(frame, group, column)
    ]


@style.styled
def draw_curves(frame: pl.DataFrame, interval: str = "t", note: str = "") -> Figure:
    """Two panels over the episodes from a frame of curves (see `show.bands`); `note` stands below them."""
    figure = style.new_figure(style.TWO_PANELS)
    left, right = figure.subplots(1, 2)
    regret, violation = curves_of(frame, "regret", interval), curves_of(frame, "violation", interval)
    draw_panel(left, regret)
    left.set_title("(a) Regret")
    left.set_ylabel("cumulative regret")
    draw_panel(right, violation)
    right.set_title("(b) Constraint violation")
    right.set_ylabel("cumulative violation (signed)")
    if len(violation) > 1:
        style.key_above(figure, right)
    style.foot(figure, f"{words(min(c.seeds for c in regret), interval)}. {note}")
    return figure


def draw_panel(axes: Axes, curves: list[Curve]) -> None:
    """Lines with bands; every group has a colour, and every constraint of a group a dash of its own."""
    colours = dict(zip(dict.fromkeys(c.group for c in curves), style.colours()))
    dashes = dict(zip(dict.fromkeys(c.column for c in curves), style.DASHES * 3))
    for c in curves:
        colour = colours[c.group]
        axes.fill_between(c.episodes, c.low, c.high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(c.episodes, c.mean, color=colour, linestyle=dashes[c.column], label=label_of(c, curves))
    axes.axhline(0.0, color=style.GREY, linewidth=0.7)
    axes.set_xlim(0, max(c.episodes[-1] for c in curves))
    axes.set_xlabel("episode")
    style.count_axes(axes)


def label_of(c: Curve, among: list[Curve]) -> str:
    """Its group, and its constraint where there are several."""
    several = len({other.column for other in among}) > 1
    constraint = f"constraint {c.column.rsplit('_', 1)[1]}" if several else ""
    alone = len({other.group for other in among}) == 1
    return constraint if alone and several else f"{c.group} {constraint}".strip()
