"""Learners that solve a programme every episode: every answer has a certificate, which fails where the answer is not right."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import tightrope as tr
from tightrope.lab.summary import slope
from tightrope.learners.dope import DOPE, DOPEPlayer
from tightrope.learners.opse import OPSE, CompositePlayer
from tightrope.learners.projection import TOLERANCE, Projection, kl
from tightrope.learners.table import Table
from tightrope.learners.ucpd import UCPDPlayer

SMALL = {"streaming": 200, "job-scheduling": 60}


def played(name: str, learner: str, episodes: int, seed: int = 0, kind: str = "alternating", **settings):
    """A player after some episodes, and the run."""
    cmdp = tr.problems.make(name)
    made = tr.learners.make(learner, cmdp, episodes, **settings)
    players = []

    class Kept:
        def start(self, cmdp, episodes):
            players.append(made.start(cmdp, episodes))
            return players[-1]

    run = tr.simulate(cmdp, tr.losses.make(kind, cmdp, episodes), Kept(), episodes, seed=seed)
    return players[0], run


def visited_table(name: str, episodes: int = 80) -> Table:
    player, _ = played(name, "dope", episodes)
    return player.table


@pytest.mark.parametrize("width", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("name", SMALL)
def test_occupancies_of_ucpd_lie_in_the_confidence_set_and_every_projection_is_certified(name, width):
    player, _ = played(name, "ucpd", SMALL[name], width=width)
    assert isinstance(player, UCPDPlayer)
    table, q = player.table, player.q
    assert q.min() >= 0.0
    np.testing.assert_allclose(table.flow @ q, table.inflow, atol=1e-12)
    total = np.bincount(table.of_pair, weights=q)
    off = np.bincount(table.of_pair, weights=np.abs(q - player.projection.chances * total[table.of_pair]))
    assert (off <= player.projection.radii * total + 1e-12).all()
    assert 0.0 < player.gap <= TOLERANCE * table.shape[0]
    if width == 0.02:
        assert player.projection.sets  # the balls are felt


def test_the_projection_is_the_one_that_a_general_solver_finds():
    table = visited_table("streaming")
    random = np.random.default_rng(0)
    near = random.random(len(table.layer)) + 0.05
    near /= np.bincount(table.layer, weights=near)[table.layer]
    c, radii = random.random(len(near)), np.full(len(table.first), 0.05)
    projection = Projection(table, table.chances(), radii)
    q = projection.solve(c, near)
    sets = projection.matrix[len(table.inflow) :].toarray()
    constraints: list[Any] = [
        LinearConstraint(table.flow.toarray(), cast(Any, table.inflow), cast(Any, table.inflow)),
        LinearConstraint(sets, -np.inf, 0.0),
    ]
    found = minimize(
        lambda x: c @ x + kl(np.maximum(x, 1e-14), near),
        q * 0.5 + 0.5 * table.follow(table.policy(near), table.chances()),
        jac=lambda x: c + np.log(np.maximum(x, 1e-14) / near),
        bounds=[(1e-12, None)] * len(q),
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert c @ q + kl(q, near) == pytest.approx(found.fun, abs=1e-5)
    np.testing.assert_allclose(q, found.x, atol=2e-3)


def test_a_projection_that_stopped_too_early_does_not_get_its_certificate(monkeypatch):
    table = visited_table("streaming")
    near = 1.0 / np.bincount(table.layer)[table.layer]
    projection = Projection(table, table.chances(), np.full(len(table.first), 0.05))
    monkeypatch.setattr(projection, "_climb", lambda c, near: None)
    with pytest.raises(tr.CertificateError, match="ucpd: duality gap"):
        projection.solve(np.linspace(0.0, 3.0, len(near)), near)


@pytest.mark.parametrize(("name", "width"), [("streaming", 0.02), ("streaming", 0.005)])
def test_every_programme_of_dope_is_certified_and_its_answer_keeps_flow_and_radii(name, width):
    player, run = played(name, "dope", SMALL[name], width=width)
    assert isinstance(player, DOPEPlayer)
    assert player.fell_back < SMALL[name]
    z = player.solve()
    assert z is not None
    table, beta = player.table, player.radii()
    np.testing.assert_allclose(table.flow @ z, table.inflow, atol=1e-8)
    total = np.bincount(table.of_pair, weights=z)[table.of_pair]
    assert (np.abs(z - table.chances() * total) <= beta * total + 1e-8).all()
    assert 0.0 <= player.gap < 1e-6
    assert np.isfinite(run.regret).all()


def test_a_wrong_answer_of_the_solver_does_not_get_dopes_certificate():
    player, _ = played("streaming", "dope", 200)
    z = player.solve()
    assert z is not None
    table, beta = player.table, player.radii()
    goal, dear = table.on_triples(player.losses), table.costs()[:, table.of_pair]
    rows = player._rows(beta, dear)
    with pytest.raises(tr.CertificateError, match="dope: duality gap"):
        player.certify(z, np.zeros(rows[0].shape[0]), goal + 1.0, *rows)


def test_dope_with_small_constants_plays_the_safe_policy_until_it_has_seen_costs():
    cmdp, K = tr.problems.make("priced-jobs"), 50
    for pessimism in (0.0, 0.1):
        player = tr.learners.make("dope", cmdp, K, pessimism=pessimism).start(cmdp, K)
        assert np.array_equal(player.policy(), tr.oracle.slater(cmdp).policy) and player.fell_back == 1


def test_the_constants_of_dopes_theory_are_those_recalled():
    cmdp = tr.problems.make("priced-jobs")
    made = DOPE.theory(cmdp, 100)
    H, room = cmdp.horizon, tr.oracle.slater(cmdp).gamma
    assert (made.width, made.pessimism, made.optimism) == (1.0, H, pytest.approx(3 * H / room))


@pytest.mark.parametrize("name", ["job-scheduling", "priced-jobs", "streaming"])
def test_dopes_regret_is_sublinear_where_losses_do_not_change(name):
    player, run = played(name, "dope", 300, kind="fixed")
    assert isinstance(player, DOPEPlayer) and player.fell_back < 200
    grows = slope(run.episodes, run.regret)
    assert grows is not None and grows < 0.75
    assert run.hard_violation[-1, 0] / 300 < 0.01


def test_dope_with_the_constants_of_its_paper_never_violates():
    cmdp, K = tr.problems.make("streaming"), 150
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, K), DOPE.theory(cmdp, K), K)
    assert run.hard_violation[-1].max() <= 1e-9


def test_the_bisection_of_opse_ends_between_a_multiplier_that_is_not_safe_and_one_that_is():
    player, _ = played("streaming", "opse", 1500)
    assert isinstance(player, CompositePlayer) and 0 < player.fell_back < 1500
    player._shown = None
    shown = player.policy()
    bracket = player.bracket
    assert bracket is not None
    assert bracket.utility_low < player.limit <= bracket.utility_high
    assert bracket.high - bracket.low == pytest.approx(player.settings.most_lambda / 2**20)
    assert player.utility_at(bracket.high) == bracket.utility_high
    assert np.array_equal(player.policy_room, shown)
    assert player.utility_at(bracket.low) == bracket.utility_low


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_opse_never_violates_in_any_episode_of_streaming(seed):
    _, run = played("streaming", "opse", 1500, seed=seed, kind="fixed")
    assert run.hard_violation[-1, 0] == 0.0


@pytest.mark.slow
def test_opse_never_violates_in_ten_thousand_episodes_and_its_regret_is_sublinear():
    _, run = played("streaming", "opse", 10_000, kind="fixed")
    assert run.hard_violation[-1, 0] == 0.0
    found = slope(run.episodes, run.regret)
    assert found is not None and found < 0.6


@pytest.mark.parametrize(
    ("learner", "name"), [("opse", "priced-jobs"), ("opse", "streaming"), ("ghosh2024", "job-scheduling")]
)
def test_the_softmax_learners_have_sublinear_regret_where_losses_do_not_change(learner, name):
    _, run = played(name, learner, 6000, kind="fixed")
    grows = slope(run.episodes, run.regret)
    assert grows is not None and grows < 0.75
    if learner == "opse":
        assert run.hard_violation[-1, 0] == 0.0


@pytest.mark.parametrize("learner", ["opse", "ghosh2024"])
def test_what_was_never_tried_has_a_bonus_of_the_horizon_and_entropy_vanishes_with_k(learner):
    cmdp = tr.problems.make("priced-jobs")
    for K, kappa in ((50, 0.1), (40_000, 0.005)):
        made = tr.learners.make(learner, cmdp, K)
        assert made.kappa == pytest.approx(kappa)
        assert made.start(cmdp, K).estimates_of.bonus == pytest.approx(cmdp.horizon)
    given = tr.learners.make(learner, cmdp, 40_000, kappa=0.1, rho=1.0)
    assert (given.kappa, given.rho) == (0.1, 1.0)


@pytest.mark.parametrize("seed", [2, 5])
def test_ghosh_2024_gets_over_an_unlucky_first_impression(seed):
    _, run = played("streaming", "ghosh2024", 6000, seed=seed, kind="fixed")
    late = run.episodes > 5000
    assert (run.regret[late][-1] - run.regret[late][0]) / 1000 < 0.03


@pytest.mark.parametrize("setting", ["kappa", "rho"])
def test_a_setting_that_one_divides_by_is_not_zero(setting):
    with pytest.raises(tr.InputError, match=f"^{setting}: 0, wanted a number from 1e-12 up"):
        tr.learners.make("ghosh2024", tr.problems.make("streaming"), 20, **{setting: 0})


def test_opse_plays_the_safe_policy_before_it_knows_anything():
    cmdp = tr.problems.make("streaming")
    player = OPSE.practical(cmdp, 10).start(cmdp, 10)
    assert np.array_equal(player.policy(), tr.oracle.slater(cmdp).policy) and player.fell_back == 1


def test_ghosh_2024_goes_on_where_opse_falls_back():
    cmdp = tr.problems.make("streaming")
    player, run = played("streaming", "ghosh2024", 300, kind="fixed")
    assert player.fell_back == 0 and run.hard_violation[-1, 0] > 0.0
    assert "knowledge" not in tr.learners.make("ghosh2024", cmdp, 10).describe()


@pytest.mark.parametrize("rho", [1.0, 0.04])
def test_the_estimates_are_ridge_regressions_of_everything_that_was_seen(rho):
    from tightrope.learners.ridge import Ridge

    cmdp = tr.problems.make("random-linear")
    random = np.random.default_rng(1)
    ridge, H, A = Ridge(cmdp, rho), cmdp.horizon, cmdp.n_actions
    phi = cmdp.features.reshape(-1, cmdp.dim)
    episodes = []
    for k in range(30):
        states, actions = random.integers(0, cmdp.n_states, H + 1), random.integers(0, A, H)
        episodes.append(tr.learners.Episode(k, states, actions, random.random((H, 1)), np.zeros((H, cmdp.dim))))
        ridge.learn(episodes[-1])
    for h in range(H):
        X = np.stack([phi[e.states[h] * A + e.actions[h]] for e in episodes])
        inverse = np.linalg.inv(rho * np.eye(cmdp.dim) + X.T @ X)
        arrived = np.stack([np.eye(cmdp.n_states)[e.states[h + 1]] for e in episodes])
        np.testing.assert_allclose(ridge.kernel[h], np.maximum(phi @ inverse @ X.T @ arrived, 0.0), atol=1e-10)
        utility = phi @ inverse @ X.T @ np.array([1.0 - e.costs[h, 0] for e in episodes])
        np.testing.assert_allclose(ridge.utility[h], utility, atol=1e-10)
        np.testing.assert_allclose(ridge.bonus[h] ** 2, np.einsum("jd,de,je->j", phi, inverse, phi), atol=1e-10)


@pytest.mark.parametrize("name", ["ucpd", "dope"])
def test_tabular_learners_refuse_shared_features_in_one_line(name):
    cmdp = tr.problems.make("random-linear")
    learner = tr.learners.make(name, cmdp, 20)
    with pytest.raises(tr.InputError, match=f"^learner '{name}' is for tables"):
        tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 20), learner, 20)


@pytest.mark.parametrize("name", ["opse", "ucpd", "dope"])
def test_a_learner_that_needs_a_model_says_so_where_there_is_none(name):
    with pytest.raises(tr.InputError, match=f"^learner '{name}' needs"):
        tr.learners.make(name, tr.learners.Sizes(2, 4, 12), 20)


def test_one_constraint_is_all_that_the_softmax_learners_take():
    cmdp = tr.problems.make("random-linear", constraints=3)
    with pytest.raises(tr.InputError, match="'ghosh2024' has one constraint, this problem has 3"):
        tr.learners.make("ghosh2024", cmdp, 20)
