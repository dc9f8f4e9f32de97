"""What the tests of figures and pages share: stored runs, made once, and a browser where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr

EPISODES = 400


def make_run(folder: Path, seed: int = 0, trace: bool = False, episodes: int = EPISODES, **settings: Any) -> tr.Run:
    """A run on a problem whose budget binds, stored in a folder."""
    cmdp = tr.problems.make("priced-jobs", budget=6.5)
    learner = tr.PDPO.practical(cmdp, episodes, **settings)
    losses = tr.losses.make("drift", cmdp, episodes, seed=seed)
    run = tr.simulate(cmdp, losses, learner, episodes, seed=seed, record_every=5, trace=trace)
    run.save(folder)
    return run


@pytest.fixture(scope="session")
def one(tmp_path_factory) -> Path:
    """The folder of one traced run."""
    folder = tmp_path_factory.mktemp("one") / "run"
    make_run(folder, trace=True)
    return folder


@pytest.fixture(scope="session")
def sweep(tmp_path_factory) -> Path:
    """The folder of a sweep: two values of eta, three seeds each."""
    folder = tmp_path_factory.mktemp("sweep")
    for i, eta in enumerate((0.02, 0.3)):
        for seed in range(3):
            make_run(folder / f"run-{i}-{seed}", seed=seed, eta=eta)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Callable[..., Any]]:
    """Opens a page: `browser(url, width=1200, scheme="light")` gives a Selenium driver whose page has finished drawing."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: Debian's packages chromium and chromium-driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))

    def opened(url: str, width: int = 1200, scheme: str = "light") -> Any:
        from selenium.webdriver.support.ui import WebDriverWait

        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        metrics = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        chrome.get_log("browser")  # what earlier pages said
        chrome.get(url)
        WebDriverWait(chrome, 60).until(lambda d: d.execute_script("return document.documentElement.dataset.ready"))
        return chrome

    yield opened
    chrome.quit()
