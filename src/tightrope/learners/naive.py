"""The naive extension: mirror descent on the policy with clipped estimates, mixed with the uniform policy in every episode.

Paper: paper.tex, appendix "Limitations of Prior Work and Naive Extension", after Wei, Yu, Neely 2020 (online primal-dual mirror
descent under stochastic constraints), which it adapts to linear CMDPs.

    symbol     setting   symbol     setting
    alpha      alpha     theta      theta, the weight of the uniform policy in every episode
    eta        eta       beta       beta (of the bonus beta |phi| in the norm of (Lambda^k)^{-1})

In every episode: ridge fits less the bonus, Q clipped to [0, H]; policy mixed, then times `exp(-alpha (Q_f + Y . Q_g))`; dual
`max(0, Y + eta (V_g - b))`. No epochs, no contraction of features, no regularised dual.

Guaranteed: nothing that is known. The covering number of its policies grows with every mixing, which is why paper.tex mixes now
and then only.
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


@dataclass(frozen=True, kw_only=True)
class Naive(EngineSettings):
    """Settings; see the preset `practical`."""

    alpha: float  # step of the policy
    eta: float  # step of the dual
    theta: float  # weight of the uniform policy, every episode
    beta: float  # bonus

    name: ClassVar[str] = "naive"
    declared_rate: ClassVar[float | None] = None

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> Naive:
        """The steps and the bonus of `PDPO.practical`, so that only the rules differ; theta = 1/K as in Algorithm 1."""
        K = whole("episodes", episodes, least=1)
        check_settings(cls, given)
        step = 64.0 / (cmdp.horizon * math.sqrt(K))
        alpha = step * math.sqrt(math.log(cmdp.n_actions))
        return cls(**({"alpha": alpha, "eta": step, "theta": 1.0 / K, "beta": 0.05} | given))

    def rules(self, episodes: int) -> Rules:
        return Rules(
            alpha=self.alpha,
            eta=self.eta,
            theta=self.theta,
            beta_b=self.beta,
            beta_w=0.0,
            contraction_offset=math.inf,
            mixing_period=1,
            warm=True,
            clip=True,
            refresh=True,
        )
