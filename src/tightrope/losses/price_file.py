"""What did electricity cost, hour by hour? A CSV file becomes one price an hour without holes, with a report of what was done.

Columns are found by their names. Short gaps are filled in by a straight line, longer ones stay gaps, and nights that touch
them are left out; a repeated hour, text, an empty file are refused with their row. Every row of the file is counted from 1,
the line of column names included.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

from tightrope.errors import InputError, suggest
from tightrope.losses.price_clock import Clock, Hour, mixed_zones, read_zone, shown
from tightrope.problems.tables import Floats, frozen
from tightrope.text_in import read_text

LONGEST_FILLED = 3  # hours of a gap that are filled in
MOST_TOLD = 5  # mistakes of one file that are told in full
TIME_WORDS = ("utc", "timestamp", "datetime", "time", "date", "hour")
PRICE_WORDS = ("price", "lmp", "/mwh", "/kwh", "usd", "eur", "gbp")


@dataclass(frozen=True, eq=False)
class Prices:
    """One price an hour, from the first hour to the last; NaN where the file has a long gap."""

    name: str
    first: int  # hours since 1970, UTC
    price: Floats  # [n]
    local: list[datetime]  # [n] what clocks on the spot showed
    report: tuple[str, ...]  # what was filled in, left out or unusual, for people

    @property
    def digest(self) -> str:
        """Of all that losses are made of: equal where the hours, their clocks and their prices are, whatever the file."""
        clocks = " ".join(str(hour.replace(tzinfo=None)) for hour in self.local)
        return hashlib.sha256(f"{self.first} {clocks} ".encode() + self.price.tobytes()).hexdigest()[:16]


def read_prices(path: str | Path, time: str | None = None, price: str | None = None, zone: str | None = None) -> Prices:
    """Read a CSV file with hourly prices.

    Parameters
    ----------
    time, price: names of the columns, where they cannot be told by their names.
    zone: such as "America/Chicago": the place whose clocks tell when a night begins. Without it, a second column of local
        times or the offset that the times carry tells it.
    """
    path = Path(path)
    place = read_zone(zone)
    header, rows = _table(path)
    columns = _columns(path, header, time, price)
    hours, numbers = _rows(path, rows, columns, Clock(place))
    return _whole(path.name, str(path), hours, numbers)


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Column names, and the rows with their numbers."""
    text = read_text(path, "wanted a CSV file with hourly prices")
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError(f"{path}: row {reader.line_num}: not CSV ({error})") from None
    if not lines:
        raise InputError(f"{path}: empty; wanted a line of column names and one row an hour")
    if len(lines) == 1:
        raise InputError(f"{path}: no row below the column names {', '.join(lines[0][1])}; wanted one row an hour")
    if separator == ";":
        lines = [(number, [cell.replace(",", ".") for cell in row]) for number, row in lines]
    return [cell.strip() for cell in lines[0][1]], lines[1:]


def _columns(path: Path, header: list[str], time: str | None, price: str | None) -> tuple[int, int, int | None]:
    """Which columns hold the time, the price, and the local time if it is another one."""
    lower = [name.lower() for name in header]
    wrong = []
    for word, name in (("time", time), ("price", price)):
        if name is not None and name.lower() not in lower:
            wrong.append(f"{path}: row 1: no column {name!r} for {word}=; {suggest(name, header)}")
    if wrong:
        raise InputError(wrong)
    local = next((i for i, name in enumerate(lower) if "local" in name and time is None), None)
    at = lower.index(time.lower()) if time is not None else _first(lower, TIME_WORDS, {local})
    if at is None:
        at, local = local, None
    paid = lower.index(price.lower()) if price is not None else _first(lower, PRICE_WORDS, {at, local})
    have = f"row 1: the columns are {', '.join(header)}"
    if at is None:
        wrong.append(f"{path}: {have}; no column for the time (one with 'UTC', 'time' or 'date' in its name, or time=)")
    if paid is None:
        wrong.append(f"{path}: {have}; no column for the price (one with 'price' or '/MWh' in its name, or price=)")
    if at is None or paid is None:
        raise InputError(wrong)
    return at, paid, local


def _first(names: list[str], words: tuple[str, ...], taken: set[int | None]) -> int | None:
    """The first column, by the order of the words, whose name has one of them."""
    found = [i for word in words for i, name in enumerate(names) if word in name and i not in taken]
    return found[0] if found else None


def _rows(
    path: Path, rows: list[tuple[int, list[str]]], columns: tuple[int, int, int | None], clock: Clock
) -> tuple[list[Hour], list[float]]:
    """Every row's hour and price (NaN where the cell is blank), or all mistakes at once."""
    at, paid, local = columns
    hours: list[Hour] = []
    numbers: list[float] = []
    wrong: list[str] = []
    for number, row in rows:
        try:
            if len(row) <= max(at, paid, local or 0):
                raise ValueError(f"{len(row)} columns; wanted {max(at, paid, local or 0) + 1} or more")
            hour = clock.read(number, row[at], None if local is None else row[local])
            numbers.append(_price(row[paid]))
            hours.append(hour)
        except ValueError as error:
            wrong.append(f"{path}: row {number}: {error}")
    seen: dict[int, int] = {}
    for hour in hours:
        if hour.instant in seen:
            again = f"the hour {shown(hour.instant)} is there again, first in row {seen[hour.instant]}"
            advice = "" if hour.offset is not None else "; where clocks change, name the place as zone="
            wrong.append(f"{path}: row {hour.row}: {again}{advice}")
        seen.setdefault(hour.instant, hour.row)
    mixed = mixed_zones(hours) if hours and clock.zone is None else None
    if mixed is not None:
        wrong.append(f"{path}: {mixed}")
    if wrong:
        more = [f"{path}: and {len(wrong) - MOST_TOLD} more rows like these"] if len(wrong) > MOST_TOLD else []
        raise InputError(wrong[:MOST_TOLD] + more)
    return hours, numbers


def _price(cell: str) -> float:
    """A price; NaN for a blank."""
    if not cell.strip():
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        raise ValueError(f"price {cell!r}; wanted a number") from None
    if not math.isfinite(number):
        raise ValueError(f"price {cell!r}; wanted a finite number")
    return number


def _whole(name: str, path: str, hours: list[Hour], numbers: list[float]) -> Prices:
    """The rows in order of time, gaps found, short ones filled."""
    report = []
    order = np.argsort([hour.instant for hour in hours], kind="stable")
    early = [after.row for before, after in pairwise(hours) if after.instant < before.instant]
    if early:
        report.append(f"row {early[0]}: the rows are not in the order of time; they were put in order")
    ordered = [hours[i] for i in order if not math.isnan(numbers[i])]
    if not ordered:
        raise InputError(f"{path}: no row has a price; wanted one number an hour")
    first = ordered[0].instant
    price = np.full(ordered[-1].instant - first + 1, np.nan)
    price[[hour.instant - first for hour in ordered]] = [numbers[i] for i in order if not math.isnan(numbers[i])]
    local = [hour.local for hour in ordered[:1]]
    for before, after in pairwise(ordered):
        missing = after.instant - before.instant - 1
        local += [before.local + timedelta(hours=1 + i) for i in range(missing)] + [after.local]
        if not missing:
            continue
        gap = f"row {before.row}: {missing} hour{'s' * (missing > 1)} missing after {shown(before.instant)}"
        if missing <= LONGEST_FILLED:
            hole = slice(before.instant - first, after.instant - first + 1)
            price[hole] = np.linspace(price[hole.start], price[hole.stop - 1], missing + 2)
            report.append(f"{gap}, filled in by a straight line")
        else:
            report.append(f"{gap}, too many to fill in: nights that touch them are left out")
    negative = int((price < 0).sum())
    if negative:
        some = f"{negative} hour{'s' * (negative > 1)} with a negative price"
        report.append(f"{some}: they count as free, and are paid as they are")
    return Prices(name, first, frozen(price), local, tuple(report))
