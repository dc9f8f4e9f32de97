"""Are kernels being compiled, or only loaded from disk? Numba tells of the former by an event of its own."""

from __future__ import annotations

from typing import Any

from numba.core import event


class Watch(event.Listener):
    """Knows whether this process has compiled anything since the watch began."""

    def __init__(self) -> None:
        self.seen = False
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        self.seen = True

    def on_end(self, event: Any) -> None:
        """What has been compiled stays compiled."""

    def end(self) -> None:
        event.unregister("numba:compile", self)
