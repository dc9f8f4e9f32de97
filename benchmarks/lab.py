"""What does the lab add to a run, how does it scale over threads, and how long does a list of ten thousand runs take?"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import tightrope as tr
from benchmarks.timing import Row, at_least, at_most, elsewhere, in_turns, seconds, told
from tightrope.lab.mistakes import Mistakes
from tightrope.lab.plan import Plan, check_plan
from tightrope.lab.runner import Options, jobs_of, run_specs
from tightrope.lab.store import Store
from tightrope.lab.work import Work
from tightrope.safe_files import read_sealed, sealed
from tightrope.snapshot import Rows

SHORT, LONG, MANY, LISTED = 1_000, 100_000, 1_000, 10_000
LIST = """
import json, subprocess, sys, time
command = [sys.executable, "-c", "from tightrope.cli.main import main; main()", "runs", sys.argv[1], *sys.argv[2:]]
begun = time.perf_counter()
subprocess.run(command, check=True, capture_output=True)
print(json.dumps(time.perf_counter() - begun))
"""


def _plan(episodes: int, seeds: int) -> Plan:
    raw = {
        "episodes": episodes,
        "seeds": seeds,
        "problem": {"name": "job-scheduling"},
        "losses": {"kind": "drift"},
        "learner": {"preset": "experiment"},
    }
    return check_plan(raw, "bench", Mistakes("bench"), Path())


def _sweep(plan: Plan, folder: Path, **options: Any) -> float:
    begun = time.perf_counter()
    results = run_specs(plan.specs, Store(folder), options=Options(**options))
    assert not results.reused and not results.failures
    return time.perf_counter() - begun


def _bare(plan: Plan, seeds: range) -> float:
    """The same runs by `simulate` alone, nothing kept."""
    (spec,) = plan.specs
    begun = time.perf_counter()
    for seed in seeds:
        tr.simulate(spec.cmdp, spec.losses(seed), spec.learner, spec.document.episodes, seed=seed)
    return time.perf_counter() - begun


def rows() -> list[Row]:
    tr.simulate(*_first(), 10)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TIGHTROPE_BENCH_DIR")) as folder:
        root = Path(folder)
        return [*_overhead(root), *_threads(root), *_listing(root), *_checkpoints(root), *_keeping(root), *_ray(root)]


def _first() -> tuple[Any, Any, Any]:
    cmdp = tr.problems.make("job-scheduling")
    return cmdp, tr.losses.make("drift", cmdp, 10), tr.PDPO.experiment(cmdp, 10)


def _overhead(root: Path) -> list[Row]:
    """1,000 short runs, in ten parts taken in turns with the same runs without the lab; the least of each ten."""
    part = MANY // 10
    plan, folders = _plan(SHORT, part), (root / f"short{i}" for i in range(10))
    with_lab, bare = in_turns(10, lambda: _sweep(plan, next(folders), workers=1), lambda: _bare(plan, range(part)))
    each = 1e3 * (with_lab - bare) / part
    spent = f"{1e3 * with_lab / part:.1f} ms each, {1e3 * bare / part:.1f} ms by simulate alone"
    how = f"{MANY:,} runs of K = {SHORT:,} in ten parts, one thread, least of each ten: {spent}"
    return [at_most("what the lab adds to a run", each, 15.0, how, unit="ms")]


def _threads(root: Path) -> list[Row]:
    found = []
    for K, seeds, bound in ((LONG, 8, 1.75), (10_000, 40, None), (SHORT, 100, None)):
        plan = _plan(K, seeds)
        best = [float("inf")] * 2
        for turn in range(3):
            for i, workers in enumerate((1, 2)):
                best[i] = min(best[i], _sweep(plan, root / f"threads{K}-{turn}-{workers}", workers=workers))
        how = f"{seeds} runs: {best[0]:.2f} s on one, {best[1]:.2f} s on two; least of 3"
        what = f"throughput of two threads, K = {K:,}"
        found.append(
            told(what, best[0] / best[1], how, "x") if bound is None else at_least(what, best[0] / best[1], bound, how)
        )
    return found


def _listing(root: Path) -> list[Row]:
    """A store of ten thousand runs: one real run, copied under other names with manifests of other seeds."""
    folder = root / "many"
    run_specs(_plan(SHORT, 1).specs, Store(folder))
    (key,) = Store(folder).run_keys()
    about = read_sealed(folder / key / "manifest.json")
    for i in range(1, LISTED):
        copy = folder / f"{i:016x}"
        copy.mkdir()
        (copy / "manifest.json").write_bytes(sealed({**about, "seed": i, "spec": {**about["spec"], "seed": i}}))
        for name in ("curves.parquet", "policies.npz", "host.json"):
            os.link(folder / key / name, copy / name)
    listed = min(elsewhere(LIST, folder, "--where", "seed < 5000 AND learner.alpha > 0.01") for _ in range(5))
    code = "import json, sys, time, polars as pl, tightrope as tr; b = time.perf_counter(); "
    code += "n = tr.lab.open(sys.argv[1]).filter(pl.col('episode') == 1000).select(pl.len()).collect().item(); "
    code += f"assert n == {LISTED}; print(json.dumps(time.perf_counter() - b))"
    opened = elsewhere(code, folder)
    shutil.rmtree(folder)
    return [
        at_most(
            f"listing {LISTED:,} runs", listed, 2.0, "the whole command `tightrope runs --where`, least of 5", unit="s"
        ),
        told(f"curves of {LISTED:,} runs", opened, "lab.open, checksums of all compared, one point of each read", "s"),
    ]


def _checkpoints(root: Path) -> list[Row]:
    """What putting a run away costs, by itself."""
    found = []
    for name, problem in (
        ("10 states, one-hot", {"name": "job-scheduling"}),
        ("1,000 states, dense", {"name": "random-linear", "n_states": 1000, "dim": 10}),
    ):
        raw = {"episodes": LONG, "problem": problem, "losses": {"kind": "drift"}, "learner": {"preset": "practical"}}
        (job,) = jobs_of(check_plan(raw, "bench", Mistakes("bench"), Path()).specs)
        store, sizes = Store(root / f"checkpoint-{problem['name']}"), []

        def keep(episodes: int, head: bytes, new: Rows | None, store: Store = store, sizes: list[int] = sizes) -> None:
            sizes.append(len(head))
            store.checkpoints.save("x", episodes, head, new)

        work, spent = Work(job, None, keep, every=1e9), []
        for _ in range(8):
            work.simulation.advance(8)
            spent.append(seconds(work.put_away))
        each = 1e3 * work.simulation.learning_seconds / work.simulation.done
        how = f"{max(sizes) / 1e3:,.0f} kB, synced, least of 8; an episode takes {each:.2f} ms"
        found.append(told(f"a checkpoint, {name}", 1e3 * min(spent), how, "ms"))
    return found


def _keeping(root: Path) -> list[Row]:
    """How fast one process puts finished runs on the disk: where a large cluster meets its narrowest place."""
    (job,) = jobs_of(_plan(SHORT, 1).specs)
    work, store = Work(job, None, lambda *_: None), Store(root / "kept")
    while work.remaining:
        work.advance()
    files = work.finish()
    store.open()
    each = min(seconds(lambda i=i: store.put(f"{i:016x}", files)) for i in range(200))
    size = sum(map(len, files.values())) / 1e3
    return [
        told("keeping a finished run", 1e3 * each, f"{size:.0f} kB in {len(files)} files, synced, least of 200", "ms")
    ]


def _ray(root: Path) -> list[Row]:
    """The same short runs as tasks of Ray, where that is installed."""
    try:
        import ray
    except ImportError:
        return []
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        run_specs(_plan(10, 4).specs, Store(root / "ray-first"), options=Options(engine="ray"))
        spent = {e: _sweep(_plan(SHORT, 200), root / f"many-{e}", engine=e, workers=2) for e in ("local", "ray")}
        long = {e: _sweep(_plan(LONG, 12), root / f"long-{e}", engine=e, workers=2) for e in ("local", "ray")}
    finally:
        ray.shutdown()
    how = f"200 runs of K = {SHORT:,}, 2 workers: {spent['local']:.1f} s local, {spent['ray']:.1f} s on Ray"
    other = f"12 runs of K = {LONG:,}, 2 workers: {long['local']:.1f} s local, {long['ray']:.1f} s on Ray"
    return [
        told("short runs on Ray beside local", spent["ray"] / spent["local"], how, "x"),
        told("long runs on Ray beside local", long["ray"] / long["local"], other, "x"),
    ]
