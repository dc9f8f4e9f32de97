"""What do the settings of the learners on the engine have in common? Checks, changes, a description and a start."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tightrope.errors import InputError, suggest
from tightrope.numbers_in import real_wrong
from tightrope.problems.cmdp import LinearCMDP

if TYPE_CHECKING:
    from tightrope.learners.compiled import CompiledPlayer
    from tightrope.learners.rules import Rules

# The span of each kind of setting; a name that is not here is a number from 0 up.
SPANS = {"theta": (0.0, 1.0), "kappa": (1e-12,), "rho": (1e-12,)}  # by the last two one divides


@dataclass(frozen=True, kw_only=True)
class NumberSettings:
    """Immutable settings, each a number from 0 up (or in its span), checked when made."""

    name: ClassVar[str]

    def __new__(cls, *_: Any, **given: Any) -> Self:
        check_settings(cls, given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        wrong = []
        for f in fields(self):
            given = getattr(self, f.name)
            if isinstance(given, str) or given is None:
                continue
            told = real_wrong(given, *SPANS.get(f.name, (0.0,)))
            if told is not None:
                wrong.append(f"{f.name}: {told}")
            else:
                object.__setattr__(self, f.name, float(given))
        if wrong:
            raise InputError(wrong)

    def replace(self, **changes: Any) -> Self:
        """The same settings with some changed, and nothing derived from them."""
        check_settings(type(self), changes)
        return replace(self, **changes)

    def describe(self) -> dict[str, Any]:
        """Name and settings, for the record of a run."""
        return {"name": self.name, **asdict(self)}


class EngineSettings(NumberSettings):
    """Settings of a learner that shares Algorithm 1's engine: all that it says of itself is its rules."""

    def rules(self, episodes: int) -> Rules:
        """What the engine goes by in a run of so many episodes."""
        raise NotImplementedError

    def start(self, cmdp: LinearCMDP, episodes: int) -> CompiledPlayer:
        """Begin a run on the compiled engine."""
        from tightrope.learners.compiled import CompiledPlayer

        return CompiledPlayer(self.rules(episodes), cmdp, episodes)


def check_settings(kind: type[NumberSettings], given: dict[str, Any]) -> None:
    """Refuse what is not a setting of this kind of learner."""
    known = [f.name for f in fields(kind)]
    wrong = [f"{key}: not a setting of {kind.name!r}; {suggest(key, known)}" for key in given if key not in known]
    if wrong:
        raise InputError(wrong)
