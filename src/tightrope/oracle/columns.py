"""What is the best policy under any number of budgets, from dynamic programming alone? Column generation.

The master programme mixes deterministic policies j, with chances p_j, losses f_j and costs g_ij (Dantzig-Wolfe):

    min  sum_j p_j f_j + kappa t   s.t.  sum_j p_j g_ij - t <= b_i,   sum_j p_j = 1,   p >= 0

Its duals price the next policy: `min_pi V_f + lambda . V_g`, one dynamic programme, which also bounds the optimum from below.
For the best policy kappa = 0 and t = 0. For Slater's constant (paper.tex, Assumption "Slater Condition") f = 0, kappa = 1
and t is free: the least common excess over the budgets is `-gamma`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from tightrope.oracle.dynamic import Vertex, best_vertex, lagrangian, mix
from tightrope.oracle.highs import minimise
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

ROUNDS = 1000
CLOSE = 1e-11  # a bound this near to the master's value ends the search
LEVEL = 1e-12  # an excess this small counts as none


@dataclass(eq=False)
class Pool:
    """The deterministic policies found so far, with their losses and costs."""

    cmdp: LinearCMDP
    loss_weights: Floats  # [H, d]
    vertices: list[Vertex] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    costs: list[Floats] = field(default_factory=list)  # each [m]

    def add(self, weights: Floats) -> None:
        """Find the best policy for weights [H, d] and keep it."""
        vertex = best_vertex(self.cmdp, weights)
        self.vertices.append(vertex)
        self.losses.append(vertex.value(self.loss_weights))
        self.costs.append(vertex.costs(self.cmdp))

    def repeats(self) -> bool:
        """Whether the last policy is, in loss and costs, one that was there before."""
        points = np.column_stack([self.losses, np.array(self.costs)])
        return bool((np.abs(points[:-1] - points[-1]).max(axis=1) < 1e-14).any())


@dataclass(frozen=True, eq=False)
class Mixture:
    """An answer of the master programme: chances [n], the best multipliers [m] so far, and the common excess t."""

    chances: Floats
    multipliers: Floats
    excess: float


def solve(cmdp: LinearCMDP, loss_weights: Floats, budgets: Floats) -> tuple[Floats, Floats] | None:
    """The policy [H, S, A] and multipliers [m], or None when no mixture keeps every budget."""
    pool = Pool(cmdp, loss_weights)
    pool.add(loss_weights)
    if (pool.costs[0] <= budgets + LEVEL).all():
        return mix(cmdp, pool.vertices, np.ones(1)), np.zeros(len(budgets))
    if least_excess(pool, budgets, enough=0.0).excess > LEVEL:
        return None
    found = _generate(pool, budgets, excess=False)
    return None if found is None else (mix(cmdp, pool.vertices, found.chances), found.multipliers)


def least_excess(pool: Pool, budgets: Floats, enough: float = -np.inf) -> Mixture:
    """The mixture that is least over its budgets, in the worst of them; stops early at an excess of `enough`."""
    m = len(budgets)
    for share in [*np.eye(m), *([np.full(m, 1.0 / m)] if m > 1 else [])]:
        pool.add(lagrangian(pool.cmdp, np.zeros_like(pool.loss_weights), share))
    found = _generate(pool, budgets, excess=True, enough=enough)
    assert found is not None  # with a free excess the master always has a solution
    return found


def _generate(pool: Pool, budgets: Floats, *, excess: bool, enough: float = -np.inf) -> Mixture | None:
    best, multipliers = -np.inf, np.zeros(len(budgets))
    base = np.zeros_like(pool.loss_weights) if excess else pool.loss_weights
    for _ in range(ROUNDS):
        answer = _master(pool, budgets, excess)
        if answer is None:
            return None
        mixture, value = answer
        pool.add(lagrangian(pool.cmdp, base, mixture.multipliers))
        priced = 0.0 if excess else pool.losses[-1]
        bound = priced + mixture.multipliers @ (pool.costs[-1] - budgets)
        if bound > best:
            best, multipliers = bound, mixture.multipliers
        if value - best <= CLOSE or mixture.excess <= enough or pool.repeats():
            break
    chances = np.append(mixture.chances, np.zeros(len(pool.vertices) - len(mixture.chances)))
    return Mixture(chances, multipliers, mixture.excess)


def _master(pool: Pool, budgets: Floats, excess: bool) -> tuple[Mixture, float] | None:
    """Solve the master over the policies in the pool: the mixture and the programme's value."""
    n, m = len(pool.vertices), len(budgets)
    matrix = np.zeros((m + 1, n + 1))
    matrix[:m, :n] = np.array(pool.costs).T
    matrix[:m, n] = -1.0
    matrix[m, :n] = 1.0
    costs = np.append(np.zeros(n), 1.0) if excess else np.append(pool.losses, 0.0)
    reach = np.inf if excess else 0.0
    optimum = minimise(
        costs,
        sp.csc_array(matrix),
        np.append(np.full(m, -np.inf), 1.0),
        np.append(budgets, 1.0),
        np.append(np.zeros(n), -reach),
        np.append(np.ones(n), reach),
    )
    if optimum is None:
        return None
    multipliers = np.maximum(-optimum.row_duals[:m], 0.0)
    if excess:
        multipliers = multipliers / multipliers.sum()
    return Mixture(optimum.x[:n], multipliers, float(optimum.x[n])), optimum.objective
