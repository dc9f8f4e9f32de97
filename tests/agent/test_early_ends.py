"""Episodes that end early and begin anywhere, against a slow twin with the full history: after an end every value is 0."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr

from .conftest import SETTINGS, make_agent


def twin(cmdp: tr.LinearCMDP, learner: tr.PDPO, episodes: list, losses: np.ndarray, offset: float):
    """Algorithm 1 on episodes (states, actions, costs) of any length; yields each one's policy, dual and v_hat."""
    H, S, A, d = cmdp.horizon, cmdp.n_states, cmdp.n_actions, cmdp.dim
    phi, log_policy, Y, mixing_from, gram_e = cmdp.features, np.zeros((H, S, A)), 0.0, 0, None
    for k, (states, _, _) in enumerate(episodes):
        past = [[e for e in episodes[:k] if len(e[1]) > h] for h in range(H)]
        rows = [np.array([phi[e[0][h], e[1][h]] for e in past[h]]).reshape(-1, d) for h in range(H)]
        gram = np.stack([np.eye(d) + r.T @ r for r in rows])
        if gram_e is None or (np.linalg.slogdet(gram)[1] >= np.linalg.slogdet(gram_e)[1] + np.log(2) - 1e-12).any():
            gram_e = gram
            norms = np.sqrt(np.stack([np.einsum("sai,ij,saj->sa", phi, np.linalg.inv(g), phi) for g in gram]))
            sigma = 1 / (1 + np.exp(learner.beta_w * norms - offset))
            if k == 0 or learner.restart == "paper":
                log_policy, Y, mixing_from = np.zeros((H, S, A)) - np.log(A), 0.0, k
        policy = np.exp(log_policy)
        before = Y
        v, q = np.zeros((2, H + 1, S)), np.zeros((2, H, S, A))
        for h in reversed(range(H)):
            for c in range(2):
                follows = np.array(
                    [v[c, h + 1, e[0][h + 1]] if len(e[0]) > h + 1 and h + 1 < H else 0.0 for e in past[h]]
                )
                paid = np.array([e[2][h] for e in past[h]])
                w = np.linalg.inv(gram[h]) @ (rows[h].T @ (follows + (paid if c else 0.0)))
                q[c, h] = sigma[h] * (phi @ (w + (0.0 if c else losses[k, h]))) - learner.beta_b * sigma[h] * norms[h]
                v[c, h] = (policy[h] * q[c, h]).sum(axis=1)
        if (k - mixing_from) % learner.mixing_period == 0:
            log_policy = np.log((1 - learner.theta) * policy + learner.theta / A)
        log_policy = log_policy - learner.alpha * (q[0] + Y * q[1])
        log_policy -= np.logaddexp.reduce(log_policy, axis=2, keepdims=True)
        Y = max(0.0, Y + learner.eta * (v[1, 0, states[0]] - cmdp.budgets[0]))
        yield policy, before, v[:, 0, states[0]]


@pytest.mark.parametrize("restart", ["paper", "warm"])
def test_early_ends_and_random_starts_are_those_of_the_slow_twin(restart):
    K = 120
    cmdp = tr.problems.make("random-linear", n_states=30, dim=5, horizon=5, budget=0.6, seed=2)
    learner = tr.PDPO(**SETTINGS, mixing_period=6, restart=restart)
    random = np.random.default_rng(0)
    agent = make_agent(cmdp, learner, K)
    episodes, policies, duals, values, losses = [], [], [], [], []
    for _ in range(K):
        states, actions, costs, told = [int(random.integers(30))], [], [], []
        duals.append(agent.dual[0])
        agent.begin(states[0])
        over = False
        while not over:
            assert agent.current is not None
            told.append(agent.current.policies[-1])
            actions.append(agent.act(random.random()))
            costs.append(float(random.random()))
            ended = bool(random.random() < 0.15)
            over = ended or len(actions) == 5
            if not over:
                states.append(int(random.integers(30)))
            agent.observe(costs[-1], None if over else states[-1], ended=ended)
        losses.append(random.random((5, 5)) * 0.4)
        agent.finish(losses[-1])
        episodes.append((states, actions, costs))
        policies.append(told)
        values.append(agent.estimates)
    lengths = {len(e[1]) for e in episodes}
    assert lengths == {1, 2, 3, 4, 5} and agent.status().epoch > 3 and max(duals) > 0.05
    for k, (policy, dual, value) in enumerate(twin(cmdp, learner, episodes, np.array(losses), np.log(K))):
        for h, s in enumerate(episodes[k][0]):
            np.testing.assert_allclose(policies[k][h], policy[h, s], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(duals[k], dual, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(values[k], value, rtol=1e-9, atol=1e-9)


def test_an_end_at_the_last_step_is_no_end_at_all():
    cmdp = tr.problems.make("random-linear", n_states=6, dim=3, horizon=2, seed=2)
    told = []
    for ended in (False, True):
        agent = make_agent(cmdp, tr.PDPO(**SETTINGS, mixing_period=6), 10)
        for _ in range(5):
            agent.begin(0)
            agent.observe(0.5, 3, action=1)
            agent.observe(0.5, action=2, ended=ended)
            agent.finish(np.full((2, 3), 0.2))
        told.append(agent.policy(0, 0))
    assert np.array_equal(*told)
