"""On which line of a TOML file does a field stand?

`tomllib` reads values but forgets where they were. This scanner goes once over text that `tomllib` has accepted, so it
need not judge the text: it only has to know where strings, arrays and inline tables begin and end.
"""

from __future__ import annotations

import bisect
import re
import tomllib

FieldPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
# Triple quotes first: otherwise the opening of a long string reads as an empty short one.
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_KEY = re.compile(r"""(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[A-Za-z0-9_.\- \t])+""")
_PLAIN = re.compile(r"[^,\]}#\n]+")  # numbers, dates, true and false


def key_lines(text: str) -> dict[FieldPath, int]:
    """Return the line (from 1) where each table, key and array element of a valid TOML text is first named."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    line_ends = [m.start() for m in re.finditer("\n", scanner.text)]
    return {path: bisect.bisect_left(line_ends, start) + 1 for path, start in scanner.found.items()}


class _Scanner:
    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.found: dict[FieldPath, int] = {}
        self.arrays: dict[FieldPath, int] = {}  # how many `[[tables]]` each array of tables has so far

    def document(self) -> None:
        table: FieldPath = ()
        while not self._ends():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> FieldPath:
        """`[a.b]` or `[[a.b]]`; a name on the way that is an array of tables means its last element."""
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        start, self.at = self.at, self.at + brackets
        path: FieldPath = ()
        keys = self._key()
        for i, key in enumerate(keys):
            path = (*path, key)
            self.found.setdefault(path, start)
            if brackets == 2 and i == len(keys) - 1:
                self.arrays[path] = self.arrays.get(path, 0) + 1
            if path in self.arrays:
                path = (*path, self.arrays[path] - 1)
                self.found.setdefault(path, start)
        self.at = self.text.index("]", self.at) + brackets
        return path

    def _pair(self, table: FieldPath) -> None:
        """`key = value`; a dotted key names every table on its way."""
        start, path = self.at, table
        for key in self._key():
            path = (*path, key)
            self.found.setdefault(path, start)
        self.at = self.text.index("=", self.at) + 1
        self._ends()
        self._value(path)

    def _key(self) -> list[str]:
        given = self._take(_KEY)
        inside, keys = tomllib.loads(f"{given} = 0"), []
        while isinstance(inside, dict):
            (key,) = inside
            keys.append(key)
            inside = inside[key]
        return keys

    def _value(self, path: FieldPath) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self._take(_STRING)
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        else:
            self._take(_PLAIN)

    def _array(self, path: FieldPath) -> None:
        self.at += 1
        i = 0
        while not self._ends() and self.text[self.at] != "]":
            self.found.setdefault((*path, i), self.at)
            self._value((*path, i))
            self._comma()
            i += 1
        self.at += 1

    def _inline_table(self, path: FieldPath) -> None:
        self.at += 1
        while not self._ends() and self.text[self.at] != "}":
            self._pair(path)
            self._comma()
        self.at += 1

    def _comma(self) -> None:
        if not self._ends() and self.text[self.at] == ",":
            self.at += 1

    def _ends(self) -> bool:
        """Skip blanks, comments and line ends; say whether nothing is left."""
        self._take(_BLANK)
        return self.at >= len(self.text)

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"not TOML at character {self.at}")
        self.at = match.end()
        return match.group()
