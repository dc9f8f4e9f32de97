"""What came out? A `Run`: curves, the policies one could deploy, the comparator, and the trace where asked.

Curves of a problem that was given in rewards and utilities come back in those units (a regret of 3 is 3 units of reward);
so do value and costs of `policy`, `average_policy()` and `best_policy()`. `loss`, `dual`, the trace and the comparator stay in
the algorithm's own, where losses and costs lie in [0, 1].
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tightrope._version import __version__
from tightrope.errors import InputError
from tightrope.losses.profiles import Profiles
from tightrope.oracle.certificate import BestPolicy, policy_costs
from tightrope.oracle.dynamic import markov
from tightrope.oracle.evaluation import start_value
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats, Ints
from tightrope.recorder import Extremes, Recorder, Trace


class Policy(np.ndarray):
    """Probabilities [H, S, A], with what the policy is worth: `value` against the run's average loss, `costs` [m]."""

    value: float | None
    costs: Floats | None

    def __array_finalize__(self, made_from: Any) -> None:
        self.value = self.costs = None  # a part of a policy, or a changed one, has no value yet


@dataclass(eq=False)
class Run:
    """One run of one learner. [R] recorded episodes, counted from 1; m constraints."""

    cmdp: LinearCMDP
    about: Mapping[str, Any]  # what determines the result: episodes, seed, record_every, losses, learner
    seconds: Mapping[str, float]  # "learning", "oracle"
    episodes: Ints  # [R] how many episodes were done
    regret: Floats  # [R], NaN without a comparator
    loss: Floats  # [R] of the learner, cumulative, in the algorithm's units
    violation: Floats  # [R, m] signed running sum of V_g - b
    hard_violation: Floats  # [R, m] sum of the positive parts
    dual: Floats  # [R, m] that the episode used
    epoch: Ints  # [R] epochs begun
    extremes: Extremes
    policy: Policy  # the last one
    comparator: BestPolicy | None  # the best feasible policy in hindsight
    mean_loss_weights: Floats  # [H, d] of all episodes
    occupancy: Floats | None  # [H, S, A] mean over the episodes; None when the run was not evaluated
    trace: Trace | None = None

    @property
    def positive_violation(self) -> Floats:
        """[R, m], the positive part of the running sum."""
        return np.maximum(self.violation, 0.0)

    @property
    def seed(self) -> int:
        return int(self.about["seed"])

    def dynamic_regret(self, losses: Profiles, stretch: int = 1) -> Floats:
        """[R], against the best feasible policy of each stretch of episodes, by default of each episode (`oracle.restless`).

        `losses`: those of the run, settled beforehand. A stretch of all episodes gives `regret`.
        """
        from tightrope.oracle.restless import restless_losses

        K, sequence = int(self.episodes[-1]), np.asarray(losses.sequence)
        if len(sequence) < K:
            raise InputError(f"losses: a sequence of {len(sequence)} episodes, wanted those of the run, {K}")
        best = restless_losses(self.cmdp, losses.profiles, sequence[:K], self.episodes, stretch)
        return (self.loss - best) * unit_widths(self.cmdp)[0]

    def average_policy(self) -> Policy:
        """The mixture that draws one of the episodes and plays its policy, as the Markov policy of the same occupancy."""
        if self.occupancy is None:
            raise InputError("average_policy: this run was made with evaluate=False, which keeps no occupancy")
        likeliest = self.policy.argmax(axis=2)
        return judged(self.cmdp, markov(self.occupancy, likeliest), self.mean_loss_weights)

    def best_policy(self) -> Policy:
        """The best feasible policy in hindsight, with its value and costs in the user's units: to lay beside the others."""
        if self.comparator is None:
            raise InputError("best_policy: this run was made with compare=False, which looks for no best policy")
        return judged(self.cmdp, self.comparator.policy, self.mean_loss_weights)

    def save(self, directory: str | Path) -> None:
        """Write the run into a directory that is new or empty; it appears there whole or not at all."""
        from tightrope.run_files import save_run

        save_run(self, Path(directory))

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """Read a run that `save` wrote; damaged files are refused by their checksums."""
        from tightrope.run_files import load_run

        return load_run(Path(directory))

    def __repr__(self) -> str:
        learner = self.about["learner"]["name"]
        return (
            f"Run({learner} on {self.cmdp.name!r}, {self.episodes[-1]:,} episodes, seed {self.seed}: "
            f"regret {self.regret[-1]:,.1f}, violation {self.violation[-1].max():,.1f})"
        )


def judged(cmdp: LinearCMDP, probabilities: Floats, loss_weights: Floats) -> Policy:
    """A policy with its value and costs, in the user's units."""
    policy = np.array(probabilities, dtype=float).view(Policy)
    value, costs = start_value(cmdp, probabilities, loss_weights), policy_costs(cmdp, probabilities)
    if cmdp.units is not None:
        value = cmdp.units.loss.total_outward(value, cmdp.horizon)
        costs = np.array([s.total_outward(c, cmdp.horizon) for s, c in zip(cmdp.units.costs, costs)])
    policy.value, policy.costs = float(value), costs
    return policy


def assemble(
    cmdp: LinearCMDP,
    recorder: Recorder,
    policy: Floats,
    occupancy: Floats | None,
    comparator: BestPolicy | None,
    comparator_mu: Floats | None,
    profiles: Floats | None,
    about: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> Run:
    """Make a `Run` of what a simulation kept; occupancy [A, H*S] summed over the episodes."""
    mean_weights = recorder.mean_weights(profiles)
    regret = np.full(len(recorder.at), np.nan)
    if comparator_mu is not None:
        regret = recorder.loss - recorder.comparator_loss(comparator_mu, profiles)
    loss_width, cost_widths = unit_widths(cmdp)
    extremes = replace(recorder.extremes, violation_peak=recorder.extremes.violation_peak * cost_widths)
    mean_occupancy = None
    if occupancy is not None:
        mean_occupancy = occupancy.T.reshape(cmdp.horizon, cmdp.n_states, cmdp.n_actions) / recorder.episodes
    return Run(
        cmdp=cmdp,
        about=about,
        seconds=seconds,
        episodes=recorder.at,
        regret=regret * loss_width,
        loss=recorder.loss,
        violation=recorder.violation * cost_widths,
        hard_violation=recorder.hard_violation * cost_widths,
        dual=recorder.dual,
        epoch=recorder.epoch,
        extremes=extremes,
        policy=judged(cmdp, policy, mean_weights),
        comparator=comparator,
        mean_loss_weights=mean_weights,
        occupancy=mean_occupancy,
        trace=recorder.trace,
    )


def unit_widths(cmdp: LinearCMDP) -> tuple[float, Floats]:
    """How long one inner unit is in the user's, for the loss and for each cost [m]."""
    if cmdp.units is None:
        return 1.0, np.ones(cmdp.n_constraints)
    return cmdp.units.loss.width, np.array([scale.width for scale in cmdp.units.costs])


def host_facts() -> dict[str, str]:
    """Where and with what a run was made."""
    import numba
    import scipy

    return {
        "tightrope": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }
