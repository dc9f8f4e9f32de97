"""How does one watch a sweep in a browser? A server for this machine alone; the page asks it now and then for news.

It answers on the loopback address only, and only requests that name it, so that no page from elsewhere can read it by giving a
name of its own to that address. It writes nothing.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tightrope.errors import InputError
from tightrope.numbers_in import whole_wrong
from tightrope.run_files import MANIFEST
from tightrope.show.page.html import report, waiting
from tightrope.show.reading import read_folder

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")


def check(folder: Path, port: int) -> None:
    """Tell at once what keeps a folder from being served there."""
    wrong, bad = [], whole_wrong(port, 0)
    if bad is not None or port > 65535:
        wrong.append(f"--port: {bad or f'{port}, wanted at most 65535'}")
    if folder.exists() and not folder.is_dir():
        wrong.append(f"{folder}: not a folder; expected one with runs, or one that is still to come")
    if wrong:
        raise InputError(wrong)


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of the page of a folder, on the loopback address; `serve_forever` runs it."""
    check(folder, port)
    page = Pages(folder)
    try:
        return _Server((ADDRESS, port), lambda *given: _Handler(page, *given))
    except OSError as error:
        raise InputError(f"--port: {port} cannot be used ({error.strerror}); --port 0 takes a free one") from None


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class Pages:
    """The page, made again when the runs have changed."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._lock = threading.Lock()
        self._made: tuple[str, str] = ("", "")

    def stamp(self) -> str:
        """Another text whenever runs have been added."""
        total = hashlib.sha256()
        for path in sorted(self.folder.rglob(MANIFEST)):
            if not any(part.startswith(".") for part in path.relative_to(self.folder).parts):
                total.update(f"{path}:{path.stat().st_mtime_ns}".encode())
        return total.hexdigest()[:16]

    def html(self) -> str:
        with self._lock:
            stamp = self.stamp()
            if self._made[0] != stamp:
                self._made = (stamp, self._make())
            return self._made[1]

    def _make(self) -> str:
        try:
            return report(read_folder(self.folder), live=True)
        except InputError:
            return waiting(f"{self.folder.resolve().name}: no run yet")


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, pages: Pages, *given: Any):
        self.pages = pages
        super().__init__(*given)

    def do_GET(self) -> None:
        if self.headers.get("Host", "").rsplit(":", 1)[0] not in NAMES:
            self.send_error(403, "This server answers on its own machine only")
            return
        answers: dict[str, tuple[str, Callable[[], str]]] = {
            "/": ("text/html; charset=utf-8", self.pages.html),
            "/stamp": ("text/plain; charset=utf-8", self.pages.stamp),
        }
        if self.path == "/favicon.ico":
            self._send(204, "image/x-icon", b"")
        elif self.path in answers:
            kind, make = answers[self.path]
            self._send(200, kind, make().encode())
        else:
            self.send_error(404)

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are nobody's news."""
