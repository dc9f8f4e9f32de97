"""Runs with traces, made once; tests that tamper take a copy."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import pytest

import tightrope as tr

K = 1200


def working_dual(cmdp: tr.LinearCMDP) -> tr.PDPO:
    """Settings under which the drift analysis applies while the dual works: regularised as in the paper, small steps."""
    alpha, eta, theta, H = 2e-5, 0.05, 1e-3, cmdp.horizon
    return tr.PDPO(
        alpha=alpha,
        eta=eta,
        theta=theta,
        beta_b=9.0,
        beta_w=9.0,
        mixing_period=40,
        dual_decay=4 * alpha * eta * H**3,
        dual_drift=eta * (4 * alpha * H**3 + 4 * theta * H**2),
        contraction_offset=6.0,
    )


class Runs:
    """Runs by problem, settings and seed, made when first asked for."""

    def __init__(self):
        self.made: dict[tuple, tr.Run] = {}

    def get(
        self,
        name: str,
        preset: str = "practical",
        *,
        seed: int = 0,
        episodes: int = K,
        kind="alternating",
        **parameters,
    ) -> tr.Run:
        key = (name, preset, seed, episodes, kind, tuple(sorted(parameters.items())))
        if key not in self.made:
            cmdp = tr.problems.make(name, **parameters)
            if preset == "working dual":
                learner = working_dual(cmdp)
            else:
                learner = tr.learners.make("pdpo", cmdp, episodes, preset)
            losses = tr.losses.make(kind, cmdp, episodes, seed=seed)
            self.made[key] = tr.simulate(cmdp, losses, learner, episodes, seed=seed, trace=True)
        return self.made[key]

    def copy(self, *given, **more) -> tr.Run:
        """The same run with a trace of its own, to tamper with."""
        run = self.get(*given, **more)
        trace = run.trace
        assert trace is not None
        return replace(run, trace=type(trace)(**{f.name: copy.deepcopy(getattr(trace, f.name)) for f in fields(trace)}))


@pytest.fixture(scope="session")
def runs() -> Runs:
    return Runs()
