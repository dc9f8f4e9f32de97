"""A search goes on where it was stopped, finds what it would have found, and is judged by runs that it never saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tightrope.lab.disk import StorageError
from tightrope.lab.runner import Options
from tightrope.lab.store import Store
from tightrope.lab.tuning import DATABASE, tune

pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'tightrope[tune]'")
pytestmark = pytest.mark.filterwarnings("ignore:::optuna", "ignore::optuna.exceptions.ExperimentalWarning")

TUNE = {
    "trials": 9,
    "training": {"seeds": 2},
    "held_out": {"seeds": [50, 51, 52], "losses": [{"kind": "switching", "period": 50}]},
    "ranges": {
        "learner.alpha": {"low": 0.001, "high": 1.0, "log": True},
        "learner": {"restart": ["paper", "warm"], "mixing_period": {"low": 1, "high": 400, "whole": True}},
    },
}


def _search(plan, folder, **options):
    return tune(plan, Store(folder), Path(), Options(workers=2, **options))


def _record(found):
    return json.loads(found.path.read_text())


def test_a_search_that_is_stopped_finds_what_it_would_have_found(plan_of, tmp_path, monkeypatch):
    plan = plan_of(tune=TUNE, seeds=1)
    whole = _search(plan, tmp_path / "whole")
    assert whole.trials == 9 and whole.pruned > 0
    put, left = Store.put, [0]

    def put_some(store, key, files):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        put(store, key, files)

    stops = 0
    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", put_some)
        for allowed in (1, 4, 3, 5):
            left[0] = allowed
            with pytest.raises(StorageError, match="No space left"):
                _search(plan, tmp_path / "stopped")
            stops += 1
    again = _search(plan, tmp_path / "stopped")
    assert stops == 4
    assert _record(again) == _record(whole)


def test_the_best_settings_are_those_of_the_least_training_objective_and_held_out_runs_are_others(plan_of, tmp_path):
    found = _search(plan_of(tune={**TUNE, "prune": False}, seeds=1), tmp_path)
    record = _record(found)
    assert found.pruned == 0
    assert min(trial["objective"] for trial in record["trials"]) == record["best_training"]["mean"]
    assert record["best_training"]["runs"] == 2 and record["best_held_out"]["runs"] == 3
    assert found.settings.keys() == {"learner.alpha", "learner.restart", "learner.mixing_period"}
    seen = {trial["settings"]["learner.restart"] for trial in record["trials"]}
    assert seen == {"paper", "warm"}


def test_a_damaged_study_is_set_aside_and_made_again_from_the_runs(plan_of, tmp_path):
    plan = plan_of(tune={**TUNE, "trials": 3}, seeds=1)
    record = _record(_search(plan, tmp_path))
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/manifest.json")}
    (tmp_path / ".lab" / DATABASE).write_bytes(b"not a database, whatever SQLite may hope")
    assert _record(_search(plan, tmp_path)) == record
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/manifest.json")}
    assert (tmp_path / ".lab" / "damaged" / "1" / DATABASE).exists()


def test_more_trials_make_a_search_longer(plan_of, tmp_path):
    short = _record(_search(plan_of(tune={**TUNE, "trials": 3}, seeds=1), tmp_path))
    longer = _record(_search(plan_of(tune={**TUNE, "trials": 5}, seeds=1), tmp_path))
    assert longer["trials"][:3] == short["trials"] and len(longer["trials"]) == 5
