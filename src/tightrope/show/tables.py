"""How does a figure's data go into a paper? A CSV of what is drawn, and a LaTeX table of the numbers that count."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tightrope.show.bands import Curve

if TYPE_CHECKING:
    import polars as pl

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "⁺": r"$^+$",
    "λ": r"$\lambda$",
    "\N{MINUS SIGN}": r"$-$",
}


def latex_text(text: str) -> str:
    """Plain text for LaTeX; what it would read as a command shows as itself."""
    return "".join(_LATEX.get(c, c) for c in text)


def latex_number(value: Any) -> str:
    """A number as a paper prints it: three or four significant figures, thousands apart."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "--"
    if isinstance(value, int):
        return f"{value:,}".replace(",", r"\,")
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"${text.replace(',', chr(92) + ',')}$"


def latex(frame: pl.DataFrame, caption: str) -> str:
    """A `table` environment (package booktabs) with a row a row of the frame."""
    kinds = "".join("l" if dtype.is_(_string()) else "r" for dtype in frame.dtypes)
    rows = [" & ".join(latex_text(c.replace("_", " ")) for c in frame.columns), r"\midrule"]
    for row in frame.iter_rows():
        cells = [latex_text(cell) if isinstance(cell, str) else latex_number(cell) for cell in row]
        rows.append(" & ".join(cells))
    body = "\n".join(f"  {row}" if row == r"\midrule" else rf"  {row} \\" for row in rows)
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n"
        f"  \\caption{{{latex_text(caption)}}}\n  \\begin{{tabular}}{{{kinds}}}\n  \\toprule\n"
        f"{body}\n  \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n"
    )


def _string() -> Any:
    import polars as pl

    return pl.String


def ends(curves: list[Curve]) -> pl.DataFrame:
    """Where mean curves end: `group`, `curve`, `episodes`, `mean`, `low`, `high`, `seeds`."""
    import polars as pl

    return pl.DataFrame(
        {
            "group": [c.group for c in curves],
            "curve": [c.column.replace("_", " ") for c in curves],
            "episodes": [int(c.episodes[-1]) for c in curves],
            "mean": [float(c.mean[-1]) for c in curves],
            "low": [float(c.low[-1]) for c in curves],
            "high": [float(c.high[-1]) for c in curves],
            "seeds": [c.seeds for c in curves],
        }
    )
