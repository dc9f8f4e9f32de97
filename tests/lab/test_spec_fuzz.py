"""Whatever stands in a spec, it is read or refused line by line; nothing else ever comes out."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tightrope.errors import InputError
from tightrope.lab.mistakes import shown
from tightrope.lab.plan import Plan, read_plan
from tightrope.lab.spec_schema import template

NAMES = st.sampled_from(
    ["priced-jobs", "streaming", "random-linear", "drift", "alternating", "pdpo", "practical", "x", ""]
)
NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from(
        [0.5, -0.0, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"), 10**6, 2**53, 2**70, -(2**70)]
    ),
    st.floats(0.01, 10.0),
)
SCALARS = st.one_of(NUMBERS, NAMES, st.booleans(), st.text(max_size=4))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
KNOWN = (
    "alpha eta theta beta_b mixing_period restart budget n_states dim period profile seed name kind preset file delta x"
)
SETTINGS = st.sampled_from(KNOWN.split(" "))
TOP = st.sampled_from(["episodes", "seeds", "record_every", "trace", "sweep", "tune", "nosuch"])
GOOD = {
    "episodes": 50,
    "problem": {"name": "priced-jobs"},
    "losses": {"kind": "alternating"},
    "learner": {"preset": "practical"},
}
SWEPT = st.builds(
    "{}.{}".format, st.sampled_from(["learner", "problem", "losses", "seeds", "nosuch"]), SETTINGS
) | st.sampled_from(["episodes", "trace"])
RANGES = st.fixed_dictionaries({}, optional=dict.fromkeys(("low", "high", "log", "whole", "nosuch"), SCALARS)) | VALUES
SOME_LOSSES = st.lists(st.just({"kind": "drift"}) | VALUES, max_size=2)
RUNS = st.fixed_dictionaries({}, optional={"seeds": VALUES, "losses": SOME_LOSSES})
TUNE = st.fixed_dictionaries(
    {},
    optional={
        "trials": SCALARS,
        "penalty": SCALARS,
        "prune": SCALARS,
        "training": RUNS | VALUES,
        "held_out": RUNS | VALUES,
        "ranges": st.dictionaries(SWEPT, RANGES, max_size=2) | VALUES,
    },
)
TABLE = st.dictionaries(SETTINGS, VALUES, max_size=2)
CHANGES = st.tuples(
    st.dictionaries(TOP, VALUES, max_size=2),
    st.dictionaries(st.sampled_from(["problem", "losses", "learner"]), TABLE | VALUES, max_size=2),
    st.none() | st.dictionaries(SWEPT, st.lists(VALUES, max_size=3) | VALUES, max_size=2),
    st.none() | TUNE,
)


def _read(text: str) -> Plan | InputError:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            return read_plan(path)
        except InputError as error:
            assert error.problems
            for line in error.problems:
                assert line.startswith(str(path)), line
                assert line.isprintable() and len(line) < 1000, line
            return error


def _toml(raw: dict) -> str:
    tops = [f"{_key(k)} = {_value(v)}" for k, v in raw.items() if not isinstance(v, dict)]
    return "\n".join([*tops, *(f"{_key(k)} = {_value(v)}" for k, v in raw.items() if isinstance(v, dict))]) + "\n"


def _key(name: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08x}" for c in name) + '"'


def _value(value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _key(value)
    return shown(value) if isinstance(value, bool) else repr(value)


@settings(derandomize=True, max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHANGES)
def test_tables_of_any_content_are_read_or_refused(changes):
    top, tables, sweep, tune = changes
    raw = {**GOOD, **top}
    for name, table in tables.items():
        raw[name] = {**GOOD[name], **table} if isinstance(table, dict) else table
    raw |= {key: value for key, value in (("sweep", sweep), ("tune", tune)) if value is not None}
    found = _read(_toml(raw))
    if isinstance(found, Plan):
        assert found.specs


LINES = template().splitlines()


@settings(derandomize=True, max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(LINES) - 1),
            st.sampled_from(["drop", "double", "uncomment", "swap", "cut"]),
            st.text(max_size=3),
        ),
        max_size=5,
    )
)
def test_a_template_that_somebody_has_worked_on_is_read_or_refused(edits):
    lines = list(LINES)
    for place, how, text in edits:
        i = place % len(lines)
        if how == "drop":
            lines[i] = ""
        elif how == "double":
            lines.insert(i, lines[i])
        elif how == "uncomment":
            lines[i] = lines[i].removeprefix("# ")
        elif how == "swap":
            lines[i] = lines[i].replace("=", text, 1)
        else:
            lines[i] = lines[i][: len(lines[i]) // 2] + text
    _read("\n".join(lines))


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.binary(max_size=40) | st.text(alphabet="[]{}=\"'\n.,#a1 _", max_size=60).map(str.encode))
def test_bytes_are_no_spec(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.toml"
        path.write_bytes(content)
        try:
            read_plan(path)
        except InputError:
            return
    raise AssertionError(tomllib.loads(content.decode()))
