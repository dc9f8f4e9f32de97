"""Which numbers does a figure of stored runs show? Data frames from a collection, one function a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.errors import InputError
from tightrope.lab.summary import band
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats
from tightrope.run import unit_widths
from tightrope.show.bands import channels
from tightrope.show.certificates import Certified, certified
from tightrope.show.reading import Collection, Kept, series_names

if TYPE_CHECKING:
    import polars as pl

MOST_STATES = 400  # rows of a heat map; of a larger problem the states most visited are shown


def multipliers(collection: Collection) -> pl.DataFrame:
    """lambda* of the hindsight problem, in the mean over a group's runs: `group`, `constraint`, `multiplier`."""
    import polars as pl

    rows = []
    for group in collection.groups:
        found = [
            kept.manifest["comparator"]["multipliers"] for kept in collection.of(group) if kept.manifest["comparator"]
        ]
        if found:
            rows += [
                {"group": group, "constraint": i, "multiplier": float(x)} for i, x in enumerate(np.mean(found, axis=0))
            ]
    return pl.DataFrame(rows, schema={"group": pl.String, "constraint": pl.Int64, "multiplier": pl.Float64})


def final_numbers(collection: Collection) -> pl.DataFrame:
    """A row a run: `group`, `run`, `seed`, `episodes`, and the last value of every curve."""
    import polars as pl

    rows = [
        {"group": kept.group, "run": kept.key, "seed": kept.seed, "episodes": kept.spec["episodes"], **last(kept)}
        for kept in collection.kept
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def last(kept: Kept) -> dict[str, float]:
    """Where each curve of a run ends."""
    return {name: float(x) for name, x in kept.curves.row(-1, named=True).items() if name != "episode"}


def rates(collection: Collection) -> pl.DataFrame:
    """`group`, `measure`, `episodes`, `value` at the end of each run, for runs of several lengths."""
    import polars as pl

    frame = final_numbers(collection)
    if frame["episodes"].n_unique() < 2:
        raise InputError(
            f"{collection.folder}: all runs have {frame['episodes'][0]:,} episodes; "
            "a slope over the number of episodes needs runs of at least two lengths"
        )
    worst = frame.select(pl.max_horizontal(channels(frame, "violation"))).to_series()
    regret = frame["regret"]
    values = {
        "regret": regret,
        "violation": worst,
        "regret⁺ + violation⁺": regret.clip(lower_bound=0.0) + worst.clip(lower_bound=0.0),
    }
    names = series_names([kept.spec for kept in collection.kept])
    parts = [
        pl.DataFrame({"group": names, "measure": measure, "episodes": frame["episodes"], "value": value})
        for measure, value in values.items()
    ]
    return pl.concat(parts)


def differences(collection: Collection, against: str | None = None) -> tuple[pl.DataFrame, str]:
    """Paired differences of each group to one: `group`, `measure`, `mean`, `low`, `high`, `pairs`; and that one's name."""
    import polars as pl

    names = collection.groups
    if len(names) < 2:
        raise InputError(f"{collection.folder}: all runs are of one setting; a comparison needs at least two")
    if against is None:
        against = next((name for name in names if name.split(",")[0] == "pdpo"), names[0])
    if against not in names:
        raise InputError(f"--against: no runs called {against!r}; there are {', '.join(map(repr, names))}")
    frame = final_numbers(collection)
    ground = {name: _ground(collection.of(name)[0]) for name in names}
    rows = []
    for measure in ("regret", *channels(frame, "violation"), *channels(frame, "hard_violation")):
        values = (frame[measure].cast(float) / frame["episodes"]).to_numpy()
        per_episode = dict(zip(zip(frame["group"], frame["seed"]), values))
        for name in names:
            if name != against and ground[name] == ground[against]:
                rows += _paired(per_episode, name, against, measure)
    if not rows:
        raise InputError(
            f"{collection.folder}: nothing shares problem, losses, episodes and a seed with {against!r}; "
            "paired differences need all four to be the same"
        )
    return pl.DataFrame(rows), against


def _ground(kept: Kept) -> str:
    """What must be the same for runs to be compared: problem, losses, episodes."""
    losses = {key: value for key, value in kept.spec["losses"].items() if key != "seed"}
    return repr((kept.spec["problem"].get("digest"), sorted(losses.items()), kept.spec["episodes"]))


def _paired(values: Mapping[tuple[str, int], float], name: str, against: str, measure: str) -> list[dict[str, Any]]:
    seeds = [seed for group, seed in values if group == name and (against, seed) in values]
    gaps = np.array([[values[name, seed] - values[against, seed]] for seed in seeds])
    gaps = gaps[~np.isnan(gaps[:, 0])] if len(seeds) else gaps
    if not len(gaps):
        return []
    found = band(gaps)
    mean, half = float(found.mean[0]), float(found.half[0])
    words = f"{measure.replace('_', ' ')} an episode"
    return [
        {"group": name, "measure": words, "mean": mean, "low": mean - half, "high": mean + half, "pairs": len(gaps)}
    ]


def policies(kept: Kept) -> dict[str, Floats]:
    """The policies [H, S, A] that a run leaves, by name."""
    run = kept.run
    found = {"last policy": np.asarray(run.policy)}
    if run.occupancy is not None:
        found["episode average"] = np.asarray(run.average_policy())
    if run.comparator is not None:
        found["best in hindsight"] = run.comparator.policy
    return found


def policy_table(kept: Kept) -> pl.DataFrame:
    """`policy`, `action`, `step` (from 1), `state`, `probability`, of the states that matter (see `MOST_STATES`)."""
    import polars as pl

    states = visited_states(kept)
    parts = []
    for name, policy in policies(kept).items():
        H, _, A = policy.shape
        step, state, action = np.meshgrid(np.arange(H), np.arange(len(states)), np.arange(A), indexing="ij")
        columns = {"action": action, "step": step + 1, "state": states[state], "probability": policy[:, states]}
        parts.append(pl.DataFrame({key: np.ravel(x) for key, x in columns.items()}).with_columns(policy=pl.lit(name)))
    return pl.concat(parts)


def occupancy_table(kept: Kept) -> pl.DataFrame:
    """`policy`, `step` (from 1), `state`, `probability` of being there, for the run's average and for the best in hindsight."""
    import polars as pl

    from tightrope.oracle.evaluation import occupancy

    run, states, parts = kept.run, visited_states(kept), []
    if run.occupancy is None:
        raise InputError(f"{kept.folder}: this run was made with evaluate=False, which keeps no occupancy")
    found = {"episode average": run.occupancy}
    if run.comparator is not None:
        found["best in hindsight"] = occupancy(run.cmdp, run.comparator.policy)
    for name, pairs in found.items():
        table = pairs.sum(axis=2)[:, states]  # [H, n]
        step, state = np.meshgrid(np.arange(len(table)), states, indexing="ij")
        columns = {"step": step.ravel() + 1, "state": state.ravel(), "probability": table.ravel()}
        parts.append(pl.DataFrame(columns).with_columns(policy=pl.lit(name)))
    return pl.concat(parts)


def visited_states(kept: Kept) -> np.ndarray:
    """All states, or the `MOST_STATES` that were visited most, in their order."""
    run = kept.run
    if run.cmdp.n_states <= MOST_STATES or run.occupancy is None:
        return np.arange(min(run.cmdp.n_states, MOST_STATES))
    return np.sort(np.argsort(-run.occupancy.sum(axis=(0, 2)), kind="stable")[:MOST_STATES])


def decomposition(kept: Kept) -> pl.DataFrame:
    """`whole`, `term`, `episode`, `value` of regret and violation, from the run's certificate (made where it is not kept)."""
    return decomposed(certified(kept), kept.run.cmdp)


def decomposed(found: Certified, cmdp: LinearCMDP) -> pl.DataFrame:
    """The same from a certificate; in the user's units, as the curves are."""
    import polars as pl

    frame, m = found.decomposition, cmdp.n_constraints
    loss_width, cost_widths = unit_widths(cmdp)
    widths = {"regret": loss_width}
    wholes = {"regret": {"(I) optimism of the loss": "optimism_loss", "(II) dual": "dual", "(III) policy": "primal"}}
    for i, (optimism, enforcement) in enumerate(zip(channels(frame, "optimism_cost"), channels(frame, "enforcement"))):
        whole = "violation" if m == 1 else f"violation of constraint {i}"
        widths[whole] = float(cost_widths[i])
        wholes[whole] = {"(IV) optimism of the cost": optimism, "(V) enforcement": enforcement}
    parts = [
        pl.DataFrame({"episode": frame["episodes"], "value": frame[column] * widths[whole]}).with_columns(
            whole=pl.lit(whole), term=pl.lit(term)
        )
        for whole, terms in wholes.items()
        for term, column in terms.items()
    ]
    dropped = pl.DataFrame({"episode": frame["episodes"], "value": (0.0 - frame["dropped"]) * loss_width})
    left_out = dropped.with_columns(whole=pl.lit("regret"), term=pl.lit("what the paper leaves out"))
    return pl.concat([*parts[:3], left_out, *parts[3:]])
