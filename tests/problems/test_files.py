"""A file that holds no problem is refused with lines that name the file and the array."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr


@pytest.fixture
def refused(tmp_path, parts):
    """The lines that a file is refused with; arrays replaced, or left out where None is given."""

    def refuse(**spoilt) -> list[str]:
        path = tmp_path / "mine.npz"
        np.savez(path, **{name: array for name, array in (parts | spoilt).items() if array is not None})
        with pytest.raises(tr.InputError) as error:
            tr.LinearCMDP.load(path)
        assert all(line.startswith(f"{path}: ") and "\n" not in line for line in error.value.problems)
        return [line.removeprefix(f"{path}: ") for line in error.value.problems]

    return refuse


def test_a_file_with_plain_arrays_is_read(tmp_path, parts):
    np.savez(tmp_path / "mine.npz", **parts)
    cmdp = tr.LinearCMDP.load(tmp_path / "mine.npz")
    assert (cmdp.digest, cmdp.name) == (tr.LinearCMDP(**parts).digest, "mine")


def test_a_budget_of_nan_is_named(refused):
    assert refused(budgets=np.array([np.nan])) == [
        "budgets: contains NaN or infinity in 1 of 1 entries, the first at [0]"
    ]


def test_every_missing_array_is_named(refused):
    told = refused(features=None, budgets=None)
    assert [line.split(";")[0] for line in told] == ["features: missing", "budgets: missing"]


def test_an_unknown_array_is_told_with_the_nearest_known_one(refused):
    assert refused(initial_stat=np.array(1)) == ["initial_stat: unknown array; did you mean 'initial_state'?"]


@pytest.mark.parametrize("bad", [np.array(["0.5"]), np.array([True]), np.array([1j])])
def test_a_wrong_dtype_is_named(refused, bad):
    (line,) = refused(budgets=bad)
    assert line.startswith("budgets: array(")
    assert "wanted" in line


def test_pickled_objects_are_refused_unopened(refused):
    (line,) = refused(budgets=np.array([{"a": 1}], dtype=object))
    assert line.startswith("budgets: cannot be read, wanted an array of numbers (")


def test_a_file_that_is_not_there_a_folder_and_bytes_that_are_no_zip_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("not a zip")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "single.npy", np.zeros(3))
    for name in ("none.npz", "text.npz", "empty.npz", "single.npy", "."):
        with pytest.raises(tr.InputError) as error:
            tr.LinearCMDP.load(tmp_path / name)
        (line,) = error.value.problems
        assert line.startswith(str(tmp_path / name))
        assert "wanted a .npz" in line


def test_a_file_cut_short_or_with_a_flipped_byte_is_refused(tmp_path):
    tr.problems.make("random-linear").save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for spoilt in (whole[: len(whole) // 2], bytes(flipped)):
        (tmp_path / "spoilt.npz").write_bytes(spoilt)
        with pytest.raises(tr.InputError, match=r"spoilt\.npz: .*(readable|cannot be read)"):
            tr.LinearCMDP.load(tmp_path / "spoilt.npz")


@pytest.mark.parametrize(
    ("name", "bad", "start"),
    [
        ("feature_index", np.full((6, 2), 12), "features: positions from 12 to 12, wanted 0..11"),
        ("feature_index", np.zeros((6, 2)), "feature_index: wanted whole numbers"),
        ("feature_index", np.zeros((5, 2), dtype=int), "features: positions (5, 2) and values (6, 2)"),
        ("feature_dim", np.array([12, 12]), "feature_dim: shape (2,)"),
        ("feature_value", np.array("x"), "feature_value: wanted numbers"),
        ("kernel_which", np.array([0, 0, 0, 1]), "kernel_1: missing"),
        ("kernel_which", np.array([-1]), "kernel_which: wanted"),
        ("kernel_0_indices", np.full(36, 99), "kernel_0: not a sparse matrix"),
        ("kernel_0_indptr", np.array([0]), "kernel_0: not a sparse matrix"),
        ("kernel_0_shape", np.array([3, 3]), "kernel_0: not a sparse matrix"),
        ("about", np.array("{"), "about: wanted an object in JSON"),
        ("about", np.array('{"units": [3]}'), "about: units, wanted"),
        ("about", np.array("[]"), "about: wanted an object in JSON"),
    ],
)
def test_a_saved_file_with_one_spoilt_array_is_refused_by_its_name(tmp_path, name, bad, start):
    path = tmp_path / "spoilt.npz"
    tr.problems.make("streaming").save(path)
    with np.load(path) as kept:
        arrays = dict(kept)
    assert name in arrays
    np.savez(path, **(arrays | {name: bad}))
    with pytest.raises(tr.InputError) as error:
        tr.LinearCMDP.load(path)
    assert any(line.startswith(f"{path}: {start}") for line in error.value.problems), error.value.problems
