"""Do the settings of `PDPO.practical` work? Regret and violation on a suite, as shares of H an episode and as slopes over K.

`tightrope study practical --suite training --variants` is how they were found: every variant of `VARIANTS` on the training
suite. `--suite confirming` is how they are judged. A sum of regret and violation counts for slopes as at least 0.01% of H an
episode; where all of a row's sums but the first are that small there is nothing left to measure, and no slope is given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tightrope.learners.pdpo import PDPO
from tightrope.oracle.best import best_policy
from tightrope.problems.cmdp import LinearCMDP
from tightrope.simulation import simulate
from tightrope.studies.suites import EPISODES, LOSSES, Task, make_losses

FLOOR = 1e-4  # of H an episode: smaller sums count as this much when slopes are taken
AT = 100_000  # where shares are judged
SLOPE, MEDIAN, REGRET, VIOLATION = 0.45, 0.3, 0.003, 0.004  # the targets
Settings = Callable[[LinearCMDP, int], Any]  # a learner for a problem and a number of episodes


@dataclass(frozen=True)
class Outcome:
    """One task and kind of losses: regret and violation (the largest of the constraints) an episode, as shares of H, over K."""

    task: str
    losses: str
    episodes: tuple[int, ...]
    regret: tuple[float, ...]
    violation: tuple[float, ...]
    worst: tuple[float, ...] = ()  # the largest regret of a single run: means hide a run that never learns

    @property
    def shares(self) -> np.ndarray:
        """max(regret, 0) + max(violation, 0) an episode, as a share of H."""
        return np.maximum(self.regret, 0.0) + np.maximum(self.violation, 0.0)

    @property
    def slope(self) -> float | None:
        """Log-log slope over K of the sum over whole runs, by least squares; see above for the floor."""
        if len(self.episodes) < 2 or (self.shares[1:] <= FLOOR).all():
            return None
        K = np.array(self.episodes)
        return float(np.polyfit(np.log(K), np.log(np.maximum(self.shares, FLOOR) * K), 1)[0])


def practical(cmdp: LinearCMDP, episodes: int) -> PDPO:
    """The preset itself."""
    return PDPO.practical(cmdp, episodes)


def _with(**changes: Any) -> Settings:
    """The preset with a setting replaced; a function of (preset, H, K) where it is not a number."""

    def made(cmdp: LinearCMDP, episodes: int) -> PDPO:
        preset = PDPO.practical(cmdp, episodes)
        return preset.replace(
            **{key: x(preset, cmdp.horizon, episodes) if callable(x) else x for key, x in changes.items()}
        )

    return made


def _drift(preset: PDPO, horizon: int, episodes: int) -> float:
    return preset.eta * (4.0 * preset.alpha * horizon**3 + 4.0 * preset.theta * horizon**2)


def _capped(cmdp: LinearCMDP, episodes: int) -> PDPO:
    """The preset with a dual that stays below twice the largest multiplier the oracle finds for one of the profiles."""
    assert cmdp.loss_profiles is not None
    largest = max(float(best_policy(cmdp, profile).multipliers.max()) for profile in cmdp.loss_profiles)
    return PDPO.practical(cmdp, episodes).replace(dual_cap=2.0 * largest)


VARIANTS: dict[str, Settings] = {
    "the preset": practical,
    "restarts as in the paper": _with(restart="paper"),
    "drift and decay as in the paper": _with(
        dual_drift=_drift, dual_decay=lambda p, H, K: 4.0 * p.alpha * p.eta * H**3
    ),
    "steps K^{-3/4} as in the paper": _with(alpha=lambda p, H, K: K**-0.75 / H, eta=lambda p, H, K: K**-0.75 / H**2),
    "steps a quarter": _with(alpha=lambda p, H, K: p.alpha / 4, eta=lambda p, H, K: p.eta / 4),
    "steps four times": _with(alpha=lambda p, H, K: p.alpha * 4, eta=lambda p, H, K: p.eta * 4),
    "one bonus for losses and costs": _with(optimism=1.0),
    "bonus of the experiment": _with(
        optimism=1.0, beta_b=lambda p, H, K: K**0.25, beta_w=lambda p, H, K: K**0.25 * math.log(K)
    ),
    "bonus 0.2": _with(optimism=1.0, beta_b=0.2, beta_w=lambda p, H, K: 0.2 * math.log(K)),
    "no bonus": _with(beta_b=0.0, beta_w=0.0),
    "not tightened": _with(tighten=0.0),
    "tightened by 50 sqrt(K)": _with(tighten=lambda p, H, K: 50.0 * math.sqrt(K)),
    "tightened by K": _with(tighten=lambda p, H, K: float(K)),
    "with a guard": _with(guard=1.0),
    "mixing 0.1": _with(theta=0.1),
    "mixing 0.01 every sqrt(K)": _with(theta=0.01, mixing_period=lambda p, H, K: math.ceil(math.sqrt(K))),
    "mixing 1/sqrt(K) every sqrt(K)": _with(
        theta=lambda p, H, K: K**-0.5, mixing_period=lambda p, H, K: math.ceil(math.sqrt(K))
    ),
    "bonus 0.2, nothing believed before 15 visits": _with(
        optimism=1.0, beta_b=0.2, beta_w=lambda p, H, K: 4.0 * math.log(K)
    ),
    "dual capped at twice the multiplier": _capped,
    "K not known (doubling)": lambda cmdp, episodes: PDPO.practical(cmdp, None),
}


def seeds_of(episodes: int) -> range:
    """More seeds where runs are short, and noise is large beside what is measured."""
    return range(5 if episodes <= 10_000 else 3 if episodes <= 30_000 else 2 if episodes <= 100_000 else 1)


def outcomes(
    tasks: Sequence[Task],
    settings: Settings = practical,
    episodes: Sequence[int] = EPISODES,
    kinds: Sequence[str] = LOSSES,
    seeds: Callable[[int], Sequence[int]] = seeds_of,
) -> Iterator[Outcome]:
    """Every task under every kind of losses, each the mean of its seeds."""
    for task in tasks:
        cmdp = task.make()
        for kind in kinds:
            found = np.array([_judge(cmdp, kind, settings, K, seeds(K)) for K in episodes])
            regret, violation, worst = (tuple(float(x) for x in part) for part in found.T)
            yield Outcome(str(task), kind, tuple(int(K) for K in episodes), regret, violation, worst)


def _judge(cmdp: LinearCMDP, kind: str, settings: Settings, episodes: int, seeds: Sequence[int]) -> np.ndarray:
    """Mean regret and violation an episode, and the largest regret of a run, as shares of H."""
    found = []
    for seed in seeds:
        losses = make_losses(kind, cmdp, episodes, seed)
        run = simulate(cmdp, losses, settings(cmdp, episodes), episodes, seed, record_every=episodes)
        found.append([run.regret[-1], run.violation[-1].max()])
    return np.array([*np.mean(found, axis=0), np.max(found, axis=0)[0]]) / (cmdp.horizon * episodes)


def summary(found: Sequence[Outcome]) -> dict[str, Any]:
    """The numbers by which settings are judged, beside what is wanted of them."""
    slopes = [o.slope for o in found if o.slope is not None]
    at = [o.episodes.index(AT) if AT in o.episodes else len(o.episodes) - 1 for o in found]
    return {
        "rows": len(found),
        "slope_median": float(np.median(slopes)) if slopes else None,
        "slope_largest": max(slopes, default=None),
        "slopes_above_target": sum(slope > SLOPE for slope in slopes),
        "nothing_to_measure": len(found) - len(slopes),
        "shares_at": found[0].episodes[at[0]],
        "regret_largest": max(o.regret[i] for o, i in zip(found, at)),
        "violation_largest": max(o.violation[i] for o, i in zip(found, at)),
        "regret_worst_run": max((o.worst[i] for o, i in zip(found, at) if o.worst), default=None),
        "share_mean": [float(x) for x in np.mean([o.shares for o in found], axis=0)],
        "violation_largest_of_each": [float(x) for x in np.max([o.violation for o in found], axis=0)],
        "regret_largest_of_each": [float(x) for x in np.max([o.regret for o in found], axis=0)],
    }


def write(path: Path, name: str, found: Sequence[Outcome]) -> None:
    """Keep the rows and their summary beside others of the same file."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[name] = {"summary": summary(found), "rows": [asdict(o) | {"slope": o.slope} for o in found]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
