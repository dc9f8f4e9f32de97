"""What each command does when all is well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.main import get_command

import tightrope as tr
from tightrope.cli.app import app

COMMANDS: dict[str, Any] = get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
SPEC = """\
episodes = {episodes}
seeds = [5, 7]
record_every = 10
trace = {trace}
[problem]
name = "priced-jobs"
[losses]
kind = "alternating"
"""


def _spec(folder, episodes=60, trace="false"):
    path = folder / "spec.toml"
    path.write_text(SPEC.format(episodes=episodes, trace=trace))
    return path


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS), *(["study", name] for name in COMMANDS["study"].commands)]
)
def test_every_command_explains_itself(command, tightrope):
    said = tightrope(*command, "--help")
    assert said.code == 0
    assert "Usage: tightrope" in said.out
    assert said.err == ""


def test_tables_of_a_spec_are_named_in_help_with_their_brackets(tightrope):
    said = " ".join(tightrope("tune", "--help").out.split())
    assert "in the ranges of [tune]," in said and "A spec with [tune], a TOML file." in said


def test_without_a_command_help_is_shown_and_nothing_is_complained_of(tightrope):
    said = tightrope()
    assert said.code == 2
    assert "Usage: tightrope" in said.out
    assert said.err == ""


def test_the_version_is_the_package_s_own(tightrope):
    said = tightrope("--version")
    assert (said.code, said.out) == (0, f"tightrope {tr.__version__}\n")


def test_problems_lists_every_name_and_shows_one_in_full(tightrope):
    listed = tightrope("problems")
    assert all(name in listed.out for name in tr.problems.names())
    one = tightrope("problems", "job-scheduling")
    assert "budget = 5.6" in one.out
    assert "Slater's constant" in one.out


def test_a_spec_gives_one_folder_a_seed_that_equals_simulate(tightrope, tmp_path):
    said = tightrope("run", _spec(tmp_path, trace="true"), "--out", tmp_path / "out", "-q")
    assert said.code == 0
    folders = sorted((tmp_path / "out").glob("[!.]*"))
    assert len(folders) == 2
    runs = {run.seed: run for run in map(tr.Run.load, folders)}
    cmdp = tr.problems.make("priced-jobs")
    losses = tr.losses.make("alternating", cmdp, episodes=60)
    direct = tr.simulate(cmdp, losses, tr.PDPO.practical(cmdp, 60), 60, seed=7, record_every=10, trace=True)
    assert (runs[7].regret == direct.regret).all()
    assert (runs[7].violation == direct.violation).all()
    kept = runs[7].trace
    assert kept is not None and direct.trace is not None
    assert (kept.policies == direct.trace.policies).all()
    assert set(runs) == {5, 7}


def test_runs_that_are_there_are_not_made_again_and_others_stand_beside_them(tightrope, tmp_path):
    out = tmp_path / "out"
    tightrope("run", _spec(tmp_path), "--out", out, "-q")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    again = tightrope("run", _spec(tmp_path), "--out", out, "-q")
    assert "2 of them made before" in again.out
    other = tightrope("run", _spec(tmp_path, episodes=70), "--out", out, "-q")
    assert other.code == 0
    assert len(list(out.glob("[!.]*"))) == 4
    changed = [p for p, t in before.items() if p.is_file() and p.name != "lock" and p.stat().st_mtime_ns != t]
    assert changed == []


def test_a_run_warns_when_its_budget_is_never_enforced(tightrope, tmp_path):
    path = _spec(tmp_path)
    path.write_text(path.read_text() + '[learner]\npreset = "experiment"\n')
    said = tightrope("run", path, "--out", tmp_path / "out", "-q")
    assert "error: dual-inert: the dual stays at 0, so the budget 7 is never enforced" in said.out.replace("\n", " ")


def test_figure_1_leaves_figure_runs_and_summary_and_says_what_was_found(tightrope, tmp_path):
    said = tightrope("reproduce", "figure1", "--episodes", 500, "--seeds", 2, "--out", tmp_path / "f", "-q")
    assert said.code == 0
    names = sorted(path.name for path in (tmp_path / "f").glob("[!.]*"))
    assert names[-3:] == ["figure1.pdf", "figure1.png", "summary.json"]
    assert len(names) == 5
    assert (tmp_path / "f" / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "f" / "figure1.pdf").read_bytes().startswith(b"%PDF")
    summary = json.loads((tmp_path / "f" / "summary.json").read_text())
    curves = pl.concat([pl.read_parquet(tmp_path / "f" / key / "curves.parquet") for key in summary["runs"]])
    final = curves.filter(pl.col("episode") == 500)["regret"]
    assert summary["regret_final_mean"] == pytest.approx(final.mean())
    assert summary["dual_max"] == 0.0
    assert "exactly 0 throughout" in said.out


def test_another_size_of_figure_1_stands_beside_the_first(tightrope, tmp_path):
    first = ("reproduce", "figure1", "--episodes", 300, "--seeds", 1, "--out", tmp_path, "-q")
    tightrope(*first)
    kept = {name: (tmp_path / name).read_bytes() for name in ("figure1.png", "figure1.pdf", "summary.json")}
    tightrope("reproduce", "figure1", "--episodes", 200, "--seeds", 1, "--out", tmp_path, "-q")
    assert all((tmp_path / name).read_bytes() == content for name, content in kept.items())
    assert len(list(tmp_path.glob("summary-*.json"))) == 1
    again = tightrope(*first)
    assert again.code == 0
    assert (tmp_path / "figure1.png").read_bytes() == kept["figure1.png"]


def _start(*arguments):
    command = [sys.executable, "-c", "from tightrope.cli.main import main; main()", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_interruption_ends_at_once_says_what_is_kept_and_leaves_nothing_half_written(tmp_path):
    out = tmp_path / "out"
    with _start("reproduce", "figure1", "--episodes", 300_000, "--seeds", 400, "--out", out) as process:
        try:
            deadline = time.monotonic() + 120
            while len(list(out.glob("*/manifest.json"))) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=30)
            waited = time.monotonic() - begun
        finally:
            process.kill()
    assert process.returncode == 1
    assert waited < 10  # it is told to be under one second; this machine may be busy
    kept = list(out.glob("[!.]*"))
    assert f"Interrupted: {len(kept)} of 400 runs are finished and kept in {out}" in stderr
    assert "Traceback" not in stderr
    assert stdout == ""
    assert all(tr.Run.load(folder).episodes[-1] == 300_000 for folder in kept)


def test_an_interruption_outside_of_any_run_is_told_and_ends_with_exit_1(tightrope, monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("tightrope.cli.problems.show_problems", interrupted)
    said = tightrope("problems")
    assert (said.code, said.err) == (1, "Interrupted before it was done; nothing is left half written.\n")


def test_next_to_nothing_is_imported_before_the_entry_point_answers_interruptions():
    code = "import sys; had = set(sys.modules); import tightrope.cli.main; print(*sorted(set(sys.modules) - had))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_beside(), check=True)
    own = {"tightrope", "tightrope._version", "tightrope.after_import", "tightrope.cli", "tightrope.cli.main"}
    assert own <= set(run.stdout.split())
    light = {"__future__", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings"}
    assert set(run.stdout.split()) - own <= light


def _beside() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(tr.__file__).parents[1])}


def test_a_reader_that_goes_away_causes_no_traceback():
    with _start("problems") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert process.returncode in (0, 1, -signal.SIGPIPE)


def test_progress_without_a_terminal_is_plain_lines(tmp_path):
    environment = os.environ | {"TERM": "dumb"}
    command = [sys.executable, "-c", "from tightrope.cli.main import main; main()"]
    arguments = ["reproduce", "figure1", "--episodes", "400000", "--seeds", "4", "--out", str(tmp_path)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, env=environment, timeout=200)
    assert done.returncode == 0
    assert "\x1b" not in done.stderr
    assert "episodes, regret" in done.stderr
