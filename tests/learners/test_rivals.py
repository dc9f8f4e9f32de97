"""Each rival on the engine has the property that makes it what it is."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners import Sizes, class_of
from tightrope.learners.cfpo import CFPO
from tightrope.learners.ghosh2022 import Ghosh2022
from tightrope.learners.naive import Naive


def traced(cmdp, learner, sequence, seed: int = 0):
    """A run under a sequence of the problem's own profiles."""
    losses = tr.losses.Profiles(cmdp.loss_profiles, np.asarray(sequence))
    trace = tr.simulate(cmdp, losses, learner, len(sequence), seed=seed, trace=True).trace
    assert trace is not None
    return trace


def test_ghosh_2022_forgets_all_losses_but_the_last():
    cmdp = tr.problems.make("priced-jobs")
    learner = Ghosh2022(
        alpha=2.0, eta=0.0, beta=0.1, xi=1.0
    )  # no dual: what was seen of costs cannot tell the pasts apart
    one, two = cmdp.loss_profiles  # pyright: ignore[reportGeneralTypeIssues]
    waits = np.full(11, 9), np.zeros(10, int), np.ones((10, 1))
    player, other = learner.start(cmdp, 2), learner.start(cmdp, 2)
    player.learn(tr.learners.Episode(0, *waits, one))
    other.learn(tr.learners.Episode(0, *waits, two))
    assert np.abs(player.policy() - other.policy()).max() > 0.1  # the last loss was another
    player.learn(tr.learners.Episode(1, *waits, two))
    other.learn(tr.learners.Episode(1, *waits, two))
    assert np.array_equal(player.policy(), other.policy())


def test_ghosh_2022_does_not_know_the_loss_of_the_episode_it_plays():
    cmdp = tr.problems.make("priced-jobs")
    learner = Ghosh2022(alpha=5.0, eta=0.05, beta=0.1, xi=20.0)
    runs = [traced(cmdp, learner, [*range(2)] * 10 + [last]) for last in (0, 1)]
    assert np.array_equal(runs[0].policies, runs[1].policies)


def test_its_dual_is_cut_off_at_xi_and_its_constants_are_those_recalled():
    cmdp = tr.problems.make("priced-jobs")
    K, H, d, A = 500, cmdp.horizon, cmdp.dim, cmdp.n_actions
    made = tr.learners.make("ghosh2022", cmdp, K)
    gamma = tr.oracle.slater(cmdp).gamma
    assert made.knowledge == "oracle" and made.describe()["knowledge"] == "oracle"
    assert made.xi == pytest.approx(2 * H / gamma)
    assert made.alpha == pytest.approx(math.log(A) * K / (2 * (1 + made.xi + H)))
    assert made.eta == pytest.approx(made.xi / math.sqrt(K * H**2))
    assert made.beta == pytest.approx(0.01 * d * H * math.sqrt(math.log(4 * math.log(A) * d * K * H / 0.1)))
    assert tr.learners.make("ghosh2022", cmdp, K, "theory").beta == pytest.approx(100 * made.beta)
    given = tr.learners.make("ghosh2022", Sizes(A, H, d), K, xi=3.0)
    assert (given.xi, given.knowledge) == (3.0, "given")
    trace = traced(cmdp, Ghosh2022(alpha=5.0, eta=0.2, beta=0.1, xi=0.1), [0] * 600)
    assert trace.dual.max() == 0.1


def test_without_a_model_slaters_constant_is_asked_for_in_one_line():
    with pytest.raises(tr.InputError, match=r"^xi: missing; learner 'ghosh2022' takes it from Slater's constant"):
        tr.learners.make("ghosh2022", Sizes(2, 10, 20), 100)


def test_the_naive_extension_keeps_every_action_possible_in_every_episode():
    cmdp = tr.problems.make("priced-jobs")
    learner = Naive(alpha=1.0, eta=0.1, theta=0.2, beta=0.1)
    trace = traced(cmdp, learner, [0, 1] * 150)
    # mixed before a step of at most alpha * (1 + Y) * H, every probability is at least theta/A times the step's smallest factor
    least = learner.theta / 2 * np.exp(-learner.alpha * (1 + trace.dual[:-1, 0]) * cmdp.horizon)
    assert (trace.policies.min(axis=(1, 2, 3))[1:] >= least[:-1]).all()
    without = traced(cmdp, learner.replace(theta=0.0), [0, 1] * 150)
    assert without.policies.min() < trace.policies.min()


@pytest.mark.parametrize("name", ["job-scheduling", "random-linear"])
def test_with_cfpos_constants_no_mixing_and_a_constraint_that_cannot_bind_algorithm_1_is_cfpo(name):
    K = 600
    cmdp = tr.problems.make(name, budget=float(tr.problems.make(name).horizon))
    for cfpo in (CFPO.theory(cmdp, K), CFPO.practical(cmdp, K)):
        pdpo = tr.PDPO(alpha=cfpo.alpha, eta=0.1, theta=0.0, beta_b=cfpo.beta_b, beta_w=cfpo.beta_w, mixing_period=7)
        losses = tr.losses.make("alternating", cmdp, K)
        one, two = (tr.simulate(cmdp, losses, learner, K, seed=2, trace=True).trace for learner in (cfpo, pdpo))
        assert one is not None and two is not None
        assert two.dual.max() == 0.0
        for field in ("states", "actions", "policies", "values", "epoch_starts"):
            assert np.array_equal(getattr(one, field), getattr(two, field))


def test_cfpo_has_its_theorems_constants_and_no_more_epochs_than_its_lemma_allows():
    cmdp, K, delta = tr.problems.make("streaming"), 3000, 0.1
    d, H, A = cmdp.dim, cmdp.horizon, cmdp.n_actions
    made = CFPO.theory(cmdp, K)
    r, p = 2 * math.sqrt(2 * d * math.log(6 * K * H / delta)), 28 * H * d * math.sqrt(math.log(10 * K**5 * H / delta))
    assert made.beta_b == pytest.approx(r + p) and made.beta_w == pytest.approx(4 * (r + p) * math.log(math.e * K))
    assert made.alpha == pytest.approx(math.sqrt(3 * d * H * math.log(2 * K) * math.log(A) / (K * (2 * H) ** 2)))
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, K), made, K)
    assert 10 < run.epoch[-1] <= CFPO.most_epochs(cmdp, K)


def test_uniform_is_uniform_and_hindsight_has_no_regret():
    cmdp, K = tr.problems.make("priced-jobs"), 300
    losses = tr.losses.make("drift", cmdp, K)
    uniform = tr.simulate(cmdp, losses, tr.learners.make("uniform", cmdp, K), K)
    assert (np.asarray(uniform.policy) == 0.5).all() and uniform.regret[-1] > 1.0
    best = tr.simulate(cmdp, losses, tr.learners.make("hindsight", cmdp, K), K)
    assert np.abs(best.regret[-1]) < 1e-6 and best.violation[-1].max() < 1e-6
    assert best.about["learner"]["knowledge"] == "oracle"


def test_hindsight_refuses_losses_that_react_and_problems_without_a_model():
    cmdp = tr.problems.make("priced-jobs")
    with pytest.raises(tr.InputError, match="'hindsight' plays the best policy for losses settled beforehand"):
        tr.simulate(cmdp, tr.losses.make("best-response", cmdp, 10), tr.learners.make("hindsight", cmdp, 10), 10)
    with pytest.raises(tr.InputError, match="'hindsight' needs the model"):
        tr.learners.make("hindsight", Sizes(2, 10, 20), 10)


@pytest.mark.parametrize("name", tr.learners.names())
def test_every_learner_says_what_it_is_and_refuses_what_it_has_not(name):
    cmdp = tr.problems.make("streaming")
    for preset in tr.learners.presets(name):
        made = tr.learners.make(name, cmdp, 200, preset)
        assert made.describe()["name"] == name == made.name
        assert set(made.describe()) - {"name", "knowledge"} <= set(tr.learners.parameters(name))
    assert class_of(name).declared_rate is None or 0 < class_of(name).declared_rate < 1
    with pytest.raises(tr.InputError, match=f"^alfa: not a setting of '{name}'"):
        tr.learners.make(name, cmdp, 200, alfa=1.0)
    with pytest.raises(tr.InputError, match=r"^preset: unknown 'best'"):
        tr.learners.make(name, cmdp, 200, "best")


@pytest.mark.parametrize("kind", [Ghosh2022, Naive, CFPO])
def test_settings_that_cannot_be_are_refused_each_in_a_line(kind):
    given = dict.fromkeys((key for key in tr.learners.parameters(kind.name)), -1.0)
    with pytest.raises(tr.InputError) as caught:
        kind(**given)
    assert [line.split(":")[0] for line in caught.value.problems] == list(given)


@pytest.mark.parametrize("name", [name for name in tr.learners.names() if name != "pdpo"])
def test_a_setting_that_there_is_not_is_refused_with_the_nearest_also_without_a_preset(name):
    kind = class_of(name)
    with pytest.raises(tr.InputError, match=f"^alhpa: not a setting of '{name}'; "):
        kind(alhpa=1.0)
    made = tr.learners.make(name, tr.problems.make("streaming"), 50)
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made
