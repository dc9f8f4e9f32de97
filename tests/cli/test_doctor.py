"""`tightrope doctor`: the report, the exit codes, the JSON."""

from __future__ import annotations

import json

SPEC = """\
episodes = 100_000
[problem]
name = "job-scheduling"
[losses]
kind = "drift"
[learner]
preset = "{preset}"
"""


def _spec(folder, preset):
    path = folder / f"{preset}.toml"
    path.write_text(SPEC.format(preset=preset))
    return path


def test_the_report_is_readable_and_strict_leaves_with_3(tightrope, tmp_path):
    said = tightrope("doctor", _spec(tmp_path, "experiment"))
    assert said.code == 0
    text = " ".join(said.out.split())
    for words in ("dual-inert", "budget-effective", "316th visit", "mixing-idle", "remedy", "gives up"):
        assert words in text
    assert tightrope("doctor", _spec(tmp_path, "experiment"), "--strict").code == 3
    assert "policy-frozen" in tightrope("doctor", _spec(tmp_path, "theory")).out


def test_settings_that_work_pass_also_when_strict(tightrope, tmp_path):
    said = tightrope("doctor", _spec(tmp_path, "practical"), "--strict")
    assert said.code == 0
    assert "These settings can work here." in said.out


def test_json_is_a_list_of_findings(tightrope, tmp_path):
    found = json.loads(tightrope("doctor", _spec(tmp_path, "experiment"), "--json").out)
    assert {"id", "severity", "text", "number", "remedy"} <= set(found[0])
    assert found[0]["id"] == "dual-inert"


def test_every_setting_of_a_sweep_is_judged(tightrope, tmp_path):
    path = _spec(tmp_path, "practical")
    path.write_text(path.read_text() + '[sweep]\n"learner.eta" = [0.0, 0.02]\n')
    said = tightrope("doctor", path, "--strict")
    assert said.code == 3
    assert said.out.count("These settings") == 2
    found = json.loads(tightrope("doctor", path, "--json").out)
    assert {entry["setting"] for entry in found if entry["severity"] == "error"} == {"learner.eta = 0.0"}


def test_a_spec_that_is_not_there_is_told_as_elsewhere(tightrope, tmp_path):
    said = tightrope("doctor", tmp_path / "nosuch.toml")
    assert said.code == 2
    assert "no such file" in said.err


def test_of_a_learner_that_is_not_judged_nothing_is_promised(tightrope, tmp_path):
    path = _spec(tmp_path, "practical")
    path.write_text(path.read_text().replace('preset = "practical"', 'name = "ghosh2022"'))
    said = tightrope("doctor", path)
    assert said.code == 0
    assert "The problem alone was judged." in said.out and "can work" not in said.out
