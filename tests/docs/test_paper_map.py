"""Every name on the page of the paper's places exists: functions, tests, rows of the certificate."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import tightrope as tr

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")


# The labels of the paper's source, but for those of its sections.
LABELS = """
alg:main-linear|ass:slater|def:E1|def:E2|def:E3|def:good event|def:proxy good event|eq:C1 C2|eq:C3|eq:Si
eq:contracted expectation|eq:contracted value function|eq:covering informal|eq:decomposition|eq:lem:good event:Q
eq:lem:good event:beta|eq:lem:good event:lemma12|eq:lem:good event:w|eq:lem:lip Q:l2|eq:lem:lip pol:1|eq:lem:lip pol:2
eq:lem:lyap 3:C4|eq:lem:lyap 3:KB delta max|eq:lem:lyap 3:delta max|eq:lem:lyap 3:drift n0 decomp|eq:lem:lyap 3:drift n0
eq:lem:proj gd:0|eq:lem:proxy:E2|eq:lyap 1|eq:lyap 2.5|eq:lyap 2|eq:omd eq 1|eq:param Q|eq:param pi|eq:proof regret:Yk
eq:weighted LSE softmax|fig:main|fig:regret|fig:violation|lem: jin d2|lem:KL mixing|lem:Yk bound main-text|lem:Yk bound
lem:abbasi 12|lem:cassel 12|lem:cassel 17|lem:cassel 18|lem:cassel 21|lem:cassel 22|lem:cassel 24|lem:cassel 2|lem:cassel 3
lem:cassel 8 num of epoch|lem:cost of opt|lem:cov Vn|lem:cov V|lem:extended value diff|lem:good event main-text
lem:good event|lem:lip Q|lem:lip log|lem:lip pol|lem:lyap 1|lem:omd with mixing|lem:omd+optimism|lem:optimism
lem:pol param|lem:policy inequality|lem:proj gd|lem:proxy good event|lem:pushback|lem:rosen d4|lem:softmax lipschitz
lem:violation optimism|remark:feature contraction|tab:notation|thm:main
"""


def test_every_label_of_the_paper_has_its_row():
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| ")]
    told = {label.strip() for cell in rows for label in cell.split(",")} | {"alg:main-linear"}
    missing = {label for label in LABELS.replace("\n", "|").split("|") if label} - told
    assert missing == set()


def test_every_function_on_the_page_exists():
    names = set(re.findall(r"`(tightrope(?:\.\w+)+)`", PAGE))
    assert len(names) > 40
    missing = []
    for name in sorted(names):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            missing.append(name)
    assert missing == []


def test_every_test_on_the_page_exists():
    names = set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE))
    assert len(names) > 25
    missing = []
    for file, test in sorted(names):
        path = ROOT / file
        if not path.exists() or (test and f"def {test}(" not in path.read_text(encoding="utf-8")):
            missing.append(f"{file}::{test}")
    assert missing == []


def test_the_page_names_every_row_of_the_certificate_and_no_other():
    cmdp = tr.problems.make("streaming")
    losses = tr.losses.make("fixed", cmdp, 30)
    found = tr.theory.certify(tr.simulate(cmdp, losses, tr.PDPO.experiment(cmdp, 30), 30, trace=True))
    assert set(re.findall(r'certify "([^"]+)"', PAGE)) == {row.name for row in found.rows}


def test_every_constant_is_on_the_page_or_part_of_one_that_is():
    from tightrope import constants

    public = [name for name in vars(constants) if not name.startswith("_") and callable(getattr(constants, name))]
    own = [name for name in public if getattr(getattr(constants, name), "__module__", "") == constants.__name__]
    missing = [name for name in own if f"`tightrope.constants.{name}`" not in PAGE]
    assert missing in ([], ["Numbers"])


def test_the_page_of_the_doctor_has_every_finding_and_no_other():
    page = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(tr.theory.IDS)
