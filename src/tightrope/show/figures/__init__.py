"""Which figures are there? Functions that take data frames and return a Matplotlib figure, in one style."""

from __future__ import annotations

from tightrope.show.figures.curves import draw_curves
from tightrope.show.figures.decomposition import draw_decomposition
from tightrope.show.figures.duals import draw_duals
from tightrope.show.figures.forest import draw_forest
from tightrope.show.figures.heatmaps import draw_occupancy, draw_policy
from tightrope.show.figures.rates import draw_rates

__all__ = [
    "draw_curves",
    "draw_decomposition",
    "draw_duals",
    "draw_forest",
    "draw_occupancy",
    "draw_policy",
    "draw_rates",
]
