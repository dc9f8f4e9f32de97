"""Who sets the losses? Fixed sequences of a few profiles, adversaries that react, and hourly prices from a file."""

from __future__ import annotations

import hashlib
import inspect
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tightrope.errors import InputError, suggest
from tightrope.losses.adversary import Adversary, BestResponse
from tightrope.losses.kinds import KINDS
from tightrope.losses.price_file import Prices, read_prices
from tightrope.losses.price_nights import Nights, PriceLosses, nights_of, prices
from tightrope.losses.profiles import Profiles, fit, read_profiles
from tightrope.losses.synthetic_prices import synthetic_prices, write_prices
from tightrope.numbers_in import whole_wrong
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import shown

Losses = Profiles | Adversary


def names() -> list[str]:
    """The kinds that `make` knows."""
    return sorted(KINDS)


def parameters(kind: str) -> dict[str, Any]:
    """The parameters of a kind that have a default of their own."""
    _known(kind)
    return {p.name: p.default for p in inspect.signature(KINDS[kind]).parameters.values() if p.default is not p.empty}


def make(kind: str, cmdp: LinearCMDP, episodes: int, seed: int = 0, profiles: Any = None, **given: Any) -> Losses:
    """Losses by name: "drift", "alternating", "switching", "sinusoid", "fixed" or "best-response".

    Parameters
    ----------
    cmdp: whose own profiles are used unless `profiles` [L, H, d] are given.
    seed: of the losses' own randomness; kinds without randomness ignore it.
    given: a kind's own parameters, such as `period` of "switching" and "sinusoid", `profile` of "fixed".
    """
    known = parameters(kind)
    if not isinstance(cmdp, LinearCMDP):
        raise InputError(f"cmdp: {shown(cmdp)}, wanted a LinearCMDP, such as tr.problems.make returns")
    wrong = [
        f"losses {kind!r} have no parameter {key!r}; {suggest(key, [*known, 'profiles', 'seed'])}"
        for key in given
        if key not in known
    ]
    for name, number, least in (("episodes", episodes, 1), ("seed", seed, 0)):
        found = whole_wrong(number, least)
        if found is not None:
            wrong.append(f"{name}: {found}")
    if profiles is None and cmdp.loss_profiles is None:
        wrong.append(
            f"profiles: missing; problem {cmdp.name!r} has no loss profiles of its own, wanted an array [L, H, d]"
        )
    if wrong:
        raise InputError(wrong)
    own = cmdp.loss_profiles if profiles is None else fit(cmdp, read_profiles(profiles))
    made = KINDS[kind](own, int(episodes), int(seed), **given)
    about = {"kind": kind, "seed": int(seed), **{key: operator.index(x) for key, x in (known | given).items()}}
    if profiles is not None:
        about["profiles"] = hashlib.sha256(np.ascontiguousarray(own).tobytes()).hexdigest()[:16]
    if isinstance(made, Profiles):
        return replace(made, about=about)
    made.about = about
    return made


def _known(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(f"unknown losses {kind!r}; {suggest(str(kind), KINDS)}")


__all__ = [
    "Adversary",
    "BestResponse",
    "Losses",
    "Nights",
    "PriceLosses",
    "Prices",
    "Profiles",
    "make",
    "names",
    "nights_of",
    "parameters",
    "prices",
    "read_prices",
    "synthetic_prices",
    "write_prices",
]
