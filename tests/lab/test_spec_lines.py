"""Fields of a TOML file are found on the lines where they stand."""

from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from tightrope.lab.spec_checks import read_toml
from tightrope.lab.toml_lines import key_lines


def test_tables_keys_and_elements_have_their_lines():
    text = 'a = 1\n\n[table]  # note\n  x = [1,\n   2, # two\n   3]\n"odd key".z = "s"\n'
    assert key_lines(text) == {
        ("a",): 1,
        ("table",): 3,
        ("table", "x"): 4,
        ("table", "x", 0): 4,
        ("table", "x", 1): 5,
        ("table", "x", 2): 6,
        ("table", "odd key"): 7,
        ("table", "odd key", "z"): 7,
    }


def test_signs_inside_strings_and_comments_are_not_structure():
    text = (
        'a = "# [no] = \'" # [b] c = 1\n'
        "b = '''\nx = 1\n[y]'' '''\n"
        'c = """\n\\"""d = 2\n"""""\n'
        "d = 'C:\\'\n"
        "e = 1979-05-27 07:32:00\n"
        "[f]\n"
    )
    tomllib.loads(text)
    assert key_lines(text) == {("a",): 1, ("b",): 2, ("c",): 5, ("d",): 8, ("e",): 9, ("f",): 10}


def test_inline_tables_and_windows_line_ends_are_followed():
    text = "p = { name = 'x', deep = { y = [ { z = 1 } ] } }\r\n\r\nq.r = 2\r\n"
    assert key_lines(text) == {
        ("p",): 1,
        ("p", "name"): 1,
        ("p", "deep"): 1,
        ("p", "deep", "y"): 1,
        ("p", "deep", "y", 0): 1,
        ("p", "deep", "y", 0, "z"): 1,
        ("q",): 3,
        ("q", "r"): 3,
    }


def test_each_element_of_an_array_of_tables_has_its_own_line():
    text = "[[a.b]]\nx = 1\n[[a.b]]\nx = 2\n[a.b.c]\ny = 3\n"
    lines = key_lines(text)
    assert lines["a", "b", 0, "x"] == 2
    assert lines["a", "b", 1, "x"] == 4
    assert lines["a", "b", 1, "c", "y"] == 6


_names = st.sampled_from(["a", "b", "'q'", '"w x"', "a.b", '"=".c'])
_values = st.recursive(
    st.sampled_from(["1", "-2.5", "nan", "true", '"s"', "'[#'", '"""\n]"""', "1979-05-27", '"\\""']),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda v: f"[ {', '.join(v)} ]"),
        st.lists(inner, max_size=3).map(lambda v: "[\n" + "".join(f" {x}, # , ]\n" for x in v) + "]"),
        st.dictionaries(st.sampled_from(["a", "b.c", "'d'"]), inner, max_size=3).map(
            lambda d: "{ " + ", ".join(f"{k} = {v}" for k, v in d.items()) + " }"
        ),
    ),
    max_leaves=6,
)
_rows = st.one_of(
    st.tuples(_names, _values).map(lambda kv: f"{kv[0]} = {kv[1]}"),
    _names.map(lambda name: f"[t.{name}] # ]"),
    _names.map(lambda name: f"[[u.{name}]]"),
    st.just("# nothing = 1"),
)


def _paths(value, path=()):
    """Every field of a parsed document."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield from _paths(below, (*path, key))


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(_rows, max_size=8))
def test_every_field_that_toml_reads_has_a_line_and_no_other_has(rows):
    text = "\n".join(rows)
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert set(lines) == set(_paths(read))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def test_a_spec_that_an_editor_began_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('episodes = 5\n[problem]\nname = "streaming"\n', encoding="utf-8-sig")
    raw, lines, text = read_toml(path)
    assert raw["episodes"] == 5 and lines["problem", "name"] == 3 and text.startswith("episodes")
