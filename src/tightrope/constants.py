"""Which constants does the paper's proof have? Each as a function of the settings that a run really has.

Names and places are those of paper.tex. The paper writes every constant for the settings of Algorithm 1; here each keeps the
settings apart (`decay` for `4 alpha eta H^3`, `drift` for `eta(4 alpha H^3 + 4 theta H^2)`, `period` for `K^B`), and equals
the paper's number where the settings are the paper's. Where the paper has one constraint, `m` stands for its number.
Everything is a float, so that K may be far beyond what can be run.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Numbers(NamedTuple):
    """Sizes and settings of a run, in the paper's letters."""

    K: float
    H: float
    d: float
    A: float
    m: float
    alpha: float
    eta: float
    theta: float
    beta_b: float
    beta_w: float
    period: float  # K^B
    decay: float
    drift: float
    gamma: float = math.nan  # Slater's constant
    delta: float = 0.1

    @property
    def c1(self) -> float:
        """What one unit of the dual adds to the budget that is enforced, `4 alpha H^3` in the paper."""
        return _over(self.decay, self.eta)

    @property
    def c2(self) -> float:
        """What is added to the budget at a dual of zero, `4 alpha H^3 + 4 theta H^2` in the paper."""
        return _over(self.drift, self.eta)


def _over(part: float, eta: float) -> float:
    return part / eta if eta > 0 else (0.0 if part == 0 else math.inf)


# ---- the good event (paper.tex, "Good Event") ----------------------------------------------------------------------


def beta_r(K: float, H: float, d: float, delta: float) -> float:
    """Radius of the cost estimates: `2 sqrt(2 d log(6KH/delta))`, eq. def:E1."""
    return 2.0 * math.sqrt(2.0 * d * math.log(6.0 * K * H / delta))


def beta_p(K: float, H: float, d: float, A: float, delta: float) -> float:
    """Radius of the kernel estimates: `50 (K^{1/4} + 1) d H sqrt(log(5 H^2 K^2 A/delta))`, eq. def:E2."""
    return 50.0 * (K**0.25 + 1.0) * d * H * math.sqrt(math.log(5.0 * A / delta) + 2.0 * math.log(H) + 2.0 * math.log(K))


def beta_b(K: float, H: float, d: float, A: float, delta: float) -> float:
    """`beta_r + beta_p`, the input line of Algorithm 1."""
    return beta_r(K, H, d, delta) + beta_p(K, H, d, A, delta)


def beta_q(H: float, h: int = 1) -> float:
    """`beta_{Q,h} = 2(H - h + 1)`, the bound on |Q-hat| at step h (from 1); lem:cassel 12."""
    return 2.0 * (H - h + 1)


def dual_ceiling(n: Numbers) -> float:
    """`11 eta H^3 K`: what the dual cannot pass in K episodes of |V-hat| <= 2H; eq. def:E2."""
    return 11.0 * n.eta * n.H**3 * n.K


def deviation(n: Numbers) -> float:
    """`4H (3 beta_b + 8 beta_Q beta_w^2) log(6K/delta)`, the last term of eq. def:E3."""
    return 4.0 * n.H * (3.0 * n.beta_b + 8.0 * beta_q(n.H) * n.beta_w**2) * math.log(6.0 * n.K / n.delta)


def epochs(n: Numbers) -> float:
    """`(3/2) d H log(2K)`, the bound on the number of epochs; lem:cassel 8 num of epoch."""
    return 1.5 * n.d * n.H * math.log(2.0 * n.K)


def log_covering(n: Numbers, c_beta: float, c_w: float, c_q: float, c_y: float, epsilon: float) -> float:
    """`3 (n+2)^2 d^2 log((n+1)(8A/theta)(1 + 2 C1 C2/epsilon))` with n = K/K^B mixings; lem:cov V, eq. C1 C2."""
    mixings = n.K / n.period
    c_1 = 33.0 * math.sqrt((mixings + 1.0) * n.K**3) * n.beta_w * max(c_w, c_beta) * c_q * (1.0 + c_y)
    c_2 = (mixings + 2.0) * ((1.0 + c_y) * n.K * (c_beta + c_w) + math.sqrt(n.d))
    inside = math.log((mixings + 1.0) * 8.0 * n.A / n.theta) + math.log1p(2.0 * c_1 * c_2 / epsilon)
    return 3.0 * (mixings + 2.0) ** 2 * n.d**2 * inside


# ---- the dual (paper.tex, "Lyapunov Drift Analysis") ---------------------------------------------------------------


def needed_drift(n: Numbers, dual: float) -> float:
    """`eta (4 alpha H^3 (1 + Y) + 4 theta H^2)`: the regularisation that lem:lyap 1 needs at a dual Y."""
    return n.eta * (4.0 * n.alpha * n.H**3 * (1.0 + dual) + 4.0 * n.theta * n.H**2)


def delta_max(n: Numbers) -> float:
    """The largest step of the dual, eq. delta max: `decay (11 eta H^3 K) + 3 eta H + drift`."""
    return n.decay * dual_ceiling(n) + 3.0 * n.eta * n.H + n.drift


def c_3(n: Numbers) -> float:
    """C_3 of eq. C3, the constant part of the drift of one episode; the squares count once for each of m constraints."""
    mixed = min(n.c2, 4.0 * n.theta * n.H**2)
    squares = 9.0 * n.H**2 + (n.c2 - mixed) ** 2 + (n.c1 * dual_ceiling(n)) ** 2 + mixed**2
    first = n.eta * (2.0 * n.alpha * n.H**3 + 4.0 * n.H**2 * n.theta + 4.0 * n.H**2)
    return first + 2.0 * n.m * n.eta**2 * squares


def c_4(n: Numbers) -> float:
    """C_4 of eq. C4, the constant part of the drift of a mixing period: `(eta/alpha) H log(A/theta) + K^B C_3`."""
    return n.eta / n.alpha * n.H * math.log(n.A / n.theta) + n.period * c_3(n)


def dual_bound(n: Numbers) -> float:
    """lem:Yk bound: `2 C_4/(K^B eta gamma) + 2 K^B delta_max`; for m > 1 of the dual's Euclidean norm."""
    return 2.0 * c_4(n) / (n.period * n.eta * n.gamma) + 2.0 * n.period * math.sqrt(n.m) * delta_max(n)


def c_5(n: Numbers, dual: float) -> float:
    """C_5 of lem:omd with mixing: `|Q_f + Y Q_g| <= 2H (1 + Y)`."""
    return beta_q(n.H) * (1.0 + dual)


# ---- the terms of the decomposition (paper.tex, "Detailed Proofs for the Analysis") ---------------------------------


def mirror_descent(n: Numbers, episodes: float, c5: float) -> float:
    """lem:omd with mixing for one state and the episodes of one epoch.

    `theta |K_e| log A/(alpha K^B) + (1 + theta) log A/alpha + alpha |K_e| C_5^2/2 + 2 theta |K_e| C_5/K^B + 2 theta C_5
    + 2 C_5`; the paper's fourth term carries a stray 1/alpha in one of the two places where it stands.
    """
    if n.alpha == 0:
        return math.inf
    mixed = n.theta * episodes / n.period
    return (
        mixed * math.log(n.A) / n.alpha
        + (1.0 + n.theta) * math.log(n.A) / n.alpha
        + n.alpha * episodes * c5**2 / 2.0
        + 2.0 * mixed * c5
        + 2.0 * n.theta * c5
        + 2.0 * c5
    )


def cost_of_optimism(n: Numbers) -> float:
    """Terms (I) and (IV): lem:cost of opt with all constants (the deviation of E3 enters once, as def:E3 has it)."""
    log_k = math.log(n.K + 1.0)
    return (
        6.0 * n.beta_b * n.H * math.sqrt(2.0 * n.d * n.K * log_k)
        + 64.0 * n.d * n.H**2 * n.beta_w**2 * log_k
        + deviation(n)
        + 8.0 * n.H**2
    )


def dual_term(n: Numbers, dual: float) -> float:
    """Term (II), lem:proj gd: `(eta/2) K (3H + c2 + c1 Y)^2 + 3H Y |E|`, for each constraint."""
    largest = 3.0 * n.H + n.c2 + n.c1 * dual
    return n.m * (n.eta / 2.0 * n.K * largest**2 + 3.0 * n.H * dual * epochs(n))


def primal_term(n: Numbers, dual: float) -> float:
    """Term (III), lem:omd+optimism: H times the mirror-descent bound of every epoch."""
    E, c5 = epochs(n), c_5(n, n.m * dual)
    once = mirror_descent(n, 0.0, c5)
    return n.H * (E * once + mirror_descent(n, n.K, c5) - once)


def violation_term(n: Numbers, dual: float) -> float:
    """Term (V), lem:violation optimism: `|E| (Y/eta + 3H) + K (c2 + c1 Y)`."""
    return epochs(n) * (dual / n.eta + 3.0 * n.H) + n.K * (n.c2 + n.c1 * dual)


def regret_bound(n: Numbers) -> float:
    """thm:main with every constant: (I) + (II) + (III), or H K where that is less or beta_w is beyond K."""
    if n.beta_w > n.K or not (n.gamma > 0 and n.eta > 0 and n.alpha > 0 and n.theta > 0):
        return n.H * n.K
    dual = dual_bound(n)
    return min(n.H * n.K, cost_of_optimism(n) + dual_term(n, dual) + primal_term(n, dual))


def violation_bound(n: Numbers) -> float:
    """thm:main with every constant: (IV) + (V), or H K where that is less or beta_w is beyond K."""
    if n.beta_w > n.K or not (n.gamma > 0 and n.eta > 0 and n.alpha > 0 and n.theta > 0):
        return n.H * n.K
    return min(n.H * n.K, cost_of_optimism(n) + violation_term(n, dual_bound(n)))


def unmet(n: Numbers) -> list[str]:
    """The hypotheses of thm:main and lem:good event that these numbers do not meet, each as an inequality with numbers."""
    wanted_b = beta_b(n.K, n.H, n.d, n.A, n.delta)
    needed = needed_drift(n, 0.0)
    conditions = (
        (n.H**2 <= n.K, f"H^2 <= K (H^2 = {n.H**2:g}, K = {n.K:g})"),
        (n.beta_w >= 1.0, f"1 <= beta_w (beta_w = {n.beta_w:.4g})"),
        (n.beta_w <= n.K, f"beta_w <= K (beta_w = {n.beta_w:.4g}, K = {n.K:g})"),
        (n.beta_b >= wanted_b * (1 - 1e-9), f"beta_b >= beta_r + beta_p ({n.beta_b:.4g}, wanted {wanted_b:.4g})"),
        (
            n.beta_w >= 4.0 * n.beta_b * math.log(n.K) * (1 - 1e-9),
            f"beta_w >= 4 beta_b log K ({n.beta_w:.4g}, wanted {4.0 * n.beta_b * math.log(n.K):.4g})",
        ),
        (0.0 < n.alpha <= 1.0, f"0 < alpha <= 1 (alpha = {n.alpha:.4g})"),
        (0.0 < n.eta <= 1.0, f"0 < eta <= 1 (eta = {n.eta:.4g})"),
        (0.0 < n.theta < 1.0, f"0 < theta < 1 (theta = {n.theta:.4g})"),
        (n.theta * n.K >= 1 - 1e-9, f"theta >= 1/K ({n.theta:.4g}, wanted {1.0 / n.K:.4g})"),
        (
            n.period >= n.K**0.75 * (1 - 1e-9),
            f"mixing_period >= K^(3/4) ({n.period:,.4g}, wanted {n.K**0.75:,.4g})",
        ),
        (n.decay <= 1.0, f"dual_decay <= 1 ({n.decay:.4g})"),
        (
            n.decay >= 4.0 * n.alpha * n.eta * n.H**3 * (1 - 1e-9),
            f"dual_decay >= 4 alpha eta H^3 ({n.decay:.4g}, wanted {4.0 * n.alpha * n.eta * n.H**3:.4g})",
        ),
        (
            n.drift >= needed * (1 - 1e-9),
            f"dual_drift >= eta(4 alpha H^3 + 4 theta H^2) ({n.drift:.4g}, wanted {needed:.4g})",
        ),
        (not n.gamma <= 0.0, f"gamma > 0, Slater's condition (gamma = {n.gamma:.4g})"),
    )
    return [text for met, text in conditions if not met]
