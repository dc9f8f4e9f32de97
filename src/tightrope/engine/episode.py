"""Algorithm 1 of the paper, episode after episode, with exact evaluation of the policy that plays; and its rivals by rules.

The order inside an episode: epoch test, play, fit, values, mix, improve, dual, absorb. Line numbers are
those of Algorithm 1 in paper.tex. A learner that differs from it in a rule alone (`learners.rules`) runs here with another
value in `Settings`: one that plans ahead fits once an episode has been absorbed, for the next one, whose losses nobody knows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tightrope.engine import operations as op
from tightrope.engine.jit import compiled

DOUBLED = 2.0 * (1.0 - 1e-12)  # a determinant that has grown by this has doubled


class Settings(NamedTuple):
    """The numbers of Algorithm 1, as floats and ints (see `learners.pdpo.PDPO`)."""

    alpha: float
    eta: float
    theta: float
    beta_b: float
    optimism: float  # so many times beta_b is the bonus of the losses where a step follows
    beta_w: float
    offset: float
    dual_decay: float
    dual_drift: float
    mixing_period: int
    warm: int  # 1: policy and dual live on across epochs
    window: float  # episodes over which an excess already paid is to be won back; 0: never
    widest: float  # the most by which a budget is undercut, as a share of it
    guard: float  # standard deviations of what was paid that count as paid on top
    dual_cap: float  # no dual grows beyond it; infinity where there is none
    q_low: float  # estimates are clipped to [q_low, q_high]: 0 and H, or infinities where they are not
    q_high: float
    current: int  # 1: the policy comes from the current estimates alone, step by step from the last, and they follow it
    ahead: int  # 1: an episode is absorbed first; then the next one is planned, with its losses and all data
    refresh: int  # 1: bonuses follow gram in every episode


class State(NamedTuple):
    """Everything of a learner that lives from one episode to the next, beside what the world has learnt."""

    logits: np.ndarray  # [A, H*S] log-policy up to a constant for each state; its largest entry is 0
    policy: np.ndarray  # [A, H*S]
    contraction: np.ndarray  # [A, H*S]
    bonus: np.ndarray  # [A, H*S]
    dual: np.ndarray  # [m]
    growth: np.ndarray  # [H] det Lambda now / det Lambda at the epoch's start
    ledger: np.ndarray  # [2, m] observed costs above the budgets, and their squares, summed over the episodes
    counters: np.ndarray  # [4] episodes done, epoch's first episode, number of epochs, episode that mixing counts from
    estimates: np.ndarray  # [1+m] v_hat(s_1) of the last episode
    room: np.ndarray  # [2, WIDTH] scratch


class Model(NamedTuple):
    """The part of the problem that does not depend on the kind of features."""

    start: np.ndarray  # [S]
    budgets: np.ndarray  # [m]
    cost_weights: np.ndarray  # [H, m, d]
    cost_channels: np.ndarray  # [m, H*d] the same, a channel a row
    transition_costs: np.ndarray  # [m, H, S, A, S], or of size 0


class Tally(NamedTuple):
    """What exact evaluation adds up over episodes."""

    occupancy: np.ndarray  # [A, H*S] sum over the episodes evaluated
    mu: np.ndarray  # [H*d] room: the mean features of one episode


class Record(NamedTuple):
    """What n episodes leave behind; the arrays of the trace have length 0 when it is off."""

    values: np.ndarray  # [n, 1 + m] exact values of the policy that played; or what was paid, when not evaluating
    estimates: np.ndarray  # [n, 1 + m] v_hat at the first state
    dual: np.ndarray  # [n, m] that the episode used
    epoch: np.ndarray  # [n] number of epochs begun
    states: np.ndarray  # [n, H+1]
    actions: np.ndarray  # [n, H]
    costs: np.ndarray  # [n, H, m]
    policies: np.ndarray  # [n, A, H*S]


class Options(NamedTuple):
    """0 or 1 each."""

    evaluate: int
    trace: int


class Episode(NamedTuple):
    """One episode as it was played."""

    states: np.ndarray  # [H+1]
    actions: np.ndarray  # [H]
    places: np.ndarray  # [H] where the transition stands in the tables, if `sample` knows
    costs: np.ndarray  # [H, m]


@compiled(inner=True)
def _forget(state):
    """Back to the uniform policy and no dual."""
    n_actions, columns = state.policy.shape
    for a in range(n_actions):
        for i in range(columns):
            state.logits[a, i] = 0.0
            state.policy[a, i] = 1.0 / n_actions
    for i in range(state.dual.shape[0]):
        state.dual[i] = 0.0


@compiled(inner=True, forceinline=True)
def _due(state):
    """Line 2: whether an epoch begins."""
    due = state.counters[2] == 0
    for h in range(state.growth.shape[0]):
        due |= state.growth[h] >= DOUBLED
    return due


@compiled(inner=True)
def _begin_epoch(world, state, settings):
    """Lines 3 to 7."""
    counters = state.counters
    if counters[2] == 0 or settings.warm == 0:
        _forget(state)
        counters[3] = counters[0]
    counters[1] = counters[0]
    counters[2] += 1
    for h in range(state.growth.shape[0]):
        state.growth[h] = 1.0
    op.begin_epoch(world, settings.beta_b, settings.beta_w, settings.offset, state.contraction, state.bonus, state.room)


@compiled
def begin_epoch_if_due(world, state, settings):
    """Lines 2 to 7. Doing it twice in an episode is the same as doing it once."""
    if _due(state):
        _begin_epoch(world, state, settings)


@compiled(inner=True, forceinline=True)
def _draw_action(policy, column, u):
    """The first action whose distribution function exceeds u."""
    reached = 0.0
    last = policy.shape[0] - 1
    for a in range(last):
        reached += policy[a, column]
        if u < reached:
            return a
    return last


@compiled(inner=True, forceinline=True)
def _draw_state(start, u):
    reached = 0.0
    last = 0
    for s in range(start.shape[0]):
        if start[s] > 0.0:
            last = s
            reached += start[s]
            if u < reached:
                return s
    return last


@compiled(inner=True, forceinline=True)
def _play(world, policy, model, uniforms, n, episode):
    """Lines 8 to 10: one episode; uniforms [n, 1 + 2H]: first state, then (action, next state) of every step."""
    states, actions, places, costs = episode
    horizon, m, _ = model.cost_weights.shape
    n_states = model.start.shape[0]
    states[0] = _draw_state(model.start, uniforms[n, 0])
    for h in range(horizon):
        s = states[h]
        a = _draw_action(policy, h * n_states + s, uniforms[n, 1 + 2 * h])
        arrived, place = op.sample(world, h, s, a, uniforms[n, 2 + 2 * h])
        actions[h], states[h + 1], places[h] = a, arrived, place
        for i in range(m):
            if model.transition_costs.size:
                costs[h, i] = model.transition_costs[i, h, s, a, arrived]
            else:
                costs[h, i] = op.dot_feature(world, model.cost_weights[:, i], h, s, a)


@compiled(inner=True, forceinline=True)
def _value(weights, i, mu):
    """sum_h theta_h . mu_h for weights [n, H*d]."""
    total = 0.0
    for x in range(mu.shape[0]):
        total += weights[i, x] * mu[x]
    return total


@compiled(inner=True, forceinline=True)
def _evaluate(world, model, policy, tally, flat, sequence, values, n):
    """Exact values of the policy; where the sequence has no entry, the profile under which it loses most, the first of equals.

    flat [L, H*d].
    """
    op.occupy(world, model.start, policy, tally.occupancy, tally.mu)
    if sequence[n] < 0:
        sequence[n] = 0
        worst = _value(flat, 0, tally.mu)
        for i in range(1, flat.shape[0]):
            value = _value(flat, i, tally.mu)
            if value > worst:
                sequence[n], worst = i, value
    values[n, 0] = _value(flat, sequence[n], tally.mu)
    for i in range(values.shape[1] - 1):
        values[n, 1 + i] = _value(model.cost_channels, i, tally.mu)


@compiled(inner=True)
def _what_was_paid(world, loss, episode, values, n):
    """Without evaluation: the losses and costs of the episode as played."""
    for c in range(values.shape[1]):
        values[n, c] = 0.0
    for h in range(episode.actions.shape[0]):
        values[n, 0] += op.dot_feature(world, loss, h, episode.states[h], episode.actions[h])
        for i in range(episode.costs.shape[1]):
            values[n, i + 1] += episode.costs[h, i]


@compiled(inner=True, forceinline=True)
def _stage(world, model, policy, tally, profiles, flat, sequence, uniforms, options, record, n, episode):
    """Losses are set, the policy is evaluated and plays; what happened goes into `record` and `episode`; flat [L, H*d]."""
    if options.evaluate or sequence[n] < 0:
        _evaluate(world, model, policy, tally, flat, sequence, record.values, n)
    _play(world, policy, model, uniforms, n, episode)
    if not options.evaluate:
        _what_was_paid(world, profiles[sequence[n]], episode, record.values, n)
    if options.trace:
        _keep(record, n, policy, episode)


@compiled(inner=True)
def _keep(record, n, policy, episode):
    """The episode's part of the trace. (Loops: assigning whole arrays takes Numba seconds to compile.)"""
    horizon, m = episode.costs.shape
    record.states[n, horizon] = episode.states[horizon]
    for h in range(horizon):
        record.states[n, h] = episode.states[h]
        record.actions[n, h] = episode.actions[h]
        for i in range(m):
            record.costs[n, h, i] = episode.costs[h, i]
    for a in range(policy.shape[0]):
        for i in range(policy.shape[1]):
            record.policies[n, a, i] = policy[a, i]


@compiled(inner=True, allocates=True)
def _new_episode(horizon, m):
    return Episode(
        np.empty(horizon + 1, np.int64),
        np.empty(horizon, np.int64),
        np.empty(horizon, np.int64),
        np.empty((horizon, m)),
    )


@compiled(inner=True, forceinline=True)
def book(ledger, budgets, costs):
    """Enter an episode's costs [H, m], before `_ascend` looks at what was overspent; of a batch, their mean."""
    for i in range(budgets.shape[0]):
        excess = -budgets[i]
        for h in range(costs.shape[0]):
            excess += costs[h, i]
        ledger[0, i] += excess
        ledger[1, i] += excess * excess


@compiled(inner=True, forceinline=True)
def _ascend(state, settings, budgets, estimates):
    """Line 27: the dual variables; with a window, against budgets less what was overspent, spread over the window."""
    for i in range(state.dual.shape[0]):
        ascent = settings.eta * (estimates[i + 1] - budgets[i])
        if settings.window > 0.0:
            owed = state.ledger[0, i] + settings.guard * np.sqrt(state.ledger[1, i])
            ascent += settings.eta * min(max(0.0, owed) / settings.window, settings.widest * budgets[i])
        raised = max(0.0, (1.0 - settings.dual_decay) * state.dual[i] + ascent - settings.dual_drift)
        state.dual[i] = min(raised, settings.dual_cap)


@compiled(inner=True, forceinline=True)
def _absorb(world, state, settings, episode):
    """Line 12: the episode enters gram and sums, last of all."""
    for h in range(episode.actions.shape[0]):
        s, a = episode.states[h], episode.actions[h]
        state.growth[h] *= op.absorb(world, h, s, a, episode.states[h + 1], episode.places[h], episode.costs)
        if settings.refresh:
            op.refresh(world, h, s, a, settings.beta_b, state.bonus)
    state.counters[0] += 1


@compiled(inner=True, forceinline=True)
def _theta(state, settings):
    """Line 20: how much of the uniform policy is mixed in this episode."""
    mixes = (state.counters[0] - state.counters[3]) % settings.mixing_period == 0
    return settings.theta if mixes else 0.0


@compiled
def run_episodes(world, state, settings, model, tally, profiles, flat, sequence, uniforms, options, record, episode):
    """Run len(sequence) episodes of Algorithm 1, or of the rival that the settings make of it.

    profiles [L, H, d], flat the same as [L, H*d]; sequence [n], a negative entry is filled in by the worst profile of that
    moment; uniforms [n, 1 + 2H]; episode is room.
    """
    m = state.dual.shape[0]
    for n in range(sequence.shape[0]):
        if _due(state):  # tested here: a call with all tables costs more than the test
            _begin_epoch(world, state, settings)
        for i in range(m):
            record.dual[n, i] = state.dual[i]
        record.epoch[n] = state.counters[2]
        _stage(world, model, state.policy, tally, profiles, flat, sequence, uniforms, options, record, n, episode)
        for turn in range(2):
            if turn == settings.ahead:
                op.update(world, state, profiles[sequence[n]], settings, _theta(state, settings))
                continue
            op.first_values(world, episode.states[0], state.estimates)
            book(state.ledger, model.budgets, episode.costs)
            _ascend(state, settings, model.budgets, state.estimates)
            _absorb(world, state, settings, episode)
        for c in range(1 + m):
            record.estimates[n, c] = state.estimates[c]


@compiled(allocates=True)
def stage_episode(world, model, policy, tally, profiles, sequence, uniforms, options, record):
    """One episode of a policy [A, H*S] that comes from elsewhere; see `run_episodes`."""
    flat = profiles.reshape(profiles.shape[0], tally.mu.shape[0])
    episode = _new_episode(model.cost_weights.shape[0], model.cost_weights.shape[1])
    _stage(world, model, policy, tally, profiles, flat, sequence, uniforms, options, record, 0, episode)
