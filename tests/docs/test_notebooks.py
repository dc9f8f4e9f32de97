"""The notebooks run from top to bottom and print what they show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RUN = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
client = NotebookClient(notebook, timeout=240, resources={"metadata": {"path": sys.argv[2]}})
client.execute()
nbformat.write(notebook, sys.argv[2] + "/executed.ipynb")
"""


def _printed(path: Path) -> list[str]:
    """What each cell printed, pictures aside."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return ["".join(output["text"]) for output in outputs if output.get("name") == "stdout"]


def test_there_are_three_and_the_page_names_them():
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 3
    assert all(f"`{path.name}`" in page for path in NOTEBOOKS)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_it_shows(path, tmp_path):
    for needed in ("nbclient", "ipykernel", "gymnasium"):
        pytest.importorskip(needed)
    command = [sys.executable, "-c", RUN, str(path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    executed = tmp_path / "executed.ipynb"
    assert "image/png" in executed.read_text(encoding="utf-8") or path.stem.startswith("agent")
    assert _printed(executed) == _printed(path)
