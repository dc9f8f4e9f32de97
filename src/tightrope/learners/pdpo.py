"""Algorithm 1: primal-dual policy optimisation for linear CMDPs with adversarial losses.

Paper: paper.tex, Algorithm 1 ("main-linear"); where it leaves the order inside an episode open, as `engine.episode` says.

    symbol            setting             symbol                            setting
    alpha             alpha               K^{3/4} (line 20)                 mixing_period
    eta               eta                 4 alpha eta H^3 (line 27)         dual_decay
    theta             theta               eta(4 alpha H^3 + 4 theta H^2)    dual_drift
    beta_b, beta_w    beta_b, beta_w      log K (line 6)                    contraction_offset

Guaranteed with the `theory` preset (paper.tex, main theorem): regret and violation of order K^{3/4}, each with probability
1 - O(delta). The other presets give this guarantee up for steps that can be seen.

Departures: m >= 1 constraints, one dual each; `dual_decay`, `dual_drift` and `mixing_period` are settings of their own, so that
they can be changed one at a time; `restart="warm"` keeps policy and dual across epochs. With `tighten = N` the dual is updated
against `b - margin`, where the margin is what the observed costs have exceeded the budgets by so far, over N/5 (at most b/10):
an excess paid in the first episodes is won back by about episode N. With `optimism = x` the bonus of the losses is x times
that of the costs at every step but the last, whose losses are known and which leads nowhere. The code of an episode is
`engine.episode`, line by line.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from tightrope import constants
from tightrope.errors import InputError, suggest
from tightrope.learners.protocol import Sizes, read_sizes
from tightrope.learners.rules import Rules
from tightrope.numbers_in import real_wrong, whole, whole_wrong
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import Floats

if TYPE_CHECKING:
    from tightrope.learners.compiled import CompiledPlayer
    from tightrope.learners.doubling import Doubling

RESTARTS = ("paper", "warm")


@dataclass(frozen=True, kw_only=True)
class PDPO:
    """The settings of Algorithm 1; see the presets `theory`, `experiment` and `practical`."""

    alpha: float  # step of the policy, line 25
    eta: float  # step of the dual, line 27
    theta: float  # weight of the uniform policy when mixing, line 21
    beta_b: float  # bonus, line 17
    beta_w: float  # feature contraction, line 6
    optimism: float = 1.0  # so many times beta_b is the bonus of the losses, at all steps but the last; 1 in the paper
    mixing_period: int  # episodes between mixings, line 20
    dual_decay: float = 0.0
    dual_drift: float = 0.0
    restart: str = "paper"  # or "warm": policy and dual live on across epochs
    contraction_offset: float | None = None  # log K of the run when None, line 6
    tighten: float = 0.0  # the episode by which an excess already paid is to be won back; 0: never
    guard: float = 0.0  # with `tighten`: standard deviations of what was paid that count as paid on top
    dual_cap: float | None = None  # no dual grows beyond it, as in Ghosh et al. (2022); None: no cap

    name: ClassVar[str] = "pdpo"
    widest_margin: ClassVar[float] = 0.1  # the most by which `tighten` undercuts a budget, as a share of it
    declared_rate: ClassVar[float] = 0.75  # regret and violation are O(K^rate) with `theory`

    def __new__(cls, *_: Any, **given: Any) -> Self:
        check_names(given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        wrong = []
        for setting in ("alpha", "eta", "beta_b", "beta_w", "optimism", "dual_decay", "dual_drift", "tighten", "guard"):
            wrong.append((setting, real_wrong(getattr(self, setting), 0.0)))
        wrong.append(("theta", real_wrong(self.theta, 0.0, 1.0)))
        wrong.append(("mixing_period", whole_wrong(self.mixing_period, 1)))
        if self.contraction_offset is not None:
            wrong.append(("contraction_offset", real_wrong(self.contraction_offset)))
        if self.dual_cap is not None:
            wrong.append(("dual_cap", real_wrong(self.dual_cap, 0.0)))
        if self.restart not in RESTARTS:
            wrong.append(("restart", f"{self.restart!r}, wanted 'paper' or 'warm'"))
        lines = [f"{setting}: {text}" for setting, text in wrong if text is not None]
        if lines:
            raise InputError(lines)
        for f in fields(self):  # NumPy's numbers become Python's, so that settings can be compared, printed and written
            given = getattr(self, f.name)
            if not isinstance(given, str | None):
                object.__setattr__(self, f.name, int(given) if f.name == "mixing_period" else float(given))

    # ---- presets -----------------------------------------------------------------------------------------------

    @classmethod
    def theory(cls, cmdp: LinearCMDP | Sizes, episodes: int, delta: float = 0.1, **overrides: Any) -> PDPO:
        """The constants of Algorithm 1, its input line. They are far too large for any K that one can run."""
        cmdp, K = read_sizes(cmdp), whole("episodes", episodes, least=1)
        _check_delta(delta)
        H, d, A = cmdp.horizon, cmdp.dim, cmdp.n_actions
        given = {"beta_b": constants.beta_b(K, H, d, A, delta), "alpha": K**-0.75 / H} | overrides
        return cls._from_paper(cmdp, K, 4.0, given)

    @classmethod
    def experiment(cls, cmdp: LinearCMDP | Sizes, episodes: int, **overrides: Any) -> PDPO:
        """The paper's numerical section: alpha = 0.1, beta_b = K^{1/4}, beta_w = beta_b log K, the rest as Algorithm 1.

        Settings given by name replace those; what the paper derives from them (beta_w, dual_decay, dual_drift) follows.
        """
        cmdp, K = read_sizes(cmdp), whole("episodes", episodes, least=1)
        return cls._from_paper(cmdp, K, 1.0, {"alpha": 0.1, "beta_b": K**0.25} | overrides)

    @overload
    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int, **overrides: Any) -> PDPO: ...

    @overload
    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: None, **overrides: Any) -> Doubling: ...

    @classmethod
    def practical(cls, cmdp: LinearCMDP | Sizes, episodes: int | None, **overrides: Any) -> PDPO | Doubling:
        """Settings that work where budgets bind: alpha = 64 sqrt(log A)/(H sqrt K), eta = 64/(H sqrt K), beta_b = 0.02.

        Policy and dual live on across epochs, the dual has no drift and no decay, and what was overspent is won back
        (`tighten = 100 sqrt K`). The bonus of the losses is larger, `optimism = 125/H` times, so that no action is given up
        for good after a few unlucky tries.

        Chosen on one suite of problems and judged on another: docs/practical.md has the figures, what each piece is worth,
        and which guarantees of the paper are given up (all of them: it proves nothing here). With `episodes=None` nobody
        needs to know how many there will be: see `learners.doubling`.
        """
        if episodes is None:
            from tightrope.learners.doubling import doubling

            return doubling(cmdp, overrides)
        cmdp, K = read_sizes(cmdp), whole("episodes", episodes, least=1)
        step = 64.0 / (cmdp.horizon * math.sqrt(K))
        given = {
            "alpha": step * math.sqrt(math.log(cmdp.n_actions)),
            "eta": step,
            "beta_b": 0.02,
            "optimism": max(1.0, 125.0 / cmdp.horizon),
            "tighten": 100.0 * math.sqrt(K),
            "dual_decay": 0.0,
            "dual_drift": 0.0,
            "restart": "warm",
        } | overrides
        return cls._from_paper(cmdp, K, 1.0, given)

    @classmethod
    def _from_paper(cls, cmdp: LinearCMDP | Sizes, K: int, width: float, given: dict[str, Any]) -> PDPO:
        """Fill in what is not given by the formulas of Algorithm 1, beta_w = width * beta_b * log K.

        The offset of line 6 is settled here too, as all that depends on K: an agent is told no number of episodes.
        """
        check_names(given)
        H = cmdp.horizon
        base = {"eta": K**-0.75 / H**2, "theta": 1.0 / K, "mixing_period": math.ceil(round(K**0.75, 9))} | given
        _numbers(base, "alpha", "eta", "theta", "beta_b")
        alpha, eta, theta = base["alpha"], base["eta"], base["theta"]
        derived = {
            "beta_w": width * base["beta_b"] * math.log(K),
            "contraction_offset": math.log(K),
            "dual_decay": 4.0 * alpha * eta * H**3,
            "dual_drift": eta * (4.0 * alpha * H**3 + 4.0 * theta * H**2),
        }
        return cls(**(derived | base))

    # ---- what others ask ---------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> PDPO:
        """The same settings with some changed, and nothing derived from them."""
        check_names(changes)
        return replace(self, **changes)

    def enforced_budgets(self, budgets: Floats) -> Floats:
        """[m]: the costs above which the dual can leave zero, `b + dual_drift/eta` (line 27); above H it is inert."""
        if self.eta == 0:
            return np.full(len(budgets), np.inf)
        return np.asarray(budgets) + self.dual_drift / self.eta

    def numbers(
        self, cmdp: LinearCMDP | Sizes, episodes: int, gamma: float = math.nan, delta: float = 0.1
    ) -> constants.Numbers:
        """Sizes and settings as the paper's constants take them; gamma is Slater's constant, NaN when not known."""
        return constants.Numbers(
            K=episodes,
            H=cmdp.horizon,
            d=cmdp.dim,
            A=cmdp.n_actions,
            m=cmdp.n_constraints,
            alpha=self.alpha,
            eta=self.eta,
            theta=self.theta,
            beta_b=self.beta_b,
            beta_w=self.beta_w,
            period=self.mixing_period,
            decay=self.dual_decay,
            drift=self.dual_drift,
            gamma=gamma,
            delta=delta,
        )

    def regret_bound(self, cmdp: LinearCMDP | Sizes, episodes: int, gamma: float, delta: float = 0.1) -> float:
        """The main theorem's bound on the regret with all its constants; H*K, which is always true, where nothing is proved."""
        if self.unmet(cmdp, episodes, gamma, delta):
            return cmdp.horizon * float(episodes)
        return constants.regret_bound(self.numbers(cmdp, episodes, gamma, delta))

    def violation_bound(self, cmdp: LinearCMDP | Sizes, episodes: int, gamma: float, delta: float = 0.1) -> float:
        """The same for the running violation."""
        if self.unmet(cmdp, episodes, gamma, delta):
            return cmdp.horizon * float(episodes)
        return constants.violation_bound(self.numbers(cmdp, episodes, gamma, delta))

    def unmet(self, cmdp: LinearCMDP | Sizes, episodes: int, gamma: float = math.nan, delta: float = 0.1) -> list[str]:
        """What the main theorem's proof asks for and these settings, or this problem, do not have; each as an inequality."""
        _check_delta(delta)
        offset, log_k = self.contraction_offset, math.log(whole("episodes", episodes, least=1))
        first = getattr(cmdp, "initial_state", 0)
        conditions = (
            (self.restart == "paper", "restart = 'paper': policy and dual start anew with every epoch"),
            (
                offset is None or abs(offset - log_k) <= 1e-9 * (1.0 + log_k),
                f"contraction_offset = log K ({offset}, wanted {log_k:.4g})",
            ),
            (self.tighten == 0, f"tighten = 0: the dual follows the budget itself (tighten = {self.tighten:g})"),
            (self.optimism == 1, f"optimism = 1: one bonus for losses and costs (optimism = {self.optimism:g})"),
            (self.dual_cap is None, f"no dual_cap (dual_cap = {self.dual_cap})"),
            (cmdp.n_constraints == 1, f"one constraint (m = {cmdp.n_constraints})"),
            (first is not None, "one first state: every episode starts in the same"),
        )
        broken = constants.unmet(self.numbers(cmdp, episodes, gamma, delta))
        return broken + [text for met, text in conditions if not met]

    def bonus_factors(self, horizon: int, m: int) -> Floats:
        """[1 + m, H]: so many times beta_b |phi-bar| is the bonus of each channel, the losses first, at each step."""
        factors = np.ones((1 + m, horizon))
        factors[0, :-1] = self.optimism
        return factors

    def largest_margin(self, budgets: Floats) -> Floats:
        """[m]: the most by which `tighten` undercuts the budgets."""
        return (self.widest_margin if self.tighten > 0 else 0.0) * np.asarray(budgets)

    def describe(self) -> dict[str, Any]:
        """Name and settings, for the record of a run."""
        return {"name": self.name, **asdict(self)}

    def start(self, cmdp: LinearCMDP, episodes: int) -> CompiledPlayer:
        """Begin a run on the compiled engine."""
        from tightrope.learners.compiled import CompiledPlayer

        return CompiledPlayer(self.rules(episodes), cmdp, episodes)

    def rules(self, episodes: int) -> Rules:
        """What the engine goes by in a run of so many episodes."""
        offset = math.log(episodes) if self.contraction_offset is None else self.contraction_offset
        return Rules(
            alpha=self.alpha,
            eta=self.eta,
            theta=self.theta,
            beta_b=self.beta_b,
            beta_w=self.beta_w,
            optimism=self.optimism,
            contraction_offset=offset,
            mixing_period=self.mixing_period,
            dual_decay=self.dual_decay,
            dual_drift=self.dual_drift,
            tighten=self.tighten,
            widest_margin=self.widest_margin,
            guard=self.guard,
            dual_cap=math.inf if self.dual_cap is None else self.dual_cap,
            warm=self.restart == "warm",
        )


def settings_names() -> list[str]:
    """The names of the settings of `PDPO`."""
    return [f.name for f in fields(PDPO)]


def check_names(given: dict[str, Any]) -> None:
    """Refuse names that are not settings, with the nearest that is."""
    known = settings_names()
    wrong = [f"{key}: not a setting of PDPO; {suggest(key, known)}" for key in given if key not in known]
    if wrong:
        raise InputError(wrong)


def _check_delta(delta: Any) -> None:
    if real_wrong(delta, 0.0, 1.0) or not 0 < delta < 1:
        raise InputError(f"delta: {delta!r}, wanted a number between 0 and 1")


def _numbers(given: dict[str, Any], *settings: str) -> None:
    """What others are derived from must be numbers first."""
    lines = [f"{name}: {text}" for name in settings if (text := real_wrong(given[name], 0.0)) is not None]
    if lines:
        raise InputError(lines)
