"""`tightrope certify`: a table with every row, files beside the run, exit 3 where a row that applies fails."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

import tightrope as tr

SPEC = """\
episodes = 300
seeds = 2
trace = {trace}
[problem]
name = "streaming"
[losses]
kind = "alternating"
"""


def _made(tightrope, folder, trace="true"):
    path = folder / "spec.toml"
    path.write_text(SPEC.format(trace=trace))
    assert tightrope("run", path, "--out", folder / "out", "-q").code == 0
    return folder / "out"


def test_a_folder_of_runs_is_certified_and_keeps_what_was_found(tightrope, tmp_path):
    out = _made(tightrope, tmp_path)
    said = tightrope("certify", out)
    assert said.code == 0
    assert said.out.count("every row that applies holds") == 2
    folder = next(path for path in out.iterdir() if path.is_dir())
    about = json.loads((folder / "certificate.json").read_text())
    assert about["ok"] is True
    assert {row["name"] for row in about["rows"]} >= {"E1", "optimism", "record: dual", "regret"}
    curves = pl.read_parquet(folder / "decomposition.parquet")
    run = tr.Run.load(folder)  # still whole
    np.testing.assert_allclose(curves["regret"], run.regret)
    again = tightrope("certify", folder)
    assert (again.code, again.out.count("\n") > 50) == (0, True)
    more = tightrope("run", tmp_path / "spec.toml", "--out", out, "-q")
    assert "2 of them made before" in more.out


def test_a_run_that_was_tampered_with_leaves_with_3_and_names_the_row_first(tightrope, tmp_path):
    folder = next(_made(tightrope, tmp_path).iterdir())
    run = tr.Run.load(folder)
    assert run.trace is not None
    run.trace.dual[100] += 0.01
    run.save(tmp_path / "tampered")
    said = tightrope("certify", tmp_path / "tampered")
    assert said.code == 3
    assert said.out.splitlines()[1].startswith("FAILS")
    assert "record: dual" in said.out
    assert json.loads((tmp_path / "tampered" / "certificate.json").read_text())["ok"] is False


def test_folders_without_a_run_or_a_trace_are_refused(tightrope, tmp_path):
    said = tightrope("certify", tmp_path)
    assert (said.code, "holds no run; wanted a run made with `trace = true`" in said.err) == (2, True)
    said = tightrope("certify", _made(tightrope, tmp_path, trace="false"))
    assert (said.code, "2 runs, none with a trace" in said.err) == (2, True)


def test_runs_of_other_learners_are_left_out_and_said_so(tightrope, tmp_path):
    out = _made(tightrope, tmp_path)
    path = tmp_path / "other.toml"
    path.write_text(SPEC.format(trace="true") + '[learner]\nname = "uniform"\n')
    assert tightrope("run", path, "--out", out, "-q").code == 0
    said = tightrope("certify", out)
    assert (said.code, said.out.count("every row that applies holds")) == (0, 2)
    assert "2 runs of other learners are left out" in said.err
