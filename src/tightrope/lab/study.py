"""What does a search keep? An Optuna study in a SQLite file; a trial that was stopped is taken up, not begun again."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from tightrope.errors import InputError
from tightrope.lab.tune_format import Range

STARTUP = 5  # trials before any is given up


def load_optuna() -> Any:
    """The package, or how to have it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import optuna
    except ImportError:
        raise InputError("Optuna is not installed; expected the extra: pip install 'tightrope[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def open_study(path: Path, name: str, prune: bool) -> Any:
    """The study of this name, made where it is not there yet; what a damaged file raises has many names."""
    optuna = load_optuna()
    pruner = optuna.pruners.MedianPruner(STARTUP, 1) if prune else optuna.pruners.NopPruner()
    storage = optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}")
    study = optuna.create_study(storage=storage, pruner=pruner, study_name=name, load_if_exists=True)
    assert isinstance(study.trials, list)
    return study


def take_trial(study: Any, number: int, seed: int) -> Any:
    """Trial `number`: None when it is done, taken up when it was stopped, else begun, with settings drawn from its own seed."""
    optuna = load_optuna()
    study.sampler = optuna.samplers.TPESampler(seed=(seed * 1_000_003 + number) % 2**32, n_startup_trials=8)
    trials = study.get_trials(deepcopy=False)
    if number >= len(trials):
        return study.ask()
    return None if trials[number].state.is_finished() else optuna.trial.Trial(study, trials[number]._trial_id)


def trial_record(trial: Any) -> dict[str, Any]:
    """A trial, for the report of the search."""
    return {
        "number": trial.number,
        "state": trial.state.name.lower(),
        "objective": trial.value,
        "settings": dict(trial.params),
    }


def suggest(trial: Any, one: Range) -> Any:
    """A setting of the trial: drawn, or the one that it was given before."""
    if one.choices:
        return trial.suggest_categorical(one.name, list(one.choices))
    if one.whole:
        return trial.suggest_int(one.name, int(one.low), int(one.high), log=one.log)
    return trial.suggest_float(one.name, one.low, one.high, log=one.log)


def first_line(error: Exception) -> str:
    """Of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]
