"""What the engine's tests share: the slow twin, which is no test module and so is loaded by its path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def algorithm1():
    """The literal Algorithm 1; see `literal.py`."""
    name = "tightrope_tests_literal"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("literal.py"))
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name].algorithm1
