"""How has a number moved so far? A line of small blocks, as wide as asked, from however many values there were."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"


class History:
    """Values as they come, thinned by half whenever they are many, so that a run of days costs no memory."""

    MOST = 256

    def __init__(self) -> None:
        self.values: list[float] = []
        self._every, self._seen = 1, 0

    def add(self, value: float) -> None:
        if self._seen % self._every == 0:
            self.values.append(value)
        self._seen += 1
        if len(self.values) >= self.MOST:
            self.values = self.values[::2]
            self._every *= 2


def sparkline(values: Sequence[float], width: int) -> str:
    """At most `width` blocks, the lowest value the lowest block; a flat line is low."""
    if not values:
        return ""
    n = min(width, len(values))
    picked = [values[round(i * (len(values) - 1) / max(n - 1, 1))] for i in range(n)]
    low, high = min(picked), max(picked)
    if high == low:
        return BLOCKS[0] * n
    return "".join(BLOCKS[round((value - low) / (high - low) * (len(BLOCKS) - 1))] for value in picked)
