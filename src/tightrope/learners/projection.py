"""Which occupancy is nearest? `min <c, q> + KL(q, near)` over occupancies with kernels in L1 balls; by its dual, certified.

With q >= 0 over triples (h, s, a, x), the constraints are linear: flow `F q = inflow`, and for every pair with ball `(P, eps)`
and every set X of next states `sum_X (q - P Q) <= (eps / 2) Q`, Q the pair's total. (Both sides of the kernel sum to Q, so the
L1 distance is at most eps exactly if no set exceeds its share by more than eps/2.) Few sets are ever tight; they are found as
they are violated. The dual of `min <c,q> + sum(q log(q/near) - q + near)` under `J q = r` or `<= 0` is smooth and concave:

    q(y) = near exp(-c - J^T y),   D(y) = sum near - sum q(y) - r . y,   y >= 0 for the sets,   gradient J q - r,

which projected Newton steps climb (Bertsekas 1982), warm from the episode before. Certificate: any feasible occupancy bounds
the optimum from above and D(y) from below; the feasible one is that of q's policy and its kernel, drawn into the balls.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from tightrope.errors import CertificateError
from tightrope.learners.table import Table
from tightrope.problems.tables import Floats

TOLERANCE = 1e-6  # of the duality gap; an episode's q sums to H
VIOLATED = 1e-8  # by how much a set exceeds its share before it gets a row
DAMPING = 1e-13
ENOUGH = 1e-9  # by how much the rows may be off when the climb ends
ROUNDS = 30
STEPS = 100


class Projection:
    """Balls around an empirical kernel [n] with radii [P], and the sets that have mattered so far."""

    def __init__(self, table: Table, chances: Floats, radii: Floats, earlier: Projection | None = None):
        self.table, self.chances = table, chances
        self.radii = np.minimum(radii, 2.0)
        self.sets: dict[tuple[int, ...], int] = {}  # the triples of a set -> its pair
        self.y = np.zeros(len(table.inflow))
        self.largest_gap = 0.0
        if earlier is not None:
            self.sets, self.y, self.largest_gap = dict(earlier.sets), earlier.y.copy(), earlier.largest_gap
        self._build()

    def _build(self) -> None:
        """J and the right sides; a column's entry in the row of a set is 1{x in X} - P(X) - eps/2 on the set's pair."""
        table, N = self.table, len(self.table.inflow)
        rows = [table.flow]
        for members, pair in self.sets.items():
            inside = np.flatnonzero(table.of_pair == pair)
            entries = np.isin(inside, members) - self.chances[list(members)].sum() - self.radii[pair] / 2.0
            rows.append(sp.csr_array((entries, (np.zeros(len(inside), int), inside)), shape=(1, len(self.chances))))
        self.matrix = sp.csr_array(sp.vstack(rows, format="csr"))
        self.transposed = sp.csr_array(self.matrix.T)
        self.right = np.concatenate([table.inflow, np.zeros(len(self.sets))])
        self.free = np.arange(len(self.right)) < N
        self.y = np.concatenate([self.y, np.zeros(len(self.right) - len(self.y))])

    def solve(self, c: Floats, near: Floats) -> Floats:
        """The feasible occupancy [n] whose gap is certified."""
        for _ in range(ROUNDS):
            self._climb(c, near)
            q = near * np.exp(-c - self.transposed @ self.y)
            if not self._add_violated(q):
                break
        return self._certified(q, c, near)

    def _climb(self, c: Floats, near: Floats) -> None:
        """Projected Newton steps on the dual, damped more where one leads nowhere; they start from the y of before."""
        y, damping = self.y, DAMPING
        value, q = self._dual(y, c, near)
        for _ in range(STEPS):
            gradient = self.matrix @ q - self.right
            moves = self.free | (y > 0.0) | (gradient > 0.0)
            slack = np.abs(gradient[moves]).max(initial=0.0)
            if slack < ENOUGH or damping > 1.0:
                break
            part = self.matrix[np.flatnonzero(moves)]
            hessian = part.multiply(q) @ part.T + sp.eye_array(part.shape[0]) * (damping + 1e-10 * slack)
            step = np.zeros_like(y)  # a sparse solver: threads of a dense one would spin over so small a system
            step[moves] = splu(sp.csc_array(hessian)).solve(gradient[moves])
            found = self._along(step, y, value, gradient, c, near)
            if found is None:
                damping *= 1e3
            else:
                (y, value, q), damping = found, DAMPING
        self.y = y

    def _along(self, step: Floats, y: Floats, value: float, gradient: Floats, c: Floats, near: Floats):
        """The first of ever shorter steps that climbs enough, with its value and q; None where none does."""
        length = 1.0
        while length > 1e-6:
            tried = np.where(self.free, y + length * step, np.maximum(y + length * step, 0.0))
            better, q = self._dual(tried, c, near)
            if better >= value + 1e-4 * float(gradient @ (tried - y)) - 1e-15:
                return tried, better, q
            length /= 2.0
        return None

    def _dual(self, y: Floats, c: Floats, near: Floats) -> tuple[float, Floats]:
        q = near * np.exp(np.minimum(-c - self.transposed @ y, 50.0))
        return float(near.sum() - q.sum() - self.right @ y), q

    def _add_violated(self, q: Floats) -> bool:
        """Give a row to the worst set of every pair that exceeds its share; whether there were any."""
        table = self.table
        total = np.bincount(table.of_pair, weights=q)
        excess = q - self.chances * total[table.of_pair]
        most = np.bincount(table.of_pair, weights=np.maximum(excess, 0.0)) - self.radii / 2.0 * total
        new = False
        for pair in np.flatnonzero(most > VIOLATED):
            members = tuple(np.flatnonzero((table.of_pair == pair) & (excess > 0.0)).tolist())
            if members not in self.sets:
                self.sets[members] = int(pair)
                new = True
        if new:
            self._build()
        return new

    def _certified(self, q: Floats, c: Floats, near: Floats) -> Floats:
        table = self.table
        total = np.bincount(table.of_pair, weights=q)[table.of_pair]
        kernel = self._into_balls(np.where(total > 0, q / np.where(total > 0, total, 1.0), self.chances))
        feasible = table.follow(table.policy(q), kernel)
        cost = float(c @ feasible) + kl(feasible, near)
        gap = cost - self._dual(self.y, c, near)[0]
        self.largest_gap = max(self.largest_gap, gap)
        if not gap <= TOLERANCE * table.shape[0]:
            raise CertificateError(
                f"ucpd: duality gap {gap:.3g} of the projection, wanted at most {TOLERANCE:g} a step"
            )
        return feasible

    def _into_balls(self, kernel: Floats) -> Floats:
        """Towards the centre of its ball, as far as it is outside."""
        of_pair = self.table.of_pair
        far = np.bincount(of_pair, weights=np.abs(kernel - self.chances))
        share = np.minimum(1.0, self.radii / np.maximum(far, 1e-300))[of_pair]
        return self.chances + share * (kernel - self.chances)


def kl(q: Floats, near: Floats) -> float:
    """sum q log(q / near) - q + near, 0 log 0 = 0."""
    ratio = np.where(q > 0, q / near, 1.0)
    return float((q * np.log(ratio) - q + near).sum())
