"""OPSE-LCMDP, Kitamura et al. 2025: optimistic-pessimistic softmax exploration, no violation in any episode.

Paper: "Provably Efficient RL under Episode-Wise Safety in Constrained MDPs with Linear Function Approximation" (2025);
read from the text of its public code.

    symbol           setting                          symbol    setting
    kappa            kappa, weight of the entropy     C_r       width_reward
    C_lambda = 300   most_lambda                      C_u       width_utility
    20 bisections    rounds                           C_d, B_d  width_bonus, reward_of_bonus
    rho              rho, of the ridge regression

Before every episode: ridge estimates of kernel and utility `u = 1 - g`; for a multiplier lambda, backwards, the policy
`softmax((Q_r + Q_d + lambda Q_u) / kappa)` of optimistic rewards, the value of bonuses, and pessimistic utilities; the smallest
lambda whose pessimistic utility keeps the limit `H - b`, by bisection; the known safe policy where even the largest does not.

Guaranteed by the paper, with its constants: hard violation 0 in every episode and, for losses that do not change,
regret of order sqrt(K), after order d^3 H^4 / xi^2 episodes of the safe policy, xi being the room that it leaves.

Departures: costs are estimated too, and one pessimistic bonus covers both estimates; entropy is `-kappa sum pi log pi`; the
loss of the last finished episode serves as the reward; the widths are 1 (the constants of the proof exceed H).

The preset `practical` differs from the public code (kappa = 0.1, rho = 1, the defaults of the class) in two settings, without
which regret is linear. kappa = min(0.1, 1/sqrt(K)), the order that the proof asks for: a fixed kappa costs up to
`kappa H log A` every episode. rho = 1/H^2: what was never tried has bonus H, as much as an episode can bring, which the proof
has from widths of order dH. With rho = 1 it has bonus 1 on an estimate of 0, and what earns more than 1 in the rest of an
episode is never left for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tightrope.errors import InputError
from tightrope.learners.knowledge import strictly_safe
from tightrope.learners.protocol import Episode, Sizes
from tightrope.learners.ridge import Ridge
from tightrope.learners.shared import NumberSettings, check_settings
from tightrope.numbers_in import whole
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats


@dataclass(frozen=True, kw_only=True)
class Composite(NumberSettings):
    """What OPSE and Ghosh et al. (2024) have in common: a softmax, and a bisection for its multiplier."""

    kappa: float = 0.1
    most_lambda: float = 300.0
    rounds: float = 20.0
    width_reward: float = 1.0
    width_utility: float = 1.0
    rho: float = 1.0

    one_constraint: ClassVar[bool] = True
    exploring: ClassVar[float] = 1.0  # `practical`'s width of the bonus on rewards
    pessimistic: ClassVar[bool]
    declared_rate: ClassVar[float] = 0.5  # of the regret, where losses do not change

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> Any:
        """kappa of order 1/sqrt(K), and a ridge so small that what was never tried looks as good as anything."""
        K = whole("episodes", episodes, least=1)
        check_settings(cls, given)
        if cmdp.n_constraints > 1:
            raise InputError(f"learner {cls.name!r} has one constraint, this problem has {cmdp.n_constraints}")
        scaled: dict[str, Any] = {"kappa": min(0.1, 1.0 / math.sqrt(K)), "rho": 1.0 / cmdp.horizon**2}
        scaled["width_reward"] = cls.exploring
        return cls(**(scaled | given))

    def widths(self) -> Floats:
        """[4], as `engine.composite.plan` takes them."""
        return np.array([self.width_reward, 0.0, self.width_utility, 0.0])

    def safe_policy(self, cmdp: LinearCMDP) -> Floats | None:
        """What to play where no multiplier is estimated safe; None: the policy of the largest."""
        return None

    def start(self, cmdp: LinearCMDP, episodes: int) -> CompositePlayer:
        return CompositePlayer(self, cmdp)


@dataclass(frozen=True, kw_only=True)
class OPSE(Composite):
    """Settings; see the preset `practical`."""

    width_bonus: float = 1.0
    reward_of_bonus: float = 1.0
    knowledge: str = "oracle"  # a strictly safe policy

    name: ClassVar[str] = "opse"
    pessimistic: ClassVar[bool] = True

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> OPSE:
        """Scaled as in `Composite.practical`; the strictly safe policy is the oracle's: the one that leaves the most room."""
        strictly_safe(cls.name, cmdp)
        return super().practical(cmdp, episodes, **given)

    def widths(self) -> Floats:
        return np.array([self.width_reward, self.width_bonus, self.width_utility, self.reward_of_bonus])

    def safe_policy(self, cmdp: LinearCMDP) -> Floats:
        return strictly_safe(self.name, cmdp).policy


@dataclass(frozen=True)
class Bracket:
    """The certificate of a bisection: `low` is not estimated safe (or is 0), `high` is."""

    low: float
    high: float
    utility_low: float
    utility_high: float


@dataclass(eq=False)
class CompositePlayer:
    """One run."""

    settings: Composite
    cmdp: LinearCMDP
    fell_back: int = 0  # episodes in which the safe policy played
    bracket: Bracket | None = None  # of the last bisection; None where none was needed
    _shown: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        cmdp = self.cmdp
        self.estimates_of = Ridge(cmdp, self.settings.rho)
        self.limit = cmdp.horizon - float(cmdp.budgets[0])
        self.safe = self.settings.safe_policy(cmdp)
        self.reward = np.zeros((cmdp.horizon, cmdp.n_states, cmdp.n_actions))
        self.policy_room = np.zeros_like(self.reward)
        self.widths = self.settings.widths()
        self.v = np.zeros((2, 3, cmdp.n_states))
        self.start = cmdp.initial_distribution.copy()
        self.dual = np.zeros(1)

    def policy(self) -> Floats:
        if self._shown is None:
            self._shown = self._plan()
        return self._shown

    def learn(self, episode: Episode) -> None:
        self.estimates_of.learn(episode)
        self.reward = np.ascontiguousarray(1.0 - self.cmdp.losses(episode.loss_weights))
        self._shown = None

    def _plan(self) -> Floats:
        from tightrope.engine.composite import search

        most, settings, found = self.settings.most_lambda, self.settings, np.zeros(4)
        rounds = int(settings.rounds)
        search(*self._estimates(), *self._weights(), self.start, self.limit, most, rounds, found, *self._rooms())
        low, high, at_low, at_high = (float(x) for x in found)
        self.dual[0] = high
        self.bracket = Bracket(low, high, at_low, at_high) if at_low < self.limit <= at_high else None
        if at_high < self.limit and self.safe is not None:
            self.fell_back += 1
            return self.safe
        return self.policy_room.copy()

    def _estimates(self) -> tuple[Floats, ...]:
        known, shape = self.estimates_of, self.reward.shape
        return known.kernel, known.bonus.reshape(shape), self.reward, known.utility.reshape(shape)

    def _weights(self) -> tuple[float, Floats, int]:
        return self.settings.kappa, self.widths, int(self.settings.pessimistic)

    def _rooms(self) -> tuple[Floats, Floats]:
        return self.policy_room, self.v

    def utility_at(self, multiplier: float) -> float:
        """The estimated utility of the policy that a multiplier makes, which is left in `policy_room`."""
        from tightrope.engine.composite import plan

        plan(*self._estimates(), float(multiplier), *self._weights(), *self._rooms())
        return float(self.start @ self.v[0, 2])
