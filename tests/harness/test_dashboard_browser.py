"""The dashboard as a person opens it: from the disk, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from toy import studies
from toy import tables

from harness.report import write_dashboard
from harness.report.dashboard import PANELS


DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1300,1000"
).split()

pytestmark = pytest.mark.skipif(
    DRIVER is None, reason="needs Chromium and chromedriver (Debian: chromium-driver)"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "dashboard.html"
    write_dashboard(studies(), tables(), path, budgets=[20, 40])
    return path.as_uri()


@pytest.fixture(scope="module")
def chrome() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chrome: webdriver.Chrome, page: str) -> webdriver.Chrome:
    chrome.get("about:blank")
    chrome.get(page)
    return chrome


def drawn(browser: webdriver.Chrome, panel: str) -> int:
    """Number of marks on the screen, not of traces in the data."""
    marks = "path.js-line, path.js-fill, path.box, g.hm image"
    return len(browser.find_elements(By.CSS_SELECTOR, f"#{panel} :is({marks})"))


def severe(browser: webdriver.Chrome) -> list[str]:
    return [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]


def samplers_in_the_table(browser: webdriver.Chrome) -> list[str]:
    return [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#summary tbody th")]


def test_every_figure_is_drawn_without_an_error(browser: webdriver.Chrome) -> None:
    assert severe(browser) == []
    for panel in PANELS:
        assert drawn(browser, panel.key) > 0, panel.key
    assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    assert browser.find_element(By.ID, "headline").text.startswith("zaps finds")


def test_a_sampler_is_taken_out_of_every_figure_and_table(browser: webdriver.Chrome) -> None:
    before = {key: drawn(browser, key) for key in ("precision", "regret", "box", "optimum")}
    browser.find_element(By.CSS_SELECTOR, "#samplers input[value=random]").click()
    assert samplers_in_the_table(browser) == ["zaps", "tpe"]
    for key, n in before.items():
        assert drawn(browser, key) * 3 == n * 2, key
    rows = browser.execute_script("return document.getElementById('tests').data[0].y")
    assert rows == ["zaps", "tpe"]
    assert severe(browser) == []


def test_budget_and_data_set_change_what_is_shown(browser: webdriver.Chrome) -> None:
    headline = browser.find_element(By.ID, "headline").text
    Select(browser.find_element(By.ID, "budget")).select_by_value("20")
    assert "with 20 evaluations" in browser.find_element(By.ID, "headline").text != headline
    x = browser.execute_script(
        "return Math.max(...document.getElementById('precision')._fullLayout.xaxis.range)"
    )
    assert x < 25
    Select(browser.find_element(By.ID, "dataset")).select_by_value("bench/second <set>/made")
    assert "second <set>" in browser.find_element(By.ID, "place").text
    assert severe(browser) == []


def test_a_link_restores_the_view(browser: webdriver.Chrome, page: str) -> None:
    browser.find_element(By.CSS_SELECTOR, "#samplers input[value=tpe]").click()
    Select(browser.find_element(By.ID, "budget")).select_by_value("20")
    link = browser.current_url
    browser.get("about:blank")
    browser.get(link)
    assert samplers_in_the_table(browser) == ["zaps", "random"]
    assert "with 20 evaluations" in browser.find_element(By.ID, "headline").text
    browser.get("about:blank")
    browser.get(page + "#hide=%5Bbroken&budget=7")
    assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    assert severe(browser) == []


def test_it_fits_a_narrow_screen(browser: webdriver.Chrome) -> None:
    browser.set_window_size(500, 900)
    browser.refresh()
    overflow = browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    browser.set_window_size(1300, 1000)
    assert overflow <= 0
