"""How are many runs made and never lost? Specs, the store of finished runs, several runs at once.

`lab.open(folder)` gives the curves of all runs as one lazy Polars frame, `lab.runs(folder)` one row a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tightrope.lab.query import open, runs


def __getattr__(name: str) -> Any:
    if name in ("open", "runs"):
        from tightrope.lab import query

        return getattr(query, name)
    raise AttributeError(f"module 'tightrope.lab' has no attribute {name!r}")


__all__ = ["open", "runs"]
