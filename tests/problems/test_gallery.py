"""The ready problems are the papers' and refuse parameters that make no sense, in one line each."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr
from tightrope import oracle


@pytest.mark.parametrize("name", tr.problems.names())
def test_a_ready_problem_is_sound_has_two_profiles_and_knows_its_parameters(name):
    cmdp = tr.problems.make(name)
    cmdp.check()
    assert cmdp.name == name
    assert cmdp.loss_profiles is not None
    assert cmdp.loss_profiles.shape == (2, cmdp.horizon, cmdp.dim)
    assert set(cmdp.parameters) == set(tr.problems.parameters(name))
    assert tr.problems.make(name, **cmdp.parameters).digest == cmdp.digest
    assert oracle.slater(cmdp).gamma > 0


def test_job_scheduling_is_the_papers():
    cmdp = tr.problems.make("job-scheduling")
    assert (cmdp.n_states, cmdp.n_actions, cmdp.dim, cmdp.horizon) == (10, 2, 20, 10)
    assert (cmdp.budgets.tolist(), cmdp.initial_state) == ([5.6], 9)
    chances = cmdp.kernel[0].reshape(10, 2, 10)
    np.testing.assert_array_equal(chances[:, 0], np.eye(10))
    #                 from 9:   to 9, 8, 7
    assert chances[9, 1, 7:].tolist() == [0.8, 0.1, 0.1]
    assert chances[1, 1, 0] == pytest.approx(0.9)  # two jobs or one leave none
    assert chances[0, 1, 0] == pytest.approx(1.0)
    assert cmdp.loss_profiles is not None
    first, second = cmdp.losses(cmdp.loss_profiles)
    assert (first[:, :, 0] == 1.0).all() and (second[:, :, 0] == 1.0).all()
    # h, counted from 1:                1    2    3     4     5     6     7    8    9    10
    assert first[:, 4, 1].tolist() == [0.2, 0.2, 0.55, 0.55, 0.55, 0.55, 0.2, 0.2, 0.2, 0.2]
    assert second[:, 4, 1].tolist() == [0.2, 0.2, 0.2, 0.6, 0.6, 0.6, 0.2, 0.2, 0.2, 0.2]
    assert cmdp.transition_costs is not None
    on = cmdp.transition_costs[0, 3]
    assert (on[9, 1, 7], on[9, 1, 8], on[9, 1, 9], on[9, 0, 9], on[0, 1, 0]) == (0.0, 0.5, 1.0, 1.0, 1.0)


def test_priced_jobs_have_the_same_dynamics_and_losses_that_pull_the_other_way():
    jobs, priced = tr.problems.make("job-scheduling"), tr.problems.make("priced-jobs")
    np.testing.assert_array_equal(jobs.kernel, priced.kernel)
    np.testing.assert_array_equal(jobs.cost_weights, priced.cost_weights)
    assert priced.budgets.tolist() == [7.0]
    assert priced.loss_profiles is not None
    tables = priced.losses(priced.loss_profiles)
    assert (tables[..., 0] == 0).all() and (tables[..., 1] > 0).all()
    assert oracle.best_policy(priced, priced.loss_profiles[0]).multipliers[0] > 0.1  # the budget binds


def test_streaming_fills_and_empties_its_buffer_as_stated():
    cmdp = tr.problems.make("streaming")
    chances = cmdp.kernel[0].reshape(6, 2, 6)
    # fast arrives with 0.7, slow with 0.3, a packet leaves with 0.25:   down       stay                        up
    np.testing.assert_allclose(chances[2, 1, 1:4], [0.3 * 0.25, 0.7 * 0.25 + 0.3 * 0.75, 0.7 * 0.75], atol=1e-15)
    np.testing.assert_allclose(chances[2, 0, 1:4], [0.7 * 0.25, 0.3 * 0.25 + 0.7 * 0.75, 0.3 * 0.75], atol=1e-15)
    np.testing.assert_allclose(chances[0, 1, :2], [1 - 0.7 * 0.75, 0.7 * 0.75], atol=1e-15)
    np.testing.assert_allclose(chances[5, 0, 4:], [0.7 * 0.25, 1 - 0.7 * 0.25], atol=1e-15)
    assert cmdp.loss_profiles is not None
    first, second = cmdp.losses(cmdp.loss_profiles)[:, 0, :, 0]
    assert (first.tolist(), second.tolist()) == ([1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0])
    one, same, other = (tr.problems.make("streaming", seed=seed) for seed in (1, 1, 2))
    assert one.digest == same.digest != other.digest


def test_random_linear_is_the_same_for_the_same_seed_and_its_largest_values_are_one():
    one = tr.problems.make("random-linear", seed=3, constraints=2)
    assert one.digest == tr.problems.make("random-linear", seed=3, constraints=2).digest
    assert one.digest != tr.problems.make("random-linear", seed=4, constraints=2).digest
    assert one.loss_profiles is not None
    for weights in (*one.cost_weights.swapaxes(0, 1), *one.loss_profiles):
        assert one.losses(weights).max() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (1, 1, 64, 2, 3), (2, 3, 40, 1, 1), (30, 2, 2, 3, 5)])
def test_random_linear_is_sound_at_every_size(sizes):
    names = ("n_states", "n_actions", "dim", "horizon", "constraints")
    cmdp = tr.problems.make("random-linear", **dict(zip(names, sizes)))
    cmdp.check()
    assert (cmdp.n_states, cmdp.n_actions, cmdp.dim, cmdp.horizon, cmdp.n_constraints) == sizes


@pytest.mark.parametrize(
    ("name", "given", "fields"),
    [
        ("job-scheduling", {"budget": "5.6"}, ["budget"]),
        ("job-scheduling", {"budget": None}, ["budget"]),
        ("job-scheduling", {"budget": float("nan")}, ["budget"]),
        ("job-scheduling", {"budget": 10.5}, ["budget"]),
        ("priced-jobs", {"budget": True}, ["budget"]),
        ("priced-jobs", {"budget": [7.0]}, ["budget"]),
        ("streaming", {"budget": -1, "seed": -1}, ["budget", "seed"]),
        ("streaming", {"seed": 0.0}, ["seed"]),
        (
            "random-linear",
            {"n_states": 2.0, "dim": "a", "horizon": True, "seed": -3},
            ["n_states", "dim", "horizon", "seed"],
        ),
        ("random-linear", {"constraints": 0}, ["constraints"]),
        ("random-linear", {"constraints": 3, "budget": [1.0, 2.0]}, ["budget"]),
        ("random-linear", {"constraints": 2, "budget": [1.0, 99.0]}, ["budget[1]"]),
        ("random-linear", {"budget": 10**400}, ["budget"]),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused_in_one_line(name, given, fields):
    with pytest.raises(tr.InputError) as refused:
        tr.problems.make(name, **given)
    assert [line.split(": ")[0] for line in refused.value.problems] == fields
    assert all("wanted" in line for line in refused.value.problems)


def test_an_unknown_name_or_parameter_is_refused_with_the_nearest_known_one():
    with pytest.raises(tr.InputError, match="unknown problem 'job-schedulin'; did you mean 'job-scheduling'"):
        tr.problems.make("job-schedulin")
    with pytest.raises(tr.InputError, match="problem 'streaming' has no parameter 'budgt'; did you mean 'budget'"):
        tr.problems.make("streaming", budgt=1.0)
    with pytest.raises(tr.InputError, match="unknown problem 3"):
        tr.problems.make(3)  # pyright: ignore[reportArgumentType]


def test_numpy_numbers_serve_as_parameters_and_can_be_kept(tmp_path):
    cmdp = tr.problems.make("random-linear", n_states=np.int64(4), seed=np.uint8(2), budget=np.float32(1.5))
    cmdp.save(tmp_path / "kept.npz")
    assert tr.LinearCMDP.load(tmp_path / "kept.npz").parameters["n_states"] == 4
