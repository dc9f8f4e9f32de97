"""A problem, its losses and a learner meet: `simulate` plays every episode and leaves a `Run`.

Regret compares with ONE policy, the best feasible in hindsight for the realised losses of all episodes; a run's curve at k
sums the first k differences. Everything random comes from `SeedSequence(seed)`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightrope import losses as _losses
from tightrope.engine import tables
from tightrope.engine.episode import Options
from tightrope.errors import InputError
from tightrope.learners import worlds
from tightrope.learners.compiled import CompiledPlayer
from tightrope.learners.protocol import Learner, Player, describe
from tightrope.losses.profiles import fit
from tightrope.numbers_in import whole
from tightrope.one_by_one import OneByOne
from tightrope.oracle.best import best_policy
from tightrope.oracle.certificate import BestPolicy
from tightrope.oracle.evaluation import feature_occupancy
from tightrope.oracle.feasibility import feasible_budgets
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats
from tightrope.recorder import Recorder, every_by_default
from tightrope.run import Run, assemble, unit_widths

PLAY_KEY = 1  # keeps the play's randomness apart from that of `losses.make` under the same seed
LONGEST = 8192  # episodes in a stride
STRIDE_SECONDS = 0.15  # what a stride should take: progress is shown and interruptions are seen between strides


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    episodes: int  # done
    of: int
    regret: float | None  # None while the comparator is not known (losses that react)
    violation: float  # running, the largest of the constraints
    dual: float  # the largest
    epoch: int
    seconds: float  # of learning, so far


def simulate(
    cmdp: LinearCMDP,
    losses: Any,
    learner: Learner,
    episodes: int,
    seed: int = 0,
    record_every: int | None = None,
    trace: bool = False,
    *,
    evaluate: bool = True,
    compare: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run a learner on a problem.

    Parameters
    ----------
    losses: `Profiles`, or an `Adversary`.
    learner: `PDPO`, or anything with `start` (see `learners.protocol`).
    record_every: the curves have every n-th episode and the last; by default some 1,000 points.
    trace: keep everything that happened, episode by episode.
    evaluate: value every policy that plays exactly; otherwise the curves hold what was paid.
    compare: find the best policy in hindsight; without it there is no regret (NaN).
    progress: called between strides with a `Progress`; what it raises ends the run.
    """
    simulation = Simulation(cmdp, losses, learner, episodes, seed, record_every, trace, evaluate, compare)
    while simulation.remaining:
        simulation.advance()
        if progress is not None:
            progress(simulation.progress())
    return simulation.finish()


class Simulation:
    """A run under way; `advance` plays a stride. How it is cut into strides changes no number."""

    def __init__(
        self,
        cmdp: LinearCMDP,
        losses: Any,
        learner: Learner,
        episodes: int,
        seed: int = 0,
        record_every: int | None = None,
        trace: bool = False,
        evaluate: bool = True,
        compare: bool = True,
    ):
        if not isinstance(cmdp, LinearCMDP):
            raise InputError(f"cmdp: {shown(cmdp)}, wanted a LinearCMDP, such as tr.problems.make returns")
        self.cmdp, self.losses, self.learner = cmdp, losses, learner
        self.episodes = whole("episodes", episodes, least=1)
        self.seed = whole("seed", seed, least=0)
        unset = record_every is None
        every = every_by_default(self.episodes) if unset else whole("record_every", record_every, least=1)
        self.evaluate, self.compare = bool(evaluate), bool(compare)
        self.profiles = _profiles(cmdp, losses, self.episodes)  # [L, H, d], None when an adversary sets the weights
        self.recorder = Recorder(cmdp, self.episodes, every, 0 if self.profiles is None else len(self.profiles), trace)
        self.comparator, self.comparator_mu, self.oracle_seconds = None, None, 0.0
        if compare:
            self._compare_early()
        self.learning_seconds = 0.0
        self.player = _start(learner, cmdp, self.episodes, losses)
        self.world = self.player.world if isinstance(self.player, CompiledPlayer) else worlds.new_world(cmdp, 1)
        self.model = tables.new_model(
            self.world, cmdp.initial_distribution, cmdp.budgets, cmdp.cost_weights, cmdp.transition_costs
        )
        self.tally = tables.new_tally(cmdp.n_actions, cmdp.horizon, cmdp.n_states, cmdp.dim)
        self.random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(PLAY_KEY,)))
        parts = (self.world, self.model, self.tally, self.profiles)
        self._one_by_one = OneByOne(cmdp, losses, self.player, *parts)
        self.engine_profiles = self._one_by_one.inward
        if isinstance(losses, _losses.Adversary):
            losses.start(cmdp, self.episodes)
        self._stride = 16
        self._play_nothing()

    def _play_nothing(self) -> None:
        """Have the kernels compiled, or loaded from disk, before anything is timed."""
        if isinstance(self.player, CompiledPlayer) and self.engine_profiles is not None:
            cmdp, off = self.cmdp, Options(0, 0)
            record = tables.new_record(0, cmdp.n_actions, cmdp.horizon, cmdp.n_states, cmdp.n_constraints, False)
            none = np.zeros(0, np.int64), np.zeros((0, 1 + 2 * cmdp.horizon))
            self.player.run(self.model, self.tally, self.engine_profiles, *none, off, record)

    @property
    def done(self) -> int:
        """Episodes done."""
        return self.recorder.done

    @property
    def stride(self) -> int:
        """Episodes that take some 0.15 seconds."""
        return self._stride

    @property
    def remaining(self) -> int:
        return self.episodes - self.recorder.done

    def advance(self, episodes: int | None = None) -> None:
        """Play so many episodes (never more than remain), or a stride of some 0.15 seconds."""
        wanted = self._stride if episodes is None else whole("episodes", episodes, least=1)
        until = min(self.done + wanted, self.episodes)
        while self.done < until:
            self._play(min(until - self.done, LONGEST))

    def _play(self, n: int) -> None:
        """One stride."""
        cmdp, tracing = self.cmdp, self.recorder.trace is not None
        record = tables.new_record(n, cmdp.n_actions, cmdp.horizon, cmdp.n_states, cmdp.n_constraints, tracing)
        uniforms = self.random.random((n, 1 + 2 * cmdp.horizon))
        sequence = self._sequence(n)
        options = Options(int(self.evaluate), int(tracing))
        begun = time.perf_counter()
        if isinstance(self.player, CompiledPlayer) and self.engine_profiles is not None:
            self.player.run(self.model, self.tally, self.engine_profiles, sequence, uniforms, options, record)
            weights = None
        else:
            weights = self._one_by_one.play(self.done, record, sequence, uniforms, options)
        spent = time.perf_counter() - begun
        self.learning_seconds += spent
        self._stride = int(min(max(n * STRIDE_SECONDS / max(spent, 1e-9), 1), 4 * n, LONGEST))
        if tracing:
            self.recorder.take_trace(record, weights if self.profiles is None else self.profiles[sequence])  # pyright: ignore[reportArgumentType]
        self.recorder.take(record, sequence, weights)

    def _sequence(self, n: int) -> np.ndarray:
        """[n]; -1 where the engine is to find the worst profile."""
        if isinstance(self.losses, _losses.Profiles):
            return self.losses.sequence[self.done : self.done + n].copy()
        return np.full(n, -1 if self.profiles is not None else 0)

    # ---- judging -----------------------------------------------------------------------------------------------

    def _compare_early(self) -> None:
        """The comparator, where the losses are settled beforehand; elsewhere at least whether there can be one."""
        begun = time.perf_counter()
        if isinstance(self.losses, _losses.Profiles):
            self._judge(self.losses.mean(self.episodes))
        else:
            feasible_budgets(self.cmdp, self.cmdp.budgets)
        self.oracle_seconds += time.perf_counter() - begun

    def _judge(self, mean_weights: Floats) -> BestPolicy:
        best = best_policy(self.cmdp, mean_weights)
        self.comparator, self.comparator_mu = best, feature_occupancy(self.cmdp, best.policy)
        return best

    def progress(self) -> Progress:
        """Where the run stands, in the user's units."""
        recorder, m = self.recorder, self.cmdp.n_constraints
        loss_width, cost_widths = unit_widths(self.cmdp)
        regret = None
        if self.comparator_mu is not None and recorder.done:
            best = recorder.done * float(np.vdot(recorder.mean_weights(self.profiles), self.comparator_mu))
            regret = (float(recorder.total[0]) - best) * loss_width
        return Progress(
            recorder.done,
            self.episodes,
            regret,
            float((recorder.total[1 : 1 + m] * cost_widths).max()),
            float(_last_dual(self.player).max()),
            recorder.last_epoch,
            self.learning_seconds,
        )

    def finish(self) -> Run:
        """The run, once no episode remains."""
        if self.remaining:
            raise ValueError(f"{self.remaining} of {self.episodes} episodes remain")
        if self.compare and self.comparator is None:
            begun = time.perf_counter()
            self._judge(self.recorder.mean_weights(self.profiles))
            self.oracle_seconds += time.perf_counter() - begun
        player = self.player
        policy = player.last_policy if isinstance(player, CompiledPlayer) else self._one_by_one.ask_policy(self.done)
        if self.recorder.trace is not None:
            self.recorder.trace.dual[-1] = _last_dual(player)
        return assemble(
            self.cmdp,
            self.recorder,
            policy,
            self.tally.occupancy if self.evaluate else None,
            self.comparator,
            self.comparator_mu,
            self.profiles,
            {
                "episodes": self.episodes,
                "seed": self.seed,
                "record_every": self.recorder.record_every,
                "evaluate": self.evaluate,
                "losses": dict(getattr(self.losses, "about", {})) or {"kind": type(self.losses).__name__},
                "learner": describe(self.learner),
            },
            {"learning": self.learning_seconds, "oracle": self.oracle_seconds},
        )


def _start(learner: Any, cmdp: LinearCMDP, episodes: int, losses: Any) -> Player:
    """Begin a run of the learner, or say what it lacks."""
    if isinstance(learner, type) or not isinstance(learner, Learner):
        given = f"the class {learner.__name__}" if isinstance(learner, type) else type(learner).__name__
        raise InputError(f"learner: {given}, wanted PDPO with its settings or an object with start(cmdp, episodes)")
    knowing = getattr(learner, "start_knowing", None)  # of one that is told the losses, as the best in hindsight is
    player = learner.start(cmdp, episodes) if knowing is None else knowing(cmdp, episodes, losses)
    if isinstance(player, type) or not isinstance(player, Player):
        raise InputError(
            f"learner: {type(learner).__name__}.start gave {player!r}, wanted an object with policy() and learn(episode)"
        )
    return player


def _last_dual(player: Player) -> Floats:
    """The multipliers after the last update; asking a compiled player for `dual` would begin its next epoch."""
    if isinstance(player, CompiledPlayer):
        return player.last_dual
    return np.atleast_1d(getattr(player, "dual", 0.0))


def _profiles(cmdp: LinearCMDP, losses: Any, episodes: int) -> Floats | None:
    """Check the losses against the problem; return the profiles [L, H, d], None when an adversary makes its own."""
    if isinstance(losses, _losses.Profiles):
        if losses.episodes < episodes:
            raise InputError(f"losses: a sequence of {losses.episodes} episodes, wanted at least episodes = {episodes}")
        return fit(cmdp, losses.profiles, "losses: profiles")
    if type(losses) is _losses.BestResponse:
        return fit(cmdp, losses.profiles, "losses: profiles")
    if isinstance(losses, _losses.Adversary):
        return None
    raise InputError(f"losses: {type(losses).__name__}, wanted Profiles, an Adversary or what losses.make returns")
