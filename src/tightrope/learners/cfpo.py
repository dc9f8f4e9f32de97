"""CFPO, Cassel and Rosenberg 2024: policy optimisation with contracted features for linear MDPs, no constraints.

Paper: "Warm-up Free Policy Optimization: Improved Regret in Linear Markov Decision Processes" (2024), Algorithm 1 and
Theorem 9. It is what Algorithm 1 of paper.tex has for its epochs, its contraction and its policy step, without dual and
without mixing.

    symbol     setting   symbol              setting
    eta_o      alpha     beta_b, beta_w      beta_b, beta_w

Guaranteed with the preset `theory`: regret of order sqrt(K) with probability 1 - delta; it knows no budgets, so nothing of
violation. Epochs at most (3/2) d H log(2K).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tightrope.learners.rules import Rules
from tightrope.learners.shared import EngineSettings, check_settings
from tightrope.numbers_in import whole

if TYPE_CHECKING:
    from tightrope.learners.protocol import Sizes
    from tightrope.problems.cmdp import LinearCMDP

DELTA = 0.1


@dataclass(frozen=True, kw_only=True)
class CFPO(EngineSettings):
    """Settings; see the presets `theory` and `practical`."""

    alpha: float  # step of the policy, their eta_o
    beta_b: float  # bonus
    beta_w: float  # feature contraction

    name: ClassVar[str] = "cfpo"
    declared_rate: ClassVar[float] = 0.5  # of the regret, with `theory`; violation is not its concern

    @classmethod
    def theory(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> CFPO:
        """The constants of Theorem 9, delta = 0.1."""
        K, H, d = whole("episodes", episodes, least=1), cmdp.horizon, cmdp.dim
        check_settings(cls, given)
        beta_r = 2.0 * math.sqrt(2.0 * d * math.log(6.0 * K * H / DELTA))
        beta_p = 28.0 * H * d * math.sqrt(math.log(10.0 * K**5 * H / DELTA))
        step = math.sqrt(3.0 * d * H * math.log(2.0 * K) * math.log(cmdp.n_actions) / (K * (2.0 * H) ** 2))
        constants = {
            "alpha": step,
            "beta_b": beta_r + beta_p,
            "beta_w": 4.0 * (beta_r + beta_p) * math.log(math.e * K),
        }
        return cls(**(constants | given))

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> CFPO:
        """The step and the bonuses of `PDPO.practical`."""
        K = whole("episodes", episodes, least=1)
        check_settings(cls, given)
        alpha = 64.0 * math.sqrt(math.log(cmdp.n_actions)) / (cmdp.horizon * math.sqrt(K))
        return cls(**({"alpha": alpha, "beta_b": 0.05, "beta_w": 0.05 * math.log(K)} | given))

    @classmethod
    def most_epochs(cls, cmdp: LinearCMDP | Sizes, episodes: int) -> float:
        """How many epochs there can be (their Lemma 8)."""
        return 1.5 * cmdp.dim * cmdp.horizon * math.log(2.0 * episodes)

    def rules(self, episodes: int) -> Rules:
        return Rules(
            alpha=self.alpha,
            eta=0.0,
            theta=0.0,
            beta_b=self.beta_b,
            beta_w=self.beta_w,
            contraction_offset=math.log(episodes),
            mixing_period=2**62,
        )
