"""What does the doctor say of the settings that were run? Its findings, of every group of runs, as a section of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from tightrope import learners
from tightrope.errors import TightropeError
from tightrope.problems.cmdp import LinearCMDP
from tightrope.show.reading import Collection, Kept
from tightrope.theory import Finding, doctor

MOST_GROUPS = 12  # that are examined; a sweep has many alike
WORDS = {"error": "Error", "warning": "Warning", "info": "Worth knowing"}


def diagnosis(collection: Collection) -> str:
    """The section's content; empty where no settings can be judged."""
    told, units = [], ""
    for group in collection.groups[:MOST_GROUPS]:
        kept = collection.of(group)[0]
        found = examined(kept)
        if found is not None:
            told.append((group, found))
            units = units or _units(kept.run.cmdp)
    if not told:
        return ""
    several = len(told) > 1
    parts = [
        f"<details{' open' if i == 0 else ''}><summary>{escape(group)}: {_counts(found)}</summary>{_list(found)}</details>"
        if several
        else _list(found)
        for i, (group, found) in enumerate(told)
    ]
    left = len(collection.groups) - MOST_GROUPS
    more = f'<p class="note">The first {MOST_GROUPS} settings are judged; {left} more are not.</p>' if left > 0 else ""
    return "".join(parts) + more + units


def _units(cmdp: LinearCMDP) -> str:
    """What the numbers are, where the problem was given in other units."""
    told = "" if cmdp.units is None else cmdp.units.sentence
    return f'<p class="note">In these findings {escape(told)}.</p>' if told else ""


def examined(kept: Kept) -> Sequence[Finding] | None:
    """Findings on the settings of a run; None where its learner is not the paper's, or cannot be made again here."""
    settings = dict(kept.spec["learner"])
    name = settings.pop("name", None)
    if name not in learners.names():
        return None
    try:
        cmdp = kept.run.cmdp
        learner = learners.make(name, cmdp, kept.spec["episodes"], **settings)
        return doctor(cmdp, learner, kept.spec["episodes"]).findings if isinstance(learner, learners.PDPO) else None
    except TightropeError:
        return None


def _counts(findings: Sequence[Finding]) -> str:
    told = [
        f"{n} {word if n == 1 or word == 'info' else word + 's'}"
        for word in WORDS
        if (n := sum(f.severity == word for f in findings))
    ]
    return ", ".join(told) or "nothing found"


def _list(findings: Sequence[Finding]) -> str:
    if not findings:
        return "<p>Nothing found that speaks against these settings.</p>"
    items = "".join(
        f'<li><span class="severity-{escape(f.severity)}">{WORDS[f.severity]}</span> <code>{escape(f.id)}</code>: '
        f"{_marked(f.text)} "
        f'<span class="note">Because {_marked(f.inequality)}.</span><br>Remedy: {_marked(f.remedy)}</li>'
        for f in findings
    )
    return f'<ul class="findings-list">{items}</ul>'


def _marked(text: str) -> str:
    """Escaped, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
