"""The kinds of losses that go by a name; each takes the profiles [L, H, d] of a problem and a number of episodes.

`drift` is the paper's own (paper.tex, appendix "Numerical Experiment"); the others are the adversaries that the algorithm
is tried against.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tightrope.errors import InputError
from tightrope.losses.adversary import BestResponse
from tightrope.losses.profiles import Profiles
from tightrope.numbers_in import whole
from tightrope.problems.tables import Floats

LOSSES_KEY = 0  # keeps the losses' randomness apart from that of `simulate` under the same seed
LARGEST = 100_000_000  # numbers that the mixtures of a sinusoid may take


def drift(profiles: Floats, episodes: int, seed: int) -> Profiles:
    """Episode k (from 1) has profile 0 with probability 0.9 - 0.9 (k-1)/(K-1), else profile 1; drawn from `seed`."""
    _at_least(profiles, 2, "drift")
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(LOSSES_KEY,)))
    share = 0.9 - 0.9 * np.arange(episodes) / max(episodes - 1, 1)
    return Profiles(profiles, (random.random(episodes) >= share).astype(np.int64))


def alternating(profiles: Floats, episodes: int, seed: int) -> Profiles:
    """Another profile every episode, in turn."""
    return Profiles(profiles, np.arange(episodes) % len(profiles))


def switching(profiles: Floats, episodes: int, seed: int, period: int = 2000) -> Profiles:
    """Another profile every `period` episodes, in turn."""
    return Profiles(profiles, np.arange(episodes) // whole("period", period, least=1) % len(profiles))


def sinusoid(profiles: Floats, episodes: int, seed: int, period: int = 1000) -> Profiles:
    """From profile 0 to profile 1 and back: `(1 + cos(2 pi k / period))/2` of the one, the rest of the other (k from 0)."""
    _at_least(profiles, 2, "sinusoid")
    phases = min(whole("period", period, least=1), episodes)
    if phases * profiles[0].size > LARGEST:
        raise InputError(
            f"period: {period} mixtures of {profiles[0].size} numbers are too many; wanted a shorter period"
        )
    share = (1.0 + np.cos(2.0 * math.pi * np.arange(phases) / period)) / 2.0
    mixtures = share[:, None, None] * profiles[0] + (1.0 - share)[:, None, None] * profiles[1]
    return Profiles(mixtures, np.arange(episodes) % phases)


def fixed(profiles: Floats, episodes: int, seed: int, profile: int = 0) -> Profiles:
    """The same profile in every episode."""
    if whole("profile", profile, least=0) >= len(profiles):
        raise InputError(f"profile: {profile!r}, wanted one of the {len(profiles)} profiles 0..{len(profiles) - 1}")
    return Profiles(profiles, np.full(episodes, profile))


def best_response(profiles: Floats, episodes: int, seed: int) -> BestResponse:
    """Every episode the profile under which the policy of that episode loses most."""
    return BestResponse(profiles)


KINDS: dict[str, Callable[..., Profiles | BestResponse]] = {
    "alternating": alternating,
    "best-response": best_response,
    "drift": drift,
    "fixed": fixed,
    "sinusoid": sinusoid,
    "switching": switching,
}


def _at_least(profiles: Floats, wanted: int, kind: str) -> None:
    if len(profiles) < wanted:
        raise InputError(f"profiles: {len(profiles)}, wanted at least {wanted} for losses of kind {kind!r}")
