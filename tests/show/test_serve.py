"""The served page: this machine only, fresh when runs are added, and quiet."""

from __future__ import annotations

import http.client
import shutil
import threading
from collections.abc import Iterator

import pytest

from tightrope.cli.main import _run
from tightrope.show.serve import ADDRESS, server


@pytest.fixture
def served(tmp_path) -> Iterator:
    """A folder that is still empty, and how to ask its server: `ask(path, host=None)` gives status and text."""
    folder = tmp_path / "sweep"
    with server(folder) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        port = serving.server_address[1]

        def ask(path: str, host: str | None = None) -> tuple[int, str]:
            connection = http.client.HTTPConnection(ADDRESS, port, timeout=20)
            connection.request("GET", path, headers={} if host is None else {"Host": host})
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return answer.status, text

        yield folder, ask
        serving.shutdown()
        thread.join()


def test_the_page_fills_as_runs_are_finished(served, one):
    folder, ask = served
    status, text = ask("/")
    assert status == 200 and "No run is finished yet" in text
    stamp = ask("/stamp")[1]
    assert ask("/stamp")[1] == stamp
    shutil.copytree(one, folder / "first")
    assert ask("/stamp")[1] != stamp
    assert "What was found" in ask("/")[1]


def test_only_this_machine_is_answered(served):
    _, ask = served
    assert ask("/stamp", "evil.example")[0] == 403
    assert ask("/stamp", "localhost:1")[0] == 200
    assert ask("/../../etc/passwd")[0] == 404
    assert ADDRESS == "127.0.0.1"


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path, capsys):
    with server(tmp_path) as serving:
        port = serving.server_address[1]
        assert _run(["report", str(tmp_path), "--serve", "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert f"--port: {port} cannot be used" in err and err.count("\n") == 1
