"""What does the policy explorer show? Policies at some episodes, and for every state what spoke for each action."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.oracle.evaluation import occupancy, q_values
from tightrope.problems.tables import Floats
from tightrope.run import Run
from tightrope.show.frames import policies, visited_states
from tightrope.show.page.packing import Blob
from tightrope.show.page.reasons import Reasons, can_replay, replay
from tightrope.show.reading import Collection, Kept

BUDGET = 300_000  # numbers of all snapshots
MOST_SNAPSHOTS = 25
MOST_PLAYERS = 4  # runs that can be explored in one page


def explorer_data(collection: Collection, blob: Blob) -> list[dict[str, Any]]:
    """A list of runs to explore: the first of each group, those with a trace before others."""
    firsts = [next((k for k in collection.of(g) if k.traced), collection.of(g)[0]) for g in collection.groups]
    chosen = sorted(firsts, key=lambda kept: not kept.traced)[:MOST_PLAYERS]
    return [_player(kept, BUDGET // len(chosen), blob) for kept in chosen]


def _player(kept: Kept, budget: int, blob: Blob) -> dict[str, Any]:
    run = kept.run
    cmdp, states = run.cmdp, visited_states(kept)
    each = cmdp.horizon * len(states) * cmdp.n_actions * (6 + cmdp.n_constraints)
    if run.trace is not None:
        n = int(np.clip(budget // each, 2, MOST_SNAPSHOTS))
        reasons = traced(run, snapshots(run.about["episodes"], n))
        names = [f"episode {r.episode + 1:,}" for r in reasons]
    else:
        names, reasons = list(policies(kept)), [_exact(run, policy) for policy in policies(kept).values()]
    return {
        "key": kept.key,
        "name": f"{kept.group}, seed {kept.seed}, run {kept.key}",
        "traced": run.trace is not None,
        "estimated": reasons[0].contraction is not None,
        "states": states.tolist(),
        "all_states": len(states) == cmdp.n_states,
        "actions": cmdp.n_actions,
        "horizon": cmdp.horizon,
        "constraints": cmdp.n_constraints,
        "budgets": cmdp.budgets.tolist(),
        "snapshots": [_packed(name, r, states, cmdp, blob) for name, r in zip(names, reasons)],
    }


def snapshots(episodes: int, n: int) -> np.ndarray:
    """At most n episodes (0-based), the first and the last among them, denser at the beginning."""
    return np.unique(np.round(np.linspace(0.0, np.sqrt(episodes - 1), n) ** 2).astype(int))


def traced(run: Run, episodes: np.ndarray) -> list[Reasons]:
    """From the trace: the learner's own estimates where they can be made again, else the exact values."""
    if can_replay(run):
        return list(replay(run, episodes))
    trace = run.trace
    assert trace is not None
    return [_exact(run, trace.policies[k], trace.loss_weights[k], trace.dual[k], int(k)) for k in episodes]


def _exact(
    run: Run, policy: Floats, loss_weights: Floats | None = None, dual: Floats | None = None, episode: int = -1
) -> Reasons:
    """The true values of a policy, for losses of an episode or for those of the average episode."""
    weights = run.mean_loss_weights if loss_weights is None else loss_weights
    costs = [q_values(run.cmdp, policy, run.cmdp.cost_weights[:, i]) for i in range(run.cmdp.n_constraints)]
    multipliers: Floats = run.dual[-1] if dual is None else dual
    loss, to_go = run.cmdp.losses(weights), q_values(run.cmdp, policy, weights)
    return Reasons(episode, policy, loss, to_go, np.stack(costs), multipliers)


def _packed(name: str, reasons: Reasons, states: np.ndarray, cmdp: Any, blob: Blob) -> dict[str, Any]:
    tables: dict[str, Any] = {
        "policy": reasons.policy,
        "loss": reasons.loss,
        "loss_to_go": reasons.loss_to_go,
        "visits": reasons.visits,
        "contraction": reasons.contraction,
        "bonus": reasons.bonus,
    }
    kept = {key: blob.floats(table[:, states]) for key, table in tables.items() if table is not None}
    there = occupancy(cmdp, reasons.policy).sum(axis=2)  # [H, S]
    return {
        "name": name,
        "dual": [float(y) for y in reasons.dual],
        "cost_to_go": [blob.floats(table[:, states]) for table in reasons.cost_to_go],
        "there": blob.floats(there[:, states]),
        **kept,
    }
