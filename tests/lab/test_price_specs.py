"""A spec can name a file of hourly prices as its losses; what is wrong with the file is told by file, row and field."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tightrope as tr
from tightrope.cli.main import _run
from tightrope.errors import InputError
from tightrope.lab.spec_checks import read_spec
from tightrope.lab.spec_schema import schema

SPEC = 'episodes = {K}\nseeds = 1\n[problem]\nname = "{problem}"\n[losses]\nkind = "prices"\n'


def _spec(folder: Path, *lines: str, K: int = 20, problem: str = "nightly-batch") -> Path:
    path = folder / "nights.toml"
    path.write_text(SPEC.format(K=K, problem=problem) + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    tr.losses.write_prices(tr.losses.synthetic_prices(30, seed=3), tmp_path / "prices.csv")
    return tmp_path


def test_a_spec_with_prices_gives_the_losses_that_python_gives(folder):
    spec = read_spec(_spec(folder, 'file = "prices.csv"', "start = 21", 'scale = "quantile"'))
    made = tr.losses.prices(folder / "prices.csv", spec.cmdp, start=21, scale="quantile", episodes=20)
    found = spec.losses(0)
    assert isinstance(found, tr.losses.PriceLosses)
    np.testing.assert_array_equal(found.profiles, made.profiles)
    np.testing.assert_array_equal(found.sequence, made.sequence)


def test_a_run_of_prices_is_made_and_found_again(folder, capsys):
    words = ["run", str(_spec(folder, 'file = "prices.csv"')), "--out", str(folder / "runs"), "-q"]
    assert _run(words) == 0
    assert _run(words) == 0
    assert "1 of them made before" in capsys.readouterr().out


def test_other_prices_are_another_run_and_another_name_for_the_file_is_not_other_prices(folder):
    path = _spec(folder, 'file = "prices.csv"')
    first = read_spec(path)
    again = tr.losses.read_prices(folder / "prices.csv")
    tr.losses.write_prices(again, folder / "copy.csv")
    assert read_spec(_spec(folder, 'file = "copy.csv"')).prices.digest == again.digest
    (folder / "prices.csv").unlink()
    tr.losses.write_prices(tr.losses.synthetic_prices(30, seed=4), folder / "prices.csv")
    assert read_spec(path).key(0) != first.key(0)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), "nights.toml:5: losses.file: missing; expected the path of a CSV file"),
        (("file = 3", "zone = 5"), "nights.toml:8: losses.zone: 5; expected text"),
        (('file = "none.csv"',), "none.csv: no such file"),
        (('file = "bad.csv"',), "bad.csv: row 8: price 'dear'; wanted a number"),
        (('file = "prices.csv"', "start = 31"), "nights.toml:8: losses.start: 31, wanted an hour of the day"),
        (('file = "prices.csv"', 'scale = "mean"'), "nights.toml:8: losses.scale: 'mean', wanted 'median'"),
        (('file = "prices.csv"', 'action = "run"'), "nights.toml:8: losses.action: 'run', wanted one of"),
        (
            ('file = "prices.csv"', 'prize = "USD"'),
            "nights.toml:8: losses.prize: losses 'prices' has no such parameter",
        ),
        (('file = "prices.csv"', 'price = "USD"'), "prices.csv: row 1: no column 'USD'"),
        (('file = "prices.csv"', 'zone = "Mars"'), "nights.toml:8: losses.zone: unknown 'Mars'"),
    ],
)
def test_bad_prices_are_told_by_file_row_and_field(folder, lines, said):
    rows = (folder / "prices.csv").read_text(encoding="utf-8").splitlines()
    rows[7] = rows[7].rsplit(",", 1)[0] + ",dear"
    (folder / "bad.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_spec(_spec(folder, *lines))
    assert any(said in line for line in error.value.problems), error.value.problems


def test_more_episodes_than_nights_and_dense_features_are_told(folder):
    with pytest.raises(InputError, match=r"episodes: 500, but prices\.csv has 29 nights"):
        read_spec(_spec(folder, 'file = "prices.csv"', K=500))
    with pytest.raises(InputError, match="prices want one-hot features"):
        read_spec(_spec(folder, 'file = "prices.csv"', problem="random-linear"))


def test_the_schema_knows_prices():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    judge = jsonschema.Draft202012Validator(schema())
    raw = {"episodes": 5, "problem": {"name": "nightly-batch"}, "losses": {"kind": "prices", "file": "p.csv"}}
    assert not list(judge.iter_errors(raw))
    for wrong in ({"kind": "prices"}, {"kind": "prices", "file": "p.csv", "start": 24}, {"kind": "prices", "file": 3}):
        assert list(judge.iter_errors(raw | {"losses": wrong})), wrong
