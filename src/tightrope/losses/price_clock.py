"""Which hour is a row of prices? Instants in whole hours since 1970 (UTC), and the hour that clocks on the spot showed.

Times with an offset (`2021-03-14 08:00:00+00:00`, `...Z`) say their instant. Times without one are read in `zone`, where the
clocks of daylight saving are known: an hour that a clock shows twice is taken in the order of the rows, one that it skips is
refused. Without a zone they are taken as a clock that never changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tightrope.errors import InputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Hour:
    """One row's time."""

    row: int  # of the file, its first line is 1
    instant: int  # hours since 1970, UTC
    local: datetime  # what the clock on the spot showed, without offset
    offset: timedelta | None  # of that clock from UTC; None where nobody knows


def read_zone(name: str | None) -> tzinfo | None:
    """The time zone of that name, such as `America/Chicago`."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        wanted = "wanted a name such as 'America/Chicago' or 'Europe/Berlin' that this machine's time zone files know"
        raise InputError(f"zone: unknown {name!r}; {wanted}") from None


class Clock:
    """Reads the times of a file's rows, from the first to the last."""

    def __init__(self, zone: tzinfo | None):
        self.zone = zone
        self._aware: bool | None = None
        self._last: int | None = None

    def read(self, row: int, text: str, local_text: str | None = None) -> Hour:
        """The time of one row; `local_text` is a second column with the clock on the spot. Raises `ValueError`."""
        given = _parse(text)
        aware = given.tzinfo is not None
        if self._aware is not None and aware != self._aware:
            which = "has no offset from UTC, the rows before have one" if not aware else "has an offset from UTC"
            rest = "" if not aware else ", the rows before have none"
            raise ValueError(f"time {text!r} {which}{rest}; wanted one kind in the whole file")
        self._aware = aware
        seen = given if aware else self._place(given, text)
        if seen.minute or seen.second or seen.microsecond:
            raise ValueError(f"time {text!r} is not a full hour; wanted one price an hour")
        instant = int((seen - EPOCH) / timedelta(hours=1))
        self._last = instant
        return self._on_the_spot(row, instant, seen, aware, None if local_text is None else _parse(local_text))

    def _on_the_spot(self, row: int, instant: int, seen: datetime, aware: bool, local: datetime | None) -> Hour:
        """With the local hour: by the zone if one was given, else by the local column, else by the row's own offset."""
        if self.zone is not None:
            there = seen.astimezone(self.zone)
        elif local is not None:
            offset = local.utcoffset()
            if offset is None:
                offset = local - seen.astimezone(UTC).replace(tzinfo=None)
            elif local != seen:
                raise ValueError(
                    f"the local time {local.isoformat(sep=' ')} is another instant than {seen.isoformat(sep=' ')}"
                )
            return Hour(row, instant, local.replace(tzinfo=None), offset)
        else:
            there = seen
        return Hour(row, instant, there.replace(tzinfo=None), there.utcoffset() if aware or self.zone else None)

    def _place(self, naive: datetime, text: str) -> datetime:
        """A time without offset becomes an instant."""
        if self.zone is None:
            return naive.replace(tzinfo=UTC)
        early, late = (naive.replace(tzinfo=self.zone, fold=fold) for fold in (0, 1))
        if early.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) != naive:
            raise ValueError(f"time {text!r} does not exist in {self.zone}: clocks were put forward over it")
        first = int((early - EPOCH) / timedelta(hours=1))
        again = early.utcoffset() != late.utcoffset() and self._last is not None and self._last >= first
        return (late if again else early).astimezone(UTC)


def _parse(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(f"time {text!r}; wanted a date and hour such as 2021-03-14 08:00:00+00:00") from None


def mixed_zones(hours: list[Hour]) -> str | None:
    """What is wrong when the rows' own offsets are not those of one place, whose clocks change by an hour; or None."""
    first = hours[0]
    for hour in hours:
        if hour.offset is None or first.offset is None:
            continue
        if abs(hour.offset - first.offset) > timedelta(hours=1):
            return (
                f"row {hour.row}: the clock is {_utc(hour.offset)}, in row {first.row} it is {_utc(first.offset)}: "
                "mixed zones; wanted times of one place, or its name as zone="
            )
    return None


def _utc(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def shown(instant: int) -> str:
    """An instant for people."""
    return f"{EPOCH + timedelta(hours=instant):%Y-%m-%d %H:%M} UTC"
