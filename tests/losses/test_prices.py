"""Prices from a file: found, placed in time, checked row by row, and turned into losses by the scaling that the docs state."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import tightrope as tr

REAL = Path("/work/shared/data/US-TEX-ERCO_electricity_prices_2021.csv")
UTC = UTC


def file(folder: Path, text: str, name: str = "prices.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def hourly(first: str, n: int, price=lambda i: 10.0 + i, skip: tuple[int, ...] = ()) -> str:
    """A file of n hours from `first` (UTC), without the hours `skip`."""
    start = datetime.fromisoformat(first).replace(tzinfo=UTC)
    rows = [f"{(start + timedelta(hours=i)).isoformat(sep=' ')},{price(i)}" for i in range(n) if i not in skip]
    return "\n".join(["Datetime (UTC),Price (USD/MWh)", *rows]) + "\n"


def refused(path: Path, **how) -> tuple[str, ...]:
    with pytest.raises(tr.InputError) as caught:
        tr.losses.read_prices(path, **how)
    assert all(str(path) in line for line in caught.value.problems)
    return caught.value.problems


def test_columns_are_found_by_their_names_or_named(tmp_path):
    plain = file(tmp_path, "Stamp,LMP,note\n2021-03-01T00:00Z,5,a\n2021-03-01T01:00Z,6,b\n")
    assert "no column for the time" in refused(plain)[0] and "Stamp, LMP, note" in refused(plain)[0]
    assert tr.losses.read_prices(plain, time="Stamp").price.tolist() == [5, 6]
    assert "row 1: no column 'LMPS' for price=; did you mean 'LMP'?" in refused(plain, time="stamp", price="LMPS")[0]
    dear = file(tmp_path, "utc time,foo\n2021-03-01 00:00,5\n", "foo.csv")
    assert "no column for the price" in refused(dear)[0]
    german = file(tmp_path, "\ufeffDatum;Preis;EUR/MWh\n2021-03-01 00:00;x;12,5\n", "semicolon.csv")
    assert tr.losses.read_prices(german, time="Datum", price="EUR/MWh").price.tolist() == [12.5]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty; wanted a line of column names"),
        ("\n\n", "empty; wanted a line of column names"),
        ("time,price\n", "no row below the column names time, price"),
        ("time,price\n2021-03-01 00:00,abc\n", "row 2: price 'abc'; wanted a number"),
        ("time,price\n2021-03-01 00:00,1\nyesterday,2\n", "row 3: time 'yesterday'; wanted a date and hour"),
        ("time,price\n2021-03-01 00:00,inf\n", "row 2: price 'inf'; wanted a finite number"),
        ("time,price\n2021-03-01 00:00\n", "row 2: 1 columns; wanted 2 or more"),
        ("time,price\n2021-03-01 00:15,1\n", "row 2: time '2021-03-01 00:15' is not a full hour"),
        ("time,price\n2021-03-01 00:00,1\n2021-03-01 00:00,1\n", "row 3: the hour 2021-03-01 00:00 UTC is there again"),
        ("time,price\n2021-03-01 00:00,1\n2021-03-01 01:00Z,1\n", "row 3: time '2021-03-01 01:00Z' has an offset"),
        ("time,price\n2021-03-01 00:00-06:00,1\n2021-03-01 08:00+01:00,1\n", "row 3: the clock is UTC+01:00, in row 2"),
        ("time,price\n2021-03-01 00:00,\n", "no row has a price"),
    ],
)
def test_a_bad_file_is_refused_with_its_row(tmp_path, text, told):
    lines = refused(file(tmp_path, text))
    assert len(lines) == 1 and told in lines[0]


def test_every_bad_row_is_told_up_to_five(tmp_path):
    rows = "".join(f"2021-03-01 {i:02d}:00,x{i}\n" for i in range(9))
    lines = refused(file(tmp_path, "time,price\n" + rows))
    assert len(lines) == 6 and "row 6" in lines[4] and "and 4 more rows like these" in lines[5]


def test_files_that_cannot_be_read_are_refused(tmp_path):
    assert "no such file" in refused(tmp_path / "absent.csv")[0]
    assert "cannot be read" in refused(tmp_path)[0]
    (tmp_path / "latin.csv").write_bytes("time,price (£)\n".encode("latin-1"))
    assert "not text in UTF-8" in refused(tmp_path / "latin.csv")[0]
    with pytest.raises(tr.InputError, match=r"^zone: unknown 'America/Chicgao'"):
        tr.losses.read_prices(tmp_path / "x.csv", zone="America/Chicgao")


def test_short_gaps_are_filled_and_long_ones_cost_the_nights_that_touch_them(tmp_path):
    path = file(tmp_path, hourly("2021-03-01", 96, skip=(5, 6, *range(50, 60)), price=lambda i: 10.0 + i))
    read = tr.losses.read_prices(path)
    assert read.price[5:7].tolist() == [15.0, 16.0]
    assert np.isnan(read.price[50:60]).all() and np.isfinite(np.delete(read.price, range(50, 60))).all()
    assert read.report[0] == "row 6: 2 hours missing after 2021-03-01 04:00 UTC, filled in by a straight line"
    assert "row 49: 10 hours missing after 2021-03-03 01:00 UTC" in read.report[1]
    nights = tr.losses.nights_of(read, 8, start=20)
    assert nights.dates == (date(2021, 3, 1), date(2021, 3, 3))  # the second touches the gap, the fourth is cut off
    assert nights.report[-1] == "1 night left out for missing hours: 2021-03-02"
    with pytest.raises(tr.InputError, match="no whole night of 40 hours from 20:00"):
        tr.losses.nights_of(read, 40)


def test_blank_prices_are_gaps_and_rows_may_come_in_any_order(tmp_path):
    path = file(tmp_path, "time,price\n2021-03-01 02:00,3\n2021-03-01 00:00,1\n2021-03-01 01:00,\n")
    read = tr.losses.read_prices(path)
    assert read.price.tolist() == [1, 2, 3]
    assert "row 3: the rows are not in the order of time" in read.report[0]


def test_a_clock_that_is_put_back_shows_an_hour_twice_and_one_put_forward_skips_one(tmp_path):
    autumn = "time,price\n" + "".join(f"2021-11-07 {h}:00,{i}\n" for i, h in enumerate(("00", "01", "01", "02")))
    path = file(tmp_path, autumn)
    read = tr.losses.read_prices(path, zone="America/Chicago")
    assert read.price.tolist() == [0, 1, 2, 3]
    assert [hour.hour for hour in read.local] == [0, 1, 1, 2]
    assert "row 4" in refused(path)[0] and "name the place as zone=" in refused(path)[0]
    spring = file(tmp_path, "time,price\n2021-03-14 01:00,1\n2021-03-14 02:00,2\n", "spring.csv")
    assert (
        "row 3: time '2021-03-14 02:00' does not exist in America/Chicago" in refused(spring, zone="America/Chicago")[0]
    )
    jumped = file(tmp_path, "time,price\n2021-03-14 01:00,1\n2021-03-14 03:00,2\n", "jumped.csv")
    assert tr.losses.read_prices(jumped, zone="America/Chicago").price.tolist() == [1, 2]


def test_a_night_has_ten_real_hours_also_when_clocks_change(tmp_path):
    path = file(tmp_path, hourly("2021-03-13T18:00", 60))
    nights = tr.losses.nights_of(tr.losses.read_prices(path, zone="America/Chicago"), 10)
    assert nights.dates == (date(2021, 3, 13), date(2021, 3, 14))
    assert nights.prices[0].tolist() == [18.0 + i for i in range(10)]  # 20:00 CST is 02:00 UTC
    assert nights.prices[1].tolist() == [41.0 + i for i in range(10)]  # 20:00 CDT is 01:00 UTC, 23 hours later


def test_losses_are_prices_over_a_dear_one_within_0_and_1(tmp_path):
    cmdp = tr.problems.make("nightly-batch", jobs=3, hours=4, budget=3.5)
    path = file(tmp_path, hourly("2021-03-01", 200, price=lambda i: -5.0 if i == 21 else 1.0 * i))
    losses = tr.losses.prices(path, cmdp, scale=100.0)
    tables = cmdp.losses(losses.profiles)  # [n, H, S, A]
    assert (tables[..., 0] == 0).all()
    assert np.ptp(tables[..., 1], axis=2).max() == 0  # the same in every state
    assert tables[0, :, 0, 1] == pytest.approx([0.20, 0.0, 0.22, 0.23])
    assert tables[5, :, 0, 1].tolist() == [1.0] * 4
    assert losses.nights is not None and losses.nights.prices[0, 1] == -5.0
    assert any("1 hour with a negative price" in line for line in losses.report)
    known = losses.nights.prices[:3]
    for scale, dear in (("median", 2 * np.median(known)), ("quantile", np.quantile(known, 0.95))):
        running = tr.losses.prices(path, cmdp, scale=scale)
        assert running.dear is not None and running.dear[2] == pytest.approx(dear)
    with pytest.raises(
        tr.InputError, match=r"^scale: 'weekly', wanted 'median', 'quantile', 'whole' or a price above 0"
    ):
        tr.losses.prices(path, cmdp, scale="weekly")
    with pytest.raises(tr.InputError, match=r"^episodes: 900, but prices.csv has 8 nights"):
        tr.losses.prices(path, cmdp, episodes=900)
    with pytest.raises(tr.InputError, match=r"^start: 24, wanted an hour of the day"):
        tr.losses.prices(path, cmdp, start=24)


def test_prices_can_be_simulated_like_any_losses(tmp_path):
    cmdp = tr.problems.make("nightly-batch")
    losses = tr.losses.prices(tr.losses.synthetic_prices(60, seed=3), cmdp)
    run = tr.simulate(cmdp, losses, tr.PDPO.practical(cmdp, losses.episodes), losses.episodes)
    assert run.about["losses"]["kind"] == "prices" and np.isfinite(run.regret).all()


def test_synthetic_prices_have_the_shape_of_a_market_and_survive_a_file(tmp_path):
    made = tr.losses.synthetic_prices(365, seed=1)
    by_hour = np.median(made.price.reshape(-1, 24), axis=0)
    assert 20 < np.median(made.price) < 35 and made.price.max() > 5_000 and (made.price < 0).any()
    assert by_hour[18] > 1.5 * by_hour[3]
    again = tr.losses.synthetic_prices(365, seed=1)
    assert np.array_equal(made.price, again.price)
    assert not np.array_equal(made.price, tr.losses.synthetic_prices(365, seed=2).price)
    tr.losses.write_prices(made, tmp_path / "made.csv")
    assert np.array_equal(tr.losses.read_prices(tmp_path / "made.csv").price, made.price)
    with pytest.raises(tr.InputError, match="already there; nothing is overwritten"):
        tr.losses.write_prices(made, tmp_path / "made.csv")


@pytest.mark.skipif(not REAL.exists(), reason=f"{REAL} is not here: a year of real prices")
def test_the_real_year_is_365_nights_by_local_time_however_it_is_told():
    cmdp = tr.problems.make("nightly-batch")
    by_column = tr.losses.prices(REAL, cmdp)
    by_zone = tr.losses.prices(REAL, cmdp, zone="America/Chicago")
    assert by_column.nights is not None and by_zone.nights is not None
    assert by_column.nights.dates == by_zone.nights.dates
    assert (len(by_column.nights.dates), by_column.nights.dates[0]) == (365, date(2020, 12, 31))
    assert np.array_equal(by_column.nights.prices, by_zone.nights.prices)
    assert by_column.nights.prices[183:].sum(axis=1).mean() == pytest.approx(305.38, abs=0.01)
