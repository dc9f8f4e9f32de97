"""An agent for problems nobody can enumerate: Algorithm 1 (paper.tex) for states that are whatever a feature map can read.

    agent = tr.Agent(tr.PDPO.practical(sizes, K), features=fn, horizon=H, n_actions=A, budgets=[2.0])
    agent.begin(obs); a = agent.act(); agent.observe(cost, obs); ...; agent.finish(loss_weights)

Cost and memory depend on the states that have been seen, never on how many there could be (paper.tex, "Algorithm", last
paragraph; here O(n A d) an episode and step instead of O(d^2 A k)). Episodes may begin anywhere and end early: after an early
end nothing is lost and nothing is paid, which is the linear MDP whose transition measures have mass missing.
"""

from __future__ import annotations

import sys
import threading
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tightrope.agent import reading
from tightrope.agent.increments import Fork, Increment
from tightrope.agent.losses import LossReader, LossValues, check_range
from tightrope.agent.play import Played, Playing
from tightrope.agent.told import Explanation, Status
from tightrope.engine.episode import Settings
from tightrope.errors import InputError
from tightrope.learners.endless import EndlessPlayer, ready_kernels
from tightrope.learners.pdpo import PDPO
from tightrope.numbers_in import whole
from tightrope.problems.reading import all_of, read_bounds, shown
from tightrope.problems.tables import Floats

DTYPES = ("float64", "float32")
WHEN_FULL = ("nearest", "refuse")


class Agent(Playing):
    """Learns while it acts, on a system that is not ours.

    Parameters
    ----------
    learner: the settings of Algorithm 1.
    features: a function of an observation that gives `phi(s, .)` as [A, d], rows of length at most 1; `tr.features` has some.
    budgets: [m], what an episode may cost.
    episodes: the K of the run, for settings that need it (a learner whose `contraction_offset` is None).
    dim: d, where `features` has no attribute of this name and it should be checked from the first state on.
    seed: of the actions drawn.
    dtype: "float64", or "float32" for tables of half the size; gram matrices and sums are doubles in any case.
    max_states: how many states may be known, all steps together. When they are, a new state is played with exactly
        the policy it should have, but what leads to it is entered for the known state with the nearest features
        (`when_full="nearest"`; `status()` counts them and tells the largest distance), or it is refused with an error.
    max_segments: how many segments the compact policy may have before the lightest are folded; see `status().folded`.
    """

    def __init__(
        self,
        learner: PDPO,
        features: Callable[[Any], Any],
        horizon: int,
        n_actions: int,
        budgets: Any,
        *,
        episodes: int | None = None,
        dim: int | None = None,
        seed: int = 0,
        dtype: str = "float64",
        max_states: int | None = None,
        when_full: str = "nearest",
        max_segments: int = 512,
    ):
        given = {"horizon": horizon, "n_actions": n_actions, "max_segments": max_segments}
        readers: dict[str, Any] = {name: lambda n=name, x=x: whole(n, x, 1) for name, x in given.items()}
        optional = {"episodes": episodes, "dim": dim, "max_states": max_states}
        readers |= {name: lambda n=name, x=x: None if x is None else whole(n, x, 1) for name, x in optional.items()}
        readers |= {
            "seed": lambda: whole("seed", seed, 0),
            "budgets": lambda: _read_budgets(budgets, horizon),
            "learner": lambda: _read_learner(learner, episodes),
            "features": lambda: _read_map(features, n_actions, dim),
            "dtype": lambda: _one_of("dtype", dtype, DTYPES),
            "when_full": lambda: _one_of("when_full", when_full, WHEN_FULL),
        }
        read = all_of(readers)
        m, map_dim = len(read["budgets"]), read["features"]
        super().__init__(features, reading.Sizes(read["n_actions"], read["horizon"], m, map_dim), read["seed"])
        self.learner, self.budgets, self.settings = learner, read["budgets"], read["learner"]
        self.options = {
            "dtype": dtype,
            "max_states": read["max_states"],
            "when_full": when_full,
            "max_segments": read["max_segments"],
        }
        _ready_kernels(self.settings, np.dtype(dtype))
        self._player: EndlessPlayer | None = None
        self._losses = LossReader(self.sizes)
        self._batch: list[Played] = []
        self._merged: Increment | None = None
        self._hard_violation = np.zeros(m)
        self._turned_away, self._farthest = 0, 0.0

    # ---- an episode ------------------------------------------------------------------------------------------------

    def finish(self, loss: Any) -> None:
        """The episode is over, and what was lost is known: learn from it, and from those set aside.

        `loss`: the weights [H, d] of the episode's losses, in [0, 1] wherever it has been; or a function
        `loss(h, obs, action)`; or values from which the weights can be told (see `tr.LossValues`).
        """
        self._learn("finish", loss, self._whole("finish"))

    def set_aside(self) -> None:
        """The episode is over, but what is to be learnt from it waits: several episodes of one policy, then `learn`."""
        self._batch.append(self._whole("set_aside"))
        self.current = None

    def learn(self, loss: Any) -> None:
        """Learn from the episodes set aside or merged, all played with one policy: one update of policy and dual.

        The dual goes by the mean of the estimated costs from their first states; with a single episode this is `finish`.
        """
        if self.current is not None:
            raise InputError("learn: an episode is under way; finish it, set it aside or abandon it first")
        if not self._batch and self._merged is None:
            raise InputError("learn: no episode has been set aside or merged")
        self._learn("learn", loss, None)

    def _learn(self, what: str, loss: Any, last: Played | None) -> None:
        batch = [*self._batch, last] if last is not None else self._batch
        player, merged = self._ready(), self._merged
        weights, residual = self._read_loss(f"{what}: loss", loss, batch)
        places: list[list[int]] = []  # of what the forks saw
        if merged is not None:
            self._check_room(what, merged)
            places = [[self._enter(h, block, None)[0] for block in states] for h, states in enumerate(merged.states)]
        self._book(batch)
        player.learn(weights, *self._firsts(batch))
        for played in batch:
            d, n = player.tables.dim, played.steps
            rows = np.array([block[a, :d] for block, a in zip(played.blocks, played.actions)])
            led_to = np.array([*played.places[1:], *[-1] * (1 + n - len(played.places))], np.int64)
            player.absorb(rows, led_to, np.array(played.costs))
        if merged is not None:
            self._absorb(merged, places)
        self._losses.residual = residual
        self._batch, self._merged = [], None
        self.current = None if last is not None else self.current

    def _read_loss(self, name: str, loss: Any, batch: list[Played]) -> tuple[Floats, float]:
        """The weights [H, d], and the share of the losses that they leave over."""
        if not isinstance(loss, LossValues):
            weights, residual = self._losses.read(name, loss)
            if not callable(loss):
                merged = [] if self._merged is None else [self._merged.states]
                seen = [*(played.blocks for played in batch), *merged]
                check_range(name, weights, seen, np.dtype(self.options["dtype"]))
            return weights, residual
        return self._losses.read_values(name, loss, lambda obs: reading.read_features(self.features, obs, self.sizes))

    def _book(self, batch: list[Played]) -> None:
        """What the episodes cost beyond the budgets."""
        player, merged = self._ready(), self._merged
        for played in batch:
            excess = np.sum(played.costs, axis=0) - self.budgets
            player.book(excess, excess**2)
            self._hard_violation += np.maximum(excess, 0.0)
        if merged is not None:
            player.book(merged.violation, merged.squares)
            self._hard_violation += merged.hard_violation

    def _firsts(self, batch: list[Played]) -> tuple[Floats, Floats, Floats]:
        """The states that episodes began in: features [B, A, D], policies [B, A], and their shares [B]."""
        blocks = [played.blocks[0] for played in batch]
        policies = [played.policies[0] for played in batch]
        counts = [1.0] * len(batch)
        if self._merged is not None:
            for block, count in zip(self._merged.states[0], self._merged.sums[0][:, 0]):
                blocks.append(block)
                policies.append(self._ready().policy(0, block))
                counts.append(float(count))
        return np.array(blocks), np.array(policies), np.array(counts) / sum(counts)

    # ---- forks -----------------------------------------------------------------------------------------------------

    @property
    def _snapshot(self) -> tuple[int, ...]:
        """How many updates and epochs, and a digest of the policy and of what increments of it must agree on."""
        player = self._ready()
        kinds = repr((self.sizes, self.settings, self.options["dtype"])).encode()
        return (
            player.updates,
            player.epochs,
            player.policy_digest(zlib.crc32(self.budgets.tobytes(), zlib.crc32(kinds))),
        )

    def fork(self, seed: int = 0) -> Fork:
        """One that plays with the policy of now, without learning; it can be sent to another process."""
        player = self._ready()
        player.begin()
        segments = player.segments_copy()
        sizes = reading.Sizes(**vars(self.sizes))
        of = (self.settings, segments, player.blocks, self._snapshot, self.budgets.copy())
        return Fork(self.features, sizes, whole("seed", seed, 0), *of)

    def merge(self, increment: Increment) -> None:
        """Take in what a fork saw; it counts from the next `learn` or `finish` on, with whatever else is waiting."""
        if not isinstance(increment, Increment):
            raise InputError(f"merge: {shown(increment)}, wanted an increment of one of this agent's forks")
        player = self._ready()
        player.begin()
        if increment.snapshot[:2] != self._snapshot[:2]:
            raise InputError(
                f"merge: the increment was played with the policy after {increment.snapshot[0]} updates, "
                f"this agent has made {player.updates}"
            )
        if increment.snapshot != self._snapshot:
            raise InputError("merge: the increment was played with the policy of another agent")
        merged = increment if self._merged is None else self._merged + increment
        self._check_room("merge", merged)
        self._merged = merged

    def _check_room(self, what: str, merged: Increment) -> None:
        """Where full tables refuse: all of what the forks saw finds room, or none of it is taken in."""
        most, player = self.options["max_states"], self._ready()
        if self.options["when_full"] != "refuse" or most is None:
            return
        new = sum(player.find(h, block) < 0 for h, states in enumerate(merged.states) for block in states)
        room = most - int(player.world.n_known.sum())
        if new > room:
            raise InputError(f"{what}: max_states: {new:,} states are new, there is room for {room:,} of {most:,}")

    def _absorb(self, merged: Increment, places: list[list[int]]) -> None:
        player = self._ready()
        player.absorb_sums(merged.gram, merged.cost_sums, merged.episodes)
        for h in range(1, self.sizes.horizon):
            for place, total in zip(places[h], merged.sums[h]):
                player.add_sum(h, place, total)

    # ---- what others ask -------------------------------------------------------------------------------------------

    def policy(self, h: int, obs: Any) -> Floats:
        """[A], the chances of the actions in any state, from the compact parameters alone."""
        player, block = self._look(h, obs)
        return player.policy(h, block)

    def explain(self, h: int, obs: Any) -> Explanation:
        """Action by action: estimates, bonus, how well it is known, and what the dual makes of it."""
        player, block = self._look(h, obs)
        norms, contraction = player.norms(h, block)
        estimates = contraction * (player.world.weights[h] @ block.T)  # [1+m, A]
        if player.updates == 0:
            estimates[:] = np.nan
        return Explanation(
            policy=player.policy(h, block),
            loss_to_go=estimates[0],
            cost_to_go=estimates[1:],
            bonus=self.settings.beta_b * contraction * norms,
            contraction=contraction,
            dual=player.world.dual.copy(),
            known=player.find(h, block) >= 0,
        )

    def status(self) -> Status:
        """Where the agent stands."""
        player, H = self._player, self.sizes.horizon
        if player is not None:
            player.begin()
        return Status(
            episodes=player.episodes if player else 0,
            updates=player.updates if player else 0,
            epoch=player.epochs if player else 0,
            dual=player.world.dual.copy() if player else np.zeros(len(self.budgets)),
            violation=player.world.ledger[0].copy() if player else np.zeros(len(self.budgets)),
            hard_violation=self._hard_violation.copy(),
            known_states=player.world.n_known.copy() if player else np.zeros(H, np.int64),
            segments=int(player.tables.segments.count[0]) if player else 0,
            folded=player.folded if player else 0.0,
            turned_away=self._turned_away,
            farthest=self._farthest,
            loss_residual=self._losses.residual,
            table_bytes=player.tables.bytes if player else 0,
        )

    @property
    def dual(self) -> Floats:
        """[m], Y of the coming episode."""
        return self.status().dual

    @property
    def estimates(self) -> Floats:
        """[1+m], v_hat at the first state of the last episode learnt from: the loss, then the costs."""
        return self._player.estimates.copy() if self._player else np.full(1 + len(self.budgets), np.nan)

    def save(self, path: str | Path) -> None:
        """Write everything but the feature map to a `.npz` file; also in the middle of an episode."""
        from tightrope.agent.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path, features: Callable[[Any], Any]) -> Agent:
        """Read an agent that `save` wrote; it goes on as if nothing had happened, bit for bit."""
        from tightrope.agent.files import load

        return load(path, features)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles go the way of files: kernels hold addresses of tables, which must not be shared or travel."""
        from tightrope.agent.files import from_bytes, to_bytes

        return from_bytes, (to_bytes(self), self.features)

    def __repr__(self) -> str:
        s = self.sizes
        return f"Agent(H={s.horizon}, A={s.n_actions}, d={s.dim}, budgets={self.budgets.tolist()}; {self.status()})"

    # ---- inside ----------------------------------------------------------------------------------------------------

    def _ready(self, dim: int | None = None) -> EndlessPlayer:
        """The player, made as soon as d is known."""
        if self._player is None:
            d = self.sizes.dim or dim
            if d is None:
                raise InputError(
                    "the agent has seen no state and does not know the size of the features; give it dim=d"
                )
            self.sizes.dim = d
            s, options = self.sizes, self.options
            limits = (options["max_states"], options["max_segments"])
            dtype = np.dtype(options["dtype"])
            try:
                self._player = EndlessPlayer(self.settings, s.n_actions, d, s.horizon, self.budgets, dtype, *limits)
            except MemoryError:
                numbers = 8e-9 * s.horizon * d * d
                raise InputError(
                    f"features: d = {d:,}; at H = {s.horizon} each of the gram matrices, their inverses and their factors "
                    f"takes {numbers:,.1f} GB, more than there is: wanted fewer features"
                ) from None
        return self._player

    def _look(self, h: Any, obs: Any) -> tuple[EndlessPlayer, Floats]:
        """Before anything is said of a state of step h."""
        reading.read_step(h, self.sizes.horizon)
        features = reading.read_features(self.features, obs, self.sizes)
        player = self._ready(features.shape[1])
        player.begin()
        return player, player.block(features)

    def _meet(self, h: int, features: Floats, obs: Any) -> tuple[Floats, int, Floats]:
        player = self._ready(features.shape[1])
        block = player.block(features)
        self._welcome(h, block, obs)
        if h == 0:
            player.begin()
        place, policy = self._enter(h, block, obs)
        self._losses.sample(h, block, obs)
        return block, place, policy

    def _welcome(self, h: int, block: Floats, obs: Any) -> None:
        """Refuse a new state where full tables do."""
        player = self._ready()
        if self.options["when_full"] == "refuse" and player.full and player.find(h, block) < 0:
            most = self.options["max_states"]
            raise InputError(
                f"max_states: all {most:,} states are known, and the one of step {h} ({shown(obs)}) is new"
            )

    def _enter(self, h: int, block: Floats, obs: Any) -> tuple[int, Floats]:
        """The place and the policy [A] of a state, known from now on; where there is no room, the place of the nearest."""
        player = self._ready()
        place, policy = player.meet(h, block)
        if place < 0:
            place, distance = player.nearest(h, block)
            if self._turned_away == 0:
                warnings.warn(
                    f"max_states: all {self.options['max_states']:,} states are known; what leads to new ones is entered "
                    "for the nearest known ones from now on (status() goes on telling)",
                    stacklevel=2,
                )
            self._turned_away += 1
            self._farthest = max(self._farthest, distance)
        return place, policy


COMPILING = "tightrope: compiling the kernels of an agent (some 20 seconds, once; then kept on disk)"
PATIENCE = 3.0  # seconds that kernels take at most to be loaded from disk


def _ready_kernels(settings: Settings, dtype: np.dtype) -> None:
    """Nobody who plays is to wait for a compiler; who makes an agent is told what the wait is for, on a terminal."""
    told = threading.Timer(PATIENCE, lambda: print(COMPILING, file=sys.stderr, flush=True))
    told.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        told.start()
    try:
        ready_kernels(settings, dtype)
    finally:
        told.cancel()


def _read_budgets(given: Any, horizon: Any) -> Floats:
    budgets = read_bounds("budgets", given).copy()
    if budgets.ndim != 1 or not len(budgets) or not np.isfinite(budgets).all() or budgets.min() < 0.0:
        raise InputError(f"budgets: {shown(given)}, wanted [m] numbers, each what an episode may cost")
    return budgets


def _read_learner(learner: Any, episodes: Any) -> Any:
    if not isinstance(learner, PDPO):
        given = learner.__name__ if isinstance(learner, type) else type(learner).__name__
        raise InputError(f"learner: {given}, wanted PDPO with its settings: an agent runs Algorithm 1")
    if learner.contraction_offset is None and episodes is None:
        raise InputError(
            "episodes: missing; this learner's contraction needs log K: give Agent(..., episodes=K) or contraction_offset"
        )
    return learner.rules(episodes or 1).settings()


def _read_map(features: Any, n_actions: Any, dim: int | None) -> int | None:
    """d, where the map or the user tells."""
    if not callable(features):
        raise InputError(f"features: {shown(features)}, wanted a function of an observation that gives [A, d]")
    own, actions = getattr(features, "dim", None), getattr(features, "n_actions", None)
    if isinstance(actions, int) and actions != n_actions:
        raise InputError(f"features: made for {actions} actions, the agent has n_actions = {n_actions}")
    if isinstance(own, int) and dim is not None and own != dim:
        raise InputError(f"dim: {dim}, the features have {own}")
    return own if isinstance(own, int) else dim


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> str:
    if given not in known:
        raise InputError(f"{name}: {shown(given)}, wanted {' or '.join(repr(x) for x in known)}")
    return given
