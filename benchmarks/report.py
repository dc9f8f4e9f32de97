"""How large is a page about 200 runs of 1,000 recorded points, and how soon is it there?"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import tightrope as tr
from benchmarks.timing import Row
from tightrope.show.page.html import report
from tightrope.show.reading import read_folder

RUNS, POINTS, OPENINGS = 200, 1000, 5


def rows() -> list[Row]:
    """Size in megabytes; seconds from the request to the last chart drawn, the median of five openings."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _runs(folder / "runs")
        page = folder / "page.html"
        page.write_text(report(read_folder(folder / "runs")), encoding="utf-8")
        size = page.stat().st_size / 1e6
        found = [Row(f"page of {RUNS} runs of {POINTS:,} points", size, 6.0, False, "MB", "the file")]
        seconds = _open(page)
        if seconds is not None:
            how = f"headless Chromium, median of {OPENINGS}, until the last chart is drawn"
            found.append(Row("the same page opens", seconds, 2.0, False, "s", how))
        return found


def _runs(folder: Path) -> None:
    cmdp = tr.problems.make("priced-jobs")
    for i in range(RUNS):
        learner = tr.PDPO.practical(cmdp, POINTS, eta=0.01 * (1 + i % 10))
        losses = tr.losses.make("drift", cmdp, POINTS, seed=i // 10)
        tr.simulate(cmdp, losses, learner, POINTS, seed=i // 10, record_every=1).save(folder / f"run-{i}")


def _open(page: Path) -> float | None:
    """None without a browser."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        return None
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        found, ready = [], "return document.documentElement.dataset.ready"  # milliseconds since the page was asked for
        for _ in range(OPENINGS):
            chrome.get(page.as_uri())
            found.append(float(WebDriverWait(chrome, 60).until(lambda d: d.execute_script(ready))) / 1000.0)
        return statistics.median(found)
    finally:
        chrome.quit()
