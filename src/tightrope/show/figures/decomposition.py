"""Where do regret and violation come from? Their terms stacked, positive ones upwards and negative ones downwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tightrope.show import style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@style.styled
def draw_decomposition(frame: pl.DataFrame, note: str = "") -> Figure:
    """One panel a whole.

    Parameters
    ----------
    frame: `whole` (such as "regret"), `term`, `episode`, `value` (the running sum of the term). Every term of a whole has the
        same episodes; the line is the sum of the terms.
    """
    wholes = frame["whole"].unique(maintain_order=True).to_list()
    figure = style.new_figure(style.panels(len(wholes), height=2.9))
    for axes, whole in zip(figure.subplots(1, len(wholes), squeeze=False)[0], wholes):
        _stack(axes, frame.filter(frame["whole"] == whole))
        axes.set_title(whole[:1].upper() + whole[1:])
        axes.set_ylabel("running sum")
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.2), ncols=2)
    style.foot(figure, note)
    return figure


def _stack(axes: Axes, frame: pl.DataFrame) -> None:
    terms = frame["term"].unique(maintain_order=True).to_list()
    episodes = frame.filter(frame["term"] == terms[0])["episode"].to_numpy()
    values = np.stack([frame.filter(frame["term"] == term)["value"].to_numpy() for term in terms])
    for part in (np.maximum(values, 0.0), np.minimum(values, 0.0)):
        reached = np.cumsum(np.concatenate([np.zeros((1, len(episodes))), part]), axis=0)
        for i, colour in zip(range(len(terms)), style.colours()):
            named = terms[i] if part is not None and part[i].any() and not _named(axes, terms[i]) else None
            axes.fill_between(episodes, reached[i], reached[i + 1], color=colour, alpha=0.65, linewidth=0, label=named)
    axes.plot(episodes, values.sum(axis=0), color="black", linewidth=1.1, label="sum")
    axes.axhline(0.0, color=style.GREY, linewidth=0.7)
    axes.set_xlim(0, episodes[-1])
    axes.set_xlabel("episode")
    style.count_axes(axes)


def _named(axes: Axes, term: str) -> bool:
    """Whether the legend has it already: a term may be positive here and negative there."""
    return term in axes.get_legend_handles_labels()[1]
