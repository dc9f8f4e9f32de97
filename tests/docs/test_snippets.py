"""Every snippet of every page runs, and prints what the page says it prints.

A page is read from top to bottom in an empty folder: files with a title are written, Python and commands are executed in one
session, and the `text` block after a Python block, or the lines after a `$` line, is what was printed. `...` stands for
whatever differs, as in doctests. To write the outputs anew: TIGHTROPE_WRITE_DOCS=1.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tightrope.cli.main import _run

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
FENCE = re.compile(
    r"^```(?P<kind>[\w-]*)(?: +title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
SLOW = "<!-- slow -->"  # on a line of its own: the page's snippets take long


@dataclass
class Block:
    kind: str
    title: str | None
    body: str
    span: tuple[int, int]  # of the body in the page


def blocks(text: str) -> list[Block]:
    return [Block(m["kind"], m["title"], m["body"], m.span("body")) for m in FENCE.finditer(text)]


def same(shown: str, printed: str) -> bool:
    """Whether a page's text is what was printed; `...` stands for anything."""
    if shown == "...\n":
        return True
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


class Session:
    """Runs a page's blocks, and collects what the page should say instead of what it says."""

    def __init__(self) -> None:
        self.names: dict = {"__name__": "__main__"}
        self.wrong: list[str] = []
        self.changes: list[tuple[tuple[int, int], str]] = []
        self.printed: str | None = None

    def take(self, block: Block) -> None:
        if block.title is not None:
            Path(block.title).write_text(block.body, encoding="utf-8")
        elif block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.body, "snippet", "exec"), self.names)
            self.printed = out.getvalue()
            return
        elif block.kind == "text" and self.printed is not None:
            self._judge(block.body, self.printed, block.span)
        elif block.kind == "console":
            self._commands(block)
        self.printed = None

    def _commands(self, block: Block) -> None:
        parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]
        said = []
        for part in parts:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            assert words[0] == "tightrope", f"only tightrope itself is run here: {command}"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = _run(words[1:])
            printed = out.getvalue()
            if code != 0 or not same(shown, printed):
                self.wrong.append(f"$ {command} (exit {code})\n--- shown\n{shown}--- printed\n{printed}")
            said.append(f"$ {command}\n{shown if same(shown, printed) else printed}")
        self.changes.append((block.span, "".join(said)))

    def _judge(self, shown: str, printed: str, span: tuple[int, int]) -> None:
        if not same(shown, printed):
            self.wrong.append(f"--- shown\n{shown}--- printed\n{printed}")
            self.changes.append((span, printed))


def _fast_or_slow() -> list:
    texts = [(page, page.read_text(encoding="utf-8")) for page in PAGES]
    with_code = [(page, text) for page, text in texts if any(b.kind in ("python", "console") for b in blocks(text))]
    return [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if SLOW in text else []) for page, text in with_code
    ]


@pytest.mark.parametrize("page", _fast_or_slow())
def test_a_page_says_what_its_snippets_print(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = page.read_text(encoding="utf-8")
    session = Session()
    for block in blocks(text):
        session.take(block)
    if os.environ.get("TIGHTROPE_WRITE_DOCS"):
        for (begin, end), said in sorted(session.changes, reverse=True):
            text = text[:begin] + said + text[end:]
        page.write_text(text, encoding="utf-8")
    assert not session.wrong, "\n".join(session.wrong)


def test_a_wrong_output_would_be_seen():
    session = Session()
    for block in blocks("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"):
        session.take(block)
    assert len(session.wrong) == 1
    assert same("a ... c\n", "a b c\n") and not same("a\n", "b\n")
