"""Ghosh, Zhou, Shroff 2022: value-based primal-dual learning for stochastic linear CMDPs, here against losses that change.

Paper: "Provably Efficient Model-Free Constrained RL with Linear Function Approximation" (NeurIPS 2022), as paper.tex
describes it (appendix "Limitations of Prior Work"); constants as recalled; check before citing.

    symbol     setting   symbol     setting
    alpha      alpha     beta       beta (of the bonus beta |phi| in the norm of (Lambda^k)^{-1})
    eta        eta       xi         xi = 2H/gamma, where the dual is cut off

Before every episode, backwards from the last step, for the loss and each cost: ridge fit of what was observed plus the next
value, less the bonus, clipped to [0, H]; policy `pi_h ~ exp(-alpha (Q_f + Y . Q_g))` from these estimates alone; value of that
policy. Dual `min(max(Y + eta (V_g - b), 0), xi)`.

Guaranteed: regret and violation of order sqrt(d^3 H^3 T), T = KH, for losses and costs that do not change. Against losses that
do, nothing: the policy knows only the loss of the last finished episode, so whoever alternates two losses is always one ahead.

Departures: losses are revealed whole after the episode, as in paper.tex, so theirs need no ridge fit; the presets'
constant C = 0.01 of the bonus (with C = 1 it exceeds H at every K one can run, and the policy stays near uniform).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tightrope.learners.knowledge import slater_gamma
from tightrope.learners.rules import Rules
from tightrope.learners.shared import EngineSettings, check_settings
from tightrope.numbers_in import whole

if TYPE_CHECKING:
    from tightrope.learners.protocol import Sizes
    from tightrope.problems.cmdp import LinearCMDP

FAILURE = 0.1  # p, the probability with which the guarantee may fail


@dataclass(frozen=True, kw_only=True)
class Ghosh2022(EngineSettings):
    """Settings; see the presets `theory` and `practical`."""

    alpha: float  # of the softmax
    eta: float  # step of the dual
    beta: float  # bonus
    xi: float  # largest dual
    knowledge: str = "given"  # "oracle": xi comes from Slater's constant, which the problem's model told

    name: ClassVar[str] = "ghosh2022"
    from_oracle: ClassVar[tuple[str, ...]] = ("xi",)  # settings that `knowledge` is about
    declared_rate: ClassVar[float] = 0.5  # regret and violation are O(K^rate) where losses do not change

    @classmethod
    def theory(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> Ghosh2022:
        """The constants as recalled, C = 1; xi = 2H/gamma from the oracle unless given."""
        return cls._recalled(cmdp, episodes, 1.0, given)

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **given: Any) -> Ghosh2022:
        """The same with C = 0.01."""
        return cls._recalled(cmdp, episodes, 0.01, given)

    @classmethod
    def _recalled(cls, cmdp: LinearCMDP | Sizes, episodes: int, C: float, given: dict[str, Any]) -> Ghosh2022:
        K, H, d = whole("episodes", episodes, least=1), cmdp.horizon, cmdp.dim
        check_settings(cls, given)
        if "xi" not in given:
            given = given | {"xi": 2.0 * H / slater_gamma(cls.name, cmdp, "xi"), "knowledge": "oracle"}
        log_a = math.log(max(cmdp.n_actions, 2))
        xi = float(given["xi"]) if isinstance(given["xi"], int | float) else 1.0  # the checks tell what is no number
        recalled: dict[str, Any] = {
            "alpha": log_a * K / (2.0 * (1.0 + xi + H)),
            "eta": xi / math.sqrt(K * H**2),
            "beta": C * d * H * math.sqrt(math.log(4.0 * log_a * d * K * H / FAILURE)),
        }
        return cls(**(recalled | given))

    def rules(self, episodes: int) -> Rules:
        return Rules(
            alpha=self.alpha,
            eta=self.eta,
            theta=0.0,
            beta_b=self.beta,
            beta_w=0.0,
            contraction_offset=math.inf,
            mixing_period=1,
            dual_cap=self.xi,
            warm=True,
            clip=True,
            current=True,
            ahead=True,
            refresh=True,
        )
