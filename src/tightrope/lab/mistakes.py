"""How is a mistake in a spec told? File, line, field, what was given, what was expected: one line each, all at once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tightrope.errors import InputError
from tightrope.lab.toml_lines import FieldPath

_LONGEST = 60


class Mistakes:
    """Collects mistakes by field; `error()` makes of them one `InputError`, in the order of the file."""

    def __init__(self, file: str, lines: Mapping[FieldPath, int] | None = None):
        self.file = file
        self.lines = lines or {}
        self._found: list[tuple[int, str]] = []
        self._once: set[tuple[FieldPath, str]] = set()

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, field: FieldPath, text: str) -> None:
        line = self._line(field)
        place = self.file if line is None else f"{self.file}:{line}"
        name = f"{dotted(field)}: " if field else ""
        self._found.append((line or 0, f"{place}: {name}{one_line(text)}"))

    def add_once(self, field: FieldPath, text: str) -> None:
        """For what may be found again and again."""
        if (field, text) not in self._once:
            self._once.add((field, text))
            self.add(field, text)

    def error(self) -> InputError:
        return InputError(dict.fromkeys(text for _, text in sorted(self._found, key=lambda found: found[0])))

    def _line(self, field: FieldPath) -> int | None:
        """The field's own line, or for a missing one that of the table it should be in."""
        while field and field not in self.lines:
            field = field[:-1]
        return self.lines.get(field)


def dotted(field: FieldPath) -> str:
    """`learner.alpha`, `seeds[2]`; keys that need quotes get them."""
    text = ""
    for part in field:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if re.fullmatch(r"[\w-]+", part, re.ASCII) else shown(part))
    return text


def shown(value: Any) -> str:
    """A value as TOML writes it, short enough for one line."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than sixty digits"  # Python may refuse to write it out
    elif isinstance(value, dict):
        return "a table"
    elif isinstance(value, list):
        if len(value) > 4:
            return f"a list of {len(value)}"
        text = f"[{', '.join(shown(v) for v in value)}]"
    else:
        text = str(value)
    text = one_line(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def one_line(text: str) -> str:
    """Whatever would break the line, or the terminal, is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
