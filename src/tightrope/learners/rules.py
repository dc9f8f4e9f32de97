"""By which rules do the learners on the engine differ? Every algorithm of Algorithm 1's family is one value of `Rules`.

rule                 Algorithm 1                 others
dual                 regularised                 plain (decay and drift 0), capped (`dual_cap`), none (`eta` 0)
mixing               every K^{3/4} episodes      every episode, never (`theta` 0)
size of estimates    features contracted         Q clipped to [0, H] (`clip`), `contraction_offset` infinite
bonus                of the epoch's gram         of every episode's (`refresh`)
policy               sum of all estimates        the current ones alone (`current`), losses one episode late (`ahead`)
epochs               policy and dual start anew  they live on (`warm`)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tightrope.engine.episode import Settings

TIME_CONSTANTS = 5.0  # within `tighten` episodes an excess decays by exp(-5)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Numbers and rules of one run; line numbers are those of Algorithm 1 in paper.tex."""

    alpha: float  # step of the policy, line 25
    eta: float  # step of the dual, line 27
    theta: float  # weight of the uniform policy when mixing, line 21
    beta_b: float  # bonus, line 17
    optimism: float = 1.0  # so many times beta_b is the bonus of the losses where a step follows; not for `current`
    beta_w: float  # feature contraction, line 6
    contraction_offset: float  # log K, line 6; infinite: features are not contracted
    mixing_period: int  # line 20
    dual_decay: float = 0.0
    dual_drift: float = 0.0
    dual_cap: float = math.inf
    tighten: float = 0.0  # the episode by which an excess already paid is to be won back; 0: never
    widest_margin: float = 0.0  # the most by which a budget is undercut then, as a share of it
    guard: float = 0.0  # with `tighten`: standard deviations of what was paid that count as paid on top
    warm: bool = False
    clip: bool = False  # Q to [0, H]
    current: bool = False
    ahead: bool = False
    refresh: bool = False  # only where features are not contracted

    def __post_init__(self) -> None:
        if self.refresh and not math.isinf(self.contraction_offset):
            raise ValueError("bonuses can follow every episode only where features are not contracted")
        if (self.current or self.ahead) and not self.clip:
            raise ValueError("current estimates, and plans ahead, are for clipped estimates only")
        if self.clip and self.optimism != 1.0:
            raise ValueError("clipped estimates have one bonus for all channels")

    def settings(self, horizon: int = 0) -> Settings:
        """As the kernels take them; only clipped estimates need the horizon."""
        from tightrope.engine.episode import Settings

        return Settings(
            alpha=float(self.alpha),
            eta=float(self.eta),
            theta=float(self.theta),
            beta_b=float(self.beta_b),
            optimism=float(self.optimism),
            beta_w=float(self.beta_w),
            offset=float(self.contraction_offset),
            dual_decay=float(self.dual_decay),
            dual_drift=float(self.dual_drift),
            mixing_period=min(int(self.mixing_period), 2**62),
            warm=int(self.warm),
            window=float(self.tighten) / TIME_CONSTANTS,
            widest=float(self.widest_margin),
            guard=float(self.guard),
            dual_cap=float(self.dual_cap),
            q_low=0.0 if self.clip else -math.inf,
            q_high=float(horizon) if self.clip else math.inf,
            current=int(self.current),
            ahead=int(self.ahead),
            refresh=int(self.refresh),
        )
