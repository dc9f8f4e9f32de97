"""What the doctor says of settings that are known to fail, and of settings that are known to work."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tightrope as tr
from tightrope.learners import Sizes
from tightrope.show.page.html import report
from tightrope.show.reading import read_folder
from tightrope.theory import IDS, SEVERITIES, Finding

K = 100_000


def one(report: tr.theory.Report, name: str) -> Finding:
    found = [finding for finding in report.findings if finding.id == name]
    assert len(found) == 1, report.ids()
    return found[0]


def paper(cmdp: tr.LinearCMDP, preset: str, **overrides) -> tr.theory.Report:
    return tr.doctor(cmdp, tr.learners.make("pdpo", cmdp, K, preset, **overrides), K, tr.losses.make("drift", cmdp, K))


@pytest.fixture(scope="module")
def jobs() -> tr.LinearCMDP:
    return tr.problems.make("job-scheduling")


@pytest.fixture(scope="module")
def priced() -> tr.LinearCMDP:
    return tr.problems.make("priced-jobs")


def test_of_the_paper_s_experiment_it_names_the_inert_dual_the_budget_the_visits_and_the_idle_mixing(jobs):
    found = paper(jobs, "experiment")
    assert one(found, "dual-inert").severity == "error"
    assert one(found, "dual-inert").number == pytest.approx(4 * 0.1 * 10**3 + 4 * 10**2 / K)
    assert one(found, "budget-effective").number == pytest.approx(5.6 + 400 + 0.004)
    assert one(found, "contraction-slow").number == 316
    assert "316th visit" in one(found, "contraction-slow").text
    assert one(found, "mixing-idle").number < 0.1
    assert not found.ok


def test_of_the_theory_s_constants_it_names_the_policy_that_never_moves(jobs):
    found = paper(jobs, "theory")
    frozen = one(found, "policy-frozen")
    assert frozen.severity == "error"
    assert frozen.number >= math.sqrt(1 + K) * math.log(K)
    assert "contraction-slow" not in found.ids()
    run = tr.simulate(jobs, tr.losses.make("drift", jobs, 400), tr.PDPO.theory(jobs, 400), 400)
    assert np.ptp(np.asarray(run.policy)) < 1e-3  # and it is so


@pytest.mark.parametrize("name", tr.problems.names())
@pytest.mark.parametrize("episodes", [3_000, 300_000])
def test_of_practical_settings_it_finds_no_error(name, episodes):
    cmdp = tr.problems.make(name)
    found = tr.doctor(cmdp, tr.PDPO.practical(cmdp, episodes), episodes)
    assert found.ok, str(found)


def test_a_dual_that_decays_too_fast_saturates_below_the_multiplier(priced):
    learner = tr.PDPO.practical(priced, K, dual_decay=0.5, eta=0.01)
    found = one(tr.doctor(priced, learner, K), "dual-saturated")
    assert found.severity == "error"
    dearest = -tr.oracle.best_policy(priced, -priced.cost_weights[:, 0], budgets=[10.0]).value
    assert found.number == pytest.approx(0.01 * (dearest - 7.0 + 0.7) / 0.5)  # 0.7: the most that `tighten` takes off
    run = tr.simulate(priced, tr.losses.make("alternating", priced, 2000), learner, 2000)
    assert run.extremes.dual_max[0] <= found.number


def test_a_dual_that_needs_longer_than_an_epoch_is_slow(priced):
    learner = tr.PDPO.practical(priced, K, eta=1e-5, restart="paper")
    found = one(tr.doctor(priced, learner, K), "dual-slow")
    assert found.severity == "error"
    assert found.number > 10_000


def test_without_a_step_the_dual_is_inert(priced):
    assert one(tr.doctor(priced, tr.PDPO.practical(priced, K, eta=0.0), K), "dual-inert").severity == "error"


@pytest.mark.parametrize("preset", ["practical", "experiment"])
def test_a_budget_that_no_policy_can_exceed_needs_no_dual(preset):
    """Nothing is wrong with a dual at zero there, whatever its drift."""
    cmdp = tr.problems.make("priced-jobs", budget=10.0)
    found = tr.doctor(cmdp, tr.learners.make("pdpo", cmdp, K, preset), K)
    inert = one(found, "dual-inert")
    assert (inert.severity, inert.number) == ("info", pytest.approx(0.0, abs=1e-9))
    assert "budget-effective" not in found.ids() and found.ok


@pytest.mark.parametrize("episodes", [1, 2, 10**9, 10**40])
@pytest.mark.parametrize("preset", ["practical", "experiment", "theory"])
def test_any_number_of_episodes_is_judged(priced, preset, episodes):
    found = tr.doctor(priced, tr.learners.make("pdpo", priced, episodes, preset), episodes)
    assert ("policy-frozen" in found.ids()) == (preset == "theory" and 1 < episodes < 10**40)
    assert "bound-vacuous" in found.ids() or episodes == 10**40


def test_steps_too_small_for_an_epoch_and_steps_that_flip_the_policy(priced):
    slow = one(tr.doctor(priced, tr.PDPO.practical(priced, K, alpha=1e-5), K), "step-slow")
    assert (slow.severity, slow.number) == ("error", pytest.approx(1 / (1e-5 * 0.5)))
    jumpy = one(tr.doctor(priced, tr.PDPO.practical(priced, K, alpha=20.0), K), "step-jumpy")
    assert (jumpy.severity, jumpy.number) == ("error", pytest.approx(10.0))


def test_restarts_that_cost_most_of_the_run_are_short_epochs(priced):
    found = one(tr.doctor(priced, tr.PDPO.practical(priced, K, alpha=1e-4, restart="paper"), K), "epochs-short")
    assert found.severity == "error"
    assert "warm" in found.remedy


@pytest.mark.parametrize("name", tr.problems.names())
def test_the_epochs_to_be_expected_are_those_of_a_run_within_a_factor_of_two(name):
    from tightrope.theory import outlook

    cmdp = tr.problems.make(name)
    expected = outlook.epoch_lengths(outlook.growth(cmdp), 5000)
    run = tr.simulate(cmdp, tr.losses.make("alternating", cmdp, 5000), tr.PDPO.experiment(cmdp, 5000), 5000)
    assert expected.sum() == 5000
    assert run.epoch[-1] / 2 < len(expected) < run.epoch[-1] * 2


def test_the_bounds_are_vacuous_until_a_k_at_which_they_are_not(priced):
    from tightrope.theory.bound_checks import first_episodes, raw_bounds, theorem_numbers
    from tightrope.theory.case import read_case

    found = one(tr.doctor(priced, tr.PDPO.theory(priced, K), K), "bound-vacuous")
    assert found.number > 1
    case = read_case(priced, tr.PDPO.theory(priced, K), K)
    first = first_episodes(case, 1.5)
    assert first is not None
    for factor, speaks in ((0.99, False), (1.01, True)):
        episodes = int(first * factor)
        assert (max(raw_bounds(theorem_numbers(case, episodes, 1.5))) < 10.0 * episodes) == speaks
    assert tr.PDPO.theory(priced, first + first // 50).regret_bound(priced, first + first // 50, 1.5) < 10.0 * first
    assert tr.PDPO.theory(priced, K).regret_bound(priced, K, 1.5) == 10.0 * K


@pytest.mark.parametrize(
    ("changes", "hypothesis"),
    [
        ({"contraction_offset": 1.0}, "contraction_offset = log K"),
        ({"theta": 1e-200}, "theta >= 1/K"),
        ({"mixing_period": 10}, "mixing_period >= K^(3/4)"),
        ({"tighten": 1000.0}, "tighten = 0"),
        ({"dual_cap": 1.0}, "no dual_cap"),
        ({"restart": "warm"}, "restart = 'paper'"),
    ],
)
def test_the_theorem_is_silent_on_settings_that_its_proof_does_not_cover(priced, changes, hypothesis):
    """At a K at which the bounds of the theory's own settings say something."""
    many = 10**90
    theory = tr.PDPO.theory(priced, many)
    assert theory.unmet(priced, many, 1.5) == []
    assert theory.regret_bound(priced, many, 1.5) < 10.0 * many
    assert theory.violation_bound(priced, many, 1.5) < 10.0 * many
    changed = theory.replace(**changes)
    assert hypothesis in "; ".join(changed.unmet(priced, many, 1.5))
    assert changed.regret_bound(priced, many, 1.5) == changed.violation_bound(priced, many, 1.5) == 10.0 * many
    assert hypothesis in one(tr.doctor(priced, changed, many), "hypotheses").inequality


def test_the_theorem_s_episodes_start_in_one_state(priced):
    start = np.zeros(priced.n_states)
    start[[4, 9]] = 0.5
    anywhere = tr.LinearCMDP(priced.feature_table, priced.kernel_table, priced.cost_weights, priced.budgets, start)
    many = 10**90
    learner = tr.PDPO.theory(anywhere, many)
    assert learner.unmet(anywhere, many, 1.5) == ["one first state: every episode starts in the same"]
    assert learner.regret_bound(anywhere, many, 1.5) == 10.0 * many
    with pytest.raises(tr.InputError, match="episodes: 0"):
        learner.regret_bound(priced, 0, 1.5)
    with pytest.raises(tr.InputError, match="delta: 2"):
        learner.regret_bound(priced, many, 1.5, 2)


def test_a_budget_without_room_fails_slater_s_condition(priced):
    least = float(tr.oracle.slater(priced).costs[0])
    tight = tr.problems.make("priced-jobs", budget=least)
    assert one(tr.doctor(tight, tr.PDPO.practical(tight, K), K), "slater-unknown").severity == "warning"


def test_without_a_model_it_says_what_cannot_be_known():
    sizes = Sizes(n_actions=4, horizon=10, dim=32)
    found = tr.doctor(sizes, tr.PDPO.experiment(sizes, 10_000), 10_000, budgets=[2.0])
    assert found.ids("error")[:2] == ["dual-inert", "budget-effective"]
    assert one(found, "slater-unknown").severity == "info"
    assert one(found, "contraction-slow").number == 99  # sqrt(K) - 1
    with pytest.raises(tr.InputError, match="budgets: missing"):
        tr.doctor(sizes, tr.PDPO.practical(sizes, 100), 100)


def agent_after(learner, episodes: int, planned: int = 10_000) -> tr.Agent:
    """An agent that has met four states in rooms that cost 1 a step."""

    def features(obs):
        phi = np.zeros((2, 8))
        phi[[0, 1], [obs, 4 + obs]] = 1.0
        return phi

    agent = tr.Agent(learner, features=features, horizon=3, n_actions=2, budgets=[1.0], episodes=planned, dim=8)
    random = np.random.default_rng(0)
    for _ in range(episodes):
        agent.begin(0)
        for _ in range(3):
            agent.act()
            agent.observe(1.0, int(random.integers(4)))
        agent.finish(np.zeros((3, 8)))
    return agent


def test_an_agent_is_judged_by_its_settings_and_its_status():
    sizes = Sizes(n_actions=2, horizon=3, dim=8)
    found = tr.doctor(agent_after(tr.PDPO.experiment(sizes, 10_000), 150))
    assert [f.severity for f in found.findings if f.id == "dual-inert"] == ["error", "warning"]
    assert "contraction-slow" in found.ids("warning") and "mixing-idle" in found.ids("warning")
    assert "slater-unknown" in found.ids("info")
    assert "Slater's constant" in found.facts["cannot be known without a model"]
    assert found.facts["episodes"] == "150 of 10,000"
    fresh = tr.doctor(agent_after(tr.PDPO.practical(sizes, 10_000), 0))
    assert fresh.ok, str(fresh)
    frozen = tr.doctor(agent_after(tr.PDPO.theory(sizes, 10_000), 0))
    assert {"policy-frozen", "step-slow", "dual-slow"} <= set(frozen.ids("error"))


def test_without_a_model_it_says_where_the_length_of_an_epoch_comes_from():
    """Nobody knows the epochs to come; the bound on their number may be far from them."""
    sizes = Sizes(n_actions=2, horizon=3, dim=8)
    found = tr.doctor(sizes, tr.PDPO.experiment(sizes, 100), 100, budgets=[1.0])
    assert "an epoch, with as many as there may be, has 1" in one(found, "step-slow").text
    warm = tr.doctor(sizes, tr.PDPO.practical(sizes, 100, alpha=1e-3), 100, budgets=[1.0])
    assert "the run has 100" in one(warm, "step-slow").text


def test_an_agent_brings_its_own_learner():
    agent = agent_after(tr.PDPO.practical(Sizes(n_actions=2, horizon=3, dim=8), 100), 0)
    assert tr.doctor(agent, episodes=500).facts["episodes"] == "0 of 500"
    with pytest.raises(tr.InputError, match=r"learner: int, wanted none.*doctor\(agent, episodes=K\)"):
        tr.doctor(agent, 500)


def test_several_constraints_are_judged_one_by_one():
    cmdp = tr.problems.make("random-linear", constraints=3)
    found = tr.doctor(cmdp, tr.PDPO.experiment(cmdp, K), K)
    assert [f.id for f in found.findings].count("dual-inert") == 3
    assert "constraint 2" in str(found)


def test_every_finding_has_a_known_id_a_severity_a_number_and_a_remedy_that_says_what_it_gives_up(jobs):
    entries = json.loads(paper(jobs, "experiment").to_json())
    assert [entry["severity"] for entry in entries] == sorted((e["severity"] for e in entries), key=SEVERITIES.index)
    for entry in entries:
        assert entry["id"] in IDS
        assert isinstance(entry["number"], float)
        assert entry["text"] and entry["inequality"] and entry["remedy"]
        if entry["id"] != "bound-vacuous":
            assert "give" in entry["remedy"]


def test_other_learners_are_not_judged_but_their_problem_is(priced):
    class Still:
        def start(self, cmdp, episodes):
            raise NotImplementedError

    found = tr.doctor(priced, Still(), K)
    assert found.ok and not found.judged
    assert "not judged" in found.facts["learner"]
    assert str(found) == "nothing found that speaks against the problem"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("jobs", None, 10), "doctor: str, wanted a LinearCMDP"),
        ((Sizes(2, 2, 2), "practical", 10), "learner str"),
        ((Sizes(2, 2, 2), tr.PDPO.practical(Sizes(2, 2, 2), 10), 0), "episodes: 0"),
        ((Sizes(2, 2, 2), tr.PDPO.practical(Sizes(2, 2, 2), 10), 10, None, "all"), "budgets: 'all'"),
        (
            (Sizes(2, 2, 2), tr.PDPO.practical(Sizes(2, 2, 2), 10), 10, None, [3.0]),
            r"budgets: \[3.0\], wanted numbers in",
        ),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(tr.InputError, match=message):
        tr.doctor(*given[:4], budgets=given[4] if len(given) > 4 else None)


def test_losses_that_no_run_would_take_are_refused(priced):
    learner = tr.PDPO.practical(priced, 100)
    with pytest.raises(tr.InputError, match="doctor: losses: str, wanted Profiles"):
        tr.doctor(priced, learner, 100, "drift")
    with pytest.raises(tr.InputError, match="doctor: losses: profiles"):
        tr.doctor(priced, learner, 100, tr.losses.make("drift", tr.problems.make("streaming"), 100))


def test_budgets_are_named_in_the_users_units_too(tmp_path):
    random = np.random.default_rng(0)
    transitions, rewards = random.dirichlet(np.ones(3), (4, 3, 2)), random.uniform(5, 25, (2, 4, 3, 2))
    utilities = random.uniform(0, 30, (4, 3, 2))
    cmdp = tr.LinearCMDP.from_tables(transitions, rewards=rewards, utilities=utilities, limits=[70.0])
    found = tr.doctor(cmdp, tr.PDPO.experiment(cmdp, 300), 300)
    assert found.facts["budgets"].endswith(" (a utility of 70)")
    width = float(rewards.max() - rewards.min())
    assert f"a loss of 1 is {width:.4g} of your rewards; a cost of 1 is" in found.facts["units"]
    texts = {finding.id: finding.text for finding in found.findings}
    for name in ("dual-inert", "budget-effective"):
        assert "(a utility of 70)" in texts[name]
    plain = tr.problems.make("streaming")
    assert "utility" not in str(tr.doctor(plain, tr.PDPO.experiment(plain, 300), 300).facts)
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 60), tr.PDPO.practical(cmdp, 60), 60, trace=True)
    run.save(tmp_path / "run")
    page = report(read_folder(tmp_path / "run"))
    assert page.count(found.facts["units"]) == 2  # in the doctor's section and in the certificate's
