"""The dashboard as a person opens it: from the disk, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from selenium.webdriver.support.ui import WebDriverWait
from toy import studies
from toy import tables

from harness.metrics import Budgets
from harness.metrics import summarize
from harness.report import write_dashboard
from harness.report.dashboard import PANELS
from harness.report.dashboard import PROXIES
from harness.report.dashboard import headline as say
from harness.report.views import View
from harness.report.views import make_views


Views = dict[str, View]

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
    budgets = {one.text: Budgets((20, 40)) for one in tables()}
    summary = summarize(studies(), tables(), budgets)
    write_dashboard(studies(), tables(), summary, path, budgets=budgets)
    return path.as_uri()


@pytest.fixture(scope="module")
def views() -> Views:
    budgets = {one.text: Budgets((40,)) for one in tables()}
    made = make_views(studies(), tables(), summarize(studies(), tables(), budgets), budgets)
    return {view.benchmark.text: view for view in made}


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
    found = browser.find_elements(By.CSS_SELECTOR, f"#plot-{panel} :is({marks})")
    return len(found) if browser.find_element(By.ID, f"card-{panel}").is_displayed() else 0


def severe(browser: webdriver.Chrome) -> list[str]:
    return [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]


def shown(browser: webdriver.Chrome, selector: str) -> list[str]:
    found = browser.find_elements(By.CSS_SELECTOR, selector)
    return [element.text for element in found if element.is_displayed()]


def samplers_in_the_table(browser: webdriver.Chrome) -> list[str]:
    return shown(browser, "#summary tbody th")


def headline(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.ID, "headline").text


def click(browser: webdriver.Chrome, name: str, value: str) -> None:
    browser.find_element(By.CSS_SELECTOR, f"#filters input[name={name}][value={value!r}]").click()


def sort_by(browser: webdriver.Chrome, header: str) -> None:
    buttons = browser.find_elements(By.CSS_SELECTOR, "#summary thead button")
    next(b for b in buttons if b.is_displayed() and b.text.rstrip(" ↑↓") == header).click()


def test_every_figure_is_drawn_without_an_error(browser: webdriver.Chrome) -> None:
    assert severe(browser) == []
    for panel in (*PANELS, PROXIES):
        assert drawn(browser, panel.name) > 0, panel.name
    assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    assert headline(browser).startswith("zaps finds")


def test_a_sampler_is_taken_out_of_every_figure_and_table(browser: webdriver.Chrome) -> None:
    lines = ("precision", "gap", "box", "optimum", "overhead")
    before = {name: drawn(browser, name) for name in lines}
    click(browser, "sampler", "random")
    assert samplers_in_the_table(browser) == ["zaps", "tpe"]
    for name, n in before.items():
        assert drawn(browser, name) * 3 == n * 2, name
    for name in ("tests_precision", "tests_gap"):
        trace = browser.execute_script(
            f"const {{x, y, z}} = document.getElementById('plot-{name}').data[0];"
            "return [x, y, z.length, z[0].length]"
        )
        assert trace == [["zaps", "tpe"], ["zaps", "tpe"], 2, 2]
    assert "random" not in headline(browser)
    assert severe(browser) == []


def test_the_headline_follows_the_chosen_samplers(browser: webdriver.Chrome, views: Views) -> None:
    assert headline(browser) == say(views["bench/toy@made"], ["zaps", "tpe", "random"])
    click(browser, "sampler", "zaps")
    assert headline(browser) == say(views["bench/toy@made"], ["tpe", "random"])
    assert headline(browser).startswith("tpe finds")
    verdict = browser.find_element(By.ID, "verdict").text
    assert verdict.startswith("P@100 of tpe minus that of random: +")
    click(browser, "sampler", "tpe")
    assert headline(browser) == say(views["bench/toy@made"], ["random"])
    assert browser.find_element(By.ID, "verdict").text == ""
    click(browser, "sampler", "random")
    assert headline(browser) == say(views["bench/toy@made"], []) == "No sampler is chosen."
    assert samplers_in_the_table(browser) == []
    assert browser.find_element(By.ID, "nothing").is_displayed()
    assert [panel.name for panel in PANELS if drawn(browser, panel.name)] == []
    browser.find_element(By.ID, "all-samplers").click()
    assert headline(browser) == say(views["bench/toy@made"], ["zaps", "tpe", "random"])
    assert all(drawn(browser, panel.name) for panel in PANELS)
    assert severe(browser) == []


def test_budget_and_data_set_change_what_is_shown(browser: webdriver.Chrome, views: Views) -> None:
    before = headline(browser)
    click(browser, "budget", "20")
    assert "with 20 evaluations" in headline(browser) != before
    for name in ("precision", "gap", "optimum"):
        x = browser.execute_script(
            f"return Math.max(...document.getElementById('plot-{name}')._fullLayout.xaxis.range)"
        )
        assert x < 25, name
    click(browser, "budget", "40")
    Select(browser.find_element(By.ID, "place")).select_by_value("bench/second <set>@made")
    assert browser.find_element(By.ID, "where").text.startswith("bench/second <set>@made")
    assert headline(browser) == say(views["bench/second <set>@made"], ["zaps", "tpe", "random"])
    assert "Made up." in browser.find_element(By.ID, "note").text
    assert severe(browser) == []


def test_a_link_restores_the_view(browser: webdriver.Chrome, page: str) -> None:
    click(browser, "sampler", "tpe")
    click(browser, "budget", "20")
    Select(browser.find_element(By.ID, "place")).select_by_value("bench/second <set>@made")
    link = browser.current_url
    browser.get("about:blank")
    browser.get(link)
    assert samplers_in_the_table(browser) == ["zaps", "random"]
    assert "with 20 evaluations" in headline(browser)
    assert "second <set>" in browser.find_element(By.ID, "where").text
    checked = browser.find_elements(By.CSS_SELECTOR, "#filters input:checked")
    assert [box.get_attribute("value") for box in checked] == ["20", "zaps", "random"]
    for mangled in ("#sampler=%5Bbroken&budget=x&dataset=%", "#sampler=gone&budget=7"):
        browser.get("about:blank")
        browser.get(page + mangled)
        assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    click(browser, "sampler", "zaps")
    click(browser, "sampler", "tpe")
    click(browser, "sampler", "random")
    browser.refresh()
    assert samplers_in_the_table(browser) == []
    assert severe(browser) == []


def test_the_table_is_sorted_by_the_column_that_is_clicked(browser: webdriver.Chrome) -> None:
    def column(index: int) -> list[float]:
        cells = shown(browser, f"#summary tbody td:nth-child({index})")
        return [float(text.split()[0].replace("−", "-")) for text in cells if text != "–"]

    sort_by(browser, "P@100 %")  # it was descending
    assert samplers_in_the_table(browser) == ["random", "tpe", "zaps"]
    assert column(3) == sorted(column(3))
    sort_by(browser, "sampler")
    assert samplers_in_the_table(browser) == ["random", "tpe", "zaps"]
    sort_by(browser, "sampler")
    assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    sort_by(browser, "zaps ahead")
    assert samplers_in_the_table(browser) == ["random", "tpe", "zaps"]
    assert column(11) == sorted(column(11), reverse=True)
    sort_by(browser, "zaps ahead")  # what has no number stays last
    assert samplers_in_the_table(browser) == ["tpe", "random", "zaps"]
    click(browser, "budget", "20")  # and the order stays
    assert samplers_in_the_table(browser)[-1] == "zaps"
    assert column(11) == sorted(column(11))
    states = browser.find_elements(By.CSS_SELECTOR, "#summary [data-view]:not([hidden]) thead th")
    marked = [e.text for e in states if e.get_attribute("aria-sort") != "none"]
    assert [text.rstrip(" ↑↓") for text in marked] == ["zaps ahead"]
    assert severe(browser) == []


def test_a_click_on_a_legend_filters_the_page(browser: webdriver.Chrome) -> None:
    toggles = browser.find_elements(By.CSS_SELECTOR, "#plot-gap .legendtoggle")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", toggles[1])
    ActionChains(browser).move_to_element(toggles[1]).click().perform()
    WebDriverWait(browser, 3).until(lambda b: samplers_in_the_table(b) == ["zaps", "random"])
    assert severe(browser) == []


@pytest.mark.parametrize("width", [1400, 500])
def test_buttons_cover_neither_legend_nor_axes(browser: webdriver.Chrome, width: int) -> None:
    browser.set_window_size(width, 1000)
    browser.refresh()
    bottoms_and_tops = browser.execute_script(
        """return [...document.querySelectorAll(".plot")].map((plot) => [
             plot.querySelector(".modebar").getBoundingClientRect().bottom,
             Math.min(...[...plot.querySelectorAll(".nsewdrag, .legend, .colorbar")]
               .map((part) => part.getBoundingClientRect().top))]);"""
    )
    browser.set_window_size(1300, 1000)
    assert len(bottoms_and_tops) == len(PANELS) + 1
    for bottom, top in bottoms_and_tops:
        assert bottom <= top


def test_no_card_stands_beside_an_empty_place(browser: webdriver.Chrome) -> None:
    edges = browser.execute_script(
        """const grid = document.getElementById("figures").getBoundingClientRect();
           return [...document.querySelectorAll("#figures .card")].map((card) => {
             const {left, right, top} = card.getBoundingClientRect();
             return [Math.round(top), left - grid.left, grid.right - right];});"""
    )
    for row in {top for top, _, _ in edges}:
        assert min(left for top, left, _ in edges if top == row) < 1
        assert min(right for top, _, right in edges if top == row) < 1


def test_it_fits_a_narrow_screen(browser: webdriver.Chrome) -> None:
    browser.set_window_size(500, 900)
    browser.refresh()
    overflow = browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    browser.set_window_size(1300, 1000)
    assert overflow <= 0
