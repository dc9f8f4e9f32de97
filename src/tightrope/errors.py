"""What may be wrong with what somebody gave us, said in a way that helps.

Every error that a user can cause is an `InputError`: it collects all mistakes found, one line each, and the
command line prints those lines and ends with exit 2. Anything else that escapes is a defect of ours.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class TightropeError(Exception):
    """Anything that this package raises on purpose."""


class InputError(TightropeError, ValueError):
    """Something given to us is wrong; `problems` has one line for each mistake."""

    def __init__(self, problems: str | Iterable[str]):
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class InfeasibleError(InputError):
    """No policy keeps every budget; `smallest_budgets` says what could be kept."""

    def __init__(self, message: str, smallest_budgets: Sequence[float]):
        super().__init__(message)
        self.smallest_budgets = tuple(float(b) for b in smallest_budgets)


class CertificateError(TightropeError, ArithmeticError):
    """A solver's answer did not pass its own check; no number is better than a wrong one."""


def suggest(given: str, known: Iterable[str]) -> str:
    """Return `unknown name` advice: the nearest known name if one is near, else the list of all."""
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
