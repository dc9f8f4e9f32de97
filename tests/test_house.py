"""The house: rooms know only those below them, importing is light, and what the README names is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tightrope as tr

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tightrope"

# What each room may import, beside itself and what stands below all (errors, numbers_in, text_in, safe_files, _version).
BELOW = {
    "engine": set(),
    "problems": set(),
    "oracle": {"problems"},
    "losses": {"problems", "oracle"},
    "learners": {"problems", "oracle", "losses", "engine"},
    "theory": {"problems", "oracle", "losses", "learners", "recorder", "run", "run_files"},
    "lab": {"problems", "oracle", "losses", "learners", "run", "run_files", "recorder", "simulation", "snapshot"},
    "features": {"problems"},
    "agent": {"features", "problems", "learners", "engine"},
    "show": {"problems", "lab", "run", "oracle", "learners", "theory", "run_files", "recorder"},
    "studies": {"agent", "features", "problems", "oracle", "losses", "learners", "lab", "show", "run", "simulation"},
    "cli": {"problems", "oracle", "losses", "learners", "lab", "show", "studies", "theory", "run", "run_files"},
}
FOUNDATION = {"errors", "numbers_in", "text_in", "constants", "safe_files", "_version"}


def _imports(path: Path) -> set[str]:
    """The rooms of tightrope that a file imports, at its top or inside."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "tightrope" else set()
            found |= names or {node.module}
    return {name.split(".")[1] for name in found if name.startswith("tightrope.")}


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_what_stands_below_it(room):
    for path in (PACKAGE / room).rglob("*.py"):
        strangers = _imports(path) - BELOW[room] - FOUNDATION - {room}
        assert not strangers, f"{path.relative_to(PACKAGE)} imports {sorted(strangers)}"


def test_every_room_has_its_rule():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms == set(BELOW)


@pytest.mark.parametrize("statement", ["import tightrope", "from tightrope.cli.app import app"])
def test_nothing_heavy_is_imported_before_it_is_needed(statement):
    heavy = ("numpy", "scipy", "numba", "polars", "matplotlib", "highspy", "pydantic")
    code = f"{statement}\nimport sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in tr.__all__:
        assert getattr(tr, name) is not None
    with pytest.raises(AttributeError, match="nosuch"):
        tr.nosuch  # noqa: B018


def test_the_readme_names_only_targets_and_files_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z0-9-]+)", text)) <= targets
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    assert all((ROOT / link).exists() for link in links)


def test_every_python_example_of_the_readme_runs():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})  # what it prints is compared in its own assertions
