"""Figures show the numbers of their frames, look as they did, and leave data and a table beside them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tightrope as tr
from tightrope.cli.main import _run
from tightrope.lab.summary import band
from tightrope.run_files import load_run
from tightrope.show import bands, figures, style
from tightrope.show.figures.rates import fitted
from tightrope.show.frames import rates
from tightrope.show.reading import read_folder
from tightrope.show.tables import latex

GOLDEN = Path(__file__).parent / "golden"
CLOSE = 2.0  # root of the mean squared difference of pixels, of 255, that other versions of fonts may cause


def curves_frame() -> pl.DataFrame:
    """Two groups of four seeds, from formulas."""
    parts = []
    for g, group in enumerate(("first", "second")):
        for seed in range(4):
            k = np.arange(10, 1001, 10)
            wave = np.sin(k / 60.0 + seed) * (3 + seed)
            columns = {"episode": k, "regret": 4 * np.sqrt(k) * (1 + g) + wave, "violation": 60 - k / (9 + g) + wave}
            columns |= {"dual": 0.6 * (1 - np.exp(-k / 300)) + 0.02 * wave}
            parts.append(pl.DataFrame({"group": group, "run": f"{group}{seed}", "seed": seed} | columns))
    return pl.concat(parts)


def heat_frame() -> pl.DataFrame:
    rows = [
        {"policy": "last", "action": a, "step": h + 1, "state": s, "probability": (1 + a * (h + s)) / (20 if a else 2)}
        for a in range(2)
        for h in range(5)
        for s in range(6)
    ]
    return pl.DataFrame(rows)


def decomposition_frame() -> pl.DataFrame:
    k = np.arange(1, 201)
    terms = {"(I)": np.sqrt(k), "(II)": 5 * np.sin(k / 30), "(III)": -0.03 * k}
    return pl.concat([pl.DataFrame({"whole": "regret", "term": t, "episode": k, "value": v}) for t, v in terms.items()])


def forest_frame() -> pl.DataFrame:
    rows = [
        ("naive", "regret", 1.0, 0.5, 1.5),
        ("cfpo", "regret", 0.1, -0.2, 0.4),
        ("naive", "violation", -1.0, -1.5, -0.5),
    ]
    return pl.DataFrame(rows, ["group", "measure", "mean", "low", "high"], orient="row")


def rates_frame() -> pl.DataFrame:
    K = np.repeat([1000, 3000, 10_000], 2)
    value = 2.0 * K**0.6 * np.tile([1.1, 1 / 1.1], 3)
    return pl.DataFrame({"group": "pdpo", "measure": "regret", "episodes": K, "value": value})


DRAWN = {
    "curves": lambda: figures.draw_curves(curves_frame()),
    "duals": lambda: figures.draw_duals(
        curves_frame(), pl.DataFrame({"group": ["first"], "constraint": [0], "multiplier": [0.55]})
    ),
    "decomposition": lambda: figures.draw_decomposition(decomposition_frame()),
    "forest": lambda: figures.draw_forest(forest_frame(), "pdpo"),
    "occupancy": lambda: figures.draw_occupancy(heat_frame().filter(pl.col("action") == 0)),
    "policy": lambda: figures.draw_policy(heat_frame()),
    "rates": lambda: figures.draw_rates(rates_frame(), 0.75, 0.5),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_looks_as_it_did(name, tmp_path):
    """Golden images, looked at by people when they were made; to make them again: delete them and run this test."""
    from matplotlib import rc_context
    from matplotlib.testing.compare import compare_images

    figure = DRAWN[name]()
    figure.savefig(tmp_path / f"{name}.png", dpi=100)
    golden = GOLDEN / f"{name}.png"
    if not golden.exists():
        golden.write_bytes((tmp_path / f"{name}.png").read_bytes())
        pytest.fail(f"{golden} was not there and has been made: look at it, and run again")
    with rc_context():
        found = compare_images(str(golden), str(tmp_path / f"{name}.png"), tol=CLOSE, in_decorator=True)
    assert found is None


def test_lines_and_bands_are_means_and_intervals():
    frame = curves_frame()
    figure = figures.draw_curves(frame)
    own = frame.filter(pl.col("group") == "second")
    values = own.pivot(on="run", index="episode", values="regret").drop("episode").to_numpy().T
    expected = band(values)
    line = next(line for line in figure.axes[0].lines if line.get_label() == "second")
    assert np.allclose(np.asarray(line.get_ydata()), expected.mean)
    edge = np.asarray(figure.axes[0].collections[1].get_paths()[0].vertices)
    assert np.isclose(edge[:, 1].max(), (expected.mean + expected.half).max())


def test_bootstrap_bands_are_near_those_of_student_where_seeds_are_many():
    values = np.random.default_rng(0).normal(size=(200, 3))
    student, bootstrap = bands.interval_of(values, "t"), bands.interval_of(values, "bootstrap")
    assert np.allclose(student[1], bootstrap[1])
    assert np.allclose(student[2] - student[0], bootstrap[2] - bootstrap[0], rtol=0.12)


def test_fitted_slopes_are_those_of_a_power_law():
    K = np.array([1e3, 1e4, 1e5])
    assert fitted(K, 3 * K**0.55) == pytest.approx((0.55, np.log(3)))
    assert fitted(K[:1], K[:1]) is None


def test_values_that_have_no_logarithm_are_counted_not_hidden():
    frame = rates_frame().with_columns(pl.when(pl.col("episodes") == 1000).then(-1.0).otherwise("value").alias("value"))
    figure = figures.draw_rates(frame)
    assert "2 of 6 values are not positive" in " ".join(figure._supxlabel.get_text().split())  # pyright: ignore


def test_groups_with_the_same_multiplier_share_a_line_that_names_them():
    def drawn(*values: float) -> list[str]:
        rows = {"group": ["first", "second", "third"], "constraint": [0] * 3, "multiplier": values}
        frame = pl.concat(
            [curves_frame(), curves_frame().filter(pl.col("group") == "first").with_columns(group=pl.lit("third"))]
        )
        (axes,) = figures.draw_duals(frame, pl.DataFrame(rows)).axes
        dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
        assert len(dotted) == len({str(line.get_color()) for line in dotted})
        return [str(line.get_label()) for line in dotted]

    assert drawn(0.5, 0.5, 0.5) == ["λ* of all 3"]
    assert drawn(0.5, 0.5000001, 0.4) == ["λ* of first and second", "λ* of third"]
    assert drawn(0.5, 0.3, 0.4) == ["λ* of first", "λ* of second", "λ* of third"]
    assert drawn(0.0, 0.0, 0.0) == ["λ* of all 3"]


@pytest.mark.parametrize("kind", ["policy", "occupancy"])
def test_steps_count_from_1_as_in_the_paper(kind, one, tmp_path):
    assert _run(["figure", kind, str(one), "--out", str(tmp_path)]) == 0
    horizon = load_run(one).cmdp.horizon
    assert pl.read_csv(tmp_path / f"figure-{kind}.csv")["step"].unique().sort().to_list() == [*range(1, horizon + 1)]
    axes = DRAWN[kind]().axes[0]
    assert axes.get_xlim() == (0.5, 5.5)


def test_small_print_stays_within_the_figure():
    figure = DRAWN["duals"]()
    figure.canvas.draw()
    box = figure._supxlabel.get_window_extent()  # pyright: ignore
    assert box.x0 > 0.02 * figure.bbox.width and box.x1 < 0.98 * figure.bbox.width


def labels(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_slopes_that_are_known_are_drawn_with_their_intervals_and_no_lower_bound_is_drawn_for_violation():
    frame = pl.concat([rates_frame(), rates_frame().with_columns(measure=pl.lit("violation"))])
    known = {"regret": (0.5, 0.125), "violation": (-0.25, None)}
    regret, violation = figures.draw_rates(frame, 0.75, 0.5, found=known).axes
    assert labels(regret) == ["pdpo: slope 0.50 ± 0.12", "declared: slope 0.75", "lower bound: slope 0.5"]
    assert labels(violation) == ["pdpo: slope -0.25", "declared: slope 0.75"]
    ends = regret.lines[1].get_xdata(), regret.lines[1].get_ydata()
    line = fitted(*map(np.asarray, ends))
    assert line is not None and line[0] == pytest.approx(0.5)


def test_numbers_of_episodes_within_a_decade_do_not_write_over_each_other():
    frame = rates_frame().with_columns(pl.col("episodes").replace({1000: 1100, 10_000: 9000}))
    figure = figures.draw_rates(frame)
    (axes,) = figure.axes
    figure.canvas.draw()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1,100", "3,000", "9,000"]
    boxes = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    assert not any(text.get_text() for text in axes.get_xticklabels(minor=True))


def test_latex_shows_names_as_they_are():
    text = latex(pl.DataFrame({"group": ["50% of_a {b} \\c"], "value": [12_345.6], "seeds": [3]}), "A & B")
    assert r"50\% of\_a \{b\} \textbackslash{}c & $12\,346$ & 3 \\" in text
    assert r"\caption{A \& B}" in text


@pytest.mark.parametrize("kind", ["curves", "duals", "forest", "occupancy", "policy"])
def test_a_command_leaves_figure_data_and_table(kind, sweep, tmp_path, capsys):
    assert _run(["figure", kind, str(sweep), "--out", str(tmp_path)]) == 0
    for ending in ("png", "pdf", "csv", "tex"):
        assert (tmp_path / f"figure-{kind}.{ending}").stat().st_size > 100
        assert f"figure-{kind}.{ending}" in capsys.readouterr().out or ending != "png"


def test_the_decomposition_of_a_traced_run_is_drawn(one, sweep, tmp_path, capsys):
    assert _run(["figure", "decomposition", str(one), "--out", str(tmp_path)]) == 0
    data = pl.read_csv(tmp_path / "figure-decomposition.csv")
    last = data.filter((pl.col("whole") == "regret") & (pl.col("episode") == data["episode"].max()))
    assert np.isclose(last["value"].to_numpy().sum(), load_run(one).regret[-1], atol=1e-6)
    capsys.readouterr()
    assert _run(["figure", "decomposition", str(sweep), "--out", str(tmp_path)]) == 2
    assert "has no trace" in capsys.readouterr().err


def test_figures_of_rewards_and_utilities_are_in_their_units(tmp_path):
    random = np.random.default_rng(2)
    chances, rewards = random.dirichlet(np.ones(3), size=(3, 2)), random.uniform(-300, 700, (1, 4, 3, 2))
    cmdp = tr.LinearCMDP.from_tables(chances, rewards=rewards, utilities=rewards[0] / 50, limits=[8.0])
    run = tr.simulate(cmdp, tr.losses.make("fixed", cmdp, 200), tr.PDPO.practical(cmdp, 200), 200, trace=True)
    run.save(tmp_path / "run")
    assert _run(["figure", "policy", str(tmp_path / "run"), "--out", str(tmp_path)]) == 0
    table = (tmp_path / "figure-policy.tex").read_text()
    best = run.best_policy()
    assert best.value is not None and best.costs is not None
    assert "policy & reward & least utility" in table
    its = latex(pl.DataFrame({"": ["best in hindsight"], "r": [best.value], "u": [float(best.costs[0])]}), "")
    assert next(line for line in its.splitlines() if "hindsight" in line) in table
    assert _run(["figure", "decomposition", str(tmp_path / "run"), "--out", str(tmp_path)]) == 0
    data = pl.read_csv(tmp_path / "figure-decomposition.csv").filter(pl.col("episode") == 200)
    for whole, total in (("regret", run.regret[-1]), ("violation", run.violation[-1, 0])):
        assert np.isclose(data.filter(pl.col("whole") == whole)["value"].to_numpy().sum(), total, atol=1e-6)


def test_the_csv_has_the_numbers_of_the_runs(sweep, tmp_path):
    assert _run(["figure", "curves", str(sweep), "--out", str(tmp_path)]) == 0
    data = pl.read_csv(tmp_path / "figure-curves.csv")
    runs = [load_run(kept.folder) for kept in read_folder(sweep).of("eta 0.3")]
    own = data.filter((pl.col("group") == "eta 0.3") & (pl.col("curve") == "regret"))
    assert np.allclose(own["mean"].to_numpy(), np.mean([run.regret for run in runs], axis=0))
    assert own["seeds"].unique().to_list() == [3]


def test_a_tick_is_a_plain_number():
    ticks = [style.short_number(x) for x in (0.05, 12.5, -3000.0, 10_000.0, 1e6)]
    assert ticks == ["0.05", "12.5", "\N{MINUS SIGN}3,000", "10,000", "1,000,000"]


def test_settings_that_a_preset_makes_from_the_number_of_episodes_split_no_series(tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'seeds = 2\nepisodes = 50\n[problem]\nname = "streaming"\n[losses]\nkind = "drift"\n'
        '[sweep]\nepisodes = [100, 200, 400]\n"learner.beta_b" = [0.02, 0.1]\n'
    )
    assert _run(["run", str(spec), "--out", str(tmp_path / "runs"), "-q"]) == 0
    frame = rates(read_folder(tmp_path / "runs"))
    assert frame["group"].unique().sort().to_list() == ["beta_b 0.02", "beta_b 0.1"]
    assert frame.group_by("group", "measure", "episodes").len()["len"].unique().to_list() == [2]
    assert _run(["figure", "rates", str(tmp_path / "runs")]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["curve"], "KIND: unknown 'curve'; did you mean 'curves'?"),
        (["rates"], "a slope over the number of episodes needs runs of at least two lengths"),
        (["policy", "--run", "zzz"], "--run: 'zzz': no such run"),
        (["forest", "--against", "zzz"], "--against: no runs called 'zzz'"),
        (["curves", "--run", "zz"], "--run: not an option of 'curves'; expected with decomposition or"),
        (["forest", "--run", "run-0"], "--run: not an option of 'forest'"),
        (["duals", "--against", "pdpo"], "--against: not an option of 'duals'; expected with forest alone"),
        (["policy", "--interval", "bootstrap"], "--interval: not an option of 'policy'; expected with curves or duals"),
        (["curves", "--interval", "u"], "--interval: unknown 'u'"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_line(arguments, said, sweep, capsys):
    assert _run(["figure", arguments[0], str(sweep), *arguments[1:]]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
