"""What was asked, and what was found, in plain words? Sentences from numbers; three findings for every page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tightrope.lab.summary import band, slope, zero_crossing
from tightrope.run import unit_widths
from tightrope.show.bands import channels, curve
from tightrope.show.frames import final_numbers, multipliers
from tightrope.show.kinds import never_enforced
from tightrope.show.reading import Collection, Kept

NEAR = 0.01  # of the horizon an episode: what counts as keeping a budget


def asked(collection: Collection) -> str:
    """One sentence: who played what, for how long, how often."""
    specs = [kept.spec for kept in collection.kept]
    learners = _named({spec["learner"]["name"] for spec in specs})
    problems = _named({spec["problem"]["name"] for spec in specs})
    kinds = _named({str(spec["losses"].get("kind", "losses of one's own")) for spec in specs})
    lengths = sorted({spec["episodes"] for spec in specs})
    episodes = f"{lengths[0]:,}" if len(lengths) == 1 else f"{lengths[0]:,} to {lengths[-1]:,}"
    runs, groups = len(specs), len(collection.groups)
    many = "once" if runs == 1 else f"{runs:,} runs" + (f" of {groups} settings" if groups > 1 else "")
    verb = "plays" if len({spec["learner"]["name"] for spec in specs}) == 1 else "play"
    return f"{learners} {verb} {problems} for {episodes} episodes, losses: {kinds}; {many}."


def _named(names: set[str]) -> str:
    found = sorted(names)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"


def findings(collection: Collection) -> list[str]:
    """Three sentences: of one setting about budget, regret and dual; of several about the best, the worst and the budgets."""
    if len(collection.groups) == 1:
        return [_budget(collection), _regret(collection), _dual(collection)]
    return _several(collection)


# ---- one setting -----------------------------------------------------------------------------------------------------


def _budget(collection: Collection) -> str:
    group, frame = collection.groups[0], collection.frame
    worst = max((curve(frame, group, name) for name in channels(frame, "violation")), key=lambda c: c.mean[-1])
    K, which = int(worst.episodes[-1]), _constraint(worst.column)
    end, peak = worst.mean[-1] / K, int(np.argmax(worst.mean))
    if worst.mean[peak] <= 0:
        return f"The budget{which} was kept from the first recorded episode to the last; {-end:.3g} an episode was left over."
    peak_words = f"its running violation peaked at {worst.mean[peak]:,.0f} in episode {int(worst.episodes[peak]):,}"
    if end > 0:
        return (
            f"The budget{which} was exceeded by {end:.3g} an episode on average; {peak_words} "
            f"and is {worst.mean[-1]:,.0f} at the end."
        )
    back = zero_crossing(worst.episodes, worst.mean)
    when = f" in episode {back:,.0f}" if back is not None else ""
    return f"Over the whole run the budget{which} was kept: {peak_words} and was back at zero{when}."


def _constraint(column: str) -> str:
    number = column.rpartition("_")[2]
    return f" of constraint {number}" if number.isdigit() else ""


def _regret(collection: Collection) -> str:
    c = curve(collection.frame, collection.groups[0], "regret")
    K, final = int(c.episodes[-1]), c.mean[-1]
    if math.isnan(final):
        return "These runs were not compared with the best policy in hindsight, so there is no regret to tell."
    give = f" (95% interval {c.low[-1] / K:.3g} to {c.high[-1] / K:.3g} over {c.seeds} seeds)" if c.seeds > 1 else ""
    against = "the best fixed policy in hindsight that keeps the budget"
    if final <= 0:
        return (
            f"It lost {-final / K:.3g} an episode less{give} than {against}; "
            "a learner can, when losses change or it exceeds the budget."
        )
    growth = slope(c.episodes, c.mean)
    how = f"; over the last decade the sum grew like K^{growth:.2f}" if growth is not None else ""
    return f"It lost {final / K:.3g} an episode more{give} than {against}{how}."


def _dual(collection: Collection) -> str:
    unmoved = never_enforced(collection)
    if unmoved:
        return unmoved
    frame = collection.frame
    ends = [curve(frame, collection.groups[0], name) for name in channels(frame, "dual")]
    stars = multipliers(collection)["multiplier"].to_list()
    values = " and ".join(f"{c.mean[-(len(c.mean) // 5 + 1) :].mean():.3g}" for c in ends)
    if not stars:
        return f"Over the last fifth of the run the dual was {values} on average."
    star = " and ".join(f"{x:.3g}" for x in stars)
    free = " The best policy in hindsight does not feel the budget." if max(stars) == 0 else ""
    told = f"Over the last fifth of the run the dual was {values} on average"
    return f"{told}; the multiplier of the problem in hindsight is {star}.{free}"


# ---- several settings ------------------------------------------------------------------------------------------------


def scores(collection: Collection) -> dict[str, tuple[float, float]]:
    """Of each group: positive regret and positive worst violation an episode, in the mean over its runs."""
    import polars as pl

    frame = final_numbers(collection)
    worst = pl.max_horizontal(channels(frame, "violation")).clip(lower_bound=0.0) / pl.col("episodes")
    regret = pl.col("regret").clip(lower_bound=0.0) / pl.col("episodes")
    found = frame.group_by("group", maintain_order=True).agg(regret.mean().alias("r"), worst.mean().alias("v"))
    return {row["group"]: (row["r"], row["v"]) for row in found.iter_rows(named=True)}


def _several(collection: Collection) -> list[str]:
    found = scores(collection)
    told = {group: (r, v) for group, (r, v) in found.items() if r is not None and not math.isnan(r)}
    if not told:
        return ["These runs were not compared with the best policy in hindsight, so no order of settings can be told."]
    order = sorted(told, key=lambda group: sum(told[group]))
    best, worst = order[0], order[-1]
    return [
        f"Of {len(found)} settings “{best}” did best: regret {told[best][0]:.3g} and violation {told[best][1]:.3g} an episode, "
        "both counted where positive.",
        f"“{worst}” did worst: regret {told[worst][0]:.3g} and violation {told[worst][1]:.3g} an episode.",
        _keepers(collection, told),
    ]


def _keepers(collection: Collection, told: dict[str, tuple[float, float]]) -> str:
    problems = {group: collection.of(group)[0].run.cmdp for group in told}
    most = {group: cmdp.horizon * float(unit_widths(cmdp)[1].min()) for group, cmdp in problems.items()}
    keep = [group for group, (_, violation) in told.items() if violation <= NEAR * most[group]]
    many = str(len(keep) or "none").capitalize()
    how = f"{many} of {len(told)} settings keep every budget to within {NEAR:.0%} of the horizon an episode"
    parts = {group: Collection(collection.folder, collection.of(group)) for group in told}
    unmoved = [group for group, part in parts.items() if never_enforced(part)]
    return f"{how}; in {len(unmoved)} of them the dual never left zero." if unmoved else f"{how}."


def table(collection: Collection) -> list[dict[str, Any]]:
    """A row a group: the means over its seeds with half the width of their 95% intervals, an episode."""
    frame = final_numbers(collection)
    names = ["regret", *channels(frame, "violation"), *channels(frame, "hard_violation")]
    rows = []
    for group in collection.groups:
        own = frame.filter(frame["group"] == group)
        row: dict[str, Any] = {"group": group, "runs": own.height}
        for name in names:
            found = band((own[name].cast(float) / own["episodes"]).to_numpy()[:, None])
            row[f"{name.replace('_', ' ')} an episode"] = (float(found.mean[0]), float(found.half[0]))
        rows.append(row)
    return rows


def versions(kept: Kept) -> list[tuple[str, str]]:
    """What a run was made with."""
    return [(str(name), str(value)) for name, value in kept.manifest["versions"].items()]
