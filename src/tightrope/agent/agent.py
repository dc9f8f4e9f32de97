"""An agent for problems nobody can enumerate: Algorithm 1 (paper.tex) for states that are whatever a feature map can read.

    agent = tr.Agent(tr.PDPO.practical(sizes, K), features=fn, horizon=H, n_actions=A, budgets=[2.0])
    agent.begin(obs); a = agent.act(); agent.observe(cost, obs); ...; agent.finish(loss_weights)

Cost and memory depend on the states that have been seen, never on how many there could be (paper.tex, "Algorithm", last
paragraph; here O(n A d) an episode and step instead of O(d^2 A k)). Episodes may begin anywhere and end early: after an early
end nothing is lost and nothing is paid, which is the linear MDP whose transition measures have mass missing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tightrope.agent import reading
from tightrope.agent.compiling import compile_now
from tightrope.agent.learning import Learning
from tightrope.agent.options import read_options
from tightrope.agent.told import Explanation, Status
from tightrope.learners.pdpo import PDPO
from tightrope.problems.tables import Floats


class Agent(Learning):
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
        given = {
            "learner": learner,
            "features": features,
            "horizon": horizon,
            "n_actions": n_actions,
            "budgets": budgets,
        }
        given |= {"episodes": episodes, "dim": dim, "seed": seed}
        given |= {"dtype": dtype, "max_states": max_states, "when_full": when_full, "max_segments": max_segments}
        read = read_options(given)
        sizes = reading.Sizes(read["n_actions"], read["horizon"], len(read["budgets"]), read["features"])
        options = {name: read[name] for name in ("dtype", "max_states", "when_full", "max_segments")}
        super().__init__(features, sizes, read["seed"], read["settings"], read["budgets"], options)
        self.learner = learner
        compile_now(self.settings, np.dtype(dtype))

    def policy(self, h: int, obs: Any) -> Floats:
        """[A], the chances of the actions in any state, from the compact parameters alone."""
        player, block = self._look(h, obs)
        return player.policy(h, block)

    def explain(self, h: int, obs: Any) -> Explanation:
        """Action by action: estimates, bonus, how well it is known, and what the dual makes of it."""
        player, block = self._look(h, obs)
        norms, contraction = player.norms(h, block)
        bonus = self.settings.beta_b * contraction * norms
        estimates = contraction * (player.world.weights[h] @ block.T)  # [1+m, A]
        if player.updates == 0:
            estimates[:] = np.nan
        return Explanation(
            policy=player.policy(h, block),
            loss_to_go=estimates[0],
            cost_to_go=estimates[1:],
            loss_bonus=self.learner.bonus_factors(self.sizes.horizon, 0)[0, h] * bonus,
            bonus=bonus,
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
