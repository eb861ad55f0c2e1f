"""The published figures and note as a person sees them: in optuna-dashboard, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import shutil

import optuna
import pytest


pytest.importorskip(
    "optuna_dashboard", reason="needs optuna-dashboard: pip install 'optuna-zaps[dashboard]'"
)
pytest.importorskip("selenium", reason="needs selenium: pip install 'optuna-zaps[test]'")

from dashboard_page import IDS
from dashboard_page import served
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from optuna_zaps import ZAPSSampler
from optuna_zaps.dashboard import PublishCallback
from optuna_zaps.dashboard import publish
from optuna_zaps.dashboard import record_proxies


DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,1000"
).split()
SPACE = {"width": [8, 16, 32, 64], "depth": [1, 2, 3, 4, 5], "act": ["relu", "gelu", "tanh"]}

pytestmark = pytest.mark.skipif(
    DRIVER is None, reason="needs Chromium and chromedriver (Debian: chromium-driver)"
)


@pytest.fixture(scope="module")
def chrome() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def objective(trial: optuna.Trial) -> float:
    params = {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}
    record_proxies(trial)
    return float(params["width"] ** 0.5 - (params["depth"] - 3) ** 2 + (params["act"] == "gelu"))


def test_the_page_shows_figures_note_and_proxies(chrome: webdriver.Chrome, tmp_path: Path) -> None:
    sampler = ZAPSSampler(
        lambda params: {"cost": params["depth"] * params["width"] ** 2, "depth": params["depth"]},
        search_space=SPACE,
        n_startup_trials=8,
        seed=0,
    )
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'study.db'}")
    study = optuna.create_study(direction="maximize", sampler=sampler, storage=storage)
    study.optimize(objective, n_trials=20, callbacks=[PublishCallback(every=20)])
    publish(study, metric_names=["accuracy"])
    wait = WebDriverWait(chrome, 30)
    with served(storage) as address:
        chrome.get(f"{address}/studies/{study._study_id}")
        for identity in IDS:
            marks = f"[id='user-defined-plot:{identity}'] :is(.points path, .hm image)"
            wait.until(lambda _, marks=marks: chrome.find_elements(By.CSS_SELECTOR, marks))
        page = chrome.find_element(By.TAG_NAME, "body").text
        for title in (
            "Predicted against observed",
            "Acquisition and phase",
            "Active proxies",
            "Map of the space",
            "Importance of parameters",
            f"Best: {study.best_value:.5g} in trial {study.best_trial.number} (maximized).",
        ):
            assert title in page
        assert "observed: accuracy" in page

        chrome.get(f"{address}/studies/{study._study_id}/note")
        wait.until(lambda _: "ZAPS: progress and current beliefs" in _text(chrome))
        # Tables are tables, and code is code.
        assert len(chrome.find_elements(By.TAG_NAME, "table")) == 2
        assert "`" not in _text(chrome)
        assert "20 complete." in _text(chrome)

        chrome.get(f"{address}/studies/{study._study_id}/trials?numbers=19")
        wait.until(lambda _: "zaps:proxy:cost" in _text(chrome))
        errors = [each for each in chrome.get_log("browser") if each["level"] == "SEVERE"]
        assert errors == []


def _text(chrome: webdriver.Chrome) -> str:
    return chrome.find_element(By.TAG_NAME, "body").text
