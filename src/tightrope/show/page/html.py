"""How does a report become one file? Text escaped into sections, numbers packed, the plotting library compressed within."""

from __future__ import annotations

import functools
import json
from html import escape
from importlib import resources
from typing import Any

from tightrope._version import __version__
from tightrope.errors import InputError
from tightrope.show.frames import differences
from tightrope.show.page import words
from tightrope.show.page.certificate import certificate, decomposition_data
from tightrope.show.page.curves import curve_data
from tightrope.show.page.diagnosis import diagnosis
from tightrope.show.page.explorer import explorer_data
from tightrope.show.page.packing import Blob, pack
from tightrope.show.page.spec_text import spec_text
from tightrope.show.reading import Collection

POLICY = (  # a page may run what is in it, and load nothing
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'"
)
SCRIPT = ("basis.js", "memory.js", "curves.js", "terms.js", "explorer.js", "start.js")
MOST_SPECS = 200  # of which the text stands in the page


def report(collection: Collection, live: bool = False) -> str:
    """The page; a live one asks its server now and then whether there is something new."""
    blob = Blob()
    data = {
        "curves": curve_data(collection, blob),
        "players": explorer_data(collection, blob),
        "specs": [[f"{kept.group}, seed {kept.seed}", spec_text(kept)] for kept in collection.kept[:MOST_SPECS]],
        "decomposition": decomposition_data(collection),
        "differences": differences_data(collection),
        "live": live,
    }
    title = f"{collection.folder.resolve().name}: tightrope report"
    return _fill(
        title=escape(title),
        policy=POLICY + ("; connect-src 'self'" if live else ""),
        css=_asset("page.css"),
        body=_body(collection, data),
        data=_json(data),
        blob=blob.packed(),
        plotly=plotly(),
        js=script(),
    )


def waiting(name: str) -> str:
    """The live page while no run is finished."""
    body = f"<main id=main><h1>{escape(name)}</h1><p>No run is finished yet; this page fills by itself.</p></main>"
    return _fill(
        title=escape(name),
        policy=POLICY + "; connect-src 'self'",
        css=_asset("page.css"),
        body=body,
        data=_json({"live": True}),
        blob="",
        plotly="",
        js=script(),
    )


def _fill(**parts: str) -> str:
    """The frame with its places filled, in one pass, so that no part is taken for a place."""
    pieces = _asset("frame.html").split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


@functools.cache
def _asset(name: str) -> str:
    return resources.files("tightrope.show.page").joinpath("assets", name).read_text(encoding="utf-8")


@functools.cache
def script() -> str:
    """The rooms of the page's own script as one function, so that their names are nobody else's."""
    return '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in SCRIPT) + "})();\n"


@functools.cache
def plotly() -> str:
    """Plotly.js as the Python package ships it, compressed."""
    try:
        content = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError):
        raise InputError("a report needs plotly, which is not installed; install tightrope[report]") from None
    return pack(content)


def _json(data: Any) -> str:
    """JSON that no script element ends early."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# ---- sections --------------------------------------------------------------------------------------------------------


def _body(collection: Collection, data: dict[str, Any]) -> str:
    sections = [
        ("findings", "What was found", _findings(collection)),
        ("doctor", "What the doctor says of these settings", diagnosis(collection)),
        ("curves", "Curves", _curves(collection, data)),
        ("certificate", "Certificate", certificate(collection) + _decomposition(data)),
        ("explorer", "Policy explorer", _explorer()),
        ("spec", "Spec", _spec(collection)),
        ("versions", "Versions", _versions(collection)),
    ]
    sections = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title, _ in sections)
    parts = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{escape(title)}</h2>{content}</section>'
        for name, title, content in sections
    )
    return (
        f"<header><h1>{escape(collection.folder.resolve().name)}</h1>"
        f'<p class="asked">{escape(words.asked(collection))}</p>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        '<button type="button" id="theme" hidden>Dark or light</button></header>'
        f'<main id="main">{parts}</main>'
    )


def _findings(collection: Collection) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in words.findings(collection))
    broken = "".join(f"<li>{escape(line)}</li>" for line in collection.broken)
    left = f'<div class="warning"><p>Left out, since it cannot be read:</p><ul>{broken}</ul></div>' if broken else ""
    return f'<ol class="sentences">{items}</ol>{left}'


def _curves(collection: Collection, data: dict[str, Any]) -> str:
    note = data["curves"]["note"]
    return (
        _asset("curves.html")
        + (f'<p class="note">{escape(note)}</p>' if note else "")
        + _ends(collection)
        + _differences(data)
    )


def _ends(collection: Collection) -> str:
    rows = words.table(collection)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in rows[0])
    lines = []
    for row in rows:
        cells = "".join(f"<td>{_cell(value)}</td>" for key, value in row.items() if key != "group")
        lines.append(f'<tr><th scope="row">{escape(row["group"])}</th>{cells}</tr>')
    caption = "Where the curves end, divided by the number of episodes: mean over runs, ± half of the 95% interval"
    return scrolling(
        f"<table><caption><span>{caption}</span></caption><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>",
        caption,
    )


def scrolling(table: str, name: str) -> str:
    """A table that scrolls within itself where it is too wide; it can be reached and moved by keyboard."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(name)}">{table}</div>'


def _cell(value: Any) -> str:
    if not isinstance(value, tuple):
        return f"{value:,}"
    mean, half = value
    if mean != mean:
        return "none"
    return f"{mean:.4g}".replace("-", "\N{MINUS SIGN}") + (f" ± {half:.2g}" if half else "")


def _decomposition(data: dict[str, Any]) -> str:
    if not data["decomposition"]:
        return ""
    one = '<figure><div id="whole{}" class="whole" role="group"></div></figure>'
    charts = "".join(one.format(i) for i in range(len(data["decomposition"])))
    return (
        "<h3>Where regret and violation come from</h3>"
        '<p class="note">The terms of the paper\'s decomposition, stacked; the line is their sum.</p>'
        f'<div class="charts">{charts}</div>'
    )


def differences_data(collection: Collection) -> dict[str, Any] | None:
    """Paired differences between groups, for the page's chart; None where there is nothing to compare."""
    try:
        frame, against = differences(collection)
    except InputError:
        return None
    return {"against": against, "rows": frame.to_dicts()}


def _differences(data: dict[str, Any]) -> str:
    found = data["differences"]
    if found is None:
        return ""
    return (
        f"<h3>Differences to {escape(found['against'])}</h3>"
        '<p class="note">Paired over seeds, with 95% intervals by Student\'s t; left of zero is better.</p>'
        '<div class="charts" id="differences"></div>'
    )


def _explorer() -> str:
    return _asset("explorer.html")


def _spec(collection: Collection) -> str:
    many = len(collection.kept) > 1
    choose = '<p class="controls"><label>Of <select id="spec-of"></select></label></p>' if many else ""
    return (
        f'{choose}<div class="spec"><button type="button" id="copy" hidden>Copy</button><span id="copied" role="status"></span>'
        f'<pre id="spec-text" tabindex="0" aria-label="Spec">{escape(spec_text(collection.kept[0]))}</pre></div>'
    )


def _versions(collection: Collection) -> str:
    found = [("report", f"tightrope {__version__}"), *words.versions(collection.kept[0])]
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in found)
    differ = len({repr(words.versions(kept)) for kept in collection.kept}) > 1
    note = '<p class="note">These are of the first run; others were made with other versions.</p>' if differ else ""
    return f"<table><tbody>{rows}</tbody></table>{note}"
