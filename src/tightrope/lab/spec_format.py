"""What does a spec look like? The tables and fields of the TOML file, and plain words for what does not fit.

What the tables hold is judged elsewhere: `spec_checks` one setting of everything, `plan` the grid of `[sweep]`, `tune_format`
the ranges of `[tune]`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from tightrope.errors import suggest
from tightrope.lab.mistakes import shown

MOST_SEEDS = 100_000
LARGEST = 2**53  # the largest count that is exact everywhere, in curves and in JSON
_COUNT = f"a whole number from 1 to {MOST_SEEDS:,}, or a list of different seeds"
_SEED = "a whole number from 0 up"

Seed = Annotated[int, Field(ge=0, le=LARGEST)]
Seeds = Annotated[
    Annotated[int, Field(ge=1, le=MOST_SEEDS), Tag("count")]
    | Annotated[list[Seed], Field(min_length=1, max_length=MOST_SEEDS), Tag("list")],
    Discriminator(lambda given: "list" if isinstance(given, list) else "count"),
]


class Document(BaseModel):
    """The file as it stands, types right; what the tables hold is judged by `spec_checks`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    episodes: Annotated[int, Field(ge=1, le=LARGEST, description="a whole number from 1 up")]
    seeds: Annotated[Seeds, Field(description=_COUNT)] = 1
    record_every: Annotated[int | None, Field(ge=1, le=LARGEST, description="a whole number from 1 up")] = None
    trace: Annotated[bool, Field(description="true or false")] = False
    problem: Annotated[dict[str, Any], Field(description="a table [problem] with a `name` or a `file`")]
    losses: Annotated[dict[str, Any], Field(description="a table [losses] with a `kind`")]
    learner: Annotated[dict[str, Any], Field(default_factory=dict, description="a table [learner]")]
    sweep: Annotated[
        dict[str, Any],
        Field(default_factory=dict, description='a table [sweep] of lists, such as "learner.alpha" = [0.1, 0.2]'),
    ]
    tune: Annotated[dict[str, Any] | None, Field(description="a table [tune]")] = None

    def seed_list(self) -> list[int]:
        return list(range(self.seeds)) if isinstance(self.seeds, int) else list(self.seeds)


def read_document(raw: dict[str, Any], mistakes: Any) -> Document:
    """Read the parsed TOML; whatever is wrong goes to `mistakes`, and the document returned has stand-ins in its place.

    The stand-ins let the tables be judged as well, so that all mistakes of a file are told at once.
    """
    broken: set[str] = set()
    try:
        Document.model_validate(raw)
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_context=False):
            broken.add(str(wrong["loc"][0]))
            _tell(wrong, raw, mistakes)
    stand_ins = {"episodes": 1, "problem": {}, "losses": {}, "learner": {}}
    sound = {key: value for key, value in raw.items() if key in Document.model_fields and key not in broken}
    document = Document.model_validate({key: value for key, value in stand_ins.items() if key in broken} | sound)
    _tell_repeated(document, mistakes)
    return document


def _tell(wrong: Any, raw: dict[str, Any], mistakes: Any) -> None:
    """Put one of pydantic's findings into our words."""
    name, *inner = wrong["loc"]
    field = (name, *(part for part in inner if isinstance(part, int)))  # without the tags of the union
    if wrong["type"] == "extra_forbidden":
        mistakes.add((name,), f"unknown field; {suggest(name, Document.model_fields)}")
        return
    wanted = _SEED if len(field) > 1 else Document.model_fields[name].description
    if wrong["type"] == "missing":
        mistakes.add((name,), f"missing; expected {wanted}")
    else:
        given = raw[name][field[1]] if len(field) > 1 else raw[name]
        mistakes.add(field, f"{shown(given)}; expected {wanted}")


def _tell_repeated(document: Document, mistakes: Any) -> None:
    if isinstance(document.seeds, int):
        return
    first: dict[int, int] = {}
    for i, seed in enumerate(document.seeds):
        if first.setdefault(seed, i) != i:
            mistakes.add(("seeds", i), f"seed {seed} is there twice; expected different seeds")
