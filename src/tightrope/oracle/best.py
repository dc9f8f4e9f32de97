"""Which policy would have been best? `min V_f(pi)` subject to `V_gi(pi) <= b_i`, with a certificate.

paper.tex, "Problem Setting", the definition of `pi*`: the comparator of the regret is this policy for the average loss of all
episodes. Strong duality holds (in occupancies the problem is a linear programme), so the certificate can always be met.
"""

from __future__ import annotations

from typing import Any

from tightrope.errors import InputError, suggest
from tightrope.oracle.certificate import BestPolicy, insist, judge
from tightrope.oracle.feasibility import feasible_budgets
from tightrope.oracle.reading import read_budgets, read_weights
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

METHODS = ("lp", "bisection", "columns")
LP_LIMIT = 50_000  # state-action-step triples from which dynamic programming is preferred to one linear programme


def best_policy(cmdp: LinearCMDP, loss_weights: Any, *, budgets: Any = None, method: str | None = None) -> BestPolicy:
    """The best Markov policy for loss weights [H, d] under budgets [m] (the problem's own unless given).

    Parameters
    ----------
    method: "lp", one linear programme; "bisection", a search for the one multiplier (m = 1); "columns", column generation.
        By default "lp" on problems of fewer than 50,000 triples (s, a, h), else "bisection" or, for m > 1, "columns".
        The answer's `method` says which one gave it: "columns" takes over where "lp" fails its certificate.

    Raises `InfeasibleError` when no policy keeps the budgets, `CertificateError` when gap or residual is above 1e-8.
    """
    weights = read_weights(cmdp, loss_weights, "loss_weights")
    wanted = read_budgets(cmdp, budgets)
    method = _choose(cmdp, method)
    found, meant = _solve(method, cmdp, weights, wanted), wanted
    if found is None:  # infeasible, or feasible within rounding, which an LP does not tell apart
        meant = feasible_budgets(cmdp, wanted)
        method = "columns" if method == "lp" else method
        found = _solve(method, cmdp, weights, meant)
    answer = None if found is None else judge(cmdp, weights, wanted, *found, method, meant)
    if (answer is None or not answer.certified) and method == "lp":
        again = _solve("columns", cmdp, weights, meant)
        answer = answer if again is None else judge(cmdp, weights, wanted, *again, "columns", meant)
    assert answer is not None  # `feasible_budgets` returned budgets that the same arithmetic found feasible
    return insist(answer)


def _choose(cmdp: LinearCMDP, method: str | None) -> str:
    if method is None:
        if cmdp.n_states * cmdp.n_actions * cmdp.horizon < LP_LIMIT:
            return "lp"
        return "bisection" if cmdp.n_constraints == 1 else "columns"
    if method not in METHODS:
        raise InputError(f"method: {method!r} is unknown; {suggest(str(method), METHODS)}")
    if method == "bisection" and cmdp.n_constraints > 1:
        raise InputError(
            f"method: 'bisection' searches one multiplier, wanted 'lp' or 'columns' for m = {cmdp.n_constraints}"
        )
    return method


def _solve(method: str, cmdp: LinearCMDP, weights: Floats, budgets: Floats) -> tuple[Floats, Floats] | None:
    """Policy [H, S, A] and multipliers [m]; each solver is loaded when it is first used."""
    if method == "lp":
        from tightrope.oracle.linear_program import solve
    elif method == "bisection":
        from tightrope.oracle.bisection import solve
    else:
        from tightrope.oracle.columns import solve
    return solve(cmdp, weights, budgets)
