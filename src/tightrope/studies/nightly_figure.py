"""How did the year go? The bill so far of every plan, and the work left by the learner against what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tightrope.problems.nightly import jobs_left
from tightrope.show import style
from tightrope.studies.nightly import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINDOW = 14  # nights of a running mean


@style.styled
def nightly_figure(study: Study) -> Figure:
    """Two panels over the nights: the bill of the second half, and the jobs left undone."""
    figure = style.new_figure((style.TWO_PANELS[0], 2.9))
    left, right = figure.subplots(1, 2)
    begin = study.second.start
    nights = np.arange(begin + 1, len(study.nights.dates) + 1)
    curves = [(study.learner.name, study.learner.money[study.second]), *((p.name, p.money) for p in study.half)]
    dashes = ("-", "--", "-.", ":", ":")
    for (name, money), colour, dash in zip(curves, style.colours(), dashes):
        left.plot(nights, np.cumsum(money), dash, color=colour, label=name, linewidth=1.8 if dash == "-" else 1.2)
    left.set_title("(a) Bill of the second half")
    left.set_xlabel("night")
    left.set_ylabel("paid so far, a machine")
    style.count_axes(left)
    _work(right, study)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    style.foot(figure, f"{study.machines} machines, prices of {study.nights.dates[0]} to {study.nights.dates[-1]}")
    return figure


def _work(axes, study: Study) -> None:
    undone = np.array([jobs_left(study.cmdp, float(cost)) for cost in study.learner.cost])
    so_far = np.cumsum(undone) / np.arange(1, len(undone) + 1)
    window = min(WINDOW, len(undone))
    lately = np.convolve(undone, np.full(window, 1.0 / window), mode="valid")
    axes.plot(
        np.arange(window, len(undone) + 1), lately, color=style.BLUE, alpha=0.45, label=f"mean of {window} nights"
    )
    axes.plot(np.arange(1, len(undone) + 1), so_far, color=style.BLUE, label="mean so far")
    allowed = jobs_left(study.cmdp, float(study.cmdp.budgets[0]))
    axes.axhline(allowed, color=style.VERMILION, linestyle="--", linewidth=1.0, label="allowed")
    axes.set_title("(b) Jobs left undone by the learner")
    axes.set_xlabel("night")
    axes.set_ylabel("jobs a machine and night")
    axes.set_ylim(0.0, max(1.6 * allowed, 1.1 * float(so_far.max())))
    axes.legend(loc="lower right")
