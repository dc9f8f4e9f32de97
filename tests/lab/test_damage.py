"""Every file of a store, cut short or with a bit turned, is found, named, set aside and made again; never used."""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope import safe_files
from tightrope.errors import InputError
from tightrope.lab.query import DamagedRunsWarning
from tightrope.lab.runner import run_specs
from tightrope.lab.store import Store

FILES = ("manifest.json", "curves.parquet", "policies.npz", "trace.npz", "host.json")


def _turned(content: bytes, place: int, bit: int = 16) -> bytes:
    return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]


SPOILS = {
    "cut": lambda content: content[: 2 * len(content) // 3],
    "emptied": lambda content: b"",
    "bit": lambda content: _turned(content, len(content) // 2),
    "last bit": lambda content: _turned(content, len(content) - 1, 1),
    "gone": None,
}


def test_a_spoilt_file_is_named_set_aside_and_made_again(plan_of, result_of, tmp_path):
    plan, store = plan_of(episodes=60, seeds=2, trace=True), Store(tmp_path)
    run_specs(plan.specs, store)
    sound = result_of(tmp_path)
    victim, other = store.run_keys()
    untouched = (tmp_path / other / "host.json").read_bytes()
    count = 0
    for name in FILES:
        for spoil in SPOILS.values():
            path = tmp_path / victim / name
            if spoil is None:
                path.unlink()
            else:
                path.write_bytes(spoil(path.read_bytes()))
            with pytest.raises(InputError, match=victim):
                tr.Run.load(tmp_path / victim)
            results = run_specs(plan.specs, store)
            count += 1
            (note,) = results.notes
            assert victim in note and f".lab/damaged/{count}, the run is made again" in note
            assert name in note or (name == "manifest.json" and "not a run" in note)
            assert (tmp_path / ".lab" / "damaged" / str(count) / victim).is_dir()
            assert results.reused == 1
            assert result_of(tmp_path) == sound
    assert (tmp_path / other / "host.json").read_bytes() == untouched


def test_lists_leave_damaged_runs_out_with_a_warning_and_curves_refuse_them(plan_of, tmp_path):
    run_specs(plan_of(episodes=60, seeds=3).specs, Store(tmp_path))
    first, second, third = Store(tmp_path).run_keys()
    manifest = tmp_path / first / "manifest.json"
    manifest.write_bytes(SPOILS["bit"](manifest.read_bytes()))
    with pytest.warns(DamagedRunsWarning, match=first):
        assert tr.lab.runs(tmp_path)["run"].to_list() == [second, third]
    curves = tmp_path / second / "curves.parquet"
    curves.write_bytes(SPOILS["cut"](curves.read_bytes()))
    with pytest.raises(InputError) as error:
        tr.lab.open(tmp_path)
    assert [first in error.value.problems[0], second in error.value.problems[1]] == [True, True]


def test_a_spoilt_record_of_what_was_asked_costs_only_that(plan_of, tmp_path):
    plan = plan_of(episodes=60, sweep={"learner.preset": ["practical", "experiment"]})
    run_specs(plan.specs, Store(tmp_path), **plan.record)
    assert set(tr.lab.runs(tmp_path)["learner.preset"]) == {"practical", "experiment"}
    (path,) = (tmp_path / ".lab" / "specs").iterdir()
    path.write_bytes(SPOILS["bit"](path.read_bytes()))
    frame = tr.lab.runs(tmp_path)
    assert len(frame) == 6 and "learner.preset" not in frame.columns


def test_final_numbers_that_are_not_where_the_curves_end_are_refused_also_under_a_new_seal(plan_of, tmp_path):
    store = Store(tmp_path)
    run_specs(plan_of(episodes=60, seeds=1).specs, store)
    (key,) = store.run_keys()
    path = tmp_path / key / "manifest.json"
    told = safe_files.read_sealed(path)
    for name, wrong in (("regret", 0.5), ("dual", None), ("epochs", 77)):
        final = {**told["final"], name: wrong}
        path.write_bytes(safe_files.sealed({**told, "final": final}))
        with pytest.raises(InputError, match=f"manifest.json: final: {name} {wrong}, but the curves end at"):
            tr.Run.load(tmp_path / key)
    path.write_bytes(safe_files.sealed({**told, "final": {**told["final"], "profit": 3.0}}))
    with pytest.raises(InputError, match=r"final: profit 3\.0, but the curves end at None"):
        tr.Run.load(tmp_path / key)
    path.write_bytes(safe_files.sealed(told))
    assert tr.Run.load(tmp_path / key).episodes[-1] == 60
