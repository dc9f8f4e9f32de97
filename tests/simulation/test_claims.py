"""What is claimed of Algorithm 1 where a budget binds, and the rates it declares, measured on full-size runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tightrope as tr

HEALTHY = {"alpha": 0.05, "eta": 0.05, "beta_b": 0.1, "dual_decay": 0.0, "dual_drift": 0.0}


def test_without_regularisation_both_regret_and_violation_vanish_on_priced_jobs():
    """Alternating losses, K = 200,000, both at most 0.03 an episode; the dual is at work."""
    K = 200_000
    cmdp = tr.problems.make("priced-jobs")
    learner = tr.PDPO.experiment(cmdp, K, **HEALTHY)
    assert learner.beta_w == pytest.approx(0.1 * math.log(K))
    run = tr.simulate(cmdp, tr.losses.make("alternating", cmdp, K), learner, K)
    assert run.regret[-1] / K <= 0.03
    assert run.violation[-1, 0] / K <= 0.03
    assert run.comparator is not None and run.comparator.multipliers[0] > 0.05
    assert run.extremes.dual_max[0] > 0.05


def test_the_paper_s_experimental_setting_violates_a_binding_budget_for_ever():
    """By about 1.9 every episode, because the dual is inert."""
    K = 20_000
    cmdp = tr.problems.make("priced-jobs")
    run = tr.simulate(cmdp, tr.losses.make("alternating", cmdp, K), tr.PDPO.experiment(cmdp, K), K)
    later = (run.violation[-1, 0] - run.violation[len(run.violation) // 2, 0]) / (K / 2)
    assert later > 1.0
    assert run.extremes.dual_max[0] == 0.0


def test_with_the_constants_of_the_theory_the_policy_never_leaves_uniform():
    """Every feature stays switched off while beta_w >= sqrt(1 + K) log K."""
    K = 20_000
    cmdp = tr.problems.make("job-scheduling")
    learner = tr.PDPO.theory(cmdp, K)
    assert learner.beta_w >= math.sqrt(1 + K) * math.log(K)
    run = tr.simulate(cmdp, tr.losses.make("drift", cmdp, K), learner, K)
    assert np.abs(np.asarray(run.policy) - 0.5).max() < 1e-6


@pytest.mark.parametrize("kind", ["alternating", "drift", "switching", "best-response"])
@pytest.mark.parametrize("name", ["priced-jobs", "streaming"])
def test_regret_plus_violation_grows_no_faster_than_the_declared_rate(name, kind):
    """Log-log slope over K = 3,000 .. 100,000 of the positive parts, three seeds; the sum is floored at 0.01% of H K."""
    sizes = np.array([3_000, 10_000, 30_000, 100_000])
    cmdp = tr.problems.make(name)
    totals = []
    for K in sizes:
        worst = 0.0
        for seed in range(3):
            learner = tr.PDPO.practical(cmdp, int(K))
            run = tr.simulate(cmdp, tr.losses.make(kind, cmdp, int(K), seed=seed), learner, int(K), seed=seed)
            worst += (max(run.regret[-1], 0.0) + max(run.violation[-1, 0], 0.0)) / 3
        totals.append(max(worst, 1e-4 * cmdp.horizon * K))
    assert np.polyfit(np.log(sizes), np.log(totals), 1)[0] <= tr.PDPO.declared_rate
    assert totals[-1] / sizes[-1] <= 0.01 * cmdp.horizon
