"""What does somebody wait for? Importing, the first help page, and the first compilation; each in processes of its own."""

from __future__ import annotations

import tempfile

from benchmarks.timing import Row, at_most, elsewhere

IMPORT = """
import json, time
begun = time.perf_counter()
import tightrope
print(json.dumps(time.perf_counter() - begun))
"""
HELP = """
import contextlib, io, json, subprocess, sys, time
begun = time.perf_counter()
subprocess.run([sys.executable, "-c", "from tightrope.cli.main import main; main()", "--help"], check=True, capture_output=True)
print(json.dumps(time.perf_counter() - begun))
"""
FIRST = """
import json, sys, time
begun = time.perf_counter()
import tightrope as tr
cmdp = tr.problems.make(sys.argv[1])
tr.simulate(cmdp, tr.losses.make("drift", cmdp, 10), tr.PDPO.experiment(cmdp, 10), 10)
print(json.dumps(time.perf_counter() - begun))
"""


def rows() -> list[Row]:
    warm = [min(elsewhere(code) for _ in range(5)) for code in (IMPORT, HELP)]
    found = [
        at_most("import tightrope", warm[0], 0.6, "warm, least of 5", unit="s"),
        at_most("tightrope --help", warm[1], 0.6, "warm, the whole process, least of 5", unit="s"),
    ]
    for name, kind in (("job-scheduling", "one-hot"), ("random-linear", "dense")):
        with tempfile.TemporaryDirectory() as cache:
            first, second = (elsewhere(FIRST, name, NUMBA_CACHE_DIR=cache) for _ in range(2))
        how = f"a first run of {name} with nothing compiled; from disk {second:.1f} s"
        found.append(at_most(f"first compilation, {kind} features", first, 25.0, how, unit="s"))
    return found
