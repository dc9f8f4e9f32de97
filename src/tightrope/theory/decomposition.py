"""Where does the regret come from? The terms of paper.tex, eq. decomposition, as curves over the episodes.

Regret           = (I) + (II) + (III) - dropped          signed violation = (IV) + (V)
(I)   = sum_k V_f^{pi^k} - V-hat_f                       (IV) = sum_k V_g^{pi^k} - V-hat_g
(II)  = sum_k Y_k (b - V-hat_g)                          (V)  = sum_k V-hat_g - b
(III) = sum_k V-hat_f + Y_k V-hat_g - V_f^{pi*} - Y_k V_g^{pi*}
dropped = sum_k Y_k (b - V_g^{pi*}), which is nonnegative and which the paper leaves out
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tightrope.oracle import TOLERANCE
from tightrope.problems.tables import Floats, Ints
from tightrope.run import Run, unit_widths
from tightrope.run_files import channel_names
from tightrope.theory.replay import Setting
from tightrope.theory.rows import Check, Row, rows_of

IDENTITY = 1e-6  # relative


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Running sums at the recorded episodes [R], in the algorithm's units; those of the costs are [R, m]."""

    episodes: Ints
    regret: Floats  # from the run's own curve where it has one
    optimism_loss: Floats  # (I)
    dual: Floats  # (II)
    primal: Floats  # (III)
    dropped: Floats
    priced: Floats  # sum_k Y_k, by which pi* may exceed a budget within the oracle's tolerance
    violation: Floats
    optimism_cost: Floats  # (IV)
    enforcement: Floats  # (V)

    def frame(self):
        """A Polars data frame, one column a curve."""
        import polars as pl

        columns: dict[str, np.ndarray] = {}
        for field in fields(self):
            curve = getattr(self, field.name)
            if curve.ndim == 1:
                columns[field.name] = curve
            else:
                columns |= dict(zip(channel_names(field.name, curve.shape[1]), curve.T))
        return pl.DataFrame({key: np.ascontiguousarray(column) for key, column in columns.items()})


def decompose(setting: Setting, run: Run, exact: Floats, star: Floats, v_hat: Floats) -> Decomposition:
    """exact, star and v_hat [K, 1+m]: values of pi^k, of pi*, and as estimated."""
    dual, budgets = setting.trace.dual[:-1], setting.cmdp.budgets
    at = run.episodes - 1

    def running(amounts: Floats) -> Floats:
        return np.cumsum(amounts, axis=0)[at]

    loss_width, cost_widths = unit_widths(setting.cmdp)
    recorded = bool(run.about["evaluate"])
    regret = run.regret / loss_width if recorded and run.comparator is not None else running(exact[:, 0] - star[:, 0])
    violation = run.violation / cost_widths if recorded else running(exact[:, 1:] - budgets)
    return Decomposition(
        episodes=run.episodes,
        regret=regret,
        optimism_loss=running(exact[:, 0] - v_hat[:, 0]),
        dual=running((dual * (budgets - v_hat[:, 1:])).sum(axis=1)),
        primal=running((v_hat - star)[:, 0] + (dual * (v_hat - star)[:, 1:]).sum(axis=1)),
        dropped=running((dual * (budgets - star[:, 1:])).sum(axis=1)),
        priced=running(dual.sum(axis=1)),
        violation=violation,
        optimism_cost=running(exact[:, 1:] - v_hat[:, 1:]),
        enforcement=running(v_hat[:, 1:] - budgets),
    )


def identities(found: Decomposition) -> list[Row]:
    """Both equalities, relative to the largest of their terms."""
    place = "eq. decomposition"
    regret = Check("regret", place, "Regret = (I) + (II) + (III) - sum_k Y_k (b - V_g^{pi*})", "equality", IDENTITY)
    kept = Check("what the paper drops", place, "sum_k Y_k (b - V_g^{pi*}) >= 0", tolerance=TOLERANCE)
    violation = Check("violation", place, "signed violation = (IV) + (V)", "equality", IDENTITY)

    def say(point: int, *_: int) -> str:
        return f"episode {found.episodes[point]:,}"

    terms = (found.optimism_loss, found.dual, found.primal, -found.dropped)
    regret.take(found.regret, sum(terms), where=say, scale=_largest(found.regret, *terms))
    kept.take(-found.dropped, 0.0, where=say, scale=1.0 + found.priced)
    terms = (found.optimism_cost, found.enforcement)
    violation.take(found.violation, sum(terms), where=say, scale=_largest(found.violation, *terms))
    return rows_of([regret, kept, violation])


def _largest(*terms: Floats) -> Floats:
    """The largest number of an equation, at least 1."""
    return np.maximum(np.abs(np.stack(terms)).max(axis=0), 1.0)
