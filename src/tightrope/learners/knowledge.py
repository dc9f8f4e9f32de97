"""What do some learners need to know beforehand? A safe policy, Slater's constant; from the oracle where there is a model.

Learners that take more than the paper allows say so: `knowledge="oracle"` stands in the record of every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightrope.errors import InputError
from tightrope.problems.cmdp import LinearCMDP

if TYPE_CHECKING:
    from tightrope.learners.protocol import Sizes
    from tightrope.oracle.certificate import Slater


def need_model(name: str, cmdp: LinearCMDP | Sizes, what: str) -> LinearCMDP:
    """The problem's model, or an error that says what it is needed for."""
    if not isinstance(cmdp, LinearCMDP):
        raise InputError(
            f"learner {name!r} needs {what}, which only a problem with a model can tell; this one has none"
        )
    return cmdp


def strictly_safe(name: str, cmdp: LinearCMDP | Sizes) -> Slater:
    """The policy with the most room below every budget, with that room gamma > 0."""
    from tightrope.oracle.slater_policy import slater

    found = slater(need_model(name, cmdp, "a strictly safe policy"))
    if found.gamma <= 0:
        raise InputError(
            f"learner {name!r} needs a policy strictly below every budget; the best leaves {found.gamma:.4g}"
        )
    return found


def slater_gamma(name: str, cmdp: LinearCMDP | Sizes, setting: str) -> float:
    """Slater's constant, for a learner whose `setting` depends on it."""
    if not isinstance(cmdp, LinearCMDP):
        raise InputError(
            f"{setting}: missing; learner {name!r} takes it from Slater's constant, which only a problem with a model can tell"
        )
    return strictly_safe(name, cmdp).gamma
