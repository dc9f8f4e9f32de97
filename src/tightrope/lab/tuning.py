"""Which settings are best? A search by Optuna over the ranges of `[tune]`, on training runs, told with held-out runs beside.

The objective of a run is `max(regret, 0) + penalty max(violation, 0)` at its end (of several constraints the largest
violation); of a setting, the mean over its runs. The study is a SQLite file in the folder of the runs; a trial that was stopped
goes on, and each trial draws its settings from a seed of its own, so a search that was killed finds what it would have found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tightrope import safe_files
from tightrope.errors import InputError, TightropeError
from tightrope.lab import lock
from tightrope.lab.board import Board
from tightrope.lab.disk import StorageError, disk, storage
from tightrope.lab.making import Options, Show, begin
from tightrope.lab.plan import Plan, with_values
from tightrope.lab.query import rows_of
from tightrope.lab.runner import jobs_of, run_specs
from tightrope.lab.spec_checks import Judge, Spec
from tightrope.lab.store import Store
from tightrope.lab.study import first_line, load_optuna, open_study, suggest, take_trial, trial_record
from tightrope.lab.summary import band
from tightrope.lab.tune_format import Runs, Tune
from tightrope.lab.work import Job, Work

RUNGS = 8  # at each, the objective so far is reported, and a trial may be given up
DATABASE = "tune.db"


@dataclass(frozen=True)
class Score:
    """The objective of one setting on some runs."""

    mean: float
    half: float  # of the 95% interval over the runs
    regret: float
    violation: float
    runs: int


@dataclass(frozen=True)
class Found:
    """What a search found; `own` are the settings of the spec as it stands."""

    settings: Mapping[str, Any]
    trials: int
    pruned: int
    best_training: Score
    best_held_out: Score
    own_training: Score
    own_held_out: Score
    path: Path


def tune(plan: Plan, store: Store, folder: Path, options: Options, show: Show | None = None) -> Found:
    """Search, or go on searching, and judge what is found; `folder` is where files that the spec names are looked for."""
    return _Search(plan, store, folder, options, show).run()


class _Search:
    def __init__(self, plan: Plan, store: Store, folder: Path, options: Options, show: Show | None):
        self.plan, self.store, self.options, self.show = plan, store, options, show
        self.tune: Tune = plan.tune
        self.judge = Judge(plan.name, folder)
        self.bare = {key: value for key, value in plan.raw.items() if key not in ("sweep", "tune")}
        runs = len(self.tune.training.seeds) * len(self.tune.training.losses)
        episodes = plan.specs[0].document.episodes
        self.board = Board(self.tune.trials * runs, self.tune.trials * runs * episodes)

    def run(self) -> Found:
        with storage(self.store.folder, lambda: "what was finished is whole"):
            self.store.open()
            with lock.owned(self.store.inner, self.options.waits):
                self.store.sweep_up()
                self.store.keep_spec(self.plan.name, self.plan.record)
                study = self._study()
                for number in range(self.tune.trials):
                    self._trial(study, number)
            return self._judged(study)

    # ---- the study -----------------------------------------------------------------------------------------------

    @property
    def study_name(self) -> str:
        """Everything that makes a search another one; more trials only make it longer."""
        about = {**self.bare, "tune": {key: value for key, value in self.plan.raw["tune"].items() if key != "trials"}}
        text = json.dumps([self.plan.specs[0].cmdp.digest, about], sort_keys=True, default=repr)
        return f"{self.plan.name}-{safe_files.digest(text.encode())[:12]}"

    def _study(self) -> Any:
        load_optuna()  # where it is missing, that is what is told
        path = self.store.inner / DATABASE
        try:
            return open_study(path, self.study_name, self.tune.prune)
        except Exception as error:  # SQLAlchemy's and SQLite's, by many names
            if not path.exists():
                raise StorageError(f"{path}: cannot be made ({first_line(error)})") from None
        self.board.notes_once(
            f"{self.store.set_aside_note(path)}; the search is made again from the runs that are there"
        )
        return open_study(path, self.study_name, self.tune.prune)

    def _trial(self, study: Any, number: int) -> None:
        """Trial `number`: passed over when it is done, taken up when it was stopped, else begun."""
        optuna = load_optuna()
        jobs_at = number * self.board.of // self.tune.trials
        try:
            trial = take_trial(study, number, self.tune.seed)
            if trial is None:
                return self._pass_over()
            settings = {one.name: suggest(trial, one) for one in self.tune.ranges}
            value = self._value(trial, self._specs(settings, self.tune.training), jobs_at)
            if value is None:
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            else:
                study.tell(trial, value)
                if study.best_trial.number == trial.number:
                    self.board.notes_once(f"trial {number}: objective {value:,.1f}, the best so far")
        except optuna.exceptions.StorageInternalError as error:
            raise StorageError(f"{self.store.inner / DATABASE}: cannot be written ({first_line(error)})") from None

    def _pass_over(self) -> None:
        each = self.plan.specs[0].document.episodes
        for _ in range(self.board.of // self.tune.trials):
            self.board.found(each)

    # ---- one trial -----------------------------------------------------------------------------------------------

    def _specs(self, settings: Mapping[str, Any], runs: Runs) -> list[Spec]:
        """A spec for each table of losses, with the seeds of the set."""
        found = []
        for table in runs.losses:
            raw = with_values({**self.bare, "losses": dict(table), "seeds": list(runs.seeds)}, dict(settings))
            noted = _Raises()
            spec = self.judge.setting(raw, noted, settings)
            noted.insist()
            assert spec is not None
            found.append(spec)
        return found

    def _value(self, trial: Any, specs: Sequence[Spec], first: int) -> float | None:
        """The objective of a trial's runs, advanced together from rung to rung; None where it was given up."""
        jobs = [replace(job, place=first + i) for i, job in enumerate(jobs_of(specs))]
        curves = {job.key: self._curve(job) for job in jobs if self.store.sound(job.key)[0]}
        works = {
            job.key: begin(job, self.store, self.board, self.options.checkpoint_seconds)
            for job in jobs
            if job.key not in curves
        }
        done = trial.study.get_trials(deepcopy=False)[trial.number].intermediate_values
        workers = self.options.workers or 2
        with ThreadPoolExecutor(workers) as pool:
            for rung in range(1, RUNGS + 1):
                list(pool.map(lambda job, rung=rung: self._advance(job, works.get(job.key), rung), jobs))
                values = [self._at(job, works.get(job.key), curves.get(job.key), rung) for job in jobs]
                if rung == RUNGS or any(value is None for value in values):
                    continue
                if rung not in done:
                    trial.report(float(np.mean(np.array(values, dtype=float))), rung)
                if trial.should_prune():
                    self._give_up(jobs)
                    return None
            list(pool.map(lambda job: self._finish(job, works.get(job.key)), jobs))
        return self._score([job.key for job in jobs]).mean

    def _curve(self, job: Job) -> Any:
        run = self.store.load(job.key)
        return run.episodes, self._objective(run.regret, run.violation.max(axis=1))

    def _advance(self, job: Job, work: Work | None, rung: int) -> None:
        until = job.episodes * rung // RUNGS
        while work is not None and work.simulation.done < until:
            left = until - work.simulation.done
            at = work.advance(until if left < work.simulation.stride else None)
            self.board.moves(job.place, at)
            self._show()

    def _at(self, job: Job, work: Work | None, curve: Any, rung: int) -> float | None:
        """The objective of a run at a rung; None where its regret is known only at the end."""
        if work is not None:
            at = work.simulation.progress()
            return None if at.regret is None else float(self._objective(at.regret, at.violation))
        episodes, values = curve
        value = values[np.searchsorted(episodes, min(job.episodes * rung // RUNGS, episodes[-1]))]
        return None if np.isnan(value) else float(value)

    def _objective(self, regret: Any, violation: Any) -> Any:
        return np.maximum(regret, 0.0) + self.tune.penalty * np.maximum(violation, 0.0)

    def _give_up(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.store.checkpoints.forget(job.key)
            self.board.finishes(job.place, job.episodes)

    def _finish(self, job: Job, work: Work | None) -> None:
        if work is not None:
            files = work.finish(engine="local")
            with disk():
                self.store.put(job.key, files)
        self.board.finishes(job.place, job.episodes)
        self._show()

    def _show(self) -> None:
        if self.show is not None:
            self.show(self.board)

    # ---- what was found ------------------------------------------------------------------------------------------

    def _score(self, keys: Sequence[str]) -> Score:
        rows = rows_of(self.store, keys)
        regret = np.array([row["regret"] for row in rows], dtype=float)
        violation = np.array([max(v for k, v in row.items() if k.startswith("violation")) for row in rows], dtype=float)
        found = band(np.asarray(self._objective(regret, violation))[:, None])
        return Score(
            float(found.mean[0]), float(found.half[0]), float(regret.mean()), float(violation.mean()), len(rows)
        )

    def _judged(self, study: Any) -> Found:
        """The best setting and the spec's own, on both sets; written beside the runs."""
        optuna = load_optuna()
        done = study.get_trials(deepcopy=False)[: self.tune.trials]
        complete = [trial for trial in done if trial.state == optuna.trial.TrialState.COMPLETE]
        best = dict(min(complete, key=lambda trial: trial.value).params)
        scores = {}
        for whose, settings in (("best", best), ("own", {})):
            for name, runs in (("training", self.tune.training), ("held_out", self.tune.held_out)):
                results = run_specs(self._specs(settings, runs), self.store, self.show, self.options)
                if results.failures:
                    raise TightropeError("\n".join(f"{f.what}: {f.error}" for f in results.failures))
                scores[f"{whose}_{name}"] = self._score(results.keys)
        about = {
            "study": self.study_name,
            "penalty": self.tune.penalty,
            "settings": best,
            **{name: vars(score) for name, score in scores.items()},
            "trials": [trial_record(trial) for trial in done],
        }
        text = json.dumps(about, indent=2, default=safe_files.plain) + "\n"
        path = self.store.write(f"tune-{self.study_name}-{len(done)}.json", text.encode())
        return Found(settings=best, trials=len(done), pruned=len(done) - len(complete), path=path, **scores)


class _Raises:
    """Settings that the ranges allow and the learner refuses."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, field: Sequence[str | int], text: str) -> None:
        self.lines.append(f"{'.'.join(map(str, field))}: {text}")

    def insist(self) -> None:
        if self.lines:
            raise InputError(self.lines)
