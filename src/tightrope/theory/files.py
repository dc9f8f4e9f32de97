"""How is a certificate kept? Beside its run: `certificate.json` with the rows, `decomposition.parquet` with the curves.

Both are made from the run alone, so making them again replaces them by the same.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

from tightrope._version import __version__
from tightrope.errors import InputError
from tightrope.safe_files import write_file
from tightrope.theory.certify import Certificate

CERTIFICATE, DECOMPOSITION = "certificate.json", "decomposition.parquet"


def save_certificate(found: Certificate, directory: Path) -> None:
    """Write both files aside, then rename them into place."""
    buffer = io.BytesIO()
    found.decomposition.frame().write_parquet(buffer)
    about = {
        "ok": found.ok,
        "slater": found.gamma,
        "delta": found.delta,
        "version": __version__,
        "rows": found.as_list(),
    }
    _write(directory / CERTIFICATE, (json.dumps(about, indent=2) + "\n").encode())
    _write(directory / DECOMPOSITION, buffer.getvalue())


def _write(path: Path, content: bytes) -> None:
    try:
        write_file(path, content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); wanted a folder that can") from None
