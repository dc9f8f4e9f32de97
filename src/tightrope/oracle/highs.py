"""How is a linear programme handed to HiGHS? `min c.x, row_lower <= A x <= row_upper, lower <= x <= upper`, columns sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import highspy
import numpy as np
import scipy.sparse as sp

from tightrope.errors import CertificateError
from tightrope.problems.tables import Floats

OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "primal_feasibility_tolerance": 1e-10,  # the tightest that HiGHS takes
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class Optimum:
    """What HiGHS found."""

    x: Floats  # [columns]
    row_duals: Floats  # [rows]; not positive for a row that is bounded above, in a minimisation
    objective: float


def minimise(
    costs: Floats,
    matrix: sp.csc_array,
    row_lower: Floats,
    row_upper: Floats,
    lower: Floats,
    upper: Floats,
) -> Optimum | None:
    """Solve costs [n], matrix [r, n], rows [r], bounds [n]; None when no point satisfies the rows."""
    n_rows, n_columns = cast(tuple[int, int], matrix.shape)
    programme: Any = highspy.HighsLp()
    programme.num_row_, programme.num_col_ = n_rows, n_columns
    programme.col_cost_, programme.col_lower_, programme.col_upper_ = costs, lower, upper
    programme.row_lower_, programme.row_upper_ = row_lower, row_upper
    programme.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    programme.a_matrix_.start_ = matrix.indptr
    programme.a_matrix_.index_ = matrix.indices
    programme.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    for name, value in OPTIONS.items():
        solver.setOptionValue(name, value)
    if solver.passModel(programme) == highspy.HighsStatus.kError:
        raise CertificateError(f"HiGHS refused a linear programme of {n_rows} rows, {n_columns} columns")
    solver.run()
    status = solver.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        raise CertificateError(f"HiGHS ended with {solver.modelStatusToString(status)!r}, wanted 'Optimal'")
    found = solver.getSolution()
    return Optimum(np.array(found.col_value), np.array(found.row_dual), solver.getInfo().objective_function_value)
