"""How does Gymnasium hear of the gallery when it is imported after us? By a finder that waits for it and then steps aside.

Gymnasium's way is that importing a package registers its environments. Importing Gymnasium for everybody would cost more
than all of `import tightrope`, so what is to be done then waits until somebody wants Gymnasium. Nothing is imported here that
Python has not loaded by itself: until the command line's `main` runs, nobody answers a Ctrl-C.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(name: str, act: Callable[[], None]) -> None:
    """Act when the module is there: now, or right after its first import."""
    if name in sys.modules:
        act()
    else:
        sys.meta_path.insert(0, _Waiting(name, act))


class _Waiting:
    """Finds nothing itself; the module that it waits for gets a loader that acts when it has loaded."""

    def __init__(self, name: str, act: Callable[[], None]):
        self.name, self.act = name, act

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name or self not in sys.meta_path:
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, self.act)  # pyright: ignore[reportAttributeAccessIssue]
        return spec


class _Then:
    """The loader of the module, and the act afterwards."""

    def __init__(self, loader: Loader, act: Callable[[], None]):
        self.loader, self.act = loader, act

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.loader  # nobody should see that we were here
        self.loader.exec_module(module)
        self.act()
