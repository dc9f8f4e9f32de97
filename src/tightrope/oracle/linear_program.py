"""What is the best policy, from one linear programme? Occupancies and mean features as variables, HiGHS as solver.

paper.tex, "Problem Setting", the definition of `pi*`, in occupancies x_h(s,a) >= 0 and mean features mu_h (free):

    min   sum_h theta_f,h . mu_h
    s.t.  sum_a x_1(s,a) = P(s_1 = s),   sum_a x_{h+1}(s,a) = psi_h(s) . mu_h      (flow)
          mu_h = sum_{s,a} x_h(s,a) phi(s,a)                                      (features)
          sum_h theta_g,h,i . mu_h <= b_i                                         (budgets; their duals are the multipliers)

Only states that some policy reaches, and features met there, become rows and columns. Writing the flow through mu keeps
a dense kernel of low rank at S*A*d entries instead of S*A*S.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightrope.oracle.dynamic import greedy, lagrangian, markov
from tightrope.oracle.highs import minimise
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats, Ints


def solve(cmdp: LinearCMDP, loss_weights: Floats, budgets: Floats) -> tuple[Floats, Floats] | None:
    """The policy [H, S, A] and multipliers [m] of the programme, or None when it has no solution."""
    reached = _reachable(cmdp)
    rows = _feature_rows(cmdp)
    blocks = [rows[_pairs(states, cmdp.n_actions)] for states in reached]  # phi of the reachable pairs, [n_h*A, d]
    met = [np.unique(block.indices) for block in blocks]
    matrix = _matrix(cmdp, reached, blocks, met)
    sizes = np.array([len(states) * cmdp.n_actions for states in reached])
    costs = np.concatenate([np.zeros(sizes.sum()), *(loss_weights[h, met[h]] for h in range(cmdp.horizon))])
    fixed = np.zeros(sum(map(len, [*reached, *met])))  # flow and features
    fixed[: len(reached[0])] = cmdp.initial_distribution[reached[0]]
    optimum = minimise(
        costs,
        matrix,
        np.concatenate([fixed, np.full(len(budgets), -np.inf)]),
        np.concatenate([fixed, budgets]),
        np.where(np.arange(len(costs)) < sizes.sum(), 0.0, -np.inf),
        np.full(len(costs), np.inf),
    )
    if optimum is None:
        return None
    multipliers = np.maximum(-optimum.row_duals[len(fixed) :], 0.0)
    x = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))
    for h, part in enumerate(np.split(optimum.x[: sizes.sum()], np.cumsum(sizes)[:-1])):
        x[h, reached[h]] = part.reshape(-1, cmdp.n_actions)
    return markov(x, greedy(cmdp, lagrangian(cmdp, loss_weights, multipliers))[0]), multipliers


def _reachable(cmdp: LinearCMDP) -> list[Ints]:
    """For each step, the states that uniform play meets."""
    reached = [np.flatnonzero(cmdp.initial_distribution > 0)]
    for h in range(cmdp.horizon - 1):
        amounts = np.zeros((cmdp.n_states, cmdp.n_actions))
        amounts[reached[h]] = 1.0
        reached.append(np.flatnonzero(cmdp.kernel_table.push(h, cmdp.feature_table.gather(amounts)) > 0))
    return reached


def _feature_rows(cmdp: LinearCMDP) -> sp.csr_array:
    """phi as [S*A, d], row s*A + a."""
    table = cmdp.feature_table
    if not isinstance(table, AxisFeatures):
        return sp.csr_array(table.dense.reshape(-1, cmdp.dim))
    count = table.index.size
    return sp.csr_array((table.value.ravel(), table.index.ravel(), np.arange(count + 1)), shape=(count, cmdp.dim))


def _pairs(states: Ints, n_actions: int) -> Ints:
    """Positions s*A + a of all actions in some states."""
    return (states[:, None] * n_actions + np.arange(n_actions)).ravel()


def _matrix(cmdp: LinearCMDP, reached: list[Ints], blocks: list, met: list[Ints]) -> sp.csc_array:
    """Rows: flow of every step, features of every step, budgets. Columns: x of every step, mu of every step."""
    each = np.ones((1, cmdp.n_actions))
    flow_x = sp.block_diag([sp.kron(sp.eye_array(len(states)), each) for states in reached])
    feature_x = sp.block_diag([block[:, seen].T for block, seen in zip(blocks, met)])
    steps = [sp.csr_array(cmdp.kernel_table.step(h)) for h in range(cmdp.horizon - 1)]
    onward = [step[met[h]][:, reached[h + 1]].T for h, step in enumerate(steps)]
    ends = (
        sp.csr_array((len(reached[0]), 0)),
        sp.csr_array((0, len(met[-1]))),
    )  # no step leads to the first, or from the last
    flow_mu = -sp.block_diag([ends[0], *onward, ends[1]])
    feature_mu = -sp.eye_array(sum(map(len, met)))
    budget_mu = np.concatenate([cmdp.cost_weights[h][:, seen] for h, seen in enumerate(met)], axis=1)
    whole = sp.block_array([[flow_x, flow_mu], [feature_x, feature_mu], [None, sp.csr_array(budget_mu)]], format="csc")
    return sp.csc_array(whole)
