"""What does an agent say of itself? Where it stands, and why it would act as it does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightrope.problems.tables import Floats, Ints


@dataclass(frozen=True, eq=False)
class Status:
    """Where an agent stands; violation and duals have one entry a constraint."""

    episodes: int  # learnt from
    updates: int  # of the policy: as many as episodes, unless they were learnt from in batches
    epoch: int
    dual: Floats  # [m], of the coming episode
    violation: Floats  # [m] what was paid beyond the budgets, summed over the episodes
    hard_violation: Floats  # [m] sum of the positive parts
    known_states: Ints  # [H]
    segments: int  # of the compact policy
    folded: float  # bound on what folding segments has added to a log-policy; 0 when none was folded
    turned_away: int  # states that found the tables full
    farthest: float  # the largest distance of one of those to the known state that stands for it
    loss_residual: float  # of the last losses given as values: what features could not say, as a share; 0 for weights
    table_bytes: int

    def __str__(self) -> str:
        known, largest = int(self.known_states.sum()), float(np.max(self.dual))
        lines = [
            f"{self.episodes:,} episodes in {self.updates:,} updates, epoch {self.epoch}",
            f"running violation {_listed(self.violation)}, dual {_listed(self.dual)}",
            f"{known:,} known states at {len(self.known_states)} steps, {self.table_bytes / 1e6:.1f} MB; "
            f"{self.segments} segments",
        ]
        if largest == 0.0:
            lines[1] += " (the constraint is not being enforced at the moment)"
        if self.turned_away:
            lines.append(f"{self.turned_away:,} states found the tables full; farthest stand-in at {self.farthest:.3g}")
        if self.folded:
            lines.append(
                f"folded segments: a log-policy is off by at most {self.folded:.3g} at states seen from now on"
            )
        if self.loss_residual > 1e-6:
            lines.append(
                f"the last losses are not linear in the features: {self.loss_residual:.1%} of them is left over"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why an agent would act as it does in one state, action by action; estimates are of the last update."""

    policy: Floats  # [A]
    loss_to_go: Floats  # [A] contracted estimate, before the bonus; NaN before the first update
    cost_to_go: Floats  # [m, A]
    loss_bonus: Floats  # [A] what optimism takes off the loss to go
    bonus: Floats  # [A] and off each cost to go
    contraction: Floats  # [A] in (0, 1): how well this corner is known
    dual: Floats  # [m]: what a unit of cost counts beside a unit of loss
    known: bool  # seen before at this step

    def __str__(self) -> str:
        m = len(self.dual)
        names = ["cost to go"] if m == 1 else [f"cost {i} to go" for i in range(m)]
        heads = [
            "action",
            "chance",
            "loss to go",
            "its bonus",
            *names,
            "their bonus" if m > 1 else "its bonus",
            "known",
        ]
        rows = zip(self.policy, self.loss_to_go, self.loss_bonus, *self.cost_to_go, self.bonus, self.contraction)
        body = [[str(a), *(f"{x:.4g}" for x in row)] for a, row in enumerate(rows)]
        table = [heads, *body]
        widths = [max(len(line[i]) for line in table) for i in range(len(heads))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths)) for line in table]
        seen = "seen before" if self.known else "not seen before"
        return "\n".join([*lines, f"dual {_listed(self.dual)}; {seen} at this step"])


def _listed(numbers: Floats) -> str:
    return ", ".join(f"{x:.4g}" for x in numbers)
