"""What does each rule do, at a glance? Regret against violation of every setting, and how both grow with K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tightrope.lab.ablation import VARIANTS, Found
from tightrope.show import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (style.BLUE, style.VERMILION, style.GREEN)


def scatter(rows: Sequence[Found], factor: str) -> Figure:
    """Every setting of the grid as a point: violation over regret, and the largest dual, coloured by one factor."""
    import matplotlib as mpl

    levels = list(dict.fromkeys(row.levels[factor] for row in rows))
    with mpl.rc_context(style.RULES):
        figure = style.new_figure(style.TWO_PANELS)
        left, right = figure.subplots(1, 2)
        for level, colour in zip(levels, COLOURS):
            mine = [row for row in rows if row.levels[factor] == level]
            for restarts, mark in (("paper", "o"), ("warm", "^")):
                some = [row for row in mine if row.levels["restarts"] == restarts]
                label = f"{level}, {restarts}"
                look = {"color": colour, "markersize": 3.5, "alpha": 0.8, "label": label}
                left.plot([row.regret for row in some], [row.violation for row in some], mark, **look)
                right.plot([row.loss for row in some], [row.most_dual for row in some], mark, **look)
        left.set_xlabel("regret per episode")
        left.set_ylabel("violation per episode")
        right.set_xlabel("regret + violation per episode, where positive")
        right.set_ylabel("largest dual")
        right.set_yscale("symlog", linthresh=0.01)
        left.set_title(f"by {factor}")
        right.legend()
    return figure


def growth(rows: Sequence[Found]) -> Figure:
    """Positive regret and violation over K, for every problem and variant."""
    import matplotlib as mpl

    names = list(dict.fromkeys(row.levels["problem"] for row in rows))
    width, height = style.TWO_PANELS[0], 1.25 * style.TWO_PANELS[1]
    with mpl.rc_context(style.RULES):
        figure = style.new_figure((width, height))
        for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names):
            for variant, colour in zip(VARIANTS, COLOURS):
                mine = [r for r in rows if r.levels["problem"] == name and r.levels["variant"] == variant]
                at = [int(row.levels["episodes"]) for row in mine]
                axes.plot(
                    at, [row.loss * K for row, K in zip(mine, at)], "o-", color=colour, label=variant, markersize=3
                )
            scale = max(row.loss * int(row.levels["episodes"]) for row in rows if row.levels["problem"] == name)
            for power, dash in ((0.5, ":"), (0.75, "--")):
                axes.plot(at, [scale * (K / at[-1]) ** power for K in at], dash, color=style.GREY, label=f"K^{power}")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(at, [style.thousands(K) for K in at])
            axes.minorticks_off()
            axes.yaxis.set_major_formatter(style.thousands)
            axes.set_title(name)
            axes.set_xlabel("K")
        figure.axes[0].set_ylabel("regret + violation, where positive")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), ncols=5, loc="outside lower center")
    return figure
