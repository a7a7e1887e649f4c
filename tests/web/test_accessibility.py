"""axe-core finds nothing serious on any page, light and dark, on a desktop and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from web.conftest import Server, patient, press
from web.npm import axe_core

from persimchat.runs.api import simulate
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]

TOPIC = "Should our town close its centre to cars?"
AXE = """
const done = arguments[0];
axe.run(document, {resultTypes: ['violations'], preload: false}).then(found => done(found.violations));
"""
DARKEN = "Quasar.Dark.set(arguments[0]); return document.body.classList.contains('body--dark')"
STILL = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}


class Eyes:
    """A browser that looks at a page with axe-core."""

    def __init__(self, browser: webdriver.Chrome, url: str, axe: str) -> None:
        self.browser = browser
        self.url = url
        self._axe = axe
        self.wait = patient(browser)

    @contextmanager
    def held_still(self) -> Iterator[None]:
        """Without movement; after it, the window has its own width again (`be_wide`)."""
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", STILL)
        try:
            yield
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def be_wide(self, width: int) -> None:
        """Give the window a width, of a phone below 700."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 700}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def open(self, address: str, ready: str) -> None:
        """Open a page, and wait until it listens and shows something of this selector."""
        self.browser.get(self.url + address)
        self.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
        self.until(ready)

    def until(self, selector: str) -> None:
        self.wait.until(lambda b: any(e.is_displayed() for e in b.find_elements(By.CSS_SELECTOR, selector)))

    def press(self, selector: str) -> None:
        """Click the first displayed element of this selector, scrolled into view.

        Selenium takes what lies above the view of the conversation, which begins at its end, for hidden.
        """
        self.browser.execute_script("document.querySelector(arguments[0])?.scrollIntoView()", selector)

        def found() -> WebElement:
            shown = (By.CSS_SELECTOR, selector)
            return self.wait.until(lambda b: next((e for e in b.find_elements(*shown) if e.is_displayed()), None))

        press(self.browser, found)

    def look(self, where: str) -> list[str]:
        """What is wrong, light and dark, as lines to read."""
        self.browser.execute_script("if (!window.axe) (0, eval)(arguments[0])", self._axe)
        found = []
        for dark in (False, True):
            self.wait.until(
                lambda b, dark=dark: b.execute_script(DARKEN, dark) is dark
            )  # the page may set its own first
            violations = self.browser.execute_async_script(AXE)
            found += [line for one in violations for line in told(f"{where}, {'dark' if dark else 'light'}", one)]
        self.browser.execute_script("Quasar.Dark.set(false)")
        return found


def told(where: str, violation: dict[str, Any]) -> Iterator[str]:
    if violation["impact"] in ("serious", "critical"):
        for node in violation["nodes"]:
            yield f"{where}: {violation['id']}: {node['html'][:200]} ({node['failureSummary'][:300]})"


@pytest.fixture(scope="module")
def runs(server: Server) -> list[str]:
    """A discussion with analysis, and a debate."""
    out = server.folder / "conversations"
    talk = simulate(TOPIC, 3, settings=Settings(model="offline", max_messages=5, analysis=True), out=out)
    asked = Settings(model="offline", max_messages=6, mode="debate", answer_format="yesno", closing="off")
    return [talk.run, simulate(TOPIC, 3, settings=asked, out=out).run]


@pytest.fixture(scope="module")
def eyes(server: Server, browser: webdriver.Chrome, pytestconfig: pytest.Config) -> Eyes:
    axe = axe_core(pytestconfig)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", STILL)
    return Eyes(browser, server.url, axe)


def seen(*looks: Callable[[], list[str]]) -> list[str]:
    return [line for look in looks for line in look()]


def test_a_conversation(eyes: Eyes, runs: list[str]):
    found = []
    eyes.open("/", ".new textarea")
    found += eyes.look("new conversation")
    eyes.press(".kind:nth-of-type(3)")
    eyes.until("[aria-label='Question 1']")
    found += eyes.look("focus group")
    eyes.press("[title^='Add personas']")
    eyes.until(".q-dialog [role=checkbox]")
    found += eyes.look("chooser")
    for run, what in zip(runs, ("discussion", "debate"), strict=True):
        eyes.open(f"/run/{run}", ".the-end")
        found += eyes.look(what)
        eyes.press(".panel-tabs [role=tab]:nth-child(2)")
        eyes.until(".charts svg.chart")
        found += eyes.look(f"charts of a {what}")
    eyes.press(".said .who")
    eyes.until(".mind-cards")
    found += eyes.look("mind")
    assert not found, "\n".join(found)


@pytest.mark.long
def test_other_pages(eyes: Eyes, runs: list[str]):
    found = []
    eyes.open("/runs", ".run-row")
    found += eyes.look("runs")
    eyes.open(f"/compare?a={runs[0]}&b={runs[1]}", ".side-by-side")
    found += eyes.look("compare")
    eyes.open("/personas", ".persona-grid")
    found += eyes.look("personas")
    eyes.press(".persona-acts .bg-primary")
    eyes.until(".q-dialog textarea")
    found += eyes.look("editor")
    eyes.open(f"/run/{runs[0]}/interview/Jarmila", ".composer")
    found += eyes.look("interview")
    assert not found, "\n".join(found)


def test_on_a_phone(eyes: Eyes, runs: list[str]):
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    eyes.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    found = []
    try:
        eyes.open(f"/run/{runs[0]}", ".the-end")
        found += eyes.look("discussion on a phone")
        eyes.open("/runs", ".run-row")
        found += eyes.look("runs on a phone")
    finally:
        eyes.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert not found, "\n".join(found)
