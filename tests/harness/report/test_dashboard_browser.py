"""The dashboard as a person opens it: from the disk, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from headless import emulated
from headless import needs_browser
from headless import opened
from headless import settled
from headless import severe
from headless import started
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from selenium.webdriver.support.ui import WebDriverWait
from toy import studies
from toy import study
from toy import table
from toy import tables

from harness.experiment import CellResult
from harness.metrics import Budgets
from harness.metrics import summarize
from harness.problems import Problem
from harness.report import make_views
from harness.report import write_dashboard
from harness.report.findings import problem_clauses
from harness.report.findings import suite_findings
from harness.report.views import Views
from harness.suites import ONE_TABLE


SECOND = "bench/second <set>@made"
LINES = (
    "progress-precision",
    "progress-gap",
    "progress-found_optimum",
    "targets-precision",
    "profile",
    "spread-precision",
    "overhead",
)
TESTS = ("tests-precision", "tests-gap")
PANELS = (*LINES, *TESTS)
OF_SUITE = ("ranks", "targets-precision", "profile", "groups")
# The second problem has fewer seeds, so that its figures are not those of the first.
OF_TWO = [r for r in studies() if (r.cell.problem, r.cell.seed) != (SECOND, 5)]

pytestmark = needs_browser


def views_of(
    results: list[CellResult], problems: Sequence[Problem], *sizes: int
) -> tuple[Views, dict[str, Budgets]]:
    budgets = {problem.text: Budgets(sizes) for problem in problems}
    suite = replace(ONE_TABLE, problems=tuple(problem.text for problem in problems))
    return make_views(summarize(results, problems, budgets), [suite]), budgets


def written(
    path: Path, results: list[CellResult], problems: Sequence[Problem], *sizes: int
) -> str:
    views, budgets = views_of(results, problems, *sizes)
    write_dashboard(views, results, problems, path, budgets=budgets)
    return path.as_uri()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Page of one problem."""
    mine = [result for result in studies() if result.cell.problem == table().text]
    path = tmp_path_factory.mktemp("page") / "dashboard.html"
    return written(path, mine, [table()], 20, 40)


@cache
def views_of_two(*sizes: int) -> Views:
    return views_of(OF_TWO, tables(), *sizes)[0]


@pytest.fixture(scope="module")
def page_of_two(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Page of two problems, one of which has markup in its name."""
    path = tmp_path_factory.mktemp("page") / "dashboard.html"
    return written(path, OF_TWO, tables(), 20, 40)


def say(problem: Problem, chosen: Sequence[str], budget: int = 40) -> str:
    """Headline of a problem about chosen samplers."""
    view = next(view for view in views_of_two(budget).problems if view.problem == problem.text)
    return problem_clauses(view, problem).headline(chosen)


@pytest.fixture(scope="module")
def chrome() -> Iterator[webdriver.Chrome]:
    with started() as driver:
        yield driver


@pytest.fixture
def browser(chrome: webdriver.Chrome, page: str) -> webdriver.Chrome:
    return opened(chrome, page)


@pytest.fixture
def on_two(chrome: webdriver.Chrome, page_of_two: str) -> webdriver.Chrome:
    return opened(chrome, page_of_two)


def drawn(browser: webdriver.Chrome, panel: str) -> int:
    """Number of marks on the screen, not of traces in the data."""
    marks = "path.js-line, path.js-fill, path.box, g.hm image"
    found = browser.find_elements(By.CSS_SELECTOR, f"#plot-{panel} :is({marks})")
    return len(found) if browser.find_element(By.ID, f"card-{panel}").is_displayed() else 0


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
    for panel in (*PANELS, "proxies"):
        assert drawn(browser, panel) > 0, panel
    assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    assert headline(browser).startswith("zaps finds")


def test_a_sampler_is_taken_out_of_every_figure_and_table(browser: webdriver.Chrome) -> None:
    before = {name: drawn(browser, name) for name in LINES}
    click(browser, "sampler", "random")
    assert samplers_in_the_table(browser) == ["zaps", "tpe"]
    for name, n in before.items():
        assert drawn(browser, name) * 3 == n * 2, name
    for name in TESTS:
        trace = browser.execute_script(
            f"const {{x, y, z}} = document.getElementById('plot-{name}').data[0];"
            "return [x, y, z.length, z[0].length]"
        )
        assert trace == [["zaps", "tpe"], ["zaps", "tpe"], 2, 2]
    assert "random" not in headline(browser)
    assert severe(browser) == []


def test_the_headline_follows_the_chosen_samplers(browser: webdriver.Chrome) -> None:
    assert headline(browser) == say(table(), ["zaps", "tpe", "random"])
    click(browser, "sampler", "zaps")
    assert headline(browser) == say(table(), ["tpe", "random"])
    assert headline(browser).startswith("tpe finds")
    verdict = browser.find_element(By.ID, "verdict").text
    assert verdict.startswith("P@100 of tpe minus that of random: +")
    click(browser, "sampler", "tpe")
    assert headline(browser) == say(table(), ["random"])
    assert browser.find_element(By.ID, "verdict").text == ""
    click(browser, "sampler", "random")
    assert headline(browser) == say(table(), []) == "No sampler is chosen."
    assert samplers_in_the_table(browser) == []
    assert browser.find_element(By.ID, "nothing").is_displayed()
    assert [panel for panel in PANELS if drawn(browser, panel)] == []
    browser.find_element(By.ID, "all-samplers").click()
    assert headline(browser) == say(table(), ["zaps", "tpe", "random"])
    assert all(drawn(browser, panel) for panel in PANELS)
    assert severe(browser) == []


def test_the_budget_changes_what_is_shown(browser: webdriver.Chrome) -> None:
    before = headline(browser)
    click(browser, "budget", "20")
    assert "with 20 evaluations" in headline(browser) != before
    for name in ("precision", "gap", "found_optimum"):
        plot = f"document.getElementById('plot-progress-{name}')"
        x = browser.execute_script(f"return Math.max(...{plot}._fullLayout.xaxis.range)")
        assert x < 25, name
    assert "Made up." in browser.find_element(By.ID, "note").text
    assert not browser.find_element(By.ID, "problem").is_displayed()
    assert severe(browser) == []


def test_several_problems_open_with_ranks_and_a_selector_shows_each(
    on_two: webdriver.Chrome,
) -> None:
    found = suite_findings(views_of_two(40).suites[0])
    assert headline(on_two) == found.headline == on_two.title
    assert on_two.find_element(By.ID, "verdict").text == found.verdict
    assert shown(on_two, "[data-table=ranks] tbody th") == ["zaps", "tpe", "random"]
    assert shown(on_two, "[data-table=values] tbody th") == [one.text for one in tables()]
    everybody = ["zaps", "tpe", "random"]
    finding = on_two.find_element(By.ID, "problem-headline")
    assert finding.text == say(table(), everybody)
    lines = """return [...document.querySelectorAll("#plot-progress-gap path.js-line")]
                 .map((path) => path.getAttribute("d"));"""
    before = on_two.execute_script(lines)
    Select(on_two.find_element(By.ID, "problem")).select_by_value(SECOND)
    assert finding.text == say(tables()[1], everybody)
    assert on_two.execute_script(lines) != before
    assert all(drawn(on_two, panel) for panel in PANELS)
    assert headline(on_two) == found.headline
    click(on_two, "sampler", "tpe")
    assert shown(on_two, "[data-table=ranks] tbody th") == ["zaps", "random"]
    assert shown(on_two, "[data-table=values] thead th") == ["problem", "zaps", "random"]
    assert shown(on_two, "[data-table=pairs] tbody th") == ["zaps", "random"]
    click(on_two, "budget", "20")
    assert "after 20 evaluations" in headline(on_two)
    assert severe(on_two) == []


def test_several_problems_have_the_views_that_readers_know(on_two: webdriver.Chrome) -> None:
    before = {name: drawn(on_two, f"suite2-{name}") for name in OF_SUITE}
    assert all(before.values())
    assert shown(on_two, "#plot-suite2-wins .heatmaplayer text")
    click(on_two, "sampler", "tpe")
    for name in ("ranks", "targets-precision", "profile"):
        assert drawn(on_two, f"suite2-{name}") * 3 == before[name] * 2, name
    groups = on_two.execute_script(
        """return document.getElementById("plot-suite2-groups").data
             .filter((trace) => trace.meta.samplers).map((trace) => trace.meta.samplers.length);"""
    )
    # With two problems nobody differs: one bar over all three, and a stem for each of the others.
    assert groups == [3]
    assert drawn(on_two, "suite2-groups") == before["groups"] - 1
    wins = on_two.execute_script("return document.getElementById('plot-suite2-wins').data[0].x")
    assert wins == ["zaps", "random"]
    click(on_two, "sampler", "zaps")  # no bar over one sampler
    assert drawn(on_two, "suite2-groups") == 2
    assert severe(on_two) == []


def test_the_axis_changes_every_figure_that_has_it(on_two: webdriver.Chrome) -> None:
    def titles() -> list[str]:
        return [
            shown(on_two, f"#plot-{name} .xtitle")[0]
            for name in (
                "suite2-ranks",
                "suite2-targets-precision",
                "targets-precision",
                "progress-precision",
                "progress-gap",
            )
        ]

    steps = "distinct evaluations"
    assert titles() == [steps] * 5
    click(on_two, "axis", "cpu")
    assert titles() == ["CPU time of the sampler (s)"] * 4 + [steps]
    link = on_two.current_url
    opened(on_two, link)
    assert titles()[0] == "CPU time of the sampler (s)"
    assert not on_two.find_elements(By.CSS_SELECTOR, "[name=axis][value=clock]")
    assert severe(on_two) == []


def test_nothing_offers_an_upload(browser: webdriver.Chrome) -> None:
    assert browser.find_elements(By.CSS_SELECTOR, ".modebar-btn") == []
    titles = [e.get_attribute("title") for e in browser.find_elements(By.CSS_SELECTOR, "button")]
    assert not [title for title in titles if "cloud" in title.lower() or "Studio" in title]
    saves = [e.text for e in browser.find_elements(By.CSS_SELECTOR, "figure button")]
    assert saves == ["SVG", "PNG", "CSV"] * (len(PANELS) + 1)


def test_controls_are_not_within_an_image(browser: webdriver.Chrome) -> None:
    assert browser.find_elements(By.CSS_SELECTOR, "[role=img]") == []


def test_markup_stays_text(chrome: webdriver.Chrome, tmp_path: Path) -> None:
    label, name = "<img src=x onerror=alert(1)>%{x}", "<b>set</b>"
    on = [table(dataset=name), table(dataset="other")]
    results = [
        study([seed, 3, 5 + bias], label=each, seed=seed, on=problem)
        for problem in on
        for bias, each in enumerate((label, "zaps"))
        for seed in range(3)
    ]
    opened(chrome, written(tmp_path / "page.html", results, on, 3))
    assert chrome.find_elements(By.CSS_SELECTOR, "img, main b") == []
    assert sorted(shown(chrome, "[data-table=ranks] tbody th")) == [label, "zaps"]
    assert shown(chrome, "[data-table=values] tbody th")[0] == f"bench/{name}@made"
    assert label in shown(chrome, "#plot-progress-gap .legendtext")
    chrome.execute_script("Plotly.Fx.hover('plot-progress-gap', {xval: 2})")
    hover = chrome.find_elements(By.CSS_SELECTOR, "#plot-progress-gap .hoverlayer text")
    assert any(label in element.get_attribute("textContent") for element in hover)
    assert severe(chrome) == []


def test_a_link_restores_the_view(on_two: webdriver.Chrome, page_of_two: str) -> None:
    browser = on_two
    click(browser, "sampler", "tpe")
    click(browser, "budget", "20")
    Select(browser.find_element(By.ID, "problem")).select_by_value(SECOND)
    link = browser.current_url
    opened(browser, link)
    assert samplers_in_the_table(browser) == ["zaps", "random"]
    assert "after 20 evaluations" in headline(browser)
    finding = browser.find_element(By.ID, "problem-headline").text
    assert finding == say(tables()[1], ["zaps", "random"], 20)
    checked = browser.find_elements(By.CSS_SELECTOR, "#filters input:checked")
    assert [box.get_attribute("value") for box in checked] == ["20", "zaps", "random", "steps"]
    for mangled in ("#sampler=%5Bbroken&budget=x&problem=%", "#sampler=gone&budget=7"):
        opened(browser, page_of_two + mangled)
        assert samplers_in_the_table(browser) == ["zaps", "tpe", "random"]
    click(browser, "sampler", "zaps")
    click(browser, "sampler", "tpe")
    click(browser, "sampler", "random")
    browser.refresh()
    settled(browser)
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
    toggles = browser.find_elements(By.CSS_SELECTOR, "#plot-progress-gap .legendtoggle")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", toggles[1])
    ActionChains(browser).move_to_element(toggles[1]).click().perform()
    WebDriverWait(browser, 3).until(lambda b: samplers_in_the_table(b) == ["zaps", "random"])
    assert severe(browser) == []


@pytest.mark.parametrize("width", [1400, 500])
def test_figures_stand_right_below_their_captions(browser: webdriver.Chrome, width: int) -> None:
    browser.set_window_size(width, 1000)
    browser.refresh()
    settled(browser)
    gaps = browser.execute_script(
        """return [...document.querySelectorAll("figure.card")].map((card) =>
             Math.min(...[...card.querySelectorAll(".nsewdrag, .legend, .colorbar")]
               .map((part) => part.getBoundingClientRect().top))
             - card.querySelector("figcaption").getBoundingClientRect().bottom);"""
    )
    browser.set_window_size(1300, 1000)
    assert len(gaps) == len(PANELS) + 1
    assert [gap for gap in gaps if not 0 <= gap <= 48] == []


def test_no_card_stands_beside_an_empty_space(browser: webdriver.Chrome) -> None:
    edges = browser.execute_script(
        """const grid = document.getElementById("figures").getBoundingClientRect();
           return [...document.querySelectorAll("#figures .card")].map((card) => {
             const {left, right, top} = card.getBoundingClientRect();
             return [Math.round(top), left - grid.left, grid.right - right];});"""
    )
    for row in {top for top, _, _ in edges}:
        assert min(left for top, left, _ in edges if top == row) < 1
        assert min(right for top, _, right in edges if top == row) < 1


def test_it_fits_a_narrow_screen(on_two: webdriver.Chrome) -> None:
    with emulated(on_two, 420):
        on_two.refresh()
        settled(on_two)
        overflow = on_two.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        hints = on_two.execute_script(
            """return [...document.querySelectorAll(".scroll")].filter((e) => e.clientWidth)
                 .map((e) => [e.scrollWidth > e.clientWidth + 1,
                   getComputedStyle(e, "::before").content.includes("Scroll sideways")]);"""
        )
    assert overflow <= 0
    assert any(scrolls for scrolls, _ in hints)
    assert all(scrolls == hinted for scrolls, hinted in hints)
