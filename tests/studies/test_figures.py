"""Tightening brings the running violation back under zero by its episode, at a price; mixing tracks, at a price."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tightrope as tr
from tightrope.cli.main import _run
from tightrope.studies import tighten, tracking

CMDP = tr.problems.make("priced-jobs")


def test_with_a_guard_the_running_violation_is_under_zero_by_the_stated_episode_and_stays_there():
    plain, *_, late, guarded = tighten.tightened(CMDP, 20_000, seeds=range(8))
    assert (guarded.tighten, guarded.guard) == (4000.0, 3.0)
    assert np.mean(guarded.last_above_zero) <= 1.1 * 4000  # by about that episode
    assert min(plain.last_above_zero) == 20_000
    rows = tighten.findings([plain, late, guarded])
    assert rows[2]["violation_saved"] > rows[1]["violation_saved"] > 0
    assert rows[2]["regret_paid"] > rows[1]["regret_paid"] > 0  # nothing is free


def test_mixing_tracks_losses_that_change_and_costs_little_where_they_stay():
    rows = {
        (row["losses"], row["mixing"]): row for row in tracking.findings(tracking.tracked(CMDP, 20_000, seeds=(0,)))
    }
    preset, chosen = "the preset (1/K)", "0.01 every sqrt(K)"
    assert rows["change", chosen]["dynamic_regret"] < 0.6 * rows["change", preset]["dynamic_regret"]
    assert rows["calm", chosen]["dynamic_regret"] < rows["calm", preset]["dynamic_regret"] + 0.02
    assert all(row["violation"] < 0.03 for row in rows.values())
    assert rows["calm", preset]["dynamic_regret"] == pytest.approx(rows["calm", preset]["regret"])


def test_both_commands_leave_a_figure_its_numbers_and_a_table(tmp_path, capsys):
    for which in ("tighten", "tracking"):
        assert _run(["study", which, "--episodes", "300", "--seeds", "1", "--out", str(tmp_path / which)]) == 0
        names = sorted(path.name for path in (tmp_path / which).iterdir())
        assert names == [f"{which}.json", f"{which}.pdf", f"{which}.png"]
        assert len(json.loads((tmp_path / which / f"{which}.json").read_text())) in (5, 6)
    assert "paid" in capsys.readouterr().out
    assert _run(["study", "tighten", "--problem", "priced-job", "--out", str(tmp_path)]) == 2
    assert "did you mean 'priced-jobs'?" in capsys.readouterr().err
