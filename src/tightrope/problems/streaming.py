"""Media streaming: fill a buffer with a fast and dear transmission or a slow and cheap one, while packets leave it.

Buffer 0..5 (S = 6), A = 2 (0 slow, 1 fast), H = 4. Fast transmission succeeds with probability mu1, slow with 1 - mu1; a
packet leaves with rho. Loss 1 when the buffer is at 0 (second profile: at most 2); fast costs 1, slow 0; budget 1.6.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import all_of, between

BUFFER, HORIZON = 5, 4


def streaming(budget: float = 1.6, seed: int | None = None) -> LinearCMDP:
    """Media streaming: keep a buffer filled while fast transmission is rationed.

    Start empty; `mu1 ~ U(0.5, 0.9)` and `rho ~ U(0.1, 0.4)` drawn from `seed`, or 0.7 and 0.25 without one.
    """
    readers: dict[str, Any] = {"budget": partial(between, "budget", budget, 0.0, HORIZON)}
    if seed is not None:
        readers["seed"] = partial(whole, "seed", seed, 0)
    read = all_of(readers)
    budget, seed = read["budget"], read.get("seed")
    success, leave = 0.7, 0.25
    if seed is not None:
        random = np.random.default_rng(np.random.SeedSequence(seed))
        success, leave = random.uniform(0.5, 0.9), random.uniform(0.1, 0.4)
    n_states = BUFFER + 1
    chances = np.zeros((n_states, 2, n_states))
    for s in range(n_states):
        for a, arrival in ((0, 1.0 - success), (1, success)):
            for arrives, p in ((1, arrival), (0, 1.0 - arrival)):
                for leaves, q in ((1, leave), (0, 1.0 - leave)):
                    chances[s, a, min(max(s + arrives - leaves, 0), BUFFER)] += p * q
    costs = np.zeros((HORIZON, n_states, 2))
    costs[:, :, 1] = 1.0
    losses = np.zeros((2, HORIZON, n_states, 2))
    losses[0, :, :1] = 1.0
    losses[1, :, :3] = 1.0
    return LinearCMDP.from_tables(
        chances,
        costs,
        [budget],
        0,
        losses=losses,
        name="streaming",
        parameters={"budget": budget, "seed": seed},
    )
