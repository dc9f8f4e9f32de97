"""Is a file that somebody gave us text? One reader for specs and tables, with the same refusals."""

from __future__ import annotations

from pathlib import Path

from tightrope.errors import InputError


def read_text(path: Path, wanted: str) -> str:
    """The text of a file in UTF-8, a byte order mark left out; `wanted` ends each refusal: "expected a spec in TOML"."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; {wanted}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8 ({error.reason} at byte {error.start}); {wanted}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {wanted}") from None
