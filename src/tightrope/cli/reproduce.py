"""`tightrope reproduce figure1`: the paper's experiment, its figure, and what was found, in words."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tightrope.cli.making import make_runs
from tightrope.cli.options import counts, one_of, together
from tightrope.lab.mistakes import Mistakes
from tightrope.lab.runner import Results
from tightrope.lab.spec_checks import Spec, check_spec
from tightrope.lab.store import Store
from tightrope.lab.summary import summarise

EXPERIMENTS = ("figure1",)


def reproduce_experiment(
    what: str, episodes: int, seeds: int, out: Path | None, workers: int | None, quiet: bool
) -> None:
    """Make runs, figure and summary, and say what was found."""
    together(lambda: one_of("EXPERIMENT", what, EXPERIMENTS), *counts(episodes=episodes, seeds=seeds, workers=workers))
    begun = time.perf_counter()
    folder = Path("results") / what if out is None else out
    spec = figure1_spec(episodes, seeds)
    results = make_runs(spec, folder, workers, quiet, what)
    summary = {"experiment": what} | summarise(results.runs, 0.0) | {"runs": list(results.keys)}
    paths = _products(Store(folder), results, summary, begun)
    _tell(Console(highlight=False), spec, summary, results, paths)


def figure1_spec(episodes: int, seeds: int) -> Spec:
    """The paper's numerical section (paper.tex, appendix "Numerical Experiment") as a spec."""
    raw = {
        "episodes": episodes,
        "seeds": seeds,
        "record_every": max(1, episodes // 1000),
        "problem": {"name": "job-scheduling"},
        "losses": {"kind": "drift"},
        "learner": {"name": "pdpo", "preset": "experiment"},
    }
    return check_spec(raw, "figure1", Mistakes("figure1"), Path())


def _products(store: Store, results: Results, summary: dict[str, Any], begun: float) -> list[Path]:
    """Figure and summary beside the runs; those of other settings are left alone, and these stand beside them."""
    from tightrope.show.figure1 import figure1
    from tightrope.show.style import rendered

    figure = figure1(results.runs, summary, _note(summary))
    ending = _ending(store.folder, summary["runs"])
    paths = [store.write(f"figure1{ending}.{kind}", rendered(figure, kind)) for kind in ("png", "pdf")]
    summary["seconds_total"] = time.perf_counter() - begun
    content = json.dumps(summary, indent=2) + "\n"
    return [*paths, store.write(f"summary{ending}.json", content.encode())]


def _ending(folder: Path, runs: list[str]) -> str:
    """Nothing where there is no summary yet, or one of the same runs; else a mark of these runs."""
    try:
        earlier = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["runs"]
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError):
        earlier = None
    return "" if earlier == runs else f"-{runs[0][:8]}-{len(runs)}"


def _note(summary: dict[str, Any]) -> str:
    if summary["dual_max"] > 0:
        return ""
    return "The dual is exactly 0 throughout: with these settings the constraint is never enforced."


def _tell(console: Console, spec: Spec, summary: dict[str, Any], results: Results, paths: list[Path]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for word, text in (
        ("regret", _regret(summary)),
        ("violation", _violation(summary)),
        ("dual", _dual(spec, summary)),
        ("epochs", f"{summary['epochs_mean']:,.0f} a run; each starts again from the uniform policy"),
        ("time", _time(summary, results)),
        ("files", "\n".join(str(path) for path in paths)),
    ):
        table.add_row(word, text)
    K, seeds = summary["episodes"], summary["seeds"]
    words = "1 seed" if seeds == 1 else f"{seeds} seeds"
    console.print(
        f"[bold]The paper's figure 1[/bold]: job scheduling, {K:,} episodes, H = {spec.cmdp.horizon}, {words}"
    )
    console.print(table)


def _regret(summary: dict[str, Any]) -> str:
    mean, half = summary["regret_final_mean"], summary["regret_final_ci95"]
    band = f" ± {half:,.0f}" if summary["seeds"] > 1 else ""
    text = f"{mean:,.0f}{band} at the end, {mean / summary['episodes']:.3f} an episode"
    slope = summary["regret_slope"]
    if slope is None:
        return text
    verdict = "sublinear, as the paper says" if slope < 0.95 else "not yet sublinear"
    return f"{text}; over the last decade it grows like K^{slope:.2f} ({verdict})"


def _violation(summary: dict[str, Any]) -> str:
    peak, at, crossing = (summary[f"violation_{part}"] for part in ("peak", "peak_episode", "zero_crossing"))
    final = summary["violation_final_mean"]
    if peak <= 0:
        return f"never above zero; {final:,.0f} at the end"
    text = f"peaks at {peak:,.0f} in episode {at:,}"
    if crossing is None:
        return f"{text}; {final:,.0f} at the end, not back at zero"
    return f"{text} and is back at zero in episode {crossing:,.0f}; {final:,.0f} at the end"


def _dual(spec: Spec, summary: dict[str, Any]) -> str:
    if summary["dual_max"] > 0:
        return f"at most {summary['dual_max']:.4g}"
    settings, H = spec.learner, spec.cmdp.horizon
    drift = 4 * settings.alpha * H**3  # pyright: ignore[reportAttributeAccessIssue]
    text = (
        f"exactly 0 throughout, so the constraint is never enforced: the drift 4·alpha·H³ = {drift:,.0f} of line 27 "
        f"exceeds any cost of an episode (at most H = {H})."
    )
    if not summary["multiplier_mean"] and summary["violation_zero_crossing"] is not None:
        text += (
            " The violation goes away all the same, because here the policy of least loss keeps the budget by itself."
        )
    return text


def _time(summary: dict[str, Any], results: Results) -> str:
    learning = f"{summary['seconds_learning']:.1f} s of learning, {summary['microseconds_per_step']:.2f} µs a step"
    reused = f"; {results.reused} of {len(results.runs)} runs were there already" if results.reused else ""
    return f"{summary['seconds_total']:.1f} s in all, {learning}{reused}"
