"""The certificate: what applies holds on runs of every problem, and a record that was tampered with is found out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import tightrope as tr
from tightrope.theory import Certificate, certify

CASES = [
    ("job-scheduling", "experiment", {}),
    ("job-scheduling", "theory", {}),
    ("priced-jobs", "experiment", {}),
    ("random-linear", "experiment", {}),
    ("random-linear", "experiment", {"constraints": 3}),
    ("streaming", "working dual", {"budget": 0.3}),
]


def told(found: Certificate) -> str:
    return "\n".join(f"{r.name}: {r.computed} against {r.claimed} at {r.where}" for r in found.failures)


@pytest.mark.parametrize("name", tr.problems.names())
def test_every_row_that_applies_holds_on_every_ready_problem(runs, name):
    found = certify(runs.get(name))
    assert found.ok, told(found)
    assert sum(row.applies for row in found.rows) > 35


@pytest.mark.parametrize(("name", "preset", "parameters"), CASES)
def test_every_row_that_applies_holds_whatever_the_settings(runs, name, preset, parameters):
    found = certify(runs.get(name, preset, **parameters))
    assert found.ok, told(found)
    assert sum(row.applies for row in found.rows) > 40


def test_with_the_theory_s_constants_the_good_event_and_the_main_theorem_apply(runs):
    found = certify(runs.get("job-scheduling", "theory"))
    for name in ("E1 and E2 with the run's beta_b", "optimism", "main theorem, regret", "main theorem, violation"):
        assert found.row(name).applies and found.row(name).holds, name
        assert found.row(name).counted == found.row(name).places
    assert found.row("E1").claimed == pytest.approx(2 * np.sqrt(2 * 20 * np.log(6 * 1200 * 10 / 0.1)))


def test_the_drift_analysis_applies_while_the_dual_is_at_work(runs):
    run = runs.get("streaming", "working dual", budget=0.3, episodes=3000)
    found = certify(run)
    assert found.ok, told(found)
    assert run.extremes.dual_max[0] > 1.0
    for name in ("Lyapunov drift, an episode", "Lyapunov drift, a mixing period", "bound of the dual"):
        assert found.row(name).counted > 40, name
    assert found.row("E1 and E2 with the run's beta_b").applies is False


def test_rows_whose_hypotheses_fail_do_not_apply(runs):
    found = certify(runs.get("priced-jobs", "practical"))
    for name in ("E2", "Lyapunov drift, a mixing period", "cost of optimism", "main theorem, regret"):
        assert not found.row(name).applies, name


def test_rows_whose_proofs_want_a_dual_pulled_down_or_an_offset_of_log_k_say_nothing_without(runs):
    """`tighten` pulls the dual of `practical` up."""
    cmdp = tr.problems.make("priced-jobs")
    losses, pulled = tr.losses.make("alternating", cmdp, 300), tr.PDPO.practical(cmdp, 300)
    for learner, applies in ((pulled, False), (pulled.replace(tighten=0.0), True)):
        row = certify(tr.simulate(cmdp, losses, learner, 300, trace=True)).row("dual term")
        assert row.applies is applies and row.holds
    wide = {"beta_b": 20.0, "beta_w": 80.0 * math.log(300)}
    log_k = math.log(300)
    for offset, optimism, applies in ((log_k - 1.0, 1.0, False), (log_k, 1.0, True), (log_k, 2.0, False)):
        learner = pulled.replace(**wide, optimism=optimism, contraction_offset=offset, alpha=1e-6, eta=1e-6)
        found = certify(tr.simulate(cmdp, losses, learner, 300, trace=True))
        assert found.row("E1 and E2 with the run's beta_b").computed < 20.0
        assert found.row("cost of optimism, summed").applies is applies


def test_the_identities_hold_to_a_millionth_and_their_terms_are_curves(runs):
    run = runs.get("priced-jobs", "practical")
    terms = certify(run).decomposition
    total = terms.optimism_loss + terms.dual + terms.primal - terms.dropped
    largest = max(np.abs(curve).max() for curve in (terms.optimism_loss, terms.dual, terms.primal))
    assert np.abs(total - run.regret).max() <= 1e-6 * largest
    assert terms.optimism_cost + terms.enforcement == pytest.approx(run.violation, rel=1e-6)
    assert np.ptp(terms.dual) > 1.0
    assert terms.frame().columns[0] == "episodes"
    assert len(terms.frame()) == len(run.episodes)


def test_the_sum_that_the_paper_drops_is_recorded():
    """Losses that call for idling first, and for processing far longer: pi* keeps well below a budget that the dual defends."""
    cmdp = tr.problems.make("priced-jobs")
    idle, process = np.tile([0.0, 1.0], (10, 10)), np.tile([1.0, 0.0], (10, 10))  # [H, d], column s * A + a
    losses = tr.losses.Profiles(np.stack([idle, process]), (np.arange(1500) >= 300).astype(int))
    run = tr.simulate(cmdp, losses, tr.PDPO.practical(cmdp, 1500), 1500, trace=True)
    found = certify(run)
    assert found.ok, told(found)
    assert run.comparator is not None and run.comparator.costs[0] < 6.0
    assert found.decomposition.dropped[-1] > 10.0
    assert found.row("regret").holds


def test_a_reacting_adversary_a_random_start_and_runs_without_evaluation_are_certified():
    cmdp = tr.problems.make("streaming")
    start = np.array([0.4, 0.1, 0.0, 0.3, 0.2, 0.0])
    anywhere = tr.LinearCMDP(
        cmdp.feature_table, cmdp.kernel_table, cmdp.cost_weights, [1.6], start, loss_profiles=cmdp.loss_profiles
    )
    learner, losses = tr.PDPO.experiment(cmdp, 400), tr.losses.make("best-response", anywhere, 400)
    found = certify(tr.simulate(anywhere, losses, learner, 400, trace=True))
    assert found.ok, told(found)
    assert not found.row("Lyapunov drift, an episode").applies  # the paper's episodes start in one state
    paid = tr.simulate(cmdp, losses, learner, 400, trace=True, evaluate=False)
    found = certify(paid)
    assert found.ok, told(found)
    assert not found.row("record: exact values").applies


def test_units_of_the_user_s_own_are_seen_through():
    random = np.random.default_rng(0)
    transitions, rewards = random.dirichlet(np.ones(3), (4, 3, 2)), random.uniform(5, 25, (2, 4, 3, 2))
    utilities = random.uniform(0, 3, (4, 3, 2))
    cmdp = tr.LinearCMDP.from_tables(transitions, rewards=rewards, utilities=utilities, limits=[5.0])
    losses = tr.losses.make("alternating", cmdp, 300)
    found = certify(tr.simulate(cmdp, losses, tr.PDPO.practical(cmdp, 300), 300, trace=True))
    assert found.ok, told(found)


def test_tightened_budgets_capped_duals_and_many_mixings_are_followed():
    cmdp, seen = tr.problems.make("priced-jobs"), []
    settings = {"alpha": 0.3, "eta": 0.1, "theta": 0.05, "beta_b": 0.5, "beta_w": 3.0, "mixing_period": 13}
    learner = tr.PDPO(**settings, restart="warm", tighten=300.0, guard=1.0, dual_cap=0.4, optimism=5.0)
    run = tr.simulate(cmdp, tr.losses.make("switching", cmdp, 700, period=50), learner, 700, trace=True)
    found = certify(run, progress=lambda done, of: seen.append((done, of)))
    assert found.ok, told(found)
    assert run.extremes.dual_max[0] == 0.4
    assert seen[-1] == (700, 700) and len(seen) > 1


@pytest.mark.slow
def test_the_paper_s_experiment_is_certified_from_its_folder(runs, tmp_path):
    run = runs.get("job-scheduling", "experiment", episodes=20_000, kind="drift")
    run.save(tmp_path / "run")
    found = certify(tr.Run.load(tmp_path / "run"))
    assert found.ok, told(found)
    for name in (
        "E2",
        "optimism",
        "Lyapunov drift, an episode",
        "cost of optimism",
        "primal term",
        "bound of the dual",
    ):
        assert found.row(name).applies, name


@pytest.mark.slow
@pytest.mark.parametrize("name", tr.problems.names())
@pytest.mark.parametrize("kind", ["drift", "switching", "best-response"])
@pytest.mark.parametrize("preset", ["practical", "experiment"])
def test_every_row_that_applies_holds_whoever_sets_the_losses(runs, name, kind, preset):
    found = certify(runs.get(name, preset, kind=kind, seed=3, episodes=2000))
    assert found.ok, told(found)
    assert sum(row.applies for row in found.rows) > 40


# ---- tampering ------------------------------------------------------------------------------------------------------


def failing(run: tr.Run) -> set[str]:
    return {row.name for row in certify(run).failures}


def test_a_changed_dual_is_found(runs):
    run = runs.copy("priced-jobs")
    run.trace.dual[700] += 1e-3
    assert "record: dual" in failing(run)
    assert "policies from their parameters" in failing(run)


def test_a_policy_from_another_run_is_found(runs):
    run, other = runs.copy("priced-jobs"), runs.get("priced-jobs", seed=1)
    run.trace.policies[600] = other.trace.policies[600]
    found = failing(run)
    assert {"record: values", "record: policies", "record: exact values", "policies from their parameters"} <= found


@pytest.mark.parametrize("name", ["job-scheduling", "random-linear"])
def test_a_swapped_cost_is_found(runs, name):
    run = runs.copy(name)
    costs = run.trace.costs
    other = int(np.flatnonzero(np.abs(costs[:, 2, 0] - costs[100, 2, 0]) > 0.01)[0])
    costs[[100, other], 2] = costs[[other, 100], 2]
    assert {"record: costs", "record: values"} <= failing(run)


def test_a_swapped_loss_is_found(runs):
    run = runs.copy("random-linear")
    run.trace.loss_weights[[10, 11]] = run.trace.loss_weights[[11, 10]]
    assert {"record: values", "record: exact values"} <= failing(run)


def test_a_transition_that_cannot_happen_is_found(runs):
    run = runs.copy("job-scheduling")
    run.trace.states[50, 3] = 9 if run.trace.states[50, 3] != 9 else 0
    assert "record: what happened can happen" in failing(run)


def test_places_are_told_with_episodes_and_steps_from_1_as_in_the_paper(runs):
    run = runs.copy("job-scheduling")
    run.trace.policies[0, 0, 3, 0] += 1e-3
    run.trace.policies[0, 0, 3, 1] -= 1e-3
    assert certify(run).row("record: policies").where == "episode 1, step 1, state 3, action 0"
    run = runs.copy("streaming")
    run.trace.dual[-1] += 1.0
    assert certify(run).row("record: dual").where == f"after episode {len(run.trace.states):,}, constraint 0"


def test_a_value_and_an_epoch_that_were_moved_are_found(runs):
    run = runs.copy("streaming")
    run.trace.values[321, 1] += 1e-6
    assert {"record: values", "record: dual"} <= failing(run)
    run = runs.copy("streaming", "experiment")
    run.trace.epoch_starts[-1] += 1
    assert {"record: epochs", "determinants in an epoch"} & failing(run)


def test_a_curve_that_was_drawn_by_hand_is_found(runs):
    run = runs.copy("streaming")
    run.violation[-1] -= 0.5
    try:
        assert {"record: curves", "violation"} <= failing(run)
    finally:
        run.violation[-1] += 0.5


@pytest.mark.parametrize("curve", ["regret", "loss", "violation", "hard_violation", "dual", "epoch"])
def test_no_curve_can_be_changed_alone(runs, curve):
    run = runs.copy("streaming")
    drawn = getattr(run, curve).copy()
    drawn[-1] += 1
    assert "record: curves" in failing(replace(run, **{curve: drawn}))


def test_extremes_that_no_episode_had_are_found(runs):
    run = runs.copy("streaming")
    kept = run.extremes
    for changed in (
        {"dual_max": kept.dual_max / 2},
        {"violation_peak": kept.violation_peak / 2},
        {"violation_peak_episode": kept.violation_peak_episode + 40},
        {"violation_zero_crossing": kept.violation_zero_crossing + 1},
    ):
        assert failing(replace(run, extremes=replace(kept, **changed))) == {"record: extremes"}, changed


def test_an_average_policy_of_another_run_is_found(runs):
    run = replace(runs.copy("streaming"), occupancy=runs.get("streaming", seed=1).occupancy)
    assert failing(run) == {"record: occupancy"}


def test_a_comparator_that_is_easier_to_beat_is_found(runs):
    """Uniform play in place of the best policy, with a regret curve that fits it."""
    run = runs.copy("priced-jobs")
    uniform = np.full(run.policy.shape, 1.0 / run.cmdp.n_actions)
    losses = run.trace.loss_weights
    worth = np.einsum("khd,hd->k", losses, tr.oracle.feature_occupancy(run.cmdp, uniform))
    comparator = replace(run.comparator, policy=uniform, value=float(worth.mean()))
    easier = replace(run, comparator=comparator, regret=run.loss - np.cumsum(worth)[run.episodes - 1])
    assert failing(easier) == {"record: comparator"}
    assert certify(easier).row("record: comparator").where == "the best value"
    better = replace(run.comparator, value=run.comparator.value - 0.1)
    assert failing(replace(run, comparator=better)) == {"record: comparator"}


def test_an_epoch_that_was_left_out_is_found_even_where_nothing_learns(runs):
    """With the theory's constants the policy never leaves uniform and the dual stays at zero: a restart changes nothing."""
    run = runs.copy("job-scheduling", "theory")
    run.trace.epoch_starts = np.delete(run.trace.epoch_starts, 3)
    assert "record: epochs, none missed" in failing(run)


def test_an_episode_that_changed_places_with_another_is_found(runs):
    run = runs.copy("priced-jobs")
    for name in ("states", "actions", "costs", "loss_weights", "dual", "values", "exact_values", "policies"):
        array = getattr(run.trace, name)
        array[[100, 130]] = array[[130, 100]]
    assert {"record: values", "record: dual", "record: policies"} <= failing(run)


@pytest.mark.parametrize("setting", ["alpha", "eta", "beta_b", "beta_w", "theta"])
def test_settings_that_the_run_did_not_have_are_found(runs, setting):
    run = runs.copy("priced-jobs")
    learner = dict(run.about["learner"])
    learner[setting] *= 1.01
    run.about = {**run.about, "learner": learner}
    assert failing(run) & {"record: values", "record: dual", "record: policies"}


def test_the_last_dual_and_a_scaled_policy_are_found(runs):
    run = runs.copy("priced-jobs")
    run.trace.dual[-1] += 1e-6
    assert failing(run) == {"record: dual"}
    run = runs.copy("priced-jobs")
    run.trace.policies[70, 1] *= 1 + 1e-6
    assert "record: probabilities" in failing(run)


# ---- bad input ------------------------------------------------------------------------------------------------------


def test_runs_without_a_trace_or_of_another_learner_are_refused(runs):
    cmdp = tr.problems.make("streaming")
    losses = tr.losses.make("fixed", cmdp, 10)
    with pytest.raises(tr.InputError, match="no trace"):
        certify(tr.simulate(cmdp, losses, tr.PDPO.practical(cmdp, 10), 10))
    run = runs.copy("streaming")
    run.about = {**run.about, "learner": {"name": "stranger"}}
    with pytest.raises(tr.InputError, match="learner 'stranger'"):
        certify(run)


def test_what_is_no_run_is_refused():
    with pytest.raises(tr.InputError, match="certify: None, wanted a Run"):
        certify(None)  # pyright: ignore[reportArgumentType]


def test_arrays_that_do_not_fit_are_named_all_at_once(runs):
    run = runs.copy("streaming")
    run.trace.costs = run.trace.costs[:-1]
    run.trace.dual[3] = np.nan
    with pytest.raises(tr.InputError) as caught:
        certify(run)
    assert [line.split(":")[1].strip() for line in caught.value.problems] == ["trace.costs", "trace.dual"]
    run = runs.copy("streaming")
    with pytest.raises(tr.InputError, match=r"run\.episodes"):
        certify(replace(run, episodes=run.episodes + 1))
    with pytest.raises(tr.InputError, match="delta"):
        certify(runs.get("streaming"), delta=0.0)
