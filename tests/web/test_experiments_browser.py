"""Experiments in a real browser, while `experiment run` holds one in a process of its own; and with keys alone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from small_experiment import SMALL
from web.conftest import Server, press
from web.fitting import AT_WIDTHS, WIDE
from web.npm import axe_core
from web.test_accessibility import Eyes
from web.test_keyboard import Keyboard
from web.test_past_browser import Page

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

REFUSED = (
    "addEventListener('securitypolicyviolation', event => (window.__refused ??= []).push(event.violatedDirective))"
)
GRID = {"method": ["need_to_talk", "round_robin"], "seed": {"from": 0, "count": 16}}
CELLS = 32  # so many that a fast machine, too, is seen at work


@pytest.fixture(scope="module")
def driver(server: Server) -> Iterator[subprocess.Popen[bytes]]:
    """An experiment that another process holds, two conversations at a time."""
    file = server.folder / "town.yaml"
    given = {**SMALL, "name": "town", "grid": GRID, "limits": {"cells": 2}, "compare": [{"by": "method"}]}
    file.write_text(yaml.safe_dump(given), encoding="utf-8")
    command = [sys.executable, "-m", "persimchat", "experiment", "run", str(file), "--yes"]
    process = subprocess.Popen(command, cwd=server.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait(60)


def done(page: Page) -> int:
    """How many conversations the page says are done."""
    read = "return document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')"
    return int(page.browser.execute_script(read) or 0)


def test_it_is_watched_and_read(server: Server, browser: webdriver.Chrome, driver: subprocess.Popen[bytes]):
    page = Page(browser)
    browser.get(f"{server.url}/experiments")
    page.press("town")
    page.wait.until(lambda b: b.current_url.endswith("/experiments/town"))
    page.reading("Running")
    seen = [0]
    while seen[-1] < CELLS:
        seen.append(done(page))
        time.sleep(0.25)
    assert seen == sorted(seen)
    assert len(set(seen)) > 2, seen  # it moved while the other process was at work, without a reload
    assert driver.wait(60) == 0
    page.reading("Complete")

    browser.execute_script(REFUSED)
    page.press("Show the report")
    page.wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "iframe"))
    browser.switch_to.frame(browser.find_element(By.CSS_SELECTOR, "iframe"))
    page.wait.until(lambda b: b.find_element(By.CSS_SELECTOR, "h1").text == "town")
    press(browser, lambda: browser.find_element(By.PARTIAL_LINK_TEXT, "tables/codebook.md"))
    page.wait.until(lambda b: "# Codebook" in b.find_element(By.TAG_NAME, "body").text)
    browser.switch_to.default_content()
    assert browser.execute_script("return window.__refused") is None

    cell, *_ = sorted(path.name for path in (server.folder / "results" / "town" / "runs").iterdir())
    press(browser, lambda: browser.find_element(By.LINK_TEXT, cell))
    page.wait.until(lambda b: "/run/" in b.current_url)
    page.reading("A conversation of the experiment town. It can be read here, not changed.")
    assert len(page.said()) == 2
    page.press("Experiment")
    page.wait.until(lambda b: b.current_url.endswith("/experiments/town"))
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_report_with_a_script_runs_none(server: Server, browser: webdriver.Chrome, driver: subprocess.Popen[bytes]):
    assert driver.wait(120) == 0
    report = server.folder / "results" / "town" / "report.html"
    kept = report.read_bytes()
    report.write_text("<h1>x</h1><script>parent.__x=1</script><img src=x onerror=parent.__x=2>", encoding="utf-8")
    try:
        page = Page(browser)
        browser.get(f"{server.url}/experiments/town")
        page.press("Show the report")
        page.wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "iframe"))
        browser.switch_to.frame(browser.find_element(By.CSS_SELECTOR, "iframe"))
        page.wait.until(lambda b: b.find_element(By.CSS_SELECTOR, "h1").text == "x")
        browser.switch_to.default_content()
        assert browser.execute_script("return window.__x") is None
    finally:
        report.write_bytes(kept)
        browser.get_log("browser")


@pytest.mark.long
@AT_WIDTHS
def test_nothing_serious_at_any_width(
    server: Server,
    browser: webdriver.Chrome,
    driver: subprocess.Popen[bytes],
    pytestconfig: pytest.Config,
    widths: tuple[int, ...],
):
    assert driver.wait(120) == 0
    eyes = Eyes(browser, server.url, axe_core(pytestconfig))
    found = []
    with eyes.held_still():
        for width in widths:
            eyes.be_wide(width)
            eyes.open("/experiments", ".run-card .meter")
            found += eyes.look(f"list, {width}")
            eyes.open("/experiments/town", ".cells tbody tr")
            found += eyes.look(f"experiment, {width}")
            assert browser.execute_script(WIDE) is False, width
    assert not found, "\n".join(found)


@pytest.mark.long
def test_with_keys_alone(server: Server, browser: webdriver.Chrome, driver: subprocess.Popen[bytes]):
    assert driver.wait(120) == 0
    user = Keyboard(browser)
    browser.get(f"{server.url}/runs")
    user.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    user.until_there(".rail")
    way = user.tab_to("Studies")
    user.press(Keys.ENTER)
    user.wait.until(lambda b: b.current_url.endswith("/experiments"))
    user.until_there(".run-card a")
    way += user.tab_to("town")
    user.press(Keys.ENTER)
    user.wait.until(lambda b: b.current_url.endswith("/experiments/town"))
    user.until_there(".cells a")
    way += user.tab_to("Show the report")
    user.press(Keys.ENTER)
    user.until_there("iframe")
    way += user.tab_to("Search levels")
    way += user.tab_to("Conversations")
    (user.press(Keys.TAB), user.press(Keys.ENTER))
    user.wait.until(lambda b: "/run/" in b.current_url)
    assert all(way), way  # everything on the way has a name


@pytest.mark.long
def test_an_empty_folder(browser: webdriver.Chrome, tmp_path: Path, pytestconfig: pytest.Config):
    served = Server(tmp_path, "--results", "elsewhere")
    try:
        eyes = Eyes(browser, served.url, axe_core(pytestconfig))
        eyes.open("/experiments", ".command")
        assert "--out elsewhere" in browser.find_element(By.CSS_SELECTOR, ".command").text
        assert not eyes.look("no experiments")
    finally:
        served.close()
