"""Runs of a spec: the same bytes whatever the number of threads; errors end all; keys name what determines a run."""

from __future__ import annotations

from pathlib import Path

from tightrope.lab.mistakes import Mistakes
from tightrope.lab.runner import run_spec
from tightrope.lab.spec_checks import Spec, check_spec
from tightrope.lab.store import Store

RAW = {
    "episodes": 400,
    "seeds": 6,
    "problem": {"name": "job-scheduling"},
    "losses": {"kind": "drift"},
    "learner": {"preset": "experiment"},
}


def _spec(**changes) -> Spec:
    return check_spec(RAW | changes, "test", Mistakes("test"), Path())


def test_one_thread_and_four_leave_the_same_bytes(tmp_path):
    spec = _spec()
    for workers in (1, 4):
        run_spec(spec, Store(tmp_path / str(workers)), workers=workers)
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.[pn][ap][rz]*"))
    assert len(files) == 12  # curves and policies of six runs
    assert all((tmp_path / "1" / f).read_bytes() == (tmp_path / "4" / f).read_bytes() for f in files)


def test_the_key_of_a_run_changes_with_everything_that_determines_it():
    keys = {
        _spec().key(0),
        _spec().key(1),
        _spec(episodes=401).key(0),
        _spec(record_every=7).key(0),
        _spec(trace=True).key(0),
        _spec(problem={"name": "job-scheduling", "budget": 6.0}).key(0),
        _spec(losses={"kind": "fixed"}).key(0),
        _spec(losses={"kind": "drift", "seed": 9}).key(0),
        _spec(learner={"preset": "experiment", "alpha": 0.2}).key(0),
    }
    assert len(keys) == 9
    assert _spec().key(0) == _spec(seeds=[0]).key(0)


def test_a_setting_that_is_spelt_out_as_it_is_by_default_is_no_other_run():
    bare = _spec(episodes=2500, losses={"kind": "switching"}, learner={"name": "naive"})
    spelt = _spec(
        episodes=2500,
        record_every=3,
        trace=False,
        losses={"kind": "switching", "period": 2000, "seed": 4},
        learner={"name": "naive", "preset": "practical"},
    )
    assert bare.key(4) == spelt.key(4)
    assert bare.key(5) != spelt.key(5)  # whose losses are still those of seed 4
    one, other = (_spec(learner={"name": "ghosh2022", "xi": x, "alpha": x}) for x in (1, 1.0))
    assert one.key(0) == other.key(0)


def test_the_board_counts_every_episode_of_every_run(tmp_path):
    boards = []
    results = run_spec(_spec(), Store(tmp_path), show=boards.append)
    assert boards[-1].episodes_done == boards[-1].episodes_total == 6 * 400
    assert boards[-1].finished == 6
    assert [run.seed for run in results.runs] == list(range(6))
