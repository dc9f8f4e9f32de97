"""How does Gymnasium find the gallery? Every problem has an id, `tightrope/JobScheduling-v0` for "job-scheduling".

Importing both is enough, in any order.
"""

from __future__ import annotations

from typing import Any

from tightrope.errors import InputError, suggest

# Problems whose states cannot be listed: where they are made, and what they are.
ENDLESS = {
    "cart-pole": ("tightrope.problems.cart_pole:CartPoleEnv", "CartPole that must stay near the middle; NOT linear"),
    "latent-levels": (
        "tightrope.problems.latent:LatentLevelsEnv",
        "a level in [0, 1] that never repeats; exactly linear",
    ),
}
FINITE = "tightrope.problems.environments:make_finite"


def environment_id(name: str) -> str:
    """The id of a problem."""
    return f"tightrope/{''.join(word.capitalize() for word in name.split('-'))}-v0"


def register() -> None:
    """Tell Gymnasium of every problem; again does no harm."""
    import gymnasium

    from tightrope.problems import names

    for name in names():
        _register(gymnasium, name, FINITE, {"problem": name})
    for name, (maker, _) in ENDLESS.items():
        _register(gymnasium, name, maker, {})


def _register(gymnasium: Any, name: str, maker: str, given: dict[str, Any]) -> None:
    if environment_id(name) not in gymnasium.registry:
        gymnasium.register(id=environment_id(name), entry_point=maker, kwargs=given)


def environment(name: str, /, **given: Any) -> Any:
    """A problem of the gallery, finite or endless, as a Gymnasium environment."""
    from tightrope.problems import names

    if name not in names() and name not in ENDLESS:
        raise InputError(f"unknown problem {name!r}; {suggest(str(name), [*names(), *ENDLESS])}")
    import gymnasium

    register()
    return gymnasium.make(environment_id(name), **given)
