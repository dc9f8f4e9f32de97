"""The house: rooms know only those below them, importing is light, and what the README names is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tightrope as tr

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tightrope"

# What each room, or module outside of rooms, may import beside itself and what stands below all.
BELOW = {
    "engine": set(),
    "problems": set(),
    "oracle": {"problems"},
    "losses": {"problems", "oracle"},
    "learners": {"problems", "oracle", "losses", "engine"},
    "recorder": {"problems", "engine"},
    "one_by_one": {"problems", "oracle", "losses", "learners", "engine"},
    "run": {"problems", "oracle", "losses", "recorder"},
    "run_files": {"problems", "oracle", "recorder", "run"},
    "simulation": {"problems", "oracle", "losses", "learners", "engine", "one_by_one", "recorder", "run"},
    "snapshot": {"losses", "recorder", "simulation"},
    "theory": {"problems", "oracle", "losses", "learners", "recorder", "run", "run_files"},
    "lab": {"problems", "oracle", "losses", "learners", "run", "run_files", "recorder", "simulation", "snapshot"},
    "features": {"problems"},
    "agent": {"features", "problems", "learners", "engine"},
    "show": {"problems", "lab", "run", "oracle", "learners", "theory", "run_files", "recorder"},
    "studies": {"agent", "features", "problems", "oracle", "losses", "learners", "lab", "show", "run", "simulation"},
    "cli": {"problems", "oracle", "losses", "learners", "lab", "show", "studies", "theory", "run", "run_files"},
}
FOUNDATION = {"errors", "numbers_in", "text_in", "constants", "safe_files", "after_import", "_version"}
BACKWARDS = {("run", "run_files")}  # a run saves itself


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


def _files(room: str) -> list[Path]:
    return [*(PACKAGE / room).rglob("*.py"), *PACKAGE.glob(f"{room}.py")]


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_what_stands_below_it(room):
    allowed = BELOW[room] | FOUNDATION | {room} | {below for above, below in BACKWARDS if above == room}
    assert _files(room)
    for path in _files(room):
        strangers = _imports(path) - allowed
        assert not strangers, f"{path.relative_to(PACKAGE)} imports {sorted(strangers)}"


@pytest.mark.parametrize("module", sorted(FOUNDATION))
def test_what_stands_below_all_imports_nothing_but_its_like(module):
    assert _imports(PACKAGE / f"{module}.py") <= FOUNDATION


def test_every_room_and_module_has_its_rule_and_no_rule_leads_back():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert rooms | modules == set(BELOW) | FOUNDATION
    assert set(TopologicalSorter(BELOW).static_order()) == set(BELOW)  # a circle would raise


def test_only_the_engine_is_compiled():
    compiles = re.compile(
        r"engine\.jit|engine import .*\bjit\b|from numba(\.extending)? import|numba\.\w*(jit|vectorize|cfunc)"
    )
    found = [path for path in PACKAGE.rglob("*.py") if compiles.search(path.read_text(encoding="utf-8"))]
    assert {path.parent.name for path in found} == {"engine"}


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
