"""The reference has everything public, and nothing that is not there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

import tightrope as tr

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference.md").read_text(encoding="utf-8")


def test_every_public_function_and_class_is_in_the_reference():
    told = [resolve_name(name) for name in re.findall(r"^::: (\S+)", PAGE, re.MULTILINE)]
    houses = [tr, *(getattr(tr, room) for room in tr._ROOMS)]
    public = {f"{house.__name__}.{name}": getattr(house, name) for house in houses for name in house.__all__}
    described = {name: one for name, one in public.items() if inspect.isfunction(one) or inspect.isclass(one)}
    assert len(described) > 60
    assert [name for name, one in described.items() if not any(one is other for other in told)] == []
