"""How do many curves fit into one page? Thinned so that no peak is lost, as 32-bit numbers, compressed, in base64."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tightrope.problems.tables import Floats, Ints

Reference = list[Any]  # [kind, byte offset, length]: "f" 32-bit floats, "u" 32-bit whole numbers


class Blob:
    """Arrays one after the other; the page finds each by its reference."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def floats(self, values: Any) -> Reference:
        with np.errstate(over="ignore"):
            return self._add("f", np.asarray(values, dtype=np.float32))

    def counts(self, values: Any) -> Reference:
        return self._add("u", np.minimum(np.asarray(values), 2**32 - 1).astype(np.uint32))

    def _add(self, kind: str, array: np.ndarray) -> Reference:
        place, content = self._size, np.ascontiguousarray(array).tobytes()
        self._parts.append(content)
        self._size += len(content)
        return [kind, place, int(array.size)]

    def packed(self) -> str:
        return pack(b"".join(self._parts))


def pack(content: bytes) -> str:
    """Compressed, as text that stands in a page; equal contents give equal texts."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode("ascii")


def thinned(columns: Sequence[Floats], points: int) -> Ints:
    """Which of R points to keep so that each column [R] keeps its least and its largest value in every stretch.

    At most about `points` places, shared by all columns, first and last included; all of them where R is no more than that.
    """
    R = len(columns[0])
    if points >= R:
        return np.arange(R)
    stretches = max((points - 2) // (2 * len(columns)), 1)
    edges = np.linspace(0, R, stretches + 1).astype(int)
    keep = {0, R - 1}
    for begin, end in pairwise(edges):
        for column in columns:
            part = column[begin:end]
            if len(part) and not np.isnan(part).all():
                keep |= {begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}
    return np.array(sorted(keep))
