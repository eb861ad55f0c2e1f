"""Pages as everybody meets them: with a screen reader, on paper, in an old browser, as files."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
import math
from pathlib import Path
import re

from headless import emulated
from headless import needs_browser
from headless import opened
from headless import severe
from headless import started
import numpy as np
import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from selenium_axe_python import Axe
from toy import studies
from toy import study
from toy import table

from harness.experiment import CellResult
from harness.metrics import summarize
from harness.paper import committed
from harness.paper import page
from harness.paper.claims import judge
from harness.paper.comparison import compare
from harness.problems import TabularBenchmark
from harness.report import make_views
from harness.report import write_dashboard
from harness.suites import SUITES


SHEET = (703, 1032)  # pixels of A4 within margins of 12 mm, at 96 to an inch
LABEL = "<img src=x onerror=alert(1)>"
PAGES = ("everyday", "one", "paper")

pytestmark = needs_browser


def everyday(
    n_problems: int, n_seeds: int, budget: int
) -> tuple[list[TabularBenchmark], list[CellResult]]:
    """Studies like those of the suite ``everyday``, made without running any sampler."""
    problems, results = [], []
    for number in range(n_problems):
        rng = np.random.default_rng(number)
        problems.append(table(np.sort(rng.lognormal(size=2000)), f"set-{number}"))
        for bias, label in enumerate(("random", "tpe", "zaps")):
            weights = np.exp(bias * np.linspace(0, 3, 2000))
            for seed in range(n_seeds):
                rows = rng.choice(2000, budget, replace=False, p=weights / weights.sum())
                made = study(rows.tolist(), label=label, seed=seed, target=label, on=problems[-1])
                times = tuple(rng.lognormal(-6.0, 1.0, budget).tolist())
                results.append(replace(made, ask_seconds=times))
    return problems, results


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Page of 17 problems, of one, and of the paper."""
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in PAGES}
    one = [result for result in studies() if result.cell.problem == table().text]
    one = [
        replace(r, cell=replace(r.cell, sampler=replace(r.cell.sampler, label=LABEL)))
        if r.cell.sampler.label == "tpe"
        else r
        for r in one
    ]
    for name, (problems, results) in {
        "everyday": everyday(17, 10, 100),
        "one": ([table()], one),
    }.items():
        suite = replace(SUITES["everyday"], problems=tuple(p.text for p in problems))
        views = make_views(summarize(results, problems), [suite])
        write_dashboard(views, results, problems, paths[name], command="zaps-harness <b>")
    measured = committed.read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "SECTIONS", page.SECTIONS[:2])  # the others are alike, and cost time
        page.write_page(measured, compare(measured), judge(measured), paths["paper"])
    return paths


@pytest.fixture(scope="module")
def chrome() -> Iterator[webdriver.Chrome]:
    with started() as driver:
        yield driver


@pytest.fixture(scope="module", params=PAGES)
def shown(
    request: pytest.FixtureRequest, chrome: webdriver.Chrome, pages: dict[str, Path]
) -> webdriver.Chrome:
    """The browser with a page, opened once for several tests."""
    return opened(chrome, pages[request.param].as_uri())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small(pages: dict[str, Path], name: str) -> None:
    assert pages[name].stat().st_size < 2_500_000


@pytest.mark.parametrize("width", [1400, 420])
def test_axe_finds_nothing_serious(shown: webdriver.Chrome, width: int) -> None:
    with emulated(shown, width):
        axe = Axe(shown)
        axe.inject()
        # What Plotly draws has no roles; the contrast of its digits has a test of its own. Rows
        # of a table are alike.
        found = axe.run({"exclude": [[".main-svg"], ["tbody tr:nth-child(n + 6)"]]})
    assert len(found["passes"]) > 30
    violations = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"]])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert violations == []
    assert severe(shown) == []


def test_it_prints_whole_on_a4(shown: webdriver.Chrome) -> None:
    with emulated(shown, *SHEET, media="print"):
        cut = shown.execute_script(
            """const paper = document.documentElement.clientWidth;
               return [...document.querySelectorAll("table, .main-svg, .card, dd")]
                 .filter((e) => e.getBoundingClientRect().right > paper
                   || (e.tagName === "TABLE" && e.scrollWidth > e.parentElement.clientWidth + 1))
                 .map((e) => e.outerHTML.slice(0, 80));"""
        )
        height = shown.execute_script("return document.documentElement.scrollHeight")
    assert cut == []
    printed = base64.b64decode(
        shown.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"]
    )
    # Pages that were half empty would be many more than the height of what is on them.
    assert len(re.findall(rb"/Type /Page\b", printed)) <= math.ceil(1.25 * height / SHEET[1])
    assert severe(shown) == []


def test_the_paper_opens_with_its_verdict_and_its_main_figure(
    chrome: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(chrome, pages["paper"].as_uri())
    tops = chrome.execute_script(
        """return ["h1", "#main-comparison .plot", "#claims", "#proxies", "#tables"].map(
             (part) => document.querySelector(part)?.getBoundingClientRect().top);"""
    )
    assert tops == sorted(tops)


def test_old_browsers_show_every_table_and_say_what_is_missing(
    chrome: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    source = "delete window.DecompressionStream"
    script = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        for name in ("everyday", "paper"):
            chrome.get("about:blank")
            chrome.get(pages[name].as_uri())
            note = chrome.find_element(By.CSS_SELECTOR, ".static")
            assert note.is_displayed()
            assert "DecompressionStream" in note.text
            tables = chrome.find_elements(By.TAG_NAME, "table")
            assert tables
            assert all(each.is_displayed() for each in tables)
            idle = "#filters, .selector, [data-file], .plot"
            parts = chrome.find_elements(By.CSS_SELECTOR, idle)
            assert [part for part in parts if part.is_displayed()] == []
            assert severe(chrome) == []
    finally:
        chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    opened(chrome, pages["everyday"].as_uri())
    assert not chrome.find_element(By.CSS_SELECTOR, ".static").is_displayed()


def test_figures_and_tables_are_saved_from_the_keyboard(
    chrome: webdriver.Chrome, pages: dict[str, Path], tmp_path: Path
) -> None:
    opened(chrome, pages["one"].as_uri())
    chrome.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    stem = "progress-regret-bench-toy-made-40-evaluations"
    for part in ("#card-progress-regret figcaption", "#summary .downloads"):
        for button in chrome.find_elements(By.CSS_SELECTOR, f"{part} button"):
            button.send_keys(Keys.ENTER)
    wanted = {f"{stem}.svg", f"{stem}.png", f"{stem}.csv", "means.csv", "summary.csv"}
    WebDriverWait(chrome, 30).until(lambda _: {p.name for p in tmp_path.iterdir()} == wanted)
    assert (tmp_path / f"{stem}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    numbers = pd.read_csv(tmp_path / f"{stem}.csv")
    assert set(numbers["sampler"]) == {"zaps", LABEL, "random"}
    assert numbers.groupby("sampler")["evaluations"].max().tolist() == [40, 40, 40]
    assert len(pd.read_csv(tmp_path / "summary.csv")) == 18


def test_markup_in_a_label_stays_text_everywhere(
    chrome: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    opened(chrome, pages["one"].as_uri())
    assert chrome.find_elements(By.CSS_SELECTOR, "img, b") == []
    assert chrome.find_element(By.CSS_SELECTOR, "pre").text == "zaps-harness <b>"
    assert LABEL in [e.text for e in chrome.find_elements(By.CSS_SELECTOR, "#summary tbody th")]
    assert severe(chrome) == []
