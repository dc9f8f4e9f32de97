"""Whatever stops a sweep, the same call goes on, and leaves the bytes of one that was never stopped."""

from __future__ import annotations

import threading
import time

import pytest

from tightrope.lab import lock
from tightrope.lab.checkpoints import Checkpoints
from tightrope.lab.disk import StorageError
from tightrope.lab.runner import Options, RunsInterruptedError, run_specs
from tightrope.lab.store import Store
from tightrope.learners.pdpo import PDPO

OFTEN = Options(workers=2, checkpoint_seconds=0.0)


@pytest.fixture
def in_small_strides(monkeypatch):
    """Twenty episodes at a time, so that short runs have checkpoints."""
    monkeypatch.setattr("tightrope.simulation.LONGEST", 20)
    monkeypatch.setattr("tightrope.lab.work.SHARE", 0.0)


class Stops:
    """Raises what it is given when so many checkpoints have been written."""

    def __init__(self, monkeypatch, error, after: int):
        self.left, self.error = after, error
        plain = Checkpoints.save

        def save(checkpoints, *given):
            self.left -= 1
            if self.left < 0:
                raise self.error
            return plain(checkpoints, *given)

        monkeypatch.setattr("tightrope.lab.checkpoints.Checkpoints.save", save)


@pytest.mark.parametrize("trace", [False, True])
def test_a_disk_that_fills_loses_nothing(trace, plan_of, result_of, in_small_strides, tmp_path, monkeypatch):
    plan = plan_of(trace=trace, sweep={"learner": {"alpha": [0.05, 0.2]}})
    run_specs(plan.specs, Store(tmp_path / "whole"))
    with monkeypatch.context() as patch:
        Stops(patch, OSError(28, "No space left on device"), after=50)
        with pytest.raises(StorageError, match=r"cannot be written \(No space left on device\); \d of 6 runs"):
            run_specs(plan.specs, Store(tmp_path / "stopped"), options=OFTEN)
    assert list((tmp_path / "stopped" / ".lab" / "checkpoints").glob("*.head"))
    results = run_specs(plan.specs, Store(tmp_path / "stopped"), options=OFTEN)
    assert result_of(tmp_path / "stopped") == result_of(tmp_path / "whole")
    assert len(results.keys) == 6 and not results.failures
    assert not list((tmp_path / "stopped" / ".lab" / "checkpoints").iterdir())


def test_an_interruption_puts_runs_away(plan_of, result_of, tmp_path):
    plan = plan_of(episodes=100_000, seeds=2)
    run_specs(plan.specs, Store(tmp_path / "whole"))

    def stop(board):
        if board.episodes_done > 500:
            raise KeyboardInterrupt

    with pytest.raises(RunsInterruptedError) as stopped:
        run_specs(plan.specs, Store(tmp_path / "stopped"), stop, Options(workers=2))
    assert (stopped.value.kept, stopped.value.started) == (0, 2)
    seen = []
    run_specs(plan.specs, Store(tmp_path / "stopped"), lambda board: seen.append(board.episodes_done), OFTEN)
    assert seen[-1] == 200_000
    assert result_of(tmp_path / "stopped") == result_of(tmp_path / "whole")


@pytest.mark.parametrize("spoil", ["truncate", "flip", "lose a part", "other code"])
def test_a_damaged_checkpoint_is_named_set_aside_and_not_used(
    spoil, plan_of, result_of, in_small_strides, tmp_path, monkeypatch
):
    plan = plan_of(seeds=1, trace=True)
    run_specs(plan.specs, Store(tmp_path / "whole"))
    with monkeypatch.context() as patch:
        Stops(patch, OSError(5, "Input/output error"), after=4)
        with pytest.raises(StorageError):
            run_specs(plan.specs, Store(tmp_path / "stopped"), options=OFTEN)
    folder = tmp_path / "stopped" / ".lab" / "checkpoints"
    (head,) = folder.glob("*.head")
    content = head.read_bytes()
    if spoil == "truncate":
        head.write_bytes(content[: len(content) // 2])
    elif spoil == "flip":
        head.write_bytes(content[:200] + bytes([content[200] ^ 4]) + content[201:])
    elif spoil == "lose a part":
        sorted(folder.glob("*.rows"))[1].unlink()
    else:
        monkeypatch.setattr("tightrope.snapshot.ROWS", ("no", "such"))
    results = run_specs(plan.specs, Store(tmp_path / "stopped"))
    (note,) = results.notes
    assert "set aside in" in note and "the run begins again" in note
    assert list((tmp_path / "stopped" / ".lab" / "damaged" / "1").iterdir())
    assert result_of(tmp_path / "stopped") == result_of(tmp_path / "whole")


def test_a_run_that_fails_is_tried_three_times_and_told_while_the_others_finish(plan_of, tmp_path, monkeypatch):
    tried = []
    plain = PDPO.start

    def start(self, cmdp, episodes):
        if self.alpha == 0.2:
            tried.append(self)
            raise ArithmeticError("no number\nat all")
        return plain(self, cmdp, episodes)

    monkeypatch.setattr(PDPO, "start", start)
    plan = plan_of(seeds=2, sweep={"learner.alpha": [0.05, 0.2, 0.4]})
    results = run_specs(plan.specs, Store(tmp_path))
    assert len(results.keys) == len(list(tmp_path.glob("[!.]*"))) == 4
    assert len(tried) == 6
    assert [f.attempts for f in results.failures] == [3, 3]
    assert results.failures[0].error == "ArithmeticError: no number\\nat all"
    assert "learner.alpha = 0.2" in results.notes[0]


def test_somebody_else_in_the_folder_is_named_or_waited_for(plan_of, tmp_path):
    plan, store = plan_of(seeds=1), Store(tmp_path)
    store.open()
    told = []
    with lock.owned(store.inner):
        with pytest.raises(lock.BusyError, match=r"in use by .+ on .+, process \d+, since .+ wait for it"):
            run_specs(plan.specs, store)
        waiting = threading.Thread(
            target=run_specs,
            args=(plan.specs, store, lambda board: told.extend(board.notes), Options(waits=True)),
        )
        waiting.start()
        time.sleep(0.3)
        assert not list(tmp_path.glob("[!.]*"))
    waiting.join(60)
    assert len(list(tmp_path.glob("[!.]*"))) == 1
    assert "waiting" in told[0]
