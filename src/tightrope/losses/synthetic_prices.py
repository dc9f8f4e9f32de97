"""What if there is no file? A year of hourly prices with the daily shape and the spikes of a real market, drawn from a seed.

Made of four parts, in currency per MWh: a level that wanders from day to day around 26 (an autoregression of the logarithm);
a daily shape, low before dawn and high in the evening, stronger in summer; hours of scarcity, at about three in a thousand,
some five to forty times the level; and one storm of four days in the sixth week at up to the market's cap of 9,000. About one
hour in two hundred has more wind than demand, and a price just below zero.
"""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from tightrope.errors import InputError
from tightrope.losses.price_clock import EPOCH
from tightrope.losses.price_file import Prices
from tightrope.numbers_in import whole
from tightrope.problems.tables import Floats, frozen

# Shares of the day's level by the hour, from midnight on: sleep, a morning shoulder, an evening peak at 18 to 20.
SHAPE = (0.78, 0.74, 0.71, 0.70, 0.71, 0.76, 0.86, 0.95, 0.98, 1.00, 1.02, 1.05)
SHAPE += (1.09, 1.13, 1.18, 1.24, 1.30, 1.40, 1.48, 1.42, 1.22, 1.05, 0.93, 0.85)
LEVEL, CAP = 26.0, 9000.0
STORM_DAY, STORM_DAYS = 44, 4
COLUMNS = ("Datetime (UTC)", "Price (USD/MWh)")


def synthetic_prices(days: int = 365, seed: int = 0) -> Prices:
    """Hourly prices from 1 January 2021 on, on a clock that never changes."""
    n = whole("days", days, 1)
    random = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, 0)))
    level = _levels(random, n)
    season = 1.0 - 0.5 * np.cos(2.0 * np.pi * (np.arange(n) - 15.0) / 365.0)  # from 0.5 in January to 1.5 in July
    shape = 1.0 + (np.array(SHAPE) - 1.0) * season[:, None]
    price = level[:, None] * shape * np.exp(0.12 * random.standard_normal((n, 24)))
    scarce = random.random((n, 24)) < 0.003
    price = np.where(scarce, price * random.uniform(5.0, 40.0, (n, 24)), price)
    windy = random.random((n, 24)) < 0.005
    price = np.where(windy, -random.exponential(2.0, (n, 24)), price)
    storm = slice(STORM_DAY, min(STORM_DAY + STORM_DAYS, n))
    price[storm] = random.uniform(0.1, 1.0, price[storm].shape) * CAP
    first = datetime(2021, 1, 1)
    hourly = np.minimum(price, CAP).ravel()
    local = [first + timedelta(hours=i) for i in range(24 * n)]
    hours = int((first - EPOCH.replace(tzinfo=None)) / timedelta(hours=1))
    report = (f"made from seed {seed}: {n} days with the daily shape and the spikes of a real market",)
    return Prices(f"synthetic prices (seed {seed})", hours, frozen(hourly), local, report)


def _levels(random: np.random.Generator, days: int) -> Floats:
    """[days], the level of each day."""
    steps = 0.18 * random.standard_normal(days)
    log = np.empty(days)
    for i in range(days):
        log[i] = steps[i] + (0.85 * log[i - 1] if i else 0.0)
    return LEVEL * np.exp(log)


def write_prices(prices: Prices, path: str | Path) -> None:
    """A CSV file that `read_prices` reads back; an existing file is left alone."""
    path = Path(path)
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(COLUMNS)
            for i, price in enumerate(prices.price):
                if not np.isnan(price):
                    rows.writerow([(EPOCH + timedelta(hours=prices.first + i)).isoformat(sep=" "), repr(float(price))])
    except FileExistsError:
        raise InputError(f"{path}: already there; nothing is overwritten") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
