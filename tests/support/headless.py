"""A browser without a screen, and pages as it has drawn them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait


DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1300,1000"
).split()

needs_browser = pytest.mark.skipif(
    DRIVER is None, reason="needs Chromium and chromedriver (Debian: chromium-driver)"
)


@contextmanager
def started() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(120)
    yield driver
    driver.quit()


def opened(chrome: webdriver.Chrome, page: str) -> webdriver.Chrome:
    chrome.get("about:blank")
    chrome.get(page)
    return settled(chrome)


def settled(chrome: webdriver.Chrome) -> webdriver.Chrome:
    """The browser, when every figure is unpacked and drawn."""
    script = "return !!window.Plotly && !document.querySelector('main').ariaBusy"
    WebDriverWait(chrome, 60).until(lambda browser: browser.execute_script(script))
    return chrome


def severe(browser: webdriver.Chrome) -> list[str]:
    return [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]


@contextmanager
def emulated(
    chrome: webdriver.Chrome, width: int, height: int = 1000, media: str = ""
) -> Iterator[None]:
    """A screen or, as ``media="print"``, a sheet of another size in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
    if media == "print":
        chrome.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    yield
    if media == "print":
        chrome.execute_script("window.dispatchEvent(new Event('afterprint'))")
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
