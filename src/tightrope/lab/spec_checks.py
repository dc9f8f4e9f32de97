"""Does what a spec asks for exist, and fit together? Tables become a problem, losses and a learner, or mistakes."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tightrope import learners, losses, problems
from tightrope._version import __version__
from tightrope.errors import InputError, suggest
from tightrope.lab.mistakes import Mistakes, shown
from tightrope.lab.spec_format import Document, read_document
from tightrope.lab.toml_lines import FieldPath, key_lines
from tightrope.learners import Learner, describe
from tightrope.numbers_in import whole_wrong
from tightrope.oracle.feasibility import feasible_budgets
from tightrope.problems.cmdp import LinearCMDP
from tightrope.recorder import every_by_default
from tightrope.safe_files import plain
from tightrope.text_in import read_text

CHECKED = 10_000_000  # episodes of losses made only to see whether they can be
STAND_IN = "streaming"  # losses and learner are judged with this problem where the spec's own cannot be made
PRICES = "prices"  # the kind of losses that comes from a file
READING = ("file", "time", "price", "zone")  # how its file is read; the others say what losses become of it
PRICE_FIELDS = (*READING, "start", "scale", "action")


@dataclass(frozen=True, eq=False)
class Spec:
    """A spec that holds together: everything is there, and right."""

    name: str
    document: Document
    cmdp: LinearCMDP
    learner: Learner
    losses_kind: str
    losses_parameters: dict[str, Any]
    point: Mapping[str, Any] = field(default_factory=dict)  # the values of a sweep that this setting has
    prices: losses.Prices | None = None  # what the file of losses of kind "prices" holds

    def losses(self, seed: int) -> losses.Losses:
        """The losses of the run with this seed."""
        if self.prices is not None:
            return _of_prices(self.prices, self.cmdp, self.document.episodes, self.losses_parameters)
        given = {"seed": seed} | self.losses_parameters
        return losses.make(self.losses_kind, self.cmdp, self.document.episodes, **given)

    def key(self, seed: int) -> str:
        """A short name for everything that determines the run with this seed; its folder's name.

        A setting left out and the same setting spelt out as it is by default are one run.
        """
        document = self.document
        own = losses.parameters(self.losses_kind) if self.prices is None else {}
        determines = {
            "tightrope": __version__,
            "problem": self.cmdp.digest,
            "losses": own | {"kind": self.losses_kind, "seed": seed} | self.losses_parameters,
            "learner": describe(self.learner),
            "episodes": document.episodes,
            "record_every": document.record_every or every_by_default(document.episodes),
            "trace": document.trace,
            "seed": seed,
        }
        if self.prices is not None:  # what the file says counts, not what it is called
            determines["prices"] = self.prices.digest
        return hashlib.sha256(json.dumps(determines, sort_keys=True, default=plain).encode()).hexdigest()[:16]


def read_spec(path: Path) -> Spec:
    """Read a TOML file that asks for one setting; every mistake in it is told at once, by file, line and field."""
    raw, lines, _ = read_toml(path)
    return check_spec(raw, path.stem, Mistakes(str(path), lines), path.parent)


def read_toml(path: Path) -> tuple[dict[str, Any], dict[FieldPath, int], str]:
    """A spec's file, parsed; on which line each field stands; and its text."""
    text = read_text(path, "expected a spec in TOML")
    try:
        return tomllib.loads(text), key_lines(text), text
    except tomllib.TOMLDecodeError as error:
        raise InputError(_not_toml(path, str(error))) from None
    except (RecursionError, ValueError) as error:  # nested too deep, or a number that Python will not read
        raise InputError(f"{path}: not TOML that can be read ({type(error).__name__})") from None


def _not_toml(path: Path, said: str) -> str:
    """What the parser says, with its line where the lines of other mistakes stand."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", said, re.DOTALL)
    if found is None:  # at the end of the file
        return f"{path}: not TOML: {said}"
    return f"{path}:{found[2]}: not TOML: {found[1]} (at column {found[3]})"


def check_spec(raw: dict[str, Any], name: str, mistakes: Mistakes, folder: Path) -> Spec:
    """Judge a parsed spec that asks for one setting; files that it names are looked for from `folder`."""
    if raw.get("sweep"):
        mistakes.add(("sweep",), "a grid; expected one setting, in its own table, for this purpose")
    spec = Judge(name, folder).setting(raw, mistakes)
    if mistakes or spec is None:
        raise mistakes.error()
    return spec


class Collects(Protocol):
    """Whatever mistakes can be told to."""

    def add(self, field: FieldPath, text: str) -> None: ...


class _Notes:
    """Mistakes that are told again wherever the same tables are met."""

    def __init__(self) -> None:
        self.found: list[tuple[FieldPath, str]] = []

    def add(self, field: FieldPath, text: str) -> None:
        self.found.append((field, text))

    def tell(self, mistakes: Collects) -> None:
        for place, text in self.found:
            mistakes.add(place, text)


class Judge:
    """Judges settings, and makes what several of them share only once."""

    def __init__(self, name: str, folder: Path):
        self.name, self.folder = name, folder
        self._made: dict[str, tuple[Any, _Notes]] = {}

    def setting(self, raw: dict[str, Any], mistakes: Collects, point: Mapping[str, Any] | None = None) -> Spec | None:
        """What the tables ask for, sweeps apart; None where they do not hold together, which `mistakes` are told."""
        document = read_document(raw, mistakes)
        cmdp, kind, parameters, prices = None, "", {}, None
        if isinstance(raw.get("problem"), dict):
            cmdp = self._once(mistakes, _problem, document.problem, self.folder)
        about = "" if cmdp is None else cmdp.digest
        if isinstance(raw.get("losses"), dict):
            given = (document.losses, cmdp, document.episodes, self.folder)
            kind, parameters, prices = self._once(mistakes, _losses, *given, about=about)
        learner = self._once(mistakes, _learner, document.learner, cmdp, document.episodes, about=about)
        if cmdp is None or learner is None:
            return None
        return Spec(self.name, document, cmdp, learner, kind, parameters, dict(point or {}), prices)

    def _once(self, mistakes: Collects, make: Callable[..., Any], table: Any, *more: Any, about: str = "") -> Any:
        """The same table, problem and episodes make the same thing, and the same mistakes."""
        others = [repr(thing) for thing in more if isinstance(thing, int)]
        key = json.dumps([make.__name__, table, about, others], default=repr)
        if key not in self._made:
            notes = _Notes()
            self._made[key] = (make(table, *more, notes), notes)
        made, notes = self._made[key]
        notes.tell(mistakes)
        return made


def _problem(given: dict[str, Any], folder: Path, mistakes: Collects) -> LinearCMDP | None:
    table = dict(given)
    if "file" in table and "name" not in table:
        cmdp = _problem_file(table, mistakes, folder)
    else:
        cmdp = _problem_by_name(table, mistakes)
    if cmdp is None:
        return None
    with _telling(mistakes, ("problem", "budget") if "budget" in table else ("problem",)):
        feasible_budgets(cmdp, cmdp.budgets)
    return cmdp  # also when nobody can keep its budgets: the other tables can be judged with it


def _problem_file(table: dict[str, Any], mistakes: Collects, folder: Path) -> LinearCMDP | None:
    file = table.pop("file")
    for key in table:
        mistakes.add(("problem", key), "a problem from a file has no parameters; expected `file` alone")
    if not isinstance(file, str):
        mistakes.add(("problem", "file"), f"{shown(file)}; expected the path of a .npz file")
        return None
    with _telling(mistakes, ("problem", "file")):
        return LinearCMDP.load(folder / file)
    return None


def _problem_by_name(table: dict[str, Any], mistakes: Collects) -> LinearCMDP | None:
    name = table.pop("name", None)
    if not _known("problem", "name", name, problems.names(), mistakes, "or a `file`"):
        if "file" in table:
            mistakes.add(("problem", "file"), "both `name` and `file`; expected one of them")
        return None
    known = problems.parameters(name)
    rest = _only_known("problem", table, known, f"problem {name!r}", mistakes)
    with _telling(mistakes, ("problem",), known):
        return problems.make(name, **rest)
    return None


def _losses(
    given: dict[str, Any], cmdp: LinearCMDP | None, episodes: int, folder: Path, mistakes: Collects
) -> tuple[str, dict[str, Any], losses.Prices | None]:
    table = dict(given)
    kind = table.pop("kind", None)
    if not _known("losses", "kind", kind, [*losses.names(), PRICES], mistakes):
        return "", {}, None
    if kind == PRICES:
        return kind, table, _price_list(table, cmdp, episodes, folder, mistakes)
    known = [*losses.parameters(kind), "seed"]
    rest = _only_known("losses", table, known, f"losses {kind!r}", mistakes)
    if cmdp is None and whole_wrong(rest.get("profile"), 0) is None:
        del rest["profile"]  # how many profiles there are, the problem would say
    with _telling(mistakes, ("losses",), known):
        losses.make(kind, cmdp or problems.make(STAND_IN), min(episodes, CHECKED), **rest)
    return kind, table, None


def _price_list(
    table: dict[str, Any], cmdp: LinearCMDP | None, episodes: int, folder: Path, mistakes: Collects
) -> losses.Prices | None:
    """The file of losses of kind "prices", read, once the losses could be made of it; looked for from `folder`."""
    table = _only_known("losses", table, PRICE_FIELDS, f"losses {PRICES!r}", mistakes)
    wrong = [key for key in READING if key in table and not isinstance(table[key], str)]
    for key in wrong:
        mistakes.add(("losses", key), f"{shown(table[key])}; expected text")
    if "file" not in table:
        mistakes.add(("losses", "file"), "missing; expected the path of a CSV file with hourly prices")
    if wrong or "file" not in table:
        return None
    with _telling(mistakes, ("losses", "file"), PRICE_FIELDS):
        read = losses.read_prices(folder / table["file"], *(table.get(key) for key in READING[1:]))
        if cmdp is not None:
            _of_prices(read, cmdp, episodes, table)
        return read
    return None


def _of_prices(read: losses.Prices, cmdp: LinearCMDP, episodes: int, table: Mapping[str, Any]) -> losses.PriceLosses:
    """One night of the file an episode."""
    return losses.prices(read, cmdp, episodes=episodes, **{k: v for k, v in table.items() if k not in READING})


def _learner(given: dict[str, Any], cmdp: LinearCMDP | None, episodes: int, mistakes: Collects) -> Learner | None:
    table = dict(given)
    name, preset = table.pop("name", "pdpo"), table.pop("preset", "practical")
    fits = _known("learner", "name", name, learners.names(), mistakes)
    if (
        not _known("learner", "preset", preset, learners.presets(name) if fits else learners.PRESETS, mistakes)
        or not fits
    ):
        return None
    known = [key for key in learners.parameters(name) if key != "delta" or preset == "theory"]
    rest = _only_known("learner", table, [*known, "name", "preset"], f"learner {name!r}", mistakes)
    with _telling(mistakes, ("learner",), known):
        made = learners.make(name, cmdp or problems.make(STAND_IN), episodes, preset, **rest)
        return None if cmdp is None else made
    return None


def _known(table: str, field: str, given: Any, known: Iterable[str], mistakes: Collects, otherwise: str = "") -> bool:
    """Whether a name is one of those known; if not, it is told."""
    if isinstance(given, str) and given in known:
        return True
    expected = f"expected one of {', '.join(known)}" + (f", {otherwise}" if otherwise else "")
    if given is None:
        mistakes.add((table, field), f"missing; {expected}")
    elif isinstance(given, str):
        mistakes.add((table, field), f"unknown {shown(given)}; {suggest(given, known)}")
    else:
        mistakes.add((table, field), f"{shown(given)}; {expected}")
    return False


def _only_known(
    table: str, given: dict[str, Any], known: Iterable[str], whose: str, mistakes: Collects
) -> dict[str, Any]:
    """The part of a table whose keys are known, which is judged all the same; the other keys are told."""
    unknown = [key for key in given if key not in known]
    for key in unknown:
        mistakes.add((table, key), f"{whose} has no such parameter; {suggest(key, known)}")
    return {key: value for key, value in given.items() if key not in unknown}


@contextmanager
def _telling(mistakes: Collects, otherwise: tuple[str, ...], known: Iterable[str] = ()) -> Iterator[None]:
    """Pass on each line of an error, under its field where it begins with the name of one.

    Whoever makes a problem, losses or a learner says what is wrong by an `InputError`. What escapes them all the same, such as
    arrays that no memory holds, is a mistake in the spec too.
    """
    try:
        yield
    except InputError as error:
        for line in error.problems:
            key, colon, text = line.partition(": ")
            if colon and key in known:
                mistakes.add((*otherwise[:1], key), text)
            else:
                mistakes.add(otherwise, line)
    except (MemoryError, ArithmeticError, ValueError, TypeError, IndexError) as error:
        mistakes.add(otherwise, f"cannot be made from these values ({type(error).__name__}: {error})")
