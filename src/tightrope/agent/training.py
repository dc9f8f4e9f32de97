"""How does an agent learn on a Gymnasium environment? `train`: episode after episode, with a progress bar."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tightrope.agent.agent import Agent
from tightrope.errors import InputError, suggest
from tightrope.features import for_space, names
from tightrope.learners.pdpo import PDPO
from tightrope.learners.protocol import Sizes
from tightrope.numbers_in import whole
from tightrope.problems.reading import shown
from tightrope.problems.tables import Floats, Ints

if TYPE_CHECKING:
    from rich.progress import Progress


@dataclass(frozen=True, eq=False)
class Training:
    """What a training leaves; K episodes."""

    agent: Agent
    rewards: Floats  # [K] sum of the rewards
    costs: Floats  # [K, m] sum of the costs
    lengths: Ints  # [K] steps
    dual: Floats  # [K, m] after the episode
    epoch: Ints  # [K]

    @property
    def violation(self) -> Floats:
        """[K, m], the running sum of costs above the budgets."""
        return np.cumsum(self.costs - self.agent.budgets, axis=0)


def train(
    env: Any,
    agent: Agent | None = None,
    episodes: int = 1000,
    loss: Any = None,
    *,
    losses: Callable[[int], Any] | None = None,
    seed: int = 0,
    progress: bool = True,
    **settings: Any,
) -> Training:
    """Run an agent on an environment with discrete actions that gives `info["cost"]`.

    Parameters
    ----------
    agent: learns; without one, `agent_for(env, episodes, **settings)` makes one.
    loss: what `Agent.finish` takes, the same for every episode; `losses`: a function of the episode's number (from 0) that
        gives it. By default `info["loss_weights"]` of the last step, else the environment's own `loss(h, obs, action)`.
    seed: of the first `reset`; the others go on from there.

    An episode ends at the agent's horizon at the latest. One that the environment terminates earlier is an early end; one
    that it truncates earlier is taken for one too, and warned about once.
    """
    K, seed = whole("episodes", episodes, 1), whole("seed", seed, 0)
    if losses is not None and not callable(losses):
        raise InputError(
            f"losses: {shown(losses)}, wanted a function of the episode's number; for one loss there is loss="
        )
    if agent is None:
        agent = agent_for(env, K, **settings)
    elif not isinstance(agent, Agent):
        raise InputError(f"agent: {shown(agent)}, wanted an Agent")
    elif settings:
        raise InputError(f"{', '.join(sorted(settings))}: given for an agent that is made already")
    _check(env, agent)
    m = agent.sizes.n_constraints
    kept = Training(
        agent, np.zeros(K), np.zeros((K, m)), np.zeros(K, np.int64), np.zeros((K, m)), np.zeros(K, np.int64)
    )
    with _bar(progress, K) as bar:
        for k in range(K):
            try:
                info = _episode(env, agent, kept, k, seed if k == 0 else None)
                agent.finish(losses(k) if losses is not None else _loss(env, loss, info))
            except BaseException:
                agent.abandon()  # so that the agent can go on; what it has learnt stays
                raise
            status = agent.status()
            kept.dual[k], kept.epoch[k] = status.dual, status.epoch
            bar.show(k + 1, float(kept.rewards[k]), status)
    return kept


def _episode(env: Any, agent: Agent, kept: Training, k: int, seed: int | None) -> dict[str, Any]:
    """One episode; returns the info of its last step."""
    obs, _ = env.reset(seed=seed)
    agent.begin(obs)
    H = agent.sizes.horizon
    for h in range(H):
        a = agent.act()
        obs, reward, terminated, truncated, info = env.step(_own(env.action_space, a))
        if "cost" not in info:
            raise InputError(f'info: no "cost" at step {h}; it has {sorted(info)} (tr.problems.FromSafety puts one in)')
        early = h + 1 < H and (terminated or truncated)
        if early and truncated and not terminated and k == 0:
            warnings.warn(
                f"the environment truncated an episode after {h + 1} of {H} steps; it is taken to have ended there: "
                "if that is a time limit, give the agent that horizon",
                stacklevel=3,
            )
        agent.observe(info["cost"], obs, ended=early)
        kept.rewards[k] += float(reward)
        kept.costs[k] += np.atleast_1d(info["cost"])
        kept.lengths[k] = h + 1
        if early or h + 1 == H:
            return info
    raise AssertionError("an agent has a horizon of at least 1")


def agent_for(
    env: Any,
    episodes: int,
    *,
    budgets: Any = None,
    horizon: int | None = None,
    features: Callable[[Any], Any] | str | None = None,
    learner: PDPO | None = None,
    **more: Any,
) -> Agent:
    """An agent that fits an environment: sizes from its spaces, what it does not tell from the arguments.

    Parameters
    ----------
    budgets, horizon: by default the environment's own attributes; the horizon else its time limit.
    features: a map, or the name of one for `tr.features.for_space`; by default the environment's own, else "fourier".
    learner: by default `PDPO.practical`.
    more: for `Agent`.
    """
    n_actions, own = _n_actions(env), getattr(env, "unwrapped", None)
    known = [name for name, x in inspect.signature(Agent).parameters.items() if x.kind is x.KEYWORD_ONLY]
    wrong = [f"{name}: not a setting of an agent; {suggest(name, known)}" for name in more if name not in known]
    if wrong:
        raise InputError(wrong)
    if horizon is None:
        limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        horizon = getattr(own, "horizon", None) or limit
    budgets = getattr(own, "budgets", None) if budgets is None else budgets
    missing = [name for name, given in (("budgets", budgets), ("horizon", horizon)) if given is None]
    if missing:
        raise InputError([f"{name}: missing; the environment does not tell" for name in missing])
    given: Any = features or getattr(own, "features", None) or "fourier"
    read: Any = for_space(env.observation_space, n_actions, given) if isinstance(given, str) else given
    if not isinstance(read, Callable):
        raise InputError(f"features: {shown(read)}, wanted a map, or the name of one: {', '.join(names())}")
    dim = getattr(read, "dim", None)
    if dim is None:
        dim = np.shape(read(env.observation_space.sample()))[-1]
    sizes = Sizes(n_actions, whole("horizon", horizon, 1), int(dim), len(np.atleast_1d(budgets)))
    learner = PDPO.practical(sizes, episodes) if learner is None else learner
    options: Any = {"episodes": episodes, "dim": int(dim)} | more
    return Agent(learner, read, sizes.horizon, n_actions, budgets, **options)


def _loss(env: Any, given: Any, info: dict[str, Any]) -> Any:
    """The losses of an episode, from whoever tells them."""
    own = getattr(env.unwrapped, "loss", None)
    for told in (given, info.get("loss_weights"), own):
        if told is not None:
            return told
    raise InputError(
        'loss: missing; the environment gives no info["loss_weights"] and has no loss(h, obs, action): give train(loss=...). '
        "Rewards are not enough: the algorithm needs to know what the other actions would have lost"
    )


def _check(env: Any, agent: Agent) -> None:
    if agent.current is not None:
        raise InputError("agent: an episode is under way; finish it first, or abandon it")
    n_actions, horizon = _n_actions(env), getattr(env.unwrapped, "horizon", None)
    if n_actions != agent.sizes.n_actions:
        raise InputError(f"agent: has n_actions = {agent.sizes.n_actions}, the environment has {n_actions}")
    if horizon is not None and horizon != agent.sizes.horizon:
        raise InputError(f"agent: has horizon = {agent.sizes.horizon}, the environment has {horizon}")


def _n_actions(env: Any) -> int:
    space = getattr(env, "action_space", None)
    if space is None or not hasattr(env, "unwrapped"):
        raise InputError(f"env: {shown(env)}, wanted a Gymnasium environment")
    n = getattr(space, "n", None)
    if n is None or not hasattr(space, "start"):
        raise InputError(f"env: action space {space}, wanted a Discrete one")
    return int(n)


def _own(space: Any, action: int) -> Any:
    """The environment's number of an action: a Discrete space may start elsewhere than at 0."""
    return space.dtype.type(action + space.start)


class _bar:  # noqa: N801 (used as a function)
    """A progress bar on a terminal; nothing elsewhere."""

    def __init__(self, wanted: bool, episodes: int):
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self.progress: Progress | None = Progress(console=console) if wanted and console.is_terminal else None
        self.episodes = episodes

    def __enter__(self) -> _bar:
        if self.progress is not None:
            self.progress.start()
            self.task = self.progress.add_task("training", total=self.episodes)
        return self

    def __exit__(self, *error: object) -> None:
        if self.progress is not None:
            self.progress.stop()

    def show(self, done: int, reward: float, status: Any) -> None:
        if self.progress is None:
            return
        violation, dual = float(np.max(status.violation)) / done, float(np.max(status.dual))
        text = f"reward {reward:.4g}, violation {violation:.3f} an episode, dual {dual:.3g}"
        self.progress.update(self.task, completed=done, description=text)
