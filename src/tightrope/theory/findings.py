"""What does the doctor say? Findings with ids that people can search for, and the report that holds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

IDS = (
    "dual-inert",
    "budget-effective",
    "dual-slow",
    "dual-saturated",
    "contraction-slow",
    "policy-frozen",
    "mixing-idle",
    "epochs-short",
    "step-slow",
    "step-jumpy",
    "bound-vacuous",
    "hypotheses",
    "slater-unknown",
)
SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """One thing that these settings do on this problem, with the number that says so."""

    id: str
    severity: str  # "error": it cannot work; "warning": it costs; "info": worth knowing
    text: str
    number: float
    inequality: str  # the one behind it, in the settings' names
    remedy: str  # a concrete setting, and what guarantee of the paper it gives up

    def __post_init__(self) -> None:
        assert self.id in IDS and self.severity in SEVERITIES, (self.id, self.severity)

    @property
    def line(self) -> str:
        """One line: severity, id, what is found."""
        return f"{self.severity}: {self.id}: {self.text}"


@dataclass(frozen=True)
class Report:
    """What was found, the worst first, and the facts it rests on."""

    findings: Sequence[Finding]
    facts: dict[str, str] = field(default_factory=dict)
    judged: bool = True  # whether the learner's settings were looked at, and not its problem alone

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def ok(self) -> bool:
        """Whether nothing found is an error."""
        return not self.errors

    def ids(self, *severities: str) -> list[str]:
        """The ids found, of some severities or of all; each once."""
        return list(dict.fromkeys(f.id for f in self.findings if not severities or f.severity in severities))

    def as_list(self) -> list[dict[str, Any]]:
        """One plain dictionary a finding; a number that JSON has no word for becomes None."""
        found = [asdict(finding) for finding in self.findings]
        for entry in found:
            number = entry["number"]
            entry["number"] = number if abs(number) < float("inf") else None
        return found

    def to_json(self) -> str:
        return json.dumps(self.as_list(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        if not self.findings:
            return "nothing found that speaks against " + ("these settings" if self.judged else "the problem")
        return "\n".join(finding.line for finding in self.findings)


def report(findings: Sequence[Finding], facts: dict[str, str], judged: bool = True) -> Report:
    """The worst first, otherwise in the order given."""
    return Report(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)), facts, judged)
