"""Which commands are there? Each reads its options and calls the room that does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tightrope._version import __version__

app = typer.Typer(
    help="Repeated decisions under a budget, against losses that nobody promises to keep still.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; results and errors only.")]
Workers = Annotated[int | None, typer.Option("--workers", help="Runs at a time; by default one for each core.")]
Engine = Annotated[str, typer.Option("--engine", help="local: threads of this process; or ray.")]
Address = Annotated[str | None, typer.Option("--address", help="Of a running Ray; without it one is started here.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for another process that has the folder.")]
Checkpoint = Annotated[float, typer.Option("--checkpoint", help="Seconds between two checkpoints of a run.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tightrope {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def reproduce(
    what: Annotated[str, typer.Argument(help="Which experiment: figure1.", metavar="EXPERIMENT")],
    episodes: Annotated[int, typer.Option(help="Episodes of each run, K.")] = 100_000,
    seeds: Annotated[int, typer.Option(help="How many runs; their seeds are 0, 1, 2, …")] = 10,
    out: Annotated[Path | None, typer.Option(help="Folder for runs, figures and summary.")] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce an experiment of the paper: the figure as PNG and PDF, every run, and a summary."""
    from tightrope.cli.reproduce import reproduce_experiment

    reproduce_experiment(what, episodes, seeds, out, workers, quiet)


@app.command()
def run(
    spec: Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")],
    out: Annotated[Path | None, typer.Option(help="Folder for the runs; by default results/NAME of the spec.")] = None,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
    wait: Wait = False,
    checkpoint: Checkpoint = 5.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many runs, how long, how much disk.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run what a spec says: every setting of its sweep, once for each of its seeds.

    Finished runs are not repeated, and unfinished ones go on from their last checkpoint, whatever stopped them.
    """
    from tightrope.cli.run import run_spec_file

    run_spec_file(spec, out, (workers, engine, address, wait, checkpoint), quiet, dry_run)


@app.command()
def spec(
    as_schema: Annotated[bool, typer.Option("--schema", help="The JSON schema instead, for editors.")] = False,
) -> None:
    """Print a spec to start from, with comments; it runs as it stands."""
    import json

    from tightrope.lab.spec_schema import schema, template

    print(json.dumps(schema(), indent=2)) if as_schema else print(template(), end="")


@app.command()
def tune(
    spec: Annotated[Path, typer.Argument(help=r"A spec with \[tune], a TOML file.", metavar="SPEC.toml")],
    out: Annotated[Path | None, typer.Option(help="Folder for runs and results; by default results/NAME.")] = None,
    workers: Workers = None,
    wait: Wait = False,
    checkpoint: Checkpoint = 5.0,
    quiet: Quiet = False,
) -> None:
    r"""Look for the best settings in the ranges of \[tune], and say what they are worth on runs that the search never saw."""
    from tightrope.cli.tune import tune_spec_file

    tune_spec_file(spec, out, (workers, "local", None, wait, checkpoint), quiet)


@app.command()
def runs(
    folder: Annotated[Path, typer.Argument(help="A folder that `tightrope run` has filled.", metavar="DIR")],
    where: Annotated[
        str | None, typer.Option(help="Only these: a condition in SQL, such as 'seed < 3 AND learner.alpha >= 0.1'.")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Only these columns, with commas between them.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of the table; 0 for all.")] = 40,
    form: Annotated[str, typer.Option("--format", help="table, csv or json.")] = "table",
) -> None:
    """List the runs in a folder, with their settings and where their curves end."""
    from tightrope.cli.runs import list_runs

    list_runs(folder, where, columns, limit, form)


study = typer.Typer(no_args_is_help=True, help="Whole studies: from their inputs to the sentence that a reader wants.")
app.add_typer(study, name="study")
Out = Annotated[
    Path | None, typer.Option(help="Folder for figures and numbers; by default results/ and the study's name.")
]


@study.command("practical")
def study_practical(
    suite: Annotated[
        str, typer.Option(help="training, for trying settings out, or confirming, to judge them.")
    ] = "confirming",
    problem: Annotated[str | None, typer.Option(help="Only the suite's tasks of this problem.")] = None,
    variants: Annotated[
        bool, typer.Option("--variants", help="Every variant of the preset, training suite only.")
    ] = False,
    episodes: Annotated[
        list[int] | None, typer.Option(help="K; give it several times. By default five of them.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Runs of each; by default five where they are short, one at the end.")
    ] = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """The practical preset on a suite of problems and losses: slopes over K, regret and violation, beside their targets."""
    from tightrope.cli.study_practical import show_practical

    show_practical(suite, problem, variants, list(episodes or []), seeds, out, quiet)


ProblemName = Annotated[str, typer.Option(help="A ready problem.")]
Episodes = Annotated[int, typer.Option(help="Episodes of each run, K.")]
SeedCount = Annotated[int | None, typer.Option(help="Runs of each setting.")]


@study.command("tighten")
def study_tighten(
    problem: ProblemName = "priced-jobs", episodes: Episodes = 50_000, seeds: SeedCount = None, out: Out = None
) -> None:
    """Budget safety: the regret that is paid for winning back what was overspent, by several tighten= and guard=."""
    from tightrope.cli.study_figures import show_figure

    show_figure("tighten", problem, episodes, seeds, out)


@study.command("tracking")
def study_tracking(
    problem: ProblemName = "priced-jobs", episodes: Episodes = 50_000, seeds: SeedCount = None, out: Out = None
) -> None:
    """Restless losses: what mixing gains where losses change, and what it costs where they stay, in dynamic regret."""
    from tightrope.cli.study_figures import show_figure

    show_figure("tracking", problem, episodes, seeds, out)


@study.command("tiles")
def study_tiles(
    episodes: Episodes = 2_000,
    seed: Annotated[int, typer.Option(help="Of play.")] = 0,
    out: Out = None,
) -> None:
    """Features that are not exactly linear: a backlog through coarse and fine tiles, beside the truth."""
    from tightrope.cli.study_figures import show_tiles

    show_tiles(episodes, seed, out)


@study.command("nightly-batch")
def study_nightly_batch(
    prices: Annotated[
        Path | None, typer.Option(help="CSV of hourly prices; without it a synthetic year.", metavar="FILE")
    ] = None,
    budget: Annotated[float, typer.Option(help="Most that a night may cost: its hours less half the jobs done.")] = 7.0,
    jobs: Annotated[int, typer.Option(help="Jobs of a machine each evening.")] = 9,
    hours: Annotated[int, typer.Option(help="Hours of the window.")] = 10,
    start: Annotated[int, typer.Option(help="Hour at which the window opens, local time.")] = 20,
    machines: Annotated[int, typer.Option(help="Machines that play every night.")] = 200,
    reserve: Annotated[float, typer.Option(help="Share of the budget that the learner plans to leave.")] = 0.0075,
    time: Annotated[str | None, typer.Option(help="Column of the times, where its name does not tell.")] = None,
    price: Annotated[str | None, typer.Option(help="Column of the prices, where its name does not tell.")] = None,
    zone: Annotated[str | None, typer.Option(help="Time zone of the machines, such as America/Chicago.")] = None,
    seed: Annotated[int, typer.Option(help="Of the machines' luck, and of synthetic prices.")] = 0,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Batch jobs through the nights of a year of electricity prices: money and work left, against four other plans."""
    from tightrope.cli.study_nightly import Columns, Night, show_nightly

    night = Night(budget, jobs, hours, start, machines, reserve, seed)
    show_nightly(prices, Columns(time, price, zone), night, out, quiet)


@app.command()
def doctor(
    spec: Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")],
    strict: Annotated[bool, typer.Option("--strict", help="Leave with exit 3 when an error is found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Findings as a list of JSON objects.")] = False,
) -> None:
    """Say before anything runs whether the settings of a spec can work, and what would."""
    from tightrope.cli.doctor import examine

    examine(spec, strict, as_json)


@app.command()
def figure(
    kind: Annotated[str, typer.Argument(help="curves, duals, decomposition, occupancy, policy, forest or rates.")],
    folder: Annotated[Path, typer.Argument(help="A run's folder, or a folder of runs.", metavar="DIR")],
    out: Annotated[Path | None, typer.Option(help="Folder for the files; by default DIR.")] = None,
    interval: Annotated[str, typer.Option(help="95% bands over seeds by: t, bootstrap.")] = "t",
    run: Annotated[
        str | None, typer.Option(help="Which run, by the beginning of its name; the first by default.")
    ] = None,
    against: Annotated[str | None, typer.Option(help="Forest: what the others are compared with.")] = None,
) -> None:
    """Draw a figure of stored runs: PNG, PDF, its data as CSV and a LaTeX table."""
    from tightrope.cli.figure import make_figure
    from tightrope.show.kinds import Choice

    make_figure(kind, folder, out, Choice(interval, run, against))


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A run's folder, or a folder of runs.", metavar="DIR")],
    out: Annotated[Path | None, typer.Option(help="The HTML file; by default report.html in DIR.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Show it on this machine while runs are made.")] = False,
    port: Annotated[int, typer.Option(help="With --serve: the port; 0 takes a free one.")] = 8765,
) -> None:
    """Write one self-contained HTML page about a run, a sweep or a comparison."""
    from tightrope.cli.report import make_report

    make_report(folder, out, serve, port)


@app.command()
def rates(
    problem: Annotated[str, typer.Option(help="A ready problem; `tightrope problems` lists them.")],
    losses: Annotated[str, typer.Option(help="Kind of losses.")] = "alternating",
    learner: Annotated[str, typer.Option(help="Which learner.")] = "pdpo",
    preset: Annotated[str | None, typer.Option(help="Its preset.")] = None,
    episodes: Annotated[str, typer.Option(help="LOW..HIGH at equal ratios, or a list.")] = "1e4..1e6",
    points: Annotated[int, typer.Option(help="How many numbers of episodes from LOW to HIGH.")] = 5,
    seeds: Annotated[int, typer.Option(help="Runs at each number of episodes.")] = 5,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="TABLE.KEY=VALUE, as in a spec: learner.alpha=0.1, problem.budget=6.0."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for runs, figure, data and summary.")] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Measure how regret and violation grow with the number of episodes: slopes, a figure, the data; resumable."""
    from tightrope.cli.rates import measure_rates

    asked = {
        "problem": problem,
        "losses": losses,
        "learner": learner,
        "preset": preset,
        "episodes": episodes,
        "points": points,
        "seeds": seeds,
    }
    measure_rates(asked, setting or [], out, workers, quiet)


@app.command()
def certify(
    directory: Annotated[Path, typer.Argument(help="A run's folder, or a folder of runs.", metavar="DIR")],
    delta: Annotated[float, typer.Option(help="The probability with which the paper's events may fail.")] = 0.1,
    quiet: Quiet = False,
) -> None:
    """Check every inequality of the paper's appendix on a run that kept its trace."""
    from tightrope.cli.certify import certify_folder

    certify_folder(directory, delta, quiet)


@app.command()
def problems(
    name: Annotated[str | None, typer.Argument(help="Show this one in full.", metavar="[NAME]")] = None,
) -> None:
    """List the ready problems, with sizes, budgets and parameters."""
    from tightrope.cli.problems import show_problems

    show_problems(name)


@app.command()
def compare(
    problem: Annotated[str, typer.Option(help="A ready problem; `tightrope problems` lists them.")] = "priced-jobs",
    losses: Annotated[str, typer.Option(help="The kind of losses.")] = "alternating",
    learners: Annotated[
        str, typer.Option(help="Names with commas between; the others are compared with the first.")
    ] = "pdpo,ghosh2022,naive,cfpo,uniform,hindsight",
    episodes: Annotated[int, typer.Option(help="Episodes of each run, K.")] = 20_000,
    seeds: Annotated[int, typer.Option(help="Runs of each learner, paired by their seeds 0, 1, 2, …")] = 5,
    suite: Annotated[str | None, typer.Option(help="A committed suite instead: paper.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for runs, figure and data; by default results/compare.")
    ] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Compare learners on equal terms: the same environment and the same losses for all, seed by seed."""
    from tightrope.cli.compare import compare as compare_learners

    compare_learners(suite, problem, losses, learners, episodes, seeds, out, workers, quiet)


@app.command()
def ablate(
    part: Annotated[str | None, typer.Argument(help="grid, rates or tasks; all without one.", metavar="[PART]")] = None,
    episodes: Annotated[int | None, typer.Option(help="Instead of the committed K; of rates, the longest.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Instead of the committed number.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for runs and figures; by default results/ablate.")] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Try mixing, dual, restarts and step sizes of Algorithm 1 against their alternatives; see docs/questions.md."""
    from tightrope.cli.ablate import ablate as try_rules

    try_rules(part, episodes, seeds, out, workers, quiet)
