"""SIGKILL at fifty instants over the life of a sweep, and a file system that is really full: no byte differs in the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tightrope.lab.plan import read_plan
from tightrope.lab.runner import run_specs
from tightrope.lab.store import Store
from tightrope.run import Run

SPEC = """\
episodes = 60_000
seeds = 3
[problem]
name = "priced-jobs"
[losses]
[sweep]
"learner.alpha" = [0.02, 0.1]
"losses.kind" = ["drift", "best-response"]
"""

# Starts the program again and again as a fork of a process that has imported everything, and kills it after a while that a
# seed decides; a sweep that gets to its end before the last kill is begun again in another folder.
KILLER = """
import json, os, random, signal, sys, time
import numpy, polars, highspy, numba, pydantic
import tightrope as tr
import tightrope.cli.run, tightrope.cli.doctor
from tightrope.cli.main import main

spec, root, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
cmdp = tr.problems.make("priced-jobs")
tr.simulate(cmdp, tr.losses.make("drift", cmdp, 50), tr.PDPO.practical(cmdp, 50), 50, compare=False, trace=True)

def start(folder):
    child = os.fork()
    if child == 0:
        sys.argv = ["tightrope", "run", spec, "--out", folder, "--checkpoint", "0.05", "-q"]
        sys.stdout = sys.stderr = open(os.devnull, "w")
        try:
            main()
        finally:
            os._exit(77)
    return child

def ended(child, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.002)
    return False

random.seed(5)
killed, whole, folders = [], 0, ["0"]
while len(killed) < kills:
    child = start(os.path.join(root, folders[-1]))
    life = random.choice([random.uniform(0.0, 0.1), random.uniform(0.0, 1.2)])
    if ended(child, life):
        whole += 1
        folders.append(str(len(folders)))
        continue
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    folder = os.path.join(root, folders[-1])
    killed.append(sum(f[0] != "." for f in os.listdir(folder)) if os.path.isdir(folder) else 0)
for folder in folders:
    child = start(os.path.join(root, folder))
    assert ended(child, 200)
print(json.dumps({"killed_after_runs": killed, "whole": whole, "folders": folders}))
"""


@pytest.mark.slow
def test_fifty_kills_over_the_life_of_a_sweep_change_no_byte(result_of, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    results = run_specs(read_plan(spec).specs, Store(tmp_path / "never"))
    assert len(results.keys) == 12
    root = tmp_path / "killed"
    root.mkdir()
    command = [sys.executable, "-W", "ignore", "-c", KILLER, str(spec), str(root), "50"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told["killed_after_runs"]) == 50
    never = result_of(tmp_path / "never")
    resumed = 0
    for folder in told["folders"]:
        assert result_of(root / folder) == never
        assert not list((root / folder / ".lab" / "checkpoints").iterdir())
        assert not list((root / folder).rglob("*.part"))
        assert not (root / folder / ".lab" / "damaged").exists()
        resumed += sum(json.loads(p.read_text())["resumed_at"] > 0 for p in (root / folder).glob("*/host.json"))
    assert resumed >= 4  # runs did go on from checkpoints
    assert len(set(told["killed_after_runs"])) >= 4  # early, late and in between


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of 500 kB, that can be made larger."""
    place = tmp_path / "small"
    place.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("mounting a small file system takes the rights of root; the injected error stands in for it")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")

    def grow(size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(place)], check=True)

    yield place, grow
    subprocess.run(["umount", "-l", str(place)], check=True)


def _tightrope(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from tightrope.cli.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_full_file_system_is_told_in_a_line_damages_nothing_and_the_same_command_goes_on(
    small_disk, result_of, tmp_path
):
    place, grow = small_disk
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.replace("60_000", "4_000"))
    full = _tightrope("run", spec, "--out", place / "out", "--checkpoint", 0.02, "-q")
    assert full.returncode == 1
    (line,) = [line for line in full.stderr.splitlines() if "cannot be written" in line]
    assert "No space left on device" in line and "the same command goes on from there" in line
    assert "Traceback" not in full.stderr
    kept = [path for path in (place / "out").glob("[!.]*") if path.is_dir()]
    assert len(kept) < 12
    assert all(Run.load(path).episodes[-1] == 4000 for path in kept)
    grow("80m")
    again = _tightrope("run", spec, "--out", place / "out", "-q")
    assert again.returncode == 0, again.stderr
    assert _tightrope("run", spec, "--out", tmp_path / "whole", "-q").returncode == 0
    assert result_of(place / "out") == result_of(tmp_path / "whole")
    assert not list(Path(place).rglob("*.part"))
