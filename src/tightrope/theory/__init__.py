"""What is promised, and did it hold? The doctor before a run, the certificate after it, the constants of the paper for both."""

from __future__ import annotations

from tightrope import constants
from tightrope.theory.certify import Certificate, certify
from tightrope.theory.decomposition import Decomposition
from tightrope.theory.doctor import doctor
from tightrope.theory.findings import IDS, SEVERITIES, Finding, Report
from tightrope.theory.rows import Row

__all__ = [
    "IDS",
    "SEVERITIES",
    "Certificate",
    "Decomposition",
    "Finding",
    "Report",
    "Row",
    "certify",
    "constants",
    "doctor",
]
