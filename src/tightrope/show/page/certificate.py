"""What did the certificate find? One table a certified run, failures first."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tightrope.errors import InputError
from tightrope.show import certificates
from tightrope.show.certificates import Certified
from tightrope.show.frames import decomposed
from tightrope.show.page.packing import thinned
from tightrope.show.reading import Collection, Kept

EPISODES = 3_000  # up to which a page makes the certificate of a single traced run by itself
MOST_POINTS = 400  # of a term's curve
MOST_RUNS = 12  # whose certificates stand in the page


def certificate(collection: Collection) -> str:
    """The section's content; empty where nothing has been certified."""
    parts, told = [], 0
    for kept in collection.kept:
        try:
            found = _found(kept, collection.single)
        except InputError as error:
            parts.append(f'<p class="warning">{escape(error.problems[0])}</p>')
            continue
        if found is not None and told < MOST_RUNS:
            parts.append(_one(kept, found, collection.single))
            told += 1
    if parts:
        return "".join(parts)
    if collection.single and collection.kept[0].traced:
        command = f"<code>{escape(f'tightrope certify {collection.folder}')}</code>"
        return f"<p>This run has its trace: {command} checks every claim of the paper on it, for this page too.</p>"
    return ""


@functools.lru_cache(maxsize=4)
def _found(kept: Kept, alone: bool) -> Certified | None:
    found = certificates.stored(kept)
    if found is not None:
        return found
    small = alone and kept.traced and kept.spec["episodes"] <= EPISODES and kept.spec["learner"].get("name") == "pdpo"
    return certificates.certified(kept) if small else None


def _one(kept: Kept, found: Certified, alone: bool) -> str:
    counted = sum(bool(row["applies"]) for row in found.rows)
    failures = len(found.failures)
    verdict = f"{failures} of them fail" if failures else "all of them hold"
    sentence = f"Of {len(found.rows)} claims of the paper {counted} apply to this run; {verdict}."
    rest = [row for row in found.rows if not certificates.fails(row)]
    shown = _table(found.failures, "Claims that fail") if failures else ""
    word = "others" if failures else "claims"
    table = _table(rest, "Claims that hold or do not apply")
    others = f"<details><summary>All {len(rest)} {word}</summary>{table}</details>"
    units = kept.run.cmdp.units
    note = (
        "" if units is None or not units.sentence else f" Numbers are in the paper's units: {escape(units.sentence)}."
    )
    content = f"<p>{sentence}{note}</p>{shown}{others}"
    if alone:
        return content
    opened = " open" if failures else ""
    return f"<details{opened}><summary>{escape(kept.key)}: {verdict}</summary>{content}</details>"


def _table(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    heads = "".join(
        f'<th scope="col" class="{kind}">{head}</th>'
        for kind, head in (
            ("words", "claim"),
            ("words", "verdict"),
            ("", "computed"),
            ("", "relation"),
            ("", "claimed"),
            ("words", "worst at"),
            ("words", "formula"),
        )
    )
    body = "".join(_row(row) for row in rows)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{name}"><table>'
        f"<caption><span>{name}, each at its worst place</span></caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Mapping[str, Any]) -> str:
    bad = certificates.fails(row)
    verdict = "fails" if bad else "holds" if row["applies"] else "does not apply"
    sign = "=" if row["kind"] == "equality" else "≤"
    cells = (
        ("words verdict", verdict),
        ("", _number(row["computed"])),
        ("", sign),
        ("", _number(row["claimed"])),
        ("words", row["where"]),
        ("words", f"{row['claim']} ({row['place']})"),
    )
    told = "".join(f'<td class="{kind}">{escape(str(text))}</td>' for kind, text in cells)
    return f'<tr class="{verdict.replace(" ", "-")}"><th scope="row">{escape(row["name"])}</th>{told}</tr>'


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def decomposition_data(collection: Collection) -> list[dict[str, Any]]:
    """The terms of regret and violation of a single certified run, for the page's stacked chart."""
    if not collection.single:
        return []
    kept = collection.kept[0]
    try:
        found = _found(kept, True)
    except InputError:
        return []
    if found is None:
        return []
    frame = decomposed(found, kept.run.cmdp)
    wholes = []
    for whole in frame["whole"].unique(maintain_order=True):
        own = frame.filter(frame["whole"] == whole)
        terms = {term: own.filter(own["term"] == term) for term in own["term"].unique(maintain_order=True)}
        keep = thinned([part["value"].to_numpy() for part in terms.values()], MOST_POINTS)
        episodes = next(iter(terms.values()))["episode"].to_numpy()[keep]
        values = {term: [round(float(x), 6) for x in part["value"].to_numpy()[keep]] for term, part in terms.items()}
        wholes.append({"whole": whole, "episodes": episodes.tolist(), "terms": values})
    return wholes
