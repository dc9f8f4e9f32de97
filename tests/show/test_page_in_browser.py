"""The page, opened in a real browser: it draws, answers to sliders, clicks and keys, fits, and can be read by everybody."""

from __future__ import annotations

import importlib.util
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tightrope.show.page.html import report
from tightrope.show.reading import Collection, Kept, read_folder
from tightrope.show.serve import server

pytestmark = pytest.mark.xdist_group("browser")  # one browser at a time


@pytest.fixture(scope="module")
def pages(one, sweep, tmp_path_factory) -> dict[str, str]:
    """Addresses of the pages of one run and of a sweep."""
    folder = tmp_path_factory.mktemp("pages")
    return {name: written(source, folder / f"{name}.html") for name, source in (("one", one), ("sweep", sweep))}


def some_fast(*cases: tuple) -> list:
    """The first two as they are, the others among the slow tests."""
    return [pytest.param(*case, marks=[pytest.mark.slow] if i > 1 else []) for i, case in enumerate(cases)]


def written(folder: Path, path: Path) -> str:
    """The address of a folder's page, written into a file."""
    path.write_text(report(read_folder(folder)), encoding="utf-8")
    return path.as_uri()


def wait_for(driver: Any, condition: Any) -> None:
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.support.ui import WebDriverWait

    ignored = [StaleElementReferenceException]  # while a page is loaded again
    WebDriverWait(driver, 30, poll_frequency=0.05, ignored_exceptions=ignored).until(condition)


def _complaints(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


@pytest.mark.parametrize("name", ["one", "sweep"])
def test_a_page_opens_without_a_complaint_and_asks_nobody_for_anything(browser, pages, name):
    driver = browser(pages[name])
    assert _complaints(driver) == []
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert driver.execute_script("return document.querySelectorAll('#chart0 .scatterlayer .trace').length") > 0


@pytest.mark.parametrize(("name", "width"), some_fast(("one", 400), ("sweep", 1600), ("one", 1600), ("sweep", 400)))
def test_nothing_overflows(browser, pages, name, width):
    driver = browser(pages[name], width)
    driver.execute_script("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    wide = driver.execute_script(
        """const width = document.documentElement.clientWidth;
        return [...document.querySelectorAll('body *')].filter((e) => {
          const box = e.getBoundingClientRect();
          return box.width && (box.right > width + 1 || box.left < -1) && !e.closest('.wide, pre, .skip, svg');
        }).map((e) => e.outerHTML.slice(0, 120));"""
    )
    assert wide == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("name", "scheme"), some_fast(("one", "light"), ("sweep", "dark"), ("one", "dark"), ("sweep", "light"))
)
def test_axe_finds_nothing_to_object_to(browser, pages, name, scheme):
    package = importlib.util.find_spec("axe_core_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core-python is not installed")
    driver = browser(pages[name], 1200, scheme)
    driver.execute_script("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    driver.execute_script((Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = driver.execute_async_script("axe.run(document).then(arguments[0])")
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
    told = [(rule["id"], node["html"][:120]) for rule in found["violations"] for node in rule["nodes"]]
    assert told == []


def test_sliders_move_the_picture_and_the_explanation(browser, pages):
    driver = browser(pages["one"])
    look = "return [JSON.stringify(document.getElementById('policy').data[0].z), document.getElementById('why').textContent]"
    for slider in ("step", "snapshot"):
        before = driver.execute_script(look)
        element = driver.find_element("id", slider)
        element.send_keys("\ue012" if slider == "snapshot" else "\ue014")  # the left and right arrow keys
        wait_for(driver, lambda d, seen=before: d.execute_script(look)[0] != seen[0])
        assert driver.execute_script(look)[1] != before[1]


def test_captions_of_wide_tables_can_be_read_on_a_narrow_screen(browser, pages):
    driver = browser(pages["sweep"], width=400)
    ends = "return [...document.querySelectorAll('caption span')].map(x => { const b = x.getBoundingClientRect(); "
    ends += (
        "const w = x.closest('.wide').getBoundingClientRect(); return [b.left - w.left, w.right - b.right, b.width] })"
    )
    found = [spans for spans in driver.execute_script(ends) if spans[2]]  # those of closed parts have no width
    assert found
    assert all(left >= -1.0 and right >= -1.0 for left, right, _ in found), found


def test_a_click_on_a_state_explains_it(browser, pages):
    from selenium.webdriver import ActionChains

    driver = browser(pages["one"])
    picture = driver.find_element("css selector", "#policy .nsewdrag")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
    before = driver.find_element("id", "why").text
    ActionChains(driver).move_to_element_with_offset(picture, -20, 60).click().perform()
    wait_for(driver, lambda d: d.find_element("id", "why").text != before)
    state = driver.execute_script("return document.getElementById('state').value")
    text = driver.find_element("id", "why").text
    assert f"In state {state} at step 1" in text
    for word in ("loss to go", "cost to go", "bonus", "contraction", "visits before"):
        assert word in text


def test_axes_switch_between_measures_and_to_logarithms(browser, pages):
    driver = browser(pages["sweep"])
    axis = "return document.getElementById('chart0')._fullLayout"
    assert driver.execute_script(axis + ".yaxis.type") == "linear"
    driver.find_element("id", "logy").click()
    wait_for(driver, lambda d: d.execute_script(axis + ".yaxis.type") == "log")
    driver.find_element("css selector", "#y0 option[value=dual]").click()
    wait_for(driver, lambda d: d.execute_script(axis + ".yaxis.title.text") == "dual")
    driver.find_element("css selector", "#x option[value=violation]").click()
    wait_for(driver, lambda d: d.execute_script(axis + ".xaxis.title.text") == "violation")


def test_runs_can_be_chosen(browser, pages):
    driver = browser(pages["sweep"])
    lines = "return document.getElementById('chart0').data.length"
    driver.find_element("css selector", "#mode option[value=runs]").click()
    wait_for(driver, lambda d: d.execute_script(lines) == 6)
    driver.execute_script("document.getElementById('choose').open = true")
    driver.find_element("css selector", "#choices input[data-kind=group]").click()
    wait_for(driver, lambda d: d.execute_script(lines) == 3)
    driver.find_element("css selector", "#choices input[data-kind=run][value='5']").click()
    wait_for(driver, lambda d: d.execute_script(lines) == 2)


def test_the_first_stop_of_the_tab_key_skips_to_the_findings(browser, pages):
    driver = browser(pages["one"])
    driver.find_element("css selector", "body").send_keys("\ue004")
    assert driver.execute_script("return document.activeElement.textContent") == "Skip to the findings"


def test_the_spec_is_copied(browser, pages):
    driver = browser(pages["one"])
    driver.find_element("id", "copy").click()
    wait_for(driver, lambda d: d.find_element("id", "copied").text == "Copied.")


def test_dark_and_light_change_places(browser, pages):
    driver = browser(pages["one"], scheme="light")
    paper = "return getComputedStyle(document.body).backgroundColor"
    assert driver.execute_script(paper) == "rgb(255, 255, 255)"
    driver.find_element("id", "theme").click()
    assert driver.execute_script(paper) != "rgb(255, 255, 255)"


def test_a_printed_page_has_the_findings_and_no_buttons(browser, pages):
    driver = browser(pages["one"], scheme="dark")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert driver.find_element("id", "findings").is_displayed()
        assert not driver.find_element("id", "copy").is_displayed()
        assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def wild_sweep(one: Path, runs: int, points: int) -> Collection:
    """Curves that no compression helps with, in the place of those of real runs."""
    (kept,) = read_folder(one).kept
    made = []
    for i in range(runs):
        random = np.random.default_rng(i)
        columns = {name: random.normal(size=points).cumsum() for name in kept.curves.columns if name != "episode"}
        curves = pl.DataFrame({"episode": np.arange(1, points + 1)} | columns)
        manifest = dict(kept.manifest) | {"spec": kept.spec | {"seed": i // 20}}
        made.append(Kept(kept.folder.with_name(f"run-{i}"), manifest, f"setting {i % 20}", curves))
        made[-1].__dict__["run"] = kept.run
    return Collection(one, made)


@pytest.mark.slow
def test_two_hundred_runs_of_a_thousand_points_fit_and_show_their_extremes(browser, one, tmp_path):
    """How fast such a page opens is measured by `python -m benchmarks report`."""
    collection = wild_sweep(one, 200, 1000)
    path = tmp_path / "page.html"
    path.write_text(report(collection), encoding="utf-8")
    assert path.stat().st_size < 6_000_000
    driver = browser(path.as_uri())
    assert _complaints(driver) == []
    driver.find_element("css selector", "#mode option[value=runs]").click()
    highest = "return Math.max(...document.getElementById('chart0').data.map((line) => Math.max(...line.y)))"
    expected = max(kept.curves["regret"].max() for kept in collection.kept)  # pyright: ignore
    wait_for(driver, lambda d: abs(d.execute_script(highest) - expected) < 1e-3)


CHOSEN = """
const axis = document.getElementById('chart0')._fullLayout;
return [axis.xaxis.range, axis.yaxis.autorange,
  [...document.querySelectorAll('#choices input')].filter((box) => !box.checked).map((box) => box.dataset.name),
  document.documentElement.dataset.theme, document.activeElement.id, document.getElementById('step').value]"""


def choose(driver: Any) -> None:
    """Zoom, untick the run, change colours, move the slider."""
    driver.execute_script("Plotly.relayout('chart0', {'xaxis.range': [100, 200]})")
    driver.execute_script("document.getElementById('choose').open = true")
    driver.find_element("css selector", "#mode option[value=runs]").click()
    driver.find_element("css selector", "#choices input[data-kind=run]").click()
    driver.find_element("id", "theme").click()
    driver.find_element("id", "step").send_keys("\ue014" * 3)
    assert driver.execute_script(CHOSEN) == [[100, 200], True, ["run first"], "dark", "step", "3"]


@pytest.mark.slow
def test_a_served_page_shows_a_run_that_is_added_and_keeps_what_was_chosen(browser, one, tmp_path):
    folder = tmp_path / "live"
    shutil.copytree(one, folder / "first")
    with server(folder) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            driver = browser(f"http://127.0.0.1:{serving.server_address[1]}/")
            driver.find_element("css selector", "#y0 option[value=dual]").click()
            choose(driver)
            time.sleep(2.5)  # the page has asked for the first stamp
            shutil.copytree(one, folder / "another")  # before the first, in the order of their names
            wait_for(driver, lambda d: "2 runs" in d.find_element("css selector", ".asked").text)
            wait_for(driver, lambda d: d.execute_script("return document.documentElement.dataset.ready"))
            assert driver.execute_script("return document.getElementById('y0').value") == "dual"
            assert driver.execute_script(CHOSEN) == [[100, 200], True, ["run first"], "dark", "step", "3"]
            assert _complaints(driver) == []
            driver.get("about:blank")
        finally:
            serving.shutdown()
            thread.join()


def test_a_run_named_like_a_script_shows_as_text(browser, one, tmp_path):
    named = tmp_path / "<script>document.title='taken'<"
    for seed in (0, 1):
        shutil.copytree(one, named / f"<img src=x onerror=document.title='taken'>{seed}")
    driver = browser(written(named, tmp_path / "page.html"))
    assert _complaints(driver) == []
    assert driver.find_element("css selector", "h1").text == named.name
    assert "taken" not in driver.title.replace(named.name, "")
    driver.execute_script("document.getElementById('choose').open = true")
    assert "<img src=x onerror=" in driver.find_element("id", "choices").text
    assert driver.execute_script("return document.querySelectorAll('img').length") == 0
