"""Which figures can be drawn from stored runs? By name: the figure, the data it shows, and a table of its main numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tightrope.errors import InputError, suggest
from tightrope.show import figures, frames
from tightrope.show.bands import drawn_data
from tightrope.show.figures.curves import curves_of
from tightrope.show.figures.rates import fitted
from tightrope.show.reading import Collection, Kept
from tightrope.show.tables import ends

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

UNENFORCED = "The dual is exactly 0 throughout: with these settings the constraint is never enforced."


@dataclass(frozen=True)
class Choice:
    """What one may choose of a figure."""

    interval: str = "t"
    run: str | None = None  # of figures of one run, which
    against: str | None = None  # of comparisons, the group that others are compared with


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure with what stands beside it."""

    figure: Figure
    data: pl.DataFrame  # as drawn
    table: pl.DataFrame  # its main numbers
    caption: str


def draw(kind: str, collection: Collection, choice: Choice) -> Drawn:
    """A figure by name."""
    if kind not in KINDS:
        raise InputError(f"KIND: unknown {kind!r}; {suggest(kind, KINDS)}")
    check_choice(kind, choice)
    return KINDS[kind](collection, choice)


def check_choice(kind: str, choice: Choice) -> None:
    """Refuse what a kind of figure has no use for."""
    wrong = [
        f"--{name}: not an option of {kind!r}; expected with {' or '.join(users)} alone"
        for name, users in USERS.items()
        if kind in KINDS and kind not in users and getattr(choice, name) != getattr(Choice(), name)
    ]
    if wrong:
        raise InputError(wrong)


def _curves(collection: Collection, choice: Choice) -> Drawn:
    frame = collection.frame
    curves = [*curves_of(frame, "regret", choice.interval), *curves_of(frame, "violation", choice.interval)]
    figure = figures.draw_curves(frame, choice.interval, never_enforced(collection))
    return Drawn(figure, drawn_data(curves), ends(curves), "Regret and constraint violation, with 95% intervals")


def never_enforced(collection: Collection) -> str:
    """The sentence that must stand wherever a run whose dual never moved is shown."""
    duals = [max(kept.manifest["extremes"]["dual_max"]) for kept in collection.kept if kept.spec["learner"].get("eta")]
    return UNENFORCED if duals and max(duals) == 0.0 else ""


def _duals(collection: Collection, choice: Choice) -> Drawn:
    frame, stars = collection.frame, frames.multipliers(collection)
    curves = curves_of(frame, "dual", choice.interval)
    figure = figures.draw_duals(frame, stars, choice.interval, never_enforced(collection))
    return Drawn(figure, drawn_data(curves), ends(curves), "Dual variables at the end of the runs")


def _rates(collection: Collection, choice: Choice) -> Drawn:
    import polars as pl

    frame = frames.rates(collection)
    rows = []
    for (group, measure), own in frame.filter(pl.col("value") > 0).group_by("group", "measure", maintain_order=True):
        found = fitted(own["episodes"].to_numpy().astype(float), own["value"].to_numpy())
        if found is not None:
            rows.append({"group": group, "measure": measure, "slope": found[0], "runs": own.height})
    table = pl.DataFrame(rows, schema={"group": pl.String, "measure": pl.String, "slope": pl.Float64, "runs": pl.Int64})
    figure = figures.draw_rates(frame, declared=_declared(collection), lower=0.5)
    return Drawn(figure, frame, table, "Slopes in logarithms over the number of episodes")


def _declared(collection: Collection) -> float | None:
    """The rate that the learner declares, where all have the same."""
    from tightrope.learners.pdpo import PDPO

    names = {kept.spec["learner"]["name"] for kept in collection.kept}
    return PDPO.declared_rate if names == {PDPO.name} else None


def _forest(collection: Collection, choice: Choice) -> Drawn:
    frame, against = frames.differences(collection, choice.against)
    figure = figures.draw_forest(frame, against)
    return Drawn(figure, frame, frame, f"Paired differences to {against}, with 95% intervals")


def _policy(collection: Collection, choice: Choice) -> Drawn:
    import polars as pl

    kept = one_run(collection, choice.run)
    run, frame = kept.run, frames.policy_table(kept)
    worth = [("last policy", run.policy)]
    if run.occupancy is not None:
        worth.append(("episode average", run.average_policy()))
    if run.comparator is not None:
        worth.append(("best in hindsight", run.best_policy()))
    units = run.cmdp.units
    gains, utilities = units is not None and not units.loss.plain, units is not None and not units.costs[0].plain
    worst = np.min if utilities else np.max
    rows = [(name, float(policy.value or 0.0), float(worst(np.asarray(policy.costs)))) for name, policy in worth]
    names = ("policy", "reward" if gains else "loss", "least utility" if utilities else "worst cost")
    table = pl.DataFrame(rows, dict(zip(names, (pl.String, pl.Float64, pl.Float64))), orient="row")
    figure = figures.draw_policy(frame, f"run {kept.key}, seed {kept.seed}")
    return Drawn(
        figure, frame, table, f"Policies of run {kept.key}: {names[1]} and {names[2].split()[1]} of an episode"
    )


def _occupancy(collection: Collection, choice: Choice) -> Drawn:
    import polars as pl

    kept = one_run(collection, choice.run)
    frame = frames.occupancy_table(kept)
    likeliest = frame.sort("probability", descending=True).group_by("policy", "step", maintain_order=True).first()
    figure = figures.draw_occupancy(frame, f"run {kept.key}, seed {kept.seed}")
    table = likeliest.sort("policy", "step").select(
        "policy", "step", pl.col("state").alias("likeliest state"), "probability"
    )
    return Drawn(figure, frame, table, f"The likeliest state of each step in run {kept.key}")


def _decomposition(collection: Collection, choice: Choice) -> Drawn:
    import polars as pl

    kept = one_run(collection, choice.run, traced=choice.run is None)
    frame = frames.decomposition(kept)
    table = frame.group_by("whole", "term", maintain_order=True).agg(pl.col("value").last().alias("at the end"))
    figure = figures.draw_decomposition(frame, f"run {kept.key}, seed {kept.seed}")
    return Drawn(figure, frame, table, f"Where regret and violation of run {kept.key} come from")


def one_run(collection: Collection, key: str | None, traced: bool = False) -> Kept:
    """The run with a key, or with a key that begins so; without one the first, or the first with a trace."""
    if key is None:
        return next((kept for kept in collection.kept if kept.traced or not traced), collection.kept[0])
    found = [kept for kept in collection.kept if kept.key.startswith(key)]
    if len(found) != 1:
        names = [kept.key for kept in collection.kept]
        many = f"begins {len(found)} names" if found else f"no such run; {suggest(key, names)}"
        raise InputError(f"--run: {key!r}: {many}")
    return found[0]


USERS = {  # which kinds use what one may choose
    "interval": ("curves", "duals"),
    "run": ("decomposition", "occupancy", "policy"),
    "against": ("forest",),
}
KINDS: dict[str, Callable[[Collection, Choice], Drawn]] = {
    "curves": _curves,
    "decomposition": _decomposition,
    "duals": _duals,
    "forest": _forest,
    "occupancy": _occupancy,
    "policy": _policy,
    "rates": _rates,
}
