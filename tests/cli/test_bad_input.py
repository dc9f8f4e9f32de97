"""Bad input: one line for each mistake on standard error, naming file, field and what was expected; exit 2; nothing made."""

from __future__ import annotations

import numpy as np
import pytest

import tightrope as tr

GOOD = """\
episodes = 50
seeds = 2
[problem]
name = "priced-jobs"
[losses]
kind = "alternating"
[learner]
preset = "practical"
"""


def _spec(folder, text):
    path = folder / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


MISTAKES = {
    "an unknown field": ("episodes = 50", "epsiodes = 50", ["spec.toml:1: epsiodes", "'episodes'"], 2),
    "no episodes": ("episodes = 50", "episodes = 0", ["spec.toml:1: episodes: 0", "a whole number from 1 up"], 1),
    "negative seeds": ("seeds = 2", "seeds = -1", ["spec.toml:2: seeds: -1", "from 1 to"], 1),
    "no seeds": ("seeds = 2", "seeds = 0", ["spec.toml:2: seeds: 0", "from 1 to"], 1),
    "a seed twice": ("seeds = 2", "seeds = [3, 4, 3]", ["spec.toml:2: seeds[2]: seed 3 is there twice"], 1),
    "a wrong type": ("episodes = 50", 'episodes = "many"', ['spec.toml:1: episodes: "many"', "whole number"], 1),
    "an unknown problem": ("priced-jobs", "priced-job", ["spec.toml:4: problem.name", "'priced-jobs'"], 1),
    "an unknown parameter": (
        'name = "priced-jobs"',
        'name = "priced-jobs"\nbuget = 7',
        ["spec.toml:5: problem.buget", "'budget'"],
        1,
    ),
    "a NaN budget": ('name = "priced-jobs"', 'name = "priced-jobs"\nbudget = nan', ["spec.toml:5: problem.budget"], 1),
    "a text budget": (
        'name = "priced-jobs"',
        'name = "priced-jobs"\nbudget = "low"',
        ["spec.toml:5: problem.budget"],
        1,
    ),
    "too small a budget": (
        'name = "priced-jobs"',
        'name = "priced-jobs"\nbudget = 2.0',
        ["spec.toml:5: problem.budget", "below the smallest feasible budget 5.5"],
        1,
    ),
    "unknown losses": ("alternating", "alternatin", ["spec.toml:6: losses.kind", "'alternating'"], 1),
    "a loss parameter of another kind": (
        '"alternating"',
        '"alternating"\nperiod = 3',
        ["spec.toml:7: losses.period"],
        1,
    ),
    "a period of zero": ('"alternating"', '"switching"\nperiod = 0', ["spec.toml:7: losses.period: 0"], 1),
    "a negative step": (
        'preset = "practical"',
        'preset = "practical"\nalpha = -1',
        ["spec.toml:9: learner.alpha: -1"],
        1,
    ),
    "a NaN step": ('preset = "practical"', 'preset = "practical"\neta = nan', ["spec.toml:9: learner.eta: nan"], 1),
    "an unknown preset": ("practical", "practicl", ["spec.toml:8: learner.preset", "'practical'"], 1),
    "an unknown setting": ('"practical"', '"practical"\nalhpa = 1', ["spec.toml:9: learner.alhpa", "'alpha'"], 1),
    "an unknown learner": ('preset = "practical"', 'name = "pdp0"', ["spec.toml:8: learner.name", "'pdpo'"], 1),
    "a missing table": ('[losses]\nkind = "alternating"\n', "", ["spec.toml: losses: missing"], 1),
    "not TOML": ("episodes = 50", "episodes == 50", ["spec.toml:1: not TOML", "at column 11"], 1),
    "a sweep of one value, not a list": (
        "[learner]",
        '[sweep]\n"learner.alpha" = 1\n[learner]',
        ['spec.toml:8: sweep."learner.alpha": 1; expected a list'],
        1,
    ),
    "a wrong value in a sweep": (
        "[learner]",
        '[sweep]\n"learner.alpha" = [0.1,\n  -1.0]\n"learner.eta" = [0.1, 0.2]\n[learner]',
        ['spec.toml:9: sweep."learner.alpha"[1]: -1.0, wanted a number from 0 up'],
        1,
    ),
    "a sweep of what there is not": (
        "[learner]",
        "[sweep]\nlearner.alhpa = [0.1, 0.2]\n[learner]",
        ["spec.toml:8: sweep.learner.alhpa[0]", "did you mean 'alpha'?"],
        2,
    ),
    "a value twice in a sweep": (
        "[learner]",
        '[sweep]\n"problem.budget" = [6.0, 7.0, 6.0]\n[learner]',
        ['spec.toml:8: sweep."problem.budget"[2]: 6.0 is there twice'],
        1,
    ),
    "a budget in a sweep that nobody can keep": (
        "[learner]",
        '[sweep]\n"problem.budget" = [7.0, 2.0]\n[learner]',
        ['spec.toml:8: sweep."problem.budget"[1]', "below the smallest feasible budget 5.5"],
        1,
    ),
    "a sweep over seeds": (
        "[learner]",
        "[sweep]\nseeds = [1, 2]\n[learner]",
        ["spec.toml:8: sweep.seeds: seeds are not"],
        1,
    ),
    "a sweep of an unknown table": (
        "[learner]",
        '[sweep]\n"lerner.alpha" = [1]\n[learner]',
        ["spec.toml:8: sweep.", "did you mean 'learner'?"],
        1,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_spec_is_told_in_one_line_that_names_file_field_and_wish(mistake, tightrope, tmp_path):
    old, new, wanted, lines = MISTAKES[mistake]
    assert GOOD.count(old) == 1
    said = tightrope("run", _spec(tmp_path, GOOD.replace(old, new)), "--out", tmp_path / "out", "-q")
    assert said.code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == lines
    for text in wanted:
        assert text in said.err
    assert not (tmp_path / "out").exists()


def test_all_mistakes_of_a_spec_are_told_at_once_in_the_order_of_the_file(tightrope, tmp_path):
    text = (
        GOOD.replace("50", "-5").replace("priced", "pricy").replace('"practical"', '"practical"\nalpha = nan\nbeta = 1')
    )
    said = tightrope("run", _spec(tmp_path, text))
    assert said.code == 2
    fields = [line.split(": ")[1] for line in said.err.splitlines()]
    assert fields == ["episodes", "problem.name", "learner.alpha", "learner.beta"]


def test_a_mistake_in_a_table_hides_none_of_the_others(tightrope, tmp_path):
    text = (
        GOOD.replace('"priced-jobs"', '"priced-jobs"\nbuget = 7\nbudget = nan')
        .replace('"alternating"', '"switching"\nperiod = 0\nperod = 3')
        .replace('"practical"', '"practcal"\nname = "pdp"')
    )
    said = tightrope("run", _spec(tmp_path, text))
    fields = [line.split(": ")[1] for line in said.err.splitlines()]
    wanted = ["problem.buget", "problem.budget", "losses.period", "losses.perod", "learner.preset", "learner.name"]
    assert (said.code, fields) == (2, wanted)


def test_losses_that_depend_on_the_problem_are_not_judged_without_it(tightrope, tmp_path):
    text = GOOD.replace("priced", "pricy").replace('"alternating"', '"fixed"\nprofile = 5')
    said = tightrope("run", _spec(tmp_path, text))
    assert [line.split(": ")[1] for line in said.err.splitlines()] == ["problem.name"]


def test_a_text_in_the_place_of_a_table_is_one_mistake(tightrope, tmp_path):
    text = 'episodes = 50\nproblem = "priced-jobs"\nlosses = 3\n'
    said = tightrope("run", _spec(tmp_path, text))
    assert [line.split(": ")[1] for line in said.err.splitlines()] == ["problem", "losses"]


def test_a_folder_that_is_refused_is_refused_before_the_doctor_speaks(tightrope, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("ten years")
    said = tightrope("run", _spec(tmp_path, GOOD.replace("practical", "theory")), "--out", tmp_path / "out")
    assert (said.code, said.out) == (2, "")
    assert len(said.err.splitlines()) == 1


def test_a_mistake_in_one_field_hides_none_in_another(tightrope, tmp_path):
    text = GOOD.replace('"priced-jobs"', '"priced-jobs"\nbudgt = 3').replace(
        '"alternating"', '"switching"\nperiod = 0\nperod = 4'
    )
    said = tightrope("run", _spec(tmp_path, text.replace('"practical"', '"practical"\nalhpa = 1\neta = -1')))
    assert said.code == 2
    fields = [line.split(": ")[1] for line in said.err.splitlines()]
    assert fields == ["problem.budgt", "losses.period", "losses.perod", "learner.alhpa", "learner.eta"]


def test_without_a_problem_learner_and_losses_are_told_only_what_is_wrong_with_them(tightrope, tmp_path):
    text = GOOD.replace("priced-jobs", "pricy").replace('"alternating"', '"fixed"\nprofile = 7')
    said = tightrope("run", _spec(tmp_path, text.replace('preset = "practical"', 'name = "dope"')))
    assert said.code == 2
    fields = [line.split(": ")[1] for line in said.err.splitlines()]
    assert fields == ["problem.name"]


def test_a_missing_spec_is_named(tightrope, tmp_path):
    said = tightrope("run", tmp_path / "none.toml")
    assert (said.code, said.err) == (2, f"{tmp_path / 'none.toml'}: no such file; expected a spec in TOML\n")


def test_a_folder_or_bytes_instead_of_a_spec_are_refused(tightrope, tmp_path):
    assert tightrope("run", tmp_path).code == 2
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    said = tightrope("run", tmp_path / "x.toml")
    assert said.code == 2
    assert "UTF-8" in said.err


def test_a_problem_file_is_read_from_beside_the_spec_and_its_faults_are_told(tightrope, tmp_path):
    text = GOOD.replace('name = "priced-jobs"', 'file = "mine.npz"')
    said = tightrope("run", _spec(tmp_path, text))
    assert said.code == 2
    assert "spec.toml:4: problem.file" in said.err
    assert "mine.npz: no such file" in said.err
    tr.problems.make("streaming").save(tmp_path / "mine.npz")
    assert tightrope("run", _spec(tmp_path, text), "--out", tmp_path / "out", "-q").code == 0
    with np.load(tmp_path / "mine.npz") as arrays:
        spoilt = dict(arrays) | {"budgets": np.array([np.nan])}
    np.savez(tmp_path / "mine.npz", **spoilt)  # pyright: ignore[reportArgumentType]
    said = tightrope("run", _spec(tmp_path, text))
    assert said.code == 2
    assert "budgets: contains NaN" in said.err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["reproduce", "figure1", "--episodes", "0"], "--episodes: 0, wanted a whole number from 1 up"),
        (["reproduce", "figure1", "--seeds", "-2"], "--seeds: -2, wanted a whole number from 1 up"),
        (["reproduce", "figure1", "--episodes", "many"], "--episodes"),
        (["reproduce", "figure2"], "did you mean 'figure1'?"),
        (["reproduce"], "EXPERIMENT"),
        (["rum"], "rum"),
        (["run", "--nosuch"], "--nosuch"),
        (["problems", "streamin"], "NAME: unknown problem 'streamin'; did you mean 'streaming'?"),
        (["problems", "cartpole"], "did you mean 'cart-pole'?"),
    ],
)
def test_wrong_words_on_the_command_line_are_told_in_one_line(arguments, wanted, tightrope):
    said = tightrope(*arguments)
    assert said.code == 2
    assert wanted in said.err
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


TOGETHER = {
    "compare --learners pdpo,pdpoo --losses driff --episodes 0 --seeds 0 --workers 0": (
        ["--episodes: 0", "--seeds: 0", "--workers: 0", "--losses: unknown 'driff'", "learners: unknown 'pdpoo'"]
    ),
    "compare --suite papr --episodes 0": ["--episodes: 0", "--suite: unknown 'papr'"],
    "compare --learners , --problem streamin": ["--learners: none given", "problem: unknown 'streamin'"],
    "rates --problem streamin --points 1 --seeds 0 --episodes 9..2 --set alpha=1 --set learner.eta=x --preset no": [
        *("--points: 1", "--seeds: 0", "--episodes: '9..2'", "--set: 'alpha=1'", "--set: 'learner.eta=x'"),
        *("rates: problem.name: unknown", "rates: learner.preset: unknown"),
    ],
    "ablate rate --episodes 0 --seeds 0 --workers 0": (
        ["PART: unknown 'rate'; did you mean 'rates'?", "--seeds: 0", "--workers: 0", "--episodes: 0"]
    ),
    "ablate --episodes 5 --workers 0": ["--workers: 0", "--episodes: 5, wanted at least"],
    "reproduce figure2 --episodes 0": ["EXPERIMENT: unknown 'figure2'", "--episodes: 0"],
    "report nowhere --out .": ["--out: . is a folder", "nowhere: not a folder"],
    "report nowhere --serve --out x.html --port 70000": ["--out: not together with --serve", "--port: 70000"],
    "figure curve nowhere --interval z": ["KIND: unknown 'curve'", "--interval: unknown 'z'", "nowhere: not a folder"],
    "runs nowhere --format xml": ["--format: unknown 'xml'", "nowhere: no such folder"],
    "tune nowhere.toml --workers 0": ["--workers: 0", "nowhere.toml: no such file"],
    "run nowhere.toml --engine rai": ["--engine: unknown 'rai'", "nowhere.toml: no such file"],
}


@pytest.mark.parametrize("line", TOGETHER)
def test_all_mistakes_of_a_command_line_are_told_at_once(line, tightrope, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = tightrope(*line.split())
    lines = said.err.splitlines()
    assert (said.code, said.out, len(lines)) == (2, "", len(TOGETHER[line])), said.err
    assert [given for given, wanted in zip(lines, TOGETHER[line]) if not given.startswith(wanted)] == []
    assert not any(tmp_path.iterdir())


def test_a_folder_that_holds_other_things_is_refused_and_left_alone(tightrope, tmp_path):
    (tmp_path / "thesis.tex").write_text("ten years")
    said = tightrope("reproduce", "figure1", "--episodes", 10, "--seeds", 1, "--out", tmp_path)
    assert said.code == 2
    assert said.err.startswith(f"{tmp_path}: holds 'thesis.tex'")
    assert len(said.err.splitlines()) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_place_of_the_folder_is_refused(tightrope, tmp_path):
    (tmp_path / "out").write_text("mine")
    said = tightrope("reproduce", "figure1", "--episodes", 10, "--seeds", 1, "--out", tmp_path / "out")
    assert said.code == 2
    assert (tmp_path / "out").read_text() == "mine"
    said = tightrope("reproduce", "figure1", "--episodes", 10, "--seeds", 1, "--out", tmp_path / "out" / "deeper")
    assert said.code == 2


def test_a_damaged_run_is_named_set_aside_and_made_again(tightrope, tmp_path):
    spec = _spec(tmp_path, GOOD)
    assert tightrope("run", spec, "--out", tmp_path / "out", "-q").code == 0
    victim = sorted((tmp_path / "out").glob("*/curves.parquet"))[0]
    sound = victim.read_bytes()
    spoilt = bytearray(sound)
    spoilt[len(spoilt) // 2] ^= 1
    victim.write_bytes(spoilt)
    said = tightrope("run", spec, "--out", tmp_path / "out", "-q")
    assert said.code == 0
    assert f"{victim}: damaged" in said.err
    assert "set aside in" in said.err
    assert victim.read_bytes() == sound
    aside = tmp_path / "out" / ".lab" / "damaged" / "1" / victim.parent.name / "curves.parquet"
    assert aside.read_bytes() == bytes(spoilt)
