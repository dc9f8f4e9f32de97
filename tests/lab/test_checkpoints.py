"""Checkpoints that arrive late, twice or out of order lead to no other run than those that arrive as they were sent."""

from __future__ import annotations

import itertools

import pytest

from tightrope.lab.checkpoints import Checkpoints
from tightrope.lab.plan import Plan
from tightrope.lab.ray_engine import Sent, put_on_disk
from tightrope.lab.runner import jobs_of
from tightrope.lab.work import Work


@pytest.fixture
def sent(plan_of) -> list[Sent]:
    """Four checkpoints of a run with a trace, as a worker sends them."""
    plan: Plan = plan_of(seeds=1, trace=True)
    (job,) = jobs_of(plan.specs)
    found: list[Sent] = []
    work = Work(job, None, lambda *given: found.append(Sent(job.key, *given)), every=1e9)
    for episodes in (50, 120, 130, 300):
        work.advance(episodes)
        work.put_away()
    return found


def finished(plan: Plan, checkpoints: Checkpoints) -> dict[str, bytes]:
    """The files of the run when it goes on from the checkpoint that is there."""
    (job,) = jobs_of(plan.specs)
    work = Work(job, checkpoints.load(job.key), lambda *given: None, every=1e9)
    while work.remaining:
        work.advance()
    files = work.finish()
    return {name: content for name, content in files.items() if name != "host.json"}


def test_in_whatever_order_checkpoints_arrive_the_run_that_goes_on_has_its_whole_trace(sent, plan_of, tmp_path):
    plan = plan_of(seeds=1, trace=True)
    whole = finished(plan, Checkpoints(tmp_path / "none"))
    for i, order in enumerate(itertools.permutations(sent)):
        checkpoints = Checkpoints(tmp_path / str(i))
        put_on_disk([*order, *order[:2]], {sent[0].key}, checkpoints)  # some of them twice
        assert finished(plan, Checkpoints(checkpoints.folder)) == whole, [one.episodes for one in order]


def test_a_checkpoint_whose_earlier_rows_were_lost_is_not_taken_up(sent, plan_of, tmp_path):
    plan = plan_of(seeds=1, trace=True)
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    put_on_disk([sent[0], sent[2], sent[3]], {sent[0].key}, checkpoints)  # the rows of 50 to 120 never come
    taken = Checkpoints(checkpoints.folder).load(sent[0].key)
    assert taken is not None and taken.episodes == 50
    assert finished(plan, checkpoints) == finished(plan, Checkpoints(tmp_path / "none"))


def test_an_older_checkpoint_that_comes_late_replaces_no_newer_one(sent, tmp_path):
    checkpoints = Checkpoints(tmp_path)
    put_on_disk([*sent, sent[1]], {sent[0].key}, checkpoints)
    taken = Checkpoints(tmp_path).load(sent[0].key)
    assert taken is not None and taken.episodes == 300


def test_a_checkpoint_of_a_run_that_is_over_leaves_nothing_behind(sent, tmp_path):
    checkpoints = Checkpoints(tmp_path)
    put_on_disk(sent[:2], {sent[0].key}, checkpoints)
    checkpoints.forget(sent[0].key)
    put_on_disk([sent[1]], set(), checkpoints)
    assert list(tmp_path.iterdir()) == []
