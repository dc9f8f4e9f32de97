"""The dual variable beside the multiplier lambda* of the hindsight problem, towards which a working dual moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightrope.show import style
from tightrope.show.bands import channels, groups, words
from tightrope.show.figures.curves import curves_of, draw_panel

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@style.styled
def draw_duals(frame: pl.DataFrame, multipliers: pl.DataFrame, interval: str = "t", note: str = "") -> Figure:
    """One panel a constraint.

    Parameters
    ----------
    frame: curves (see `show.bands`) with `dual` columns.
    multipliers: `group`, `constraint` (0-based) and `multiplier`; a group without one has no line.
    """
    curves = curves_of(frame, "dual", interval)
    columns = channels(frame, "dual")
    figure = style.new_figure(style.panels(len(columns)))
    colours = dict(zip(groups(frame), style.colours()))
    for i, (axes, column) in enumerate(zip(figure.subplots(1, len(columns), squeeze=False)[0], columns)):
        draw_panel(axes, [c for c in curves if c.column == column])
        for row in multipliers.filter(multipliers["constraint"] == i).iter_rows(named=True):
            colour = colours.get(row["group"], style.GREY)
            axes.axhline(row["multiplier"], color=colour, linestyle=":", linewidth=1.0, label=f"λ* of {row['group']}")
        axes.set_title("Dual against λ*" if len(columns) == 1 else f"Dual of constraint {i} against λ*")
        axes.set_ylabel("dual variable Y")
        axes.yaxis.set_major_formatter(style.short_number)
        axes.set_ylim(bottom=0.0)
        axes.legend(loc="best")
    style.foot(figure, f"{words(min(c.seeds for c in curves), interval)}; dotted: multiplier in hindsight. {note}")
    return figure
