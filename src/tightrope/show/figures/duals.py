"""The dual variable beside the multiplier lambda* of the hindsight problem, towards which a working dual moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightrope.show import style
from tightrope.show.bands import channels, groups, words
from tightrope.show.figures.curves import curves_of, draw_panel

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


SAME = 2e-3  # of the largest multiplier: lines that are closer cover each other


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
        for multiplier, names in _lines(multipliers.filter(multipliers["constraint"] == i)):
            colour = colours.get(names[0], style.GREY) if len(names) == 1 else style.GREY
            whose = f"all {len(names)}" if len(names) == len(colours) > 1 else " and ".join(names)
            axes.axhline(multiplier, color=colour, linestyle=":", linewidth=1.0, label=f"λ* of {whose}")
        axes.set_title("Dual against λ*" if len(columns) == 1 else f"Dual of constraint {i} against λ*")
        axes.set_ylabel("dual variable Y")
        axes.yaxis.set_major_formatter(style.short_number)
        axes.set_ylim(bottom=0.0)
        axes.legend(loc="best")
    style.foot(figure, f"{words(min(c.seeds for c in curves), interval)}; dotted: multiplier in hindsight. {note}")
    return figure


def _lines(multipliers: pl.DataFrame) -> list[tuple[float, list[str]]]:
    """Multipliers with the groups that have them; those that no eye could tell apart are one."""
    found: list[tuple[float, list[str]]] = []
    largest = float(multipliers["multiplier"].max() or 0.0) if len(multipliers) else 0.0  # pyright: ignore[reportArgumentType]
    for row in multipliers.iter_rows(named=True):
        same = next((names for x, names in found if abs(x - row["multiplier"]) <= SAME * largest), None)
        if same is None:
            found.append((row["multiplier"], [row["group"]]))
        else:
            same.append(row["group"])
    return found
