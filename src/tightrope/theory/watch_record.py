"""Does the record agree with itself? The dual follows from the values, the values from the data, the policies from the values.

Each of these is an equality on plain recorded numbers, so a changed dual, a policy from another run or a swapped cost shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tightrope.oracle import BestPolicy, start_value
from tightrope.problems.tables import Floats
from tightrope.run import Run, unit_widths
from tightrope.theory.derived import Derived, forwards
from tightrope.theory.replay import Setting, dual_cap, last_start, margins
from tightrope.theory.rows import Check, Row, rows_of

CLOSE = 1e-8  # what rounding may make between the engine's order of additions and this one's
LOG_2 = float(np.log(2.0))
DOUBLED = LOG_2 - 5e-13  # from which a log-determinant has doubled: the engine has 1e-12 less, sums are off by far less
SUMMED = 1e-6  # relative, of sums over all episodes and of what the oracle finds


class RecordWatch:
    """Rows on the record itself."""

    def __init__(self, setting: Setting, run: Run):
        self.setting, self.run = setting, run

        def equal(name: str, claim: str, place: str = "record", tolerance: float = CLOSE) -> Check:
            return Check(f"record: {name}", place, claim, "equality", tolerance)

        self.happens = equal("what happened can happen", "P(s_1), pi(a|s), P(s'|s,a) > 0 (number that are not)")
        self.costs = equal("costs", "cost^k_h = the problem's g_h(s, a, s')")
        self.losses = equal("losses", "mean of the recorded losses = the run's mean losses")
        self.values = equal("values", "recorded V-hat = the value from the data", "Algorithm 1, lines 11-19")
        self.policies = equal("policies", "pi^{k+1} = the step from pi^k and Q-hat", "Algorithm 1, lines 20-26")
        self.sums = equal("probabilities", "sum_a pi(a|s) = 1")
        self.dual = equal("dual", "Y_{k+1} = the step from Y_k and V-hat", "Algorithm 1, line 27")
        self.exact = equal("exact values", "recorded V^{pi^k} = the value of the recorded policy")
        self.epochs = Check("record: epochs", "Algorithm 1, line 2", "a new epoch only where a determinant has doubled")
        self.missed = Check(
            "record: epochs, none missed", "Algorithm 1, line 2", "no epoch lasts once one has", tolerance=0.0
        )
        self.last = equal("last policy", "the run's policy = the step from the last episode")
        self.curves = equal("curves", "the run's curves = sums of the recorded values", tolerance=SUMMED)
        self.extremes = equal(
            "extremes", "the run's peaks and crossings = those of the recorded values", tolerance=SUMMED
        )
        self.occupancy = equal(
            "occupancy", "the run's occupancy = the mean of the recorded policies'", tolerance=SUMMED
        )
        self.comparator = equal(
            "comparator", "the run's pi* costs what it says, keeps the budgets, and none is better", tolerance=SUMMED
        )
        self.exact_values = np.zeros((setting.episodes, setting.channels))  # [K, 1+m], recomputed
        self.pairs = np.zeros((setting.cmdp.horizon, setting.cmdp.n_states, setting.cmdp.n_actions))  # summed

    def see(self, d: Derived) -> None:
        chunk, setting, trace = d.chunk, self.setting, self.setting.trace
        rows = chunk.rows
        first = trace.states[rows, 0]
        found = chunk.v[:, np.arange(chunk.size), 0, first].T  # [B, 1+m]
        self.values.take(found, trace.values[rows], where=chunk.at("bc"))
        self.sums.take(chunk.policies.sum(axis=-1), 1.0, where=chunk.at("bhs"))
        self._happened(d)
        self._step(d)
        self._epochs(d)
        start = np.broadcast_to(setting.cmdp.initial_distribution, (chunk.size, setting.cmdp.n_states))
        random = not d.judges.fixed_start
        pairs = forwards(setting, chunk.policies, None, start) if random else d.pairs
        self.pairs += pairs.sum(axis=0)
        mu = np.stack([setting.gather(pairs[:, h]) for h in range(setting.cmdp.horizon)], axis=1)
        weights = np.broadcast_to(setting.cmdp.cost_weights.swapaxes(0, 1)[:, None], (setting.channels - 1, *mu.shape))
        self.exact_values[rows, 0] = np.einsum("bhd,bhd->b", trace.loss_weights[rows], mu)
        self.exact_values[rows, 1:] = np.einsum("ibhd,bhd->bi", weights, mu)
        evaluated = bool(self.run.about["evaluate"])
        self.exact.take(trace.exact_values[rows], self.exact_values[rows], evaluated, where=chunk.at("bc"))

    def _happened(self, d: Derived) -> None:
        chunk, cmdp = d.chunk, self.setting.cmdp
        states, actions = chunk.window.states, self.setting.trace.actions[chunk.rows]
        b, h = np.arange(chunk.size)[:, None], np.arange(cmdp.horizon)
        steps = [cmdp.kernel_table.step(x) for x in range(cmdp.horizon)]
        chances = np.stack(
            [_chances(step, chunk.window.phi[:, x], states[:, x + 1]) for x, step in enumerate(steps)], 1
        )
        played = chunk.policies[b, h, states[:, :-1], actions]
        started = cmdp.initial_distribution[states[:, 0]]
        wrong = (chances <= 1e-13) | (played <= 0) | (started <= 0)[:, None]
        self.happens.take(wrong, 0.0, where=chunk.at("bh"))
        costs = self.setting.trace.costs[chunk.rows]
        if cmdp.transition_costs is None:
            meant = np.einsum("hid,bhd->bhi", cmdp.cost_weights, chunk.window.phi)
        else:
            meant = np.moveaxis(cmdp.transition_costs[:, h, states[:, :-1], actions, states[:, 1:]], 0, -1)
        self.costs.take(costs, meant, where=chunk.at("bhi"))

    def _step(self, d: Derived) -> None:
        """Line 25 from the recorded policy, compared with the next recorded one."""
        chunk, trace, learner = d.chunk, self.setting.trace, self.setting.learner
        after = np.arange(chunk.first + 1, chunk.first + chunk.size + 1)
        theta = chunk.theta[:, None, None, None]
        mixed = (1.0 - theta) * chunk.policies + theta / chunk.policies.shape[-1]
        lift = np.where(chunk.policies > 0, d.gain, np.inf).min(axis=-1, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):
            raised = np.where(mixed > 0, mixed * np.exp(-learner.alpha * (d.gain - lift)), 0.0)
        made = raised / raised.sum(axis=-1, keepdims=True)
        begun = np.isin(after, trace.epoch_starts) & (not self.setting.warm)
        made[begun] = 1.0 / chunk.policies.shape[-1]
        inside = after < self.setting.episodes
        if inside.any():
            self.policies.take(trace.policies[after[inside]], made[inside], where=chunk.at("bhsa"))
        if not inside.all() and not begun[-1]:
            self.last.take(np.asarray(self.run.policy), made[-1], where="after the last episode")

    def _epochs(self, d: Derived) -> None:
        """Each epoch but the first begins where some log-determinant has grown by log 2 since the one before, and at once."""
        chunk = d.chunk
        grown = (chunk.window.logdet() - chunk.epoch_logdet[chunk.place]).max(axis=1)  # [B]; 0 where an epoch begins
        self.missed.take(grown, DOUBLED, where=chunk.at("b"), scale=1.0)
        for i in chunk.starts:
            if chunk.first + i > 0:
                grown = float((chunk.epoch_logdet[chunk.place[i]] - chunk.epoch_logdet[chunk.place[i] - 1]).max())
                self.epochs.take(LOG_2, grown, where=f"episode {chunk.first + i + 1:,}")

    def finish(self, star_values: Floats, best: BestPolicy) -> list[Row]:
        """star_values [K, 1+m]: those of pi* in every episode; best: the policy that it should be as good as."""
        trace, run = self.setting.trace, self.run
        self._duals()
        self.losses.take(run.mean_loss_weights, trace.loss_weights.mean(axis=0), where="all episodes")
        self._curves(star_values)
        self._extremes()
        if run.occupancy is not None:
            mean = self.pairs / self.setting.episodes
            self.occupancy.take(run.occupancy, mean, where=lambda h, s, a: f"step {h + 1}, state {s}, action {a}")
        if run.comparator is not None:
            self._comparator(run.comparator, best)
        checks = (self.happens, self.costs, self.losses, self.values, self.policies, self.sums, self.dual, self.exact)
        whole = (self.last, self.curves, self.extremes, self.occupancy, self.comparator)
        return rows_of([*checks, self.epochs, self.missed, *whole])

    def _curves(self, star_values: Floats) -> None:
        """Every curve of the run, from the trace."""
        trace, run = self.setting.trace, self.run
        loss_width, cost_widths = unit_widths(self.setting.cmdp)
        excess = trace.exact_values[:, 1:] - self.setting.cmdp.budgets
        at = run.episodes - 1
        curves = {
            "loss": (run.loss, np.cumsum(trace.exact_values[:, 0])[at]),
            "violation": (run.violation, np.cumsum(excess, axis=0)[at] * cost_widths),
            "hard violation": (run.hard_violation, np.cumsum(np.maximum(excess, 0.0), axis=0)[at] * cost_widths),
            "dual": (run.dual, trace.dual[at]),
            "epoch": (run.epoch, np.searchsorted(trace.epoch_starts, at, side="right")),
        }
        if run.comparator is not None:
            regret = np.cumsum(trace.exact_values[:, 0] - star_values[:, 0])[at] * loss_width
            curves["regret"] = run.regret, regret
        for name, (kept, made) in curves.items():
            self.curves.take(kept, made, where=lambda r, *_, name=name: f"{name}, point {r}")

    def _extremes(self) -> None:
        """What the run says of every episode, recorded or not."""
        setting, found = self.setting, self.run.extremes
        running = np.cumsum(setting.trace.exact_values[:, 1:] - setting.cmdp.budgets, axis=0)  # [K, m]
        before = np.concatenate([np.zeros((1, running.shape[1])), running[:-1]])
        back = (before > 0.0) & (running <= 0.0)
        last = np.where(back, np.arange(1, setting.episodes + 1)[:, None], 0).max(axis=0)
        peak = np.maximum(running.max(axis=0), 0.0)
        at = np.asarray(found.violation_peak_episode)
        there = np.concatenate([before[:1], running])[np.clip(at, 0, setting.episodes), np.arange(len(at))]
        widths = unit_widths(setting.cmdp)[1]
        for name, kept, made in (
            ("largest dual", found.dual_max, setting.trace.dual[:-1].max(axis=0)),
            ("violation's peak", found.violation_peak, peak * widths),
            ("violation at its peak's episode", there, peak),
            ("violation's last return to zero", found.violation_zero_crossing, last),
        ):
            self.extremes.take(kept, made, where=lambda i, name=name: f"{name}, constraint {i}")

    def _comparator(self, kept: BestPolicy, best: BestPolicy) -> None:
        cmdp, weights = self.setting.cmdp, self.setting.trace.loss_weights.mean(axis=0)
        costs = [start_value(cmdp, kept.policy, cmdp.cost_weights[:, i]) for i in range(cmdp.n_constraints)]
        self.comparator.take(kept.value, start_value(cmdp, kept.policy, weights), where="its value")
        self.comparator.take(kept.costs, costs, where="its cost, constraint {}".format)
        self.comparator.take(np.maximum(costs, cmdp.budgets), cmdp.budgets, where="the budget of constraint {}".format)
        self.comparator.take(kept.value, best.value, where="the best value")

    def _duals(self) -> None:
        """Line 27 for every episode, and zero where an epoch resets it."""
        setting, trace = self.setting, self.setting.trace
        made = next_duals(setting, trace.dual[:-1], trace.values[:, 1:])
        K = setting.episodes
        if not setting.warm:
            starts = last_start(trace.epoch_starts, K)
            made[:-1][starts[1:] == np.arange(1, K)] = 0.0
        self.dual.take(trace.dual[1:], made, where=lambda k, i: f"after episode {k + 1:,}, constraint {i}")
        self.dual.take(trace.dual[0], 0.0, where=lambda i: f"before episode 1, constraint {i}")


def next_duals(setting: Setting, dual: Floats, values: Floats) -> Floats:
    """Line 27: [K, m] from the duals [K, m] and the estimated costs [K, m] of K episodes."""
    learner = setting.learner
    ascent = learner.eta * (values - setting.cmdp.budgets + margins(setting))
    raised = np.maximum(0.0, (1.0 - learner.dual_decay) * dual + ascent - learner.dual_drift)
    return np.minimum(raised, dual_cap(setting))


def _chances(step: Any, phi: Floats, arrived: np.ndarray) -> Floats:
    """P(s' | s, a) = phi . psi(s') for features [B, d] and next states [B]."""
    columns = step[:, arrived]
    columns = columns.toarray() if hasattr(columns, "toarray") else columns
    return np.einsum("bd,db->b", phi, columns)
