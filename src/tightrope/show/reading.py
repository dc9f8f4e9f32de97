"""What is in a folder? One run, or many: their specs, curves and names, read once for figures and pages."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightrope.errors import InputError
from tightrope.run_files import CURVES, MANIFEST, TRACE, load_run, read_manifest
from tightrope.safe_files import digest

if TYPE_CHECKING:
    import polars as pl

    from tightrope.run import Run

    Found = tuple[Path, dict[str, Any], pl.DataFrame]

SPEAKING = ("problem.name", "losses.kind")
LENGTH = ("episodes", "record_every")
UNTOLD = ("seed", "losses.seed", "problem.digest")  # differ between the seeds of one setting


@dataclass(frozen=True, eq=False)
class Kept:
    """One run as it lies on disk."""

    folder: Path
    manifest: Mapping[str, Any]
    group: str  # what sets it apart from the others, its seed aside
    curves: pl.DataFrame  # as `curves.parquet` has them

    @property
    def key(self) -> str:
        return self.folder.name

    @property
    def spec(self) -> dict[str, Any]:
        return self.manifest["spec"]

    @property
    def seed(self) -> int:
        return int(self.spec["seed"])

    @property
    def traced(self) -> bool:
        return TRACE in self.manifest["sha256"]

    @cached_property
    def run(self) -> Run:
        return load_run(self.folder)


@dataclass(frozen=True, eq=False)
class Collection:
    """The runs of a folder, sorted by group and seed, and what could not be read."""

    folder: Path
    kept: Sequence[Kept]
    broken: Sequence[str] = ()

    @property
    def single(self) -> bool:
        return len(self.kept) == 1

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(kept.group for kept in self.kept))

    def of(self, group: str) -> list[Kept]:
        return [kept for kept in self.kept if kept.group == group]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All curves (see `show.bands`)."""
        import polars as pl

        parts = [
            kept.curves.with_columns(
                group=pl.lit(kept.group), run=pl.lit(kept.key), seed=pl.lit(kept.seed, dtype=pl.Int64)
            )
            for kept in self.kept
        ]
        return pl.concat(parts, how="diagonal")


def read_folder(folder: Path) -> Collection:
    """Read a run's folder, or a folder of runs; a damaged run is named in `broken` and left out."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; expected one with a run, or with runs")
    if (folder / MANIFEST).is_file():
        found, broken = [_read(folder)], []
    else:
        found, broken = _runs_below(folder)
    if not found:
        more = f" that can be read ({broken[0]})" if broken else ""
        raise InputError(f"{folder}: holds no run{more}; expected a folder that `tightrope run` or Run.save made")
    names = group_names([manifest["spec"] for _, manifest, _ in found])
    kept = [Kept(where, manifest, name, curves) for (where, manifest, curves), name in zip(found, names)]
    order = {name: i for i, name in enumerate(sorted(set(names), key=natural))}
    return Collection(folder, sorted(kept, key=lambda run: (order[run.group], run.seed, run.key)), broken)


def _read(folder: Path) -> Found:
    """A run's manifest and curves, both with the checksums they should have."""
    import polars as pl

    manifest = read_manifest(folder)
    try:
        content = (folder / CURVES).read_bytes()
    except OSError as error:
        raise InputError(f"{folder / CURVES}: missing or unreadable ({error.strerror})") from None
    if digest(content) != manifest["sha256"].get(CURVES):
        raise InputError(f"{folder / CURVES}: damaged; its checksum is not the one in {MANIFEST}")
    return folder, manifest, pl.read_parquet(io.BytesIO(content))


def _runs_below(folder: Path) -> tuple[list[Found], list[str]]:
    found, broken = [], []
    for path in sorted(folder.rglob(MANIFEST)):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue  # being written, or set aside
        try:
            found.append(_read(path.parent))
        except InputError as error:
            broken.append(error.problems[0])
    return found, broken


def group_names(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each spec from what differs between them, seeds aside: the learner's, and the settings that vary.

    Where specs have several lengths, the number of episodes stands for all that goes with it, such as the steps of a preset.
    """
    full = [{key: x for key, x in flattened(spec) if key not in UNTOLD} for spec in specs]
    names, fine = _names(_without_what_follows(specs, full)), _names(full)
    return names if len(set(names)) == len(set(fine)) else fine  # short ones that tell less apart are of no use


def series_names(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same for specs of several lengths that are to be one series: without the number of episodes either."""
    full = [{key: x for key, x in flattened(spec) if key not in (*UNTOLD, *LENGTH)} for spec in specs]
    lengths = [str(spec["episodes"]) for spec in specs]
    names, fine = _names(_without_what_follows(specs, full)), _names(full)
    return names if len(set(zip(lengths, names))) == len(set(zip(lengths, fine))) else fine


def _without_what_follows(
    specs: Sequence[Mapping[str, Any]], flat: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Settings without those that go with the number of episodes: of which a learner has no value at two lengths."""

    def whose(key: str, one: Mapping[str, Any]) -> str:
        return str(one.get("learner.name")) if key.startswith("learner.") else ""

    lengths: dict[tuple[str, ...], set[int]] = {}  # of a learner, and of the values of its settings: where they occur
    for spec, one in zip(specs, flat):
        for key, x in one.items():
            for what in ((whose(key, one),), (whose(key, one), key, repr(x))):
                lengths.setdefault(what, set()).add(spec["episodes"])
    shared = {what[:2] for what, found in lengths.items() if len(found) > 1 or len(lengths[what[:1]]) == 1}
    return [{k: x for k, x in one.items() if not _may_follow(k) or (whose(k, one), k) in shared} for one in flat]


def _may_follow(key: str) -> bool:
    """Whether a default of this setting may go with the number of episodes."""
    return key == "record_every" or (key.startswith("learner.") and key != "learner.name")


def _names(flat: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [str(one.get("learner.name", "run")) for one in flat]
    keys = dict.fromkeys(key for one in flat for key in one)
    varying = [key for key in keys if key != "learner.name" and _varies(key, flat, names)]
    apart = len(set(names)) > 1
    labels = []
    for name, one in zip(names, flat):
        parts = [_part(key, one[key]) for key in varying if key in one]
        labels.append(", ".join([name, *parts] if apart or not parts else parts))
    return labels


def _varies(key: str, flat: Sequence[Mapping[str, Any]], names: Sequence[str]) -> bool:
    """Whether a setting tells runs apart: settings of a learner among those with the same name."""
    whose = names if key.startswith("learner.") else [""] * len(names)
    values: dict[str, set[str]] = {}
    for name, one in zip(whose, flat):
        values.setdefault(name, set()).add(repr(one.get(key)))
    return any(len(found) > 1 for found in values.values())


def flattened(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Its entries with dotted names."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _part(key: str, value: Any) -> str:
    """A setting in a name: names of problems and kinds of losses speak for themselves."""
    return str(value) if key in SPEAKING else f"{key.rsplit('.', 1)[-1]} {_short(value)}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def natural(text: str) -> list[tuple[int, float, str]]:
    """Sorts numbers in a text by size."""
    parts: list[tuple[int, float, str]] = []
    for word in text.replace(",", " ").split():
        try:
            parts.append((0, float(word), ""))
        except ValueError:
            parts.append((1, 0.0, word))
    return parts
