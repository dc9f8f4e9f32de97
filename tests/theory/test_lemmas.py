"""The auxiliary lemmas of paper.tex on random numbers, and the arithmetic that turns them into its constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import sqrtm

from tightrope import constants
from tightrope.engine.policy import WIDTH, contract
from tightrope.learners import Sizes
from tightrope.learners.pdpo import PDPO
from tightrope.theory.segments import mixed, normalised

DRAWS = 200


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(5)


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))


def positive(random: np.random.Generator, d: int, low: float) -> np.ndarray:
    """A symmetric matrix with eigenvalues from `low` to 1."""
    basis, _ = np.linalg.qr(random.normal(size=(d, d)))
    return basis @ np.diag(random.uniform(low, 1.0, d)) @ basis.T


def test_the_logarithm_is_lipschitz_away_from_zero(random):
    """lem:lip log"""
    for _ in range(DRAWS):
        c = random.uniform(0.01, 1.0)
        x, y = c + random.exponential(size=(2, 5))
        assert np.abs(np.log(x) - np.log(y)).max() <= np.abs(x - y).sum() / c


def test_the_softmax_is_lipschitz(random):
    """lem:softmax lipschitz"""
    for _ in range(DRAWS):
        alpha, (one, two) = random.uniform(0.1, 5.0), random.normal(size=(2, 6))
        p, q = np.exp(normalised(alpha * one)), np.exp(normalised(alpha * two))
        assert np.abs(p - q).sum() <= 8 * alpha * np.abs(one - two).max()


def test_a_mirror_step_pushes_back(random):
    """lem:pushback, for a linear function"""
    for _ in range(DRAWS):
        alpha, gain = random.uniform(0.1, 3.0), random.normal(size=5)
        y, z = random.dirichlet(np.ones(5), 2)
        x = np.exp(normalised(np.log(y) - alpha * gain))
        left = x @ gain + divergence(x, y) / alpha
        assert left <= z @ gain + divergence(z, y) / alpha - divergence(z, x) / alpha + 1e-12


def test_mixing_costs_little_divergence_and_leaves_little(random):
    """lem:KL mixing"""
    for _ in range(DRAWS):
        theta, (p, q) = random.uniform(0.001, 0.999), random.dirichlet(np.full(4, 0.3), 2)
        q = np.maximum(q, 1e-12) / np.maximum(q, 1e-12).sum()
        after = np.exp(mixed(np.log(q), theta, 4))
        assert divergence(p, after) - divergence(p, q) <= theta * math.log(4) + 1e-12
        assert divergence(p, after) <= math.log(4 / theta) + 1e-12


def test_square_roots_of_matrices_are_lipschitz_and_norms_bounded_by_determinants(random):
    """lem:cassel 17, lem:abbasi 12"""
    for _ in range(50):
        low = random.uniform(0.01, 0.5)
        one, two = positive(random, 4, low), positive(random, 4, low)
        apart = np.linalg.norm(np.asarray(sqrtm(one)) - np.asarray(sqrtm(two)), 2)
        assert apart <= np.linalg.norm(one - two, 2) / (2 * math.sqrt(low)) + 1e-9
        vectors = random.normal(size=(6, 4))
        larger = one + vectors.T @ vectors
        ratio = np.linalg.eigvals(np.linalg.solve(one, larger)).real.max()
        assert ratio <= np.linalg.det(larger) / np.linalg.det(one) * (1 + 1e-9)


@pytest.mark.parametrize("K", [2, 10, 1000, 10**6])
def test_contraction_bounds_norms_and_costs_little(K):
    """lem:cassel 18, lem:cassel 3"""
    y = np.linspace(0.0, 3.0, 20_001)
    for beta in (0.3, 2.0, 50.0):
        sigma, shrunk = np.empty((1, len(y))), y[None].copy()
        contract(1.0, beta, math.log(K), sigma, shrunk, np.empty((2, WIDTH)), 0, len(y))
        assert shrunk.max() <= 2 * math.log(K) / beta
        # |phi|^2 in the epoch's norm is at most twice the present
        assert (1.0 - sigma[0] <= 2 * (beta * y) ** 2 + 2.0 / K).all()


def policy(parameters: list, features: np.ndarray, lam: np.ndarray, beta_w: float, K: int, theta: float) -> np.ndarray:
    """eq. param pi for one state: features [A, d], parameters (beta_i, w_i)."""
    log_policy = np.full(len(features), -math.log(len(features)))
    for pair in parameters:
        log_policy = normalised(mixed(log_policy, theta, len(features)) + q_hat(pair, lam, features, beta_w, K))
    return np.exp(log_policy)


def q_hat(pair: tuple, lam: np.ndarray, features: np.ndarray, beta_w: float, K: int) -> np.ndarray:
    """eq. param Q, [A], for parameters (beta, w)."""
    beta, w = pair
    norms = np.sqrt(np.einsum("ai,ij,aj->a", features, lam, features))
    return (features @ w - beta * norms) / (1.0 + np.exp(np.minimum(beta_w * norms - math.log(K), 700.0)))


def test_estimates_and_policies_are_lipschitz_in_their_parameters(random):
    """lem:lip Q, lem:lip pol"""
    d, A, K, beta_w, theta, c = 3, 4, 50, 2.0, 0.2, 1.5
    for _ in range(DRAWS):
        features = random.normal(size=(A, d))
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        n = int(random.integers(0, 3))
        sides = []
        for _ in range(2):
            lam = positive(random, d, 1.0 / (2 * K))
            w = [w / max(np.linalg.norm(w) / c, 1.0) for w in random.normal(size=(n + 1, d))]
            sides.append((lam, list(zip(random.uniform(-c, c, n + 1), w))))
        (one_l, one), (two_l, two) = sides
        squares = [
            (b1 - b2) ** 2 + ((w1 - w2) ** 2).sum() + ((one_l - two_l) ** 2).sum()
            for (b1, w1), (b2, w2) in zip(one, two)
        ]
        first = q_hat(one[0], one_l, features, beta_w, K) - q_hat(two[0], two_l, features, beta_w, K)
        assert np.abs(first).max() <= 4 * math.sqrt(K) * beta_w * c * math.sqrt(squares[0])
        apart = policy(one, features, one_l, beta_w, K, theta) - policy(two, features, two_l, beta_w, K, theta)
        size = 32 * math.sqrt((n + 1) * K) * beta_w * c * (8 * A / theta) ** n
        assert np.abs(apart).sum() <= size * math.sqrt(sum(squares))


@pytest.mark.parametrize(("H", "d", "A"), [(1, 1, 2), (10, 20, 2), (6, 64, 8)])
@pytest.mark.parametrize("power", [12, 20, 40])
def test_the_covering_number_gives_the_radius_of_the_kernel_estimates(H, d, A, power):
    """lem:cov V to lem:proxy good event: C_1, C_2, log N and beta_p for the theorem's own settings"""
    K, delta = 10**power, 0.1
    n = PDPO.theory(Sizes(A, H, d), K, delta).numbers(Sizes(A, H, d), K, delta=delta)
    assert n.beta_w <= K
    ceiling = constants.dual_ceiling(n)
    assert ceiling == pytest.approx(11 * n.eta * H**3 * K)
    covering = constants.log_covering(n, n.beta_b, 2 * K * 2 * H, 2 * H, ceiling, math.sqrt(d) / (2 * K))
    steps = K**0.25 + 2
    assert covering <= 36 * steps**2 * d**2 * math.log(5 * H * K * A / n.theta)
    from_cover = 8 * H * math.sqrt(d * math.log(K + 1) + 2 * math.log(3 * H**2 / delta) + 2 * covering)
    assert from_cover <= constants.beta_p(K, H, d, A, delta)


def test_the_dual_s_constants_are_those_of_the_paper_at_its_settings():
    """eq. delta max, C3, C4, lem:Yk bound, written out as in paper.tex for alpha = H^-1 K^-B, eta = H^-2 K^-B, theta = 1/K"""
    H, K, A, gamma = 10, 10**6, 2, 0.7
    n = PDPO.theory(Sizes(A, H, 20), K).numbers(Sizes(A, H, 20), K, gamma)
    b = 0.75
    delta_max = 44 * H * K ** (1 - 3 * b) + 3 / H * K**-b + 4 * K ** (-2 * b) + 4 * K ** (-1 - b)
    assert constants.delta_max(n) == pytest.approx(delta_max, rel=1e-9)
    c_3 = 2 * K ** (-2 * b) + 4 * K ** (-1 - b) + 4 * K**-b + 18 / H**2 * K ** (-2 * b)
    c_3 += 32 * K ** (-4 * b) + 3872 * H**2 * K ** (2 - 6 * b) + 32 * K ** (-2 - 2 * b)
    assert constants.c_3(n) == pytest.approx(c_3, rel=1e-9)
    period = math.ceil(round(K**b, 9))
    assert constants.c_4(n) == pytest.approx(math.log(A * K) + period * c_3, rel=1e-9)
    assert constants.dual_bound(n) == pytest.approx(
        2 * constants.c_4(n) / (period * n.eta * gamma) + 2 * period * delta_max, rel=1e-9
    )


def test_the_mirror_descent_bound_is_the_derivation_s_and_not_the_misprint_s():
    """lem:omd with mixing: the fourth term is 2 theta |K_e| C_5/K^B"""
    n = PDPO.theory(Sizes(2, 4, 6), 10_000).numbers(Sizes(2, 4, 6), 10_000)
    without = constants.mirror_descent(n, 0.0, 3.0)
    grown = constants.mirror_descent(n, 500.0, 3.0) - without
    mixings = n.theta * 500.0 / n.period
    assert grown == pytest.approx(mixings * math.log(2) / n.alpha + n.alpha * 500 * 9 / 2 + 2 * mixings * 3.0)
    assert without == pytest.approx((1 + n.theta) * math.log(2) / n.alpha + 2 * n.theta * 3.0 + 6.0)


def test_the_terms_of_the_theorem_are_those_of_the_paper_written_out():
    """lem:cost of opt (with the 4H of def:E3), lem:proj gd, lem:omd with mixing, lem:violation optimism, at its settings"""
    H, K, A, d, gamma, delta = 7, 10**7, 3, 12, 0.4, 0.05
    sizes = Sizes(A, H, d)
    n = PDPO.theory(sizes, K, delta).numbers(sizes, K, gamma, delta)
    alpha, eta, theta, log = 1 / (H * K**0.75), 1 / (H**2 * K**0.75), 1 / K, math.log
    period = math.ceil(round(K**0.75, 9))
    b = 2 * math.sqrt(2 * d * log(6 * K * H / delta))
    b += 50 * (K**0.25 + 1) * d * H * math.sqrt(log(5 * H**2 * K**2 * A / delta))
    w, epochs = 4 * b * log(K), 1.5 * d * H * log(2 * K)
    optimism = 6 * b * H * math.sqrt(2 * d * K * log(K + 1)) + 64 * d * H**2 * w**2 * log(K + 1)
    optimism += 4 * H * (3 * b + 16 * H * w**2) * log(6 * K / delta) + 8 * H**2
    assert constants.cost_of_optimism(n) == pytest.approx(optimism)
    dual = constants.dual_bound(n)
    shift = 4 * alpha * H**3 * (1 + dual) + 4 * theta * H**2
    ascent = eta / 2 * K * (3 * H + shift) ** 2 + 3 * H * dual * epochs
    assert constants.dual_term(n, dual) == pytest.approx(ascent)
    largest = 2 * H * (1 + dual)
    once = (1 + theta) * log(A) / alpha + 2 * theta * largest + 2 * largest
    every = theta * log(A) / (alpha * period) + alpha * largest**2 / 2 + 2 * theta * largest / period
    descent = H * (epochs * once + K * every)
    assert constants.primal_term(n, dual) == pytest.approx(descent)
    enforced = epochs * (dual / eta + 3 * H) + K * shift
    assert constants.violation_term(n, dual) == pytest.approx(enforced)
    assert constants.regret_bound(n) == H * K  # beta_w is beyond K
    many = PDPO.theory(sizes, 10**60, delta).numbers(sizes, 10**60, gamma, delta)
    dual = constants.dual_bound(many)
    regret = constants.cost_of_optimism(many) + constants.dual_term(many, dual) + constants.primal_term(many, dual)
    assert regret < H * 1e60
    assert constants.regret_bound(many) == pytest.approx(regret)
    violation = constants.cost_of_optimism(many) + constants.violation_term(many, dual)
    assert violation < H * 1e60
    assert constants.violation_bound(many) == pytest.approx(violation)
