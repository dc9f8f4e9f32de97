"""A problem does not change, is itself in every form, and comes back from a file as it went."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import tightrope as tr
from tightrope.problems.tables import AxisFeatures, DenseFeatures


def test_nothing_of_a_problem_can_be_set_or_deleted(parts):
    cmdp = tr.LinearCMDP(**parts)
    with pytest.raises(AttributeError, match="does not change: cannot set 'budgets'"):
        cmdp.budgets = np.array([0.5])
    with pytest.raises(AttributeError, match="cannot set 'horizon'"):
        cmdp.horizon = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="cannot delete 'budgets'"):
        del cmdp.budgets
    with pytest.raises(TypeError):
        cmdp.parameters["budget"] = 1.0  # pyright: ignore[reportIndexIssue]


@pytest.mark.parametrize("name", ["job-scheduling", "random-linear"])
def test_no_array_of_a_problem_can_be_written_to(name):
    cmdp = tr.problems.make(name)
    held = {
        key: getattr(cmdp, key) for key in ("features", "kernel", "cost_weights", "budgets", "initial_distribution")
    }
    held |= {"loss_profiles": cmdp.loss_profiles} | {
        str(i): a for i, a in enumerate(cmdp.feature_table.arrays().values())
    }
    for key, array in held.items():
        if array.ndim:
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
            assert not array.flags.writeable, key


@pytest.mark.parametrize("part", ["features", "kernel", "cost_weights", "budgets"])
def test_writing_to_what_was_given_changes_nothing(parts, part):
    given = parts[part]
    view = given.view()
    view.flags.writeable = False  # a closed view of an open array is still open to changes
    cmdp = tr.LinearCMDP(**(parts | {part: view}))
    before = getattr(cmdp, part).copy()
    given[...] = 0.125
    np.testing.assert_array_equal(getattr(cmdp, part), before)


def test_a_sparse_kernel_is_copied_too(parts):
    step = sp.csr_array(parts["kernel"][0])
    cmdp = tr.LinearCMDP(**(parts | {"kernel": [step, step]}))
    step.data[:] = 0.0
    np.testing.assert_array_equal(cmdp.kernel, parts["kernel"])


def test_axis_features_answer_as_dense_ones_do():
    random = np.random.default_rng(0)
    index, value = random.integers(0, 5, size=(4, 3)), random.uniform(-1, 1, size=(4, 3))
    axis = AxisFeatures(index, value, 5)
    dense = DenseFeatures(axis.dense)
    weights, amounts = random.normal(size=(2, 6, 5)), random.uniform(size=(4, 3))
    np.testing.assert_allclose(axis.apply(weights), dense.apply(weights), rtol=0, atol=1e-14)
    np.testing.assert_allclose(axis.apply(weights), np.einsum("sad,lhd->lhsa", axis.dense, weights), rtol=0, atol=1e-14)
    np.testing.assert_allclose(axis.gather(amounts), dense.gather(amounts), rtol=0, atol=1e-14)
    np.testing.assert_allclose(axis.norms(), dense.norms(), rtol=0, atol=1e-14)


def test_a_kernel_that_does_not_depend_on_the_step_is_stored_once(parts):
    assert len(tr.LinearCMDP(**parts).kernel_table.steps) == 1
    other = parts["kernel"].copy()
    other[1, 0] = [0.0, 0.0, 1.0]
    assert len(tr.LinearCMDP(**(parts | {"kernel": other})).kernel_table.steps) == 2


def test_the_digest_knows_the_problem_and_not_its_storage(parts):
    digest = tr.LinearCMDP(**parts).digest
    assert tr.LinearCMDP(**(parts | {"kernel": [sp.csc_array(step) for step in parts["kernel"]]})).digest == digest
    assert (
        tr.LinearCMDP(**(parts | {"kernel": [parts["kernel"][0], sp.coo_array(parts["kernel"][1])]})).digest == digest
    )
    assert tr.LinearCMDP(**(parts | {"initial_state": np.array([1.0, 0.0, 0.0])})).digest == digest
    for part in ("budgets", "cost_weights"):
        assert tr.LinearCMDP(**(parts | {part: parts[part] * 0.5})).digest != digest
    assert tr.LinearCMDP(**(parts | {"initial_state": 1})).digest != digest


@pytest.mark.parametrize("name", tr.problems.names())
def test_a_copy_and_a_pickle_are_the_same_closed_problem(name):
    cmdp = tr.problems.make(name)
    for other in (copy.deepcopy(cmdp), pickle.loads(pickle.dumps(cmdp))):
        assert (other.digest, other.name, other.parameters) == (cmdp.digest, cmdp.name, cmdp.parameters)
        assert not other.budgets.flags.writeable


def test_transitions_are_the_products_of_features_and_measures(parts):
    for kernel in (parts["kernel"], [sp.csr_array(step) for step in parts["kernel"]]):
        made = np.asarray(tr.LinearCMDP(**(parts | {"kernel": kernel})).transitions(1))
        np.testing.assert_allclose(made, parts["features"].reshape(6, 2) @ parts["kernel"][1], rtol=0, atol=1e-15)


@dataclass
class Number:
    """Something that is not JSON."""

    value: int


@pytest.mark.parametrize("name", tr.problems.names())
def test_a_problem_comes_back_from_its_file_as_it_went(tmp_path, name):
    cmdp = tr.problems.make(name)
    cmdp.save(tmp_path / "kept.npz")
    back = tr.LinearCMDP.load(tmp_path / "kept.npz")
    assert (back.digest, back.name, dict(back.parameters)) == (cmdp.digest, name, dict(cmdp.parameters))
    assert [type(step) for step in back.kernel_table.steps] == [type(step) for step in cmdp.kernel_table.steps]
    assert not back.kernel.flags.writeable
    assert [path.name for path in tmp_path.iterdir()] == ["kept.npz"]


def test_units_and_strange_parameters_are_kept_in_the_file(tmp_path):
    chances = np.full((2, 2, 2), 0.5)
    table = np.arange(8.0).reshape(2, 2, 2)
    cmdp = tr.LinearCMDP.from_tables(
        chances, utilities=table, limits=[3.0], rewards=-table, parameters={"n": np.int64(3), "x": Number(4)}
    )
    cmdp.save(tmp_path / "kept.npz")
    back = tr.LinearCMDP.load(tmp_path / "kept.npz")
    assert back.units == cmdp.units
    assert back.parameters == {"n": 3, "x": "Number(value=4)"}


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, parts):
    path = tmp_path / "kept.npz"
    cmdp = tr.LinearCMDP(**parts)
    cmdp.save(path)
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="the disk is full"):
        tr.LinearCMDP(**(parts | {"budgets": [0.5]})).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
