"""What does a run's certificate say? Read where it stands beside the run, made where it does not and the run has its trace."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tightrope.errors import InputError
from tightrope.show.reading import Kept
from tightrope.theory import certify
from tightrope.theory.files import CERTIFICATE, DECOMPOSITION

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Certified:
    """The rows of a certificate, those that fail first, and the decomposition's curves."""

    rows: Sequence[Mapping[str, Any]]
    decomposition: pl.DataFrame

    @property
    def failures(self) -> list[Mapping[str, Any]]:
        return [row for row in self.rows if fails(row)]


def fails(row: Mapping[str, Any]) -> bool:
    return bool(row["applies"]) and not row["holds"]


def certified(kept: Kept) -> Certified:
    """The certificate of a run; made now where it is not there, which takes a while for long runs."""
    return stored(kept) or _made(kept)


def stored(kept: Kept) -> Certified | None:
    """What `tightrope certify` left beside the run, if it did."""
    import polars as pl

    try:
        about = json.loads((kept.folder / CERTIFICATE).read_text(encoding="utf-8"))
        content = (kept.folder / DECOMPOSITION).read_bytes()
        return Certified(_sorted(about["rows"]), pl.read_parquet(io.BytesIO(content)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        again = f"`tightrope certify {kept.folder}` makes it anew"
        raise InputError(f"{kept.folder / CERTIFICATE}: not readable ({type(error).__name__}); {again}") from None


def _made(kept: Kept) -> Certified:
    found = certify(kept.run)
    return Certified(_sorted(found.as_list()), found.decomposition.frame())


def _sorted(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Failures first, then what holds, then what does not apply; otherwise as they come."""
    return sorted(rows, key=lambda row: (not fails(row), not row["applies"]))
