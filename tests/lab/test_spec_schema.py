"""The printed template runs, and the schema accepts what the checks accept."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tightrope.cli.main import _run
from tightrope.errors import InputError
from tightrope.lab.mistakes import Mistakes
from tightrope.lab.plan import check_plan
from tightrope.lab.spec_schema import schema, template


def _whole() -> str:
    """The template with every commented table at work."""
    head, marker, rest = template().partition("# [sweep]")
    settings = re.compile(r'^# (\[|"|\w+ = )')
    lines = [line[2:] if settings.match(line) else line for line in (marker + rest).splitlines()]
    return head + "\n".join(lines)


@pytest.mark.parametrize("text", [template(), _whole()], ids=["as it stands", "with everything"])
def test_the_template_is_a_spec(text):
    plan = check_plan(tomllib.loads(text), "t", Mistakes("t"), Path())
    assert len(plan.specs) == (4 if "\n[sweep]" in text else 1)
    assert (plan.tune is not None) == ("\n[tune]" in text)


def test_the_schema_accepts_the_template_and_refuses_what_the_checks_refuse():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(schema())
    judge = jsonschema.Draft202012Validator(schema())
    for text in (template(), _whole()):
        assert not list(judge.iter_errors(tomllib.loads(text)))
    good = tomllib.loads(template())
    for change in (
        {"epsiodes": 3},
        {"episodes": 0},
        {"seeds": []},
        {"problem": {"name": "nosuch"}},
        {"problem": {"name": "priced-jobs", "buget": 1.0}},
        {"losses": {"kind": "drift", "period": 3}},
        {"learner": {"alhpa": 1}},
        {"sweep": {"learner.alpha": []}},
        {"tune": {"trials": 3}},
    ):
        raw = good | change
        assert list(judge.iter_errors(raw)), change
        with pytest.raises(InputError):
            check_plan(raw, "t", Mistakes("t"), Path())


def test_the_command_prints_both(capsys):
    assert _run(["spec"]) == 0
    assert capsys.readouterr().out == template()
    assert _run(["spec", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


TUNE_MISTAKES = {
    "trials = 0": ["tune.trials: 0, wanted a whole number from 1 up"],
    "held_out.seeds = [1]": ["tune.held_out: has losses and seeds that are in training too"],
    "training.losses = [{ kind = 'drft' }]": ["tune.training.losses[0].kind: unknown", "'drift'"],
    "ranges.learner.alpha = { low = 1.0, high = 0.1 }": ["expected high above low"],
    "ranges.learner.alpha = { low = 0.0, high = 0.1, log = true }": ["expected low above 0"],
    "ranges.learner.alpha = { low = -1.0, high = 0.1 }": ["tune.ranges.learner.alpha.low: -1.0, wanted"],
    "ranges.learner.alhpa = [0.1, 0.2]": ["tune.ranges.learner.alhpa[0]", "'alpha'"],
    "ranges.learner.restart = ['paper', 'wrm']": ["tune.ranges.learner.restart[1]", "'warm'"],
    "ranges.problem.budget = [6.0, 7.0]": ["not a setting of the learner"],
    "rangs = 1": ["tune.rangs: unknown field; did you mean 'ranges'?"],
}


@pytest.mark.parametrize("line", TUNE_MISTAKES)
def test_a_mistake_in_tune_is_told_at_its_line(line, tmp_path, capsys):
    path = tmp_path / "spec.toml"
    keys = ("training.seeds = 3", "held_out.seeds = 2", "ranges.learner.eta = { low = 0.1, high = 0.2 }")
    own = line.partition(" = ")[0]
    lines = ["episodes = 50", "[problem]", 'name = "priced-jobs"', "[losses]", 'kind = "drift"', "[tune]", line]
    path.write_text("\n".join([*lines, *(key for key in keys if not key.startswith(own))]) + "\n")
    assert _run(["tune", str(path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert all(any(text in told for told in said) for text in TUNE_MISTAKES[line]), said
    assert any(told.startswith((f"{path}:7: ", f"{path}:8: ", f"{path}:9: ")) for told in said)
    assert not (tmp_path / "out").exists()
