"""Where does a learner spend its time, and what does it do there? Heat maps over states and steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.problems.tables import Floats
from tightrope.show import style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOK: Any = {"vmin": 0.0, "vmax": 1.0, "origin": "lower", "rasterized": True}
MOST_PANELS = 12


@style.styled
def draw_occupancy(frame: pl.DataFrame, note: str = "") -> Figure:
    """One panel a policy: `policy`, `step` (from 1), `state`, `probability` of being there (more columns are ignored)."""
    names = frame["policy"].unique(maintain_order=True).to_list()
    tables = [_table(frame.filter(frame["policy"] == name)) for name in names]
    return _panels(names, [tables], "probability of the state", note)


@style.styled
def draw_policy(frame: pl.DataFrame, note: str = "") -> Figure:
    """A row a policy and a panel an action: `policy`, `action`, `step` (from 1), `state`, `probability` of the action there."""
    names = frame["policy"].unique(maintain_order=True).to_list()
    actions = frame["action"].unique(maintain_order=True).to_list()[: MOST_PANELS // max(len(names), 1)]
    rows = [
        [_table(frame.filter((frame["policy"] == name) & (frame["action"] == action))) for action in actions]
        for name in names
    ]
    titles = [f"{name}: action {action}" for name in names for action in actions]
    return _panels(titles, rows, "probability of the action", note)


def _table(frame: pl.DataFrame) -> Floats:
    """[S, H]; a place that the frame does not have stays empty."""
    steps, states = frame["step"].to_numpy(), frame["state"].to_numpy()
    table = np.full((int(states.max()) + 1, int(steps.max())), np.nan)
    table[states, steps - 1] = frame["probability"].to_numpy()
    return table


def _panels(titles: list[str], rows: list[list[Floats]], meaning: str, note: str) -> Figure:
    columns = len(rows[0])
    figure = style.new_figure(style.panels(columns, rows=len(rows), height=2.3))
    grid = figure.subplots(len(rows), columns, squeeze=False, sharey=True)
    image = None
    for axes, title, table in zip(grid.ravel(), titles, [table for row in rows for table in row]):
        extent = (0.5, table.shape[1] + 0.5, -0.5, table.shape[0] - 0.5)  # steps count from 1, states from 0
        image = axes.imshow(table, extent=extent, aspect="auto", cmap="cividis", **LOOK)
        axes.set_title(title)
        axes.grid(False)
        _whole_ticks(axes)
    for axes in grid[-1]:
        axes.set_xlabel("step h")
    for axes in grid[:, 0]:
        axes.set_ylabel("state s")
    assert image is not None
    figure.colorbar(image, ax=grid, label=meaning, shrink=0.9)
    style.foot(figure, note)
    return figure


def _whole_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
