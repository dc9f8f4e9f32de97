"""Runs on a real Ray: the bytes of the local engine, whatever fails or is lost on the way."""

from __future__ import annotations

import dataclasses
import json
import os

import psutil
import pytest

from tightrope.lab.runner import Options, run_specs
from tightrope.lab.store import Store

pytest.importorskip("ray", reason="Ray is not installed: pip install 'tightrope[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

EPISODES = 1_000_000


@pytest.fixture
def cluster():
    """A head that does no work, and two nodes of one processor each; this process is connected to it."""
    import ray
    from ray.cluster_utils import Cluster

    whole = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    whole.nodes = [whole.add_node(num_cpus=1), whole.add_node(num_cpus=1)]  # pyright: ignore[reportAttributeAccessIssue]
    ray.init(address=whole.address, log_to_driver=False)
    whole.wait_for_nodes()
    yield whole
    ray.shutdown()
    whole.shutdown()


def pull_the_plug(cluster, node) -> None:
    """End a node as a power cut does: its workers at the same instant as its raylet, which else live on for a second or two.

    In that time a worker may finish its run, and nothing would be left to take up.
    """
    (raylet,) = node.all_processes["raylet"]
    for process in psutil.Process(raylet.process.pid).children(recursive=True):
        process.kill()
    cluster.remove_node(node, allow_graceful=False)


@pytest.mark.parametrize("disk", ["shared", "apart"])
def test_a_node_that_dies_in_the_middle_costs_no_run_and_no_byte(
    disk, cluster, plan_of, result_of, tmp_path, monkeypatch
):
    plan = plan_of(episodes=EPISODES, seeds=8)
    run_specs(plan.specs, Store(tmp_path / "local"))
    if disk == "apart":  # the workers look for another file, do not find it, and send their checkpoints through Ray
        monkeypatch.setattr("tightrope.lab.ray_engine.HERE", "elsewhere")
    store, kept, killed = Store(tmp_path / "ray"), [], []
    plain = store.put
    monkeypatch.setattr(store, "put", lambda key, files: (kept.append(key), plain(key, files)))

    def both_are_in_the_middle() -> bool:
        taken = [store.checkpoints.load(key) for key in store.checkpoints.run_keys()]
        return len(taken) == 2 and all(one is not None and one.episodes < 0.75 * EPISODES for one in taken)

    def kill(board):
        if not killed and board.finished >= 2 and both_are_in_the_middle():
            killed.append(board.finished)
            pull_the_plug(cluster, cluster.nodes[1])

    results = run_specs(plan.specs, store, kill, Options(engine="ray", checkpoint_seconds=0.2))
    assert killed and killed[0] < 8
    assert not results.failures
    assert sorted(kept) == sorted(set(results.keys)) and len(kept) == 8
    assert result_of(tmp_path / "ray") == result_of(tmp_path / "local")
    hosts = [json.loads(path.read_text()) for path in (tmp_path / "ray").glob("*/host.json")]
    assert any(host["resumed_at"] > 0 for host in hosts)
    assert not list(store.checkpoints.folder.iterdir())


def test_a_run_that_fails_or_crashes_is_tried_three_times_while_the_others_finish(
    cluster, plan_of, result_of, tmp_path
):
    class Failing:
        def __init__(self, crashes):
            self.crashes = crashes

        def describe(self):
            return {"name": "failing", "crashes": self.crashes}

        def start(self, cmdp, episodes):
            if self.crashes:
                os._exit(1)
            raise ArithmeticError("no number")

    (good,) = plan_of(episodes=500, seeds=3).specs
    bad = [dataclasses.replace(plan_of(seeds=1).specs[0], learner=Failing(crashes)) for crashes in (False, True)]
    results = run_specs([*bad, good], Store(tmp_path / "ray"), options=Options(engine="ray"))
    run_specs([good], Store(tmp_path / "local"))
    told = {failure.error.split(":")[0]: failure.attempts for failure in results.failures}
    assert told == {"ArithmeticError": 3, "WorkerCrashedError": 3}
    assert result_of(tmp_path / "ray") == result_of(tmp_path / "local")
    assert len(results.keys) == 3
