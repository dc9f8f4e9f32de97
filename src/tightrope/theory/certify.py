"""Did what the paper promises hold on this run? Every inequality of the appendix, on the numbers, episode by episode.

The whole run is computed again from its record (`replay`), in windows of episodes, and each claim is watched as they pass. A
row *applies* where the inequalities that its proof uses hold on this run, with the run's own constants; what each row is and
where it comes from stands in `docs/paper-map.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tightrope import constants
from tightrope.errors import InputError
from tightrope.learners.pdpo import PDPO
from tightrope.oracle import BestPolicy, best_policy, slater
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.reading import shown
from tightrope.recorder import Trace
from tightrope.run import Run
from tightrope.theory.decomposition import Decomposition, decompose, identities
from tightrope.theory.derived import Derived, Judges
from tightrope.theory.replay import chunks, new_setting
from tightrope.theory.rows import Check, Row, rows_of
from tightrope.theory.segments import Segments
from tightrope.theory.watch_dual import DualWatch
from tightrope.theory.watch_event import EventWatch
from tightrope.theory.watch_policy import PolicyWatch
from tightrope.theory.watch_record import RecordWatch
from tightrope.theory.watch_values import ValueWatch


@dataclass(frozen=True, eq=False)
class Certificate:
    """What was found, claim by claim."""

    rows: Sequence[Row]
    decomposition: Decomposition
    gamma: float  # Slater's constant
    delta: float

    @property
    def ok(self) -> bool:
        """Whether every row that applies holds."""
        return all(row.ok for row in self.rows)

    @property
    def failures(self) -> list[Row]:
        return [row for row in self.rows if not row.ok]

    def row(self, name: str) -> Row:
        """The row of this name."""
        return next(row for row in self.rows if row.name == name)

    def as_list(self) -> list[dict[str, Any]]:
        """One plain dictionary a row; a number that JSON has no word for becomes None."""
        found = []
        for row in self.rows:
            entry = {field.name: getattr(row, field.name) for field in fields(Row)}
            for key in ("claimed", "computed"):
                entry[key] = entry[key] if np.isfinite(entry[key]) else None
            found.append(entry)
        return found

    def __str__(self) -> str:
        counted = sum(row.applies for row in self.rows)
        verdict = "every row that applies holds" if self.ok else f"{len(self.failures)} rows fail"
        return f"{len(self.rows)} rows, {counted} apply: {verdict}"


def certify(run: Run, delta: float = 0.1, progress: Callable[[int, int], None] | None = None) -> Certificate:
    """Check a run that has its trace.

    Parameters
    ----------
    delta: with which the paper's radii are taken; the events may fail with this probability.
    progress: called with the episodes done and all of them.
    """
    if not isinstance(run, Run):
        raise InputError(f"certify: {shown(run)}, wanted a Run, such as simulate(..., trace=True) or Run.load gives")
    learner, trace = _learner(run), _trace(run)
    if not (isinstance(delta, float) and 0.0 < delta < 1.0):
        raise InputError(f"certify: delta: {delta!r}, wanted a number between 0 and 1")
    K = len(trace.states)
    setting = new_setting(run.cmdp, learner, trace, K)
    best = best_policy(run.cmdp, trace.loss_weights.mean(axis=0))
    judges = _judges(run, best)
    numbers = learner.numbers(run.cmdp, K, judges.gamma, delta)
    segments = Segments(setting)
    record, event = RecordWatch(setting, run), EventWatch(setting, numbers)
    policy, dual = PolicyWatch(setting, numbers), DualWatch(setting, numbers, judges)
    value = ValueWatch(setting, numbers, judges)
    for chunk in chunks(setting):
        d = Derived(chunk, segments, judges)
        for watch in (record, event, policy, dual, value):
            watch.see(d)
        if progress is not None:
            progress(chunk.first + chunk.size, K)
    exact = record.exact_values
    found = decompose(setting, run, exact, value.star_values, value.v_hat)
    rows = [*record.finish(value.star_values, best), *event.finish()]
    event_3 = next(row for row in rows if row.name == "E3").holds
    rows += [*policy.finish(), *dual.finish(), *value.finish(exact, event.all_good, event_3), *identities(found)]
    rows += _theorem(run, learner, found, numbers)
    return Certificate(rows, found, judges.gamma, delta)


def _theorem(run: Run, learner: PDPO, found: Decomposition, numbers: constants.Numbers) -> list[Row]:
    """thm:main, with every constant; where beta_w is beyond K it says H K, which is true."""
    K, gamma = int(numbers.K), numbers.gamma
    broken = learner.unmet(run.cmdp, K, gamma, numbers.delta)
    speaks = all(text.startswith("beta_w <= K") for text in broken)
    regret = Check("main theorem, regret", "thm:main", "Regret <= (I) + (II) + (III), with all constants")
    violation = Check("main theorem, violation", "thm:main", "Violation <= (IV) + (V), with all constants")
    regret.take(found.regret[-1], learner.regret_bound(run.cmdp, K, gamma, numbers.delta), speaks, "all episodes")
    signed = np.maximum(found.violation[-1], 0.0)
    violation.take(signed, learner.violation_bound(run.cmdp, K, gamma, numbers.delta), speaks, "all episodes")
    return rows_of([regret, violation])


def _learner(run: Run) -> PDPO:
    """The settings as the run's record has them."""
    about = dict(run.about["learner"])
    if about.pop("name", None) != PDPO.name:
        raise InputError(f"certify: learner {run.about['learner'].get('name')!r}, wanted a run of {PDPO.name!r}")
    return PDPO(**about)


def _trace(run: Run) -> Trace:
    """The trace, if it is there and its arrays fit the problem."""
    if run.trace is None:
        raise InputError("certify: this run has no trace; wanted one made with trace=True (`trace = true` in a spec)")
    cmdp, trace, K = run.cmdp, run.trace, int(run.about["episodes"])
    H, S, A, m = cmdp.horizon, cmdp.n_states, cmdp.n_actions, cmdp.n_constraints
    shapes = {
        "states": (K, H + 1),
        "actions": (K, H),
        "costs": (K, H, m),
        "loss_weights": (K, H, cmdp.dim),
        "dual": (K + 1, m),
        "values": (K, 1 + m),
        "exact_values": (K, 1 + m),
        "policies": (K, H, S, A),
    }
    wrong = [
        f"certify: trace.{name}: shape {getattr(trace, name).shape}, wanted {shape}"
        for name, shape in shapes.items()
        if getattr(trace, name).shape != shape
    ]
    wrong += [
        f"certify: trace.{name}: NaN or infinity" for name in shapes if not np.isfinite(getattr(trace, name)).all()
    ]
    for name, below in (("states", S), ("actions", A)):
        array = getattr(trace, name)
        if array.size and (array.min() < 0 or array.max() >= below):
            wrong.append(f"certify: trace.{name}: {array.min()} to {array.max()}, wanted 0 to {below - 1}")
    starts = trace.epoch_starts
    if not len(starts) or starts[0] != 0 or (np.diff(starts) <= 0).any() or starts[-1] >= K:
        wrong.append("certify: trace.epoch_starts: wanted 0 and rising episodes below K")
    at = run.episodes
    if at.shape != run.regret.shape or not len(at) or at[0] < 1 or (np.diff(at) <= 0).any() or at[-1] > K:
        wrong.append(f"certify: run.episodes: wanted rising episodes from 1 to {K}, one for each point of the curves")
    if wrong:
        raise InputError(wrong)
    return trace


def _judges(run: Run, best: BestPolicy) -> Judges:
    """The policies that the proofs compare with: the run's own comparator, where it has one, and Slater's."""
    cmdp: LinearCMDP = run.cmdp
    room = slater(cmdp)
    star = best if run.comparator is None else run.comparator
    return Judges(star.policy, room.policy, room.gamma, cmdp.initial_state is not None)
