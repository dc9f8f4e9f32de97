"""One look for all figures: sizes of a conference column, colours that the colour-blind tell apart, PNG and PDF."""

from __future__ import annotations

import functools
import io
import itertools
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arguments = ParamSpec("Arguments")

# Okabe and Ito's palette (M. Okabe, K. Ito: Color Universal Design, 2008).
BLUE, VERMILION, GREEN, PURPLE, ORANGE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#555555"
TWO_PANELS = (6.75, 2.55)  # inches: the text width of a two-column paper
ONE_PANEL = (3.25, 2.3)  # a column
DASHES = ("-", "--", "-.", ":")
DPI = 300

RULES: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "axes.axisbelow": True,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
}

LETTERS = 19  # of small print, to an inch of a figure's width


def thousands(value: float, _: float | None = None) -> str:
    """A tick of an axis of counts, with a minus sign that is one."""
    return f"{value:,.0f}".replace("-", "\N{MINUS SIGN}")


def short_number(value: float, _: float | None = None) -> str:
    """A tick of an axis of any numbers."""
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def colours() -> Iterator[str]:
    """The palette, from the beginning again when it is used up."""
    return itertools.cycle((BLUE, VERMILION, GREEN, PURPLE, ORANGE, "#56B4E9", "#000000", "#8C6D1F"))


def panels(columns: int, rows: int = 1, height: float = 2.4) -> tuple[float, float]:
    """The size of a figure with so many panels: a column's width for one, the text's width for more."""
    width = ONE_PANEL[0] if columns == 1 else TWO_PANELS[0]
    return width, 0.2 + height * rows


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Run a function that draws within the style's rules."""

    @functools.wraps(draw)
    def within(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        import matplotlib as mpl

        with mpl.rc_context(RULES):
            return draw(*args, **kwargs)

    return within


def count_axes(axes: Axes) -> None:
    """Episodes along, counts up: ticks with thousands, and not many."""
    axes.margins(y=0.1)
    axes.xaxis.set_major_formatter(thousands)
    axes.yaxis.set_major_formatter(thousands)
    axes.locator_params(nbins=5)


def key_above(figure: Figure, axes: Axes) -> None:
    """One legend for all panels, above them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 4))


def foot(figure: Figure, text: str) -> None:
    """A line of small print below all panels."""
    if text.strip():
        lines = textwrap.wrap(text.strip().removesuffix(".") + ".", int(LETTERS * figure.get_figwidth()))
        figure.supxlabel("\n".join(lines), fontsize=6.5, color=GREY)


def new_figure(size: tuple[float, float]) -> Figure:
    """An empty figure that belongs to no window; create axes and draw within `matplotlib.rc_context(RULES)`."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def rendered(figure: Figure, kind: str) -> bytes:
    """The bytes of a PNG or PDF, without a date, so that equal figures are equal files."""
    buffer = io.BytesIO()
    about = {"CreationDate": None} if kind == "pdf" else {"Software": None}
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=about)
    return buffer.getvalue()
