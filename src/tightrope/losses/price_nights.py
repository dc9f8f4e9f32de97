"""How do prices become losses? Nights of H hours from a local hour on; each hour's price over a dear one, within [0, 1].

The loss of running in an hour is `min(max(price / dear, 0), 1)`, where `dear` is the price that counts as loss 1. With
`scale="median"` it is twice the median of the prices of all nights up to this one, which is known once the night is over
and which no storm moves; with "quantile" it is their 95% quantile. Prices above it count as 1: they are clipped, and money
is always counted by the prices themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from tightrope.errors import InputError
from tightrope.losses.price_file import Prices, read_prices
from tightrope.losses.profiles import Profiles
from tightrope.numbers_in import real_wrong, whole, whole_wrong
from tightrope.problems.cmdp import LinearCMDP
from tightrope.problems.tables import AxisFeatures, Floats, frozen

QUANTILE = 0.95
MEDIANS = 2.0  # how many medians are a dear price
START = 20  # o'clock, local time


@dataclass(frozen=True, eq=False)
class Nights:
    """Windows of equal length, one a day."""

    dates: tuple[date, ...]  # [n] local dates on which they begin
    prices: Floats  # [n, H]
    report: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PriceLosses(Profiles):
    """`Profiles`, one a night, that know what money they stand for."""

    nights: Nights | None = field(default=None, kw_only=True)
    dear: Floats | None = field(default=None, kw_only=True)  # [n] the price that counts as loss 1

    @property
    def report(self) -> tuple[str, ...]:
        return () if self.nights is None else self.nights.report


def nights_of(prices: Prices, hours: int, start: int = START) -> Nights:
    """The nights of `hours` hours that begin when clocks on the spot show `start` o'clock, and are there in full."""
    if whole("start", start, 0) > 23:
        raise InputError(f"start: {start}, wanted an hour of the day, 0 to 23")
    dates: list[date] = []
    rows: list[Floats] = []
    left_out: list[date] = []
    for i, clock in enumerate(prices.local):
        if clock.hour != start or (dates and clock.date() == dates[-1]):
            continue
        window = prices.price[i : i + hours]
        if len(window) < hours:
            break
        if np.isnan(window).any():
            left_out.append(clock.date())
            continue
        dates.append(clock.date())
        rows.append(window)
    if not rows:
        span = f"{prices.local[0]:%Y-%m-%d %H:%M} to {prices.local[-1]:%Y-%m-%d %H:%M}"
        raise InputError(f"{prices.name}: no whole night of {hours} hours from {start}:00 local time in {span}")
    report = list(prices.report)
    if left_out:
        named = ", ".join(str(day) for day in left_out[:3]) + (", …" if len(left_out) > 3 else "")
        report.append(f"{len(left_out)} night{'s' * (len(left_out) > 1)} left out for missing hours: {named}")
    return Nights(tuple(dates), frozen(np.array(rows)), tuple(report))


def prices(
    csv: str | Path | Prices,
    cmdp: LinearCMDP,
    *,
    start: int = START,
    scale: str | float = "median",
    action: int = 1,
    episodes: int | None = None,
    time: str | None = None,
    price: str | None = None,
    zone: str | None = None,
) -> PriceLosses:
    """Losses from hourly prices: one night an episode, in the order of the calendar.

    Parameters
    ----------
    csv: a file with columns for the time and the price (found by their names, or named by `time` and `price`), or `Prices`.
    cmdp: whose action `action` pays the hour's price, such as "nightly-batch"; the others are free. Features are one-hot.
    start: o'clock, local time; the night has as many hours as the problem has steps.
    scale: the price that counts as loss 1: "median" or "quantile" (see above), "whole" (twice the median of all nights), or a
        price.
    episodes: at most so many nights; all of them by default.
    zone: the place whose clocks count; needed only where neither a local column nor offsets tell.
    """
    read = csv if isinstance(csv, Prices) else read_prices(csv, time, price, zone)
    nights = nights_of(read, cmdp.horizon, start)
    dear = _dear(nights.prices, scale)
    wanted = len(dear) if episodes is None else whole("episodes", episodes, 1)
    if wanted > len(dear):
        raise InputError(f"episodes: {wanted}, but {read.name} has {len(dear)} nights")
    weights = night_weights(cmdp, np.clip(nights.prices / dear[:, None], 0.0, 1.0), action)
    about: dict[str, Any] = {
        "kind": "prices",
        "file": read.name,
        "start": int(start),
        "action": int(action),
        "scale": scale,
        "nights": len(dear),
    }
    return PriceLosses(weights, np.arange(wanted), about, nights=nights, dear=frozen(dear))


def night_weights(cmdp: LinearCMDP, hourly: Floats, action: int = 1) -> Floats:
    """Loss weights [n, H, d] under which `action` loses hourly [n, H], in every state, and others nothing."""
    table = cmdp.feature_table
    if not isinstance(table, AxisFeatures) or len(np.unique(table.index)) != table.index.size:
        raise InputError("cmdp: prices want one-hot features, one coordinate for each state and action")
    if whole_wrong(action, 0) or action >= cmdp.n_actions:
        raise InputError(f"action: {action!r}, wanted one of the problem's actions 0..{cmdp.n_actions - 1}")
    weights = np.zeros((*hourly.shape, cmdp.dim))
    weights[:, :, table.index[:, action]] = hourly[:, :, None] / table.value[:, action]
    return weights


def _dear(nightly: Floats, scale: str | float) -> Floats:
    """[n], the price that counts as loss 1 in each night."""
    if scale == "median":
        found = np.array([MEDIANS * np.median(nightly[: n + 1]) for n in range(len(nightly))])
    elif scale == "quantile":
        found = np.array([np.quantile(nightly[: n + 1], QUANTILE) for n in range(len(nightly))])
    elif scale == "whole":
        found = np.full(len(nightly), MEDIANS * np.median(nightly))
    elif isinstance(scale, str) or real_wrong(scale, 0.0) or scale == 0:
        raise InputError(f"scale: {scale!r}, wanted 'median', 'quantile', 'whole' or a price above 0")
    else:
        return np.full(len(nightly), float(scale))
    return np.where(found > 0.0, found, 1.0)  # nights at no price lose nothing, whatever it is divided by
