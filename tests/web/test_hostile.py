"""Nothing that personas, models, files or addresses say is ever more than text: in a real browser, on every page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from web.conftest import Server, patient, press
from web.hostile_runs import CHART, NAMES, SCRIPT, VUE, hostile_personas, hostile_run, hostile_setup

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
WATCH = """
window.__broken = [];
addEventListener('securitypolicyviolation', event => __broken.push('policy: ' + event.blockedURI));
for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = () => { __broken.push(name) };
"""
FOUND = """
const found = [...window.__broken];
if (window.__x !== undefined) found.push('ran: ' + window.__x);
for (const entry of performance.getEntriesByType('resource'))
  if (!/^(data|blob):/.test(entry.name) && new URL(entry.name).origin !== location.origin) found.push(entry.name);
for (const element of document.querySelectorAll('*')) {
  const bad = ({name, value}) => /^on/.test(name) ||
    (/^(href|src|action|formaction|srcdoc)$/.test(name) && /^\\s*javascript:|evil/i.test(value));
  const made = element.tagName === 'IFRAME' || (element.tagName === 'SCRIPT' && /^window.__x/.test(element.text));
  if (made || [...element.attributes].some(bad)) found.push(element.outerHTML.slice(0, 200));
}
return found;
"""
SHOWN = """
return [...document.querySelectorAll(arguments[0])].filter(one => one.checkVisibility({visibilityProperty: true}));
"""
FOCUSED = "return document.activeElement.closest(arguments[0]) !== null"
WIDTH = """
const wide = [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth);
if (document.documentElement.scrollWidth > window.innerWidth) wide.push(document.documentElement);
return wide.map(one => one.tagName + ' ' + one.className);
"""


class Visitor:
    """A browser that goes through the pages and looks whether anything was more than text."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser = browser
        self.url = url
        self.wait = patient(browser)

    def open(self, address: str, ready: str = "main") -> None:
        self.browser.get(self.url + address)
        self.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
        self.shown(ready)

    def shown(self, selector: str) -> WebElement:
        """The first thing of this selector that is to be seen; waits for it."""
        return self.wait.until(lambda b: next(iter(self._all(selector)), None))

    def _all(self, selector: str) -> list[WebElement]:
        return list(self.browser.execute_script(SHOWN, selector))

    def press(self, selector: str) -> None:
        def found() -> WebElement:
            element = self.shown(selector)
            self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            return element

        press(self.browser, found)

    def escape(self, gone: str) -> None:
        """Close a dialog or a menu, and wait until it is gone."""
        self.wait.until(lambda b: b.execute_script(FOCUSED, gone))
        ActionChains(self.browser).send_keys(Keys.ESCAPE).perform()
        self.wait.until(lambda _: not self._all(gone))

    def hover(self) -> None:
        """Point at every chart, so that its tooltips are drawn."""

        def pointed(_: object) -> bool:
            for chart in self._all(".charts svg.chart"):
                self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
                for part in (-0.3, 0.0, 0.3):
                    across, down = round(chart.size["width"] * part), round(chart.size["height"] * part * 0.5)
                    ActionChains(self.browser).move_to_element_with_offset(chart, across, down).perform()
            return True

        self.wait.until(pointed)  # again where one was drawn anew meanwhile

    def check(self, where: str) -> None:
        """Nothing ran, nothing came from elsewhere, and the page is no wider than the window."""
        assert self.browser.execute_script(FOUND) == [], where
        assert self.browser.execute_script(WIDTH) == [], f"{where} is too wide"
        logged = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        assert [line for line in logged if "404" not in line and "422" not in line] == [], where

    def reads(self, text: str) -> None:
        """Wait until a text stands on the page, as text."""
        words = " ".join(text.split())
        self.wait.until(
            lambda b: words in " ".join(b.find_element(By.TAG_NAME, "body").get_property("textContent").split())
        )


@pytest.fixture(scope="module")
def runs(server: Server) -> tuple[str, str]:
    out = server.folder / "conversations"
    first = hostile_run(out, "20260101-120000-tea-0001")
    changed = {"model": SCRIPT, SCRIPT: VUE, "say": {"speaker": CHART, "text": VUE}}
    branch = {"of": first, "turn": 4, "why": "branch", "changed": changed}
    second = hostile_run(
        out,
        "20260101-130000-tea-0002",
        branch=branch,
        stop_reason="error",
        conclusion=None,
        settings={"max_messages": 12, "mode": "debate", "model": SCRIPT},
    )
    return first, second


@pytest.fixture
def visitor(browser: webdriver.Chrome, server: Server) -> Iterator[Visitor]:
    made = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    yield Visitor(browser, server.url)
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_what_ran_is_found(visitor: Visitor):
    visitor.open("/runs")
    visitor.check("nothing yet")
    visitor.browser.execute_script(
        "document.body.insertAdjacentHTML('beforeend', arguments[0])",
        "<img src=x onerror='window.__x=1'><img src='http://192.0.2.1/y.png'><a href='javascript:1'>z</a>",
    )
    visitor.wait.until(lambda b: len(b.execute_script(FOUND)) >= 4)  # what ran, the policy, the handler, the link
    visitor.browser.get("about:blank")
    visitor.browser.get_log("browser")


def test_a_run(visitor: Visitor, runs: tuple[str, str]):
    for run in reversed(runs):
        visitor.open(f"/run/{run}", ".the-end")
        visitor.reads(SCRIPT)
        visitor.reads(VUE)
        visitor.check("run")
        visitor.press(".panel-tabs [role=tab]:nth-child(2)")
        visitor.shown(".charts svg.chart")
    visitor.hover()
    visitor.check("charts")
    for menu in (".aside button", ".said [aria-haspopup], .said .q-btn--round"):
        visitor.press(menu)
        visitor.shown(".q-menu")
        visitor.check("menu")
        visitor.escape(".q-menu")
    visitor.press(".said .who")
    visitor.shown(".mind-cards")
    visitor.reads(SCRIPT)
    for _ in range(3):
        visitor.check("mind")
        visitor.press("aside [aria-label='Previous message']")
    visitor.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    visitor.open(f"/run/{runs[0]}?turn=3", ".said")
    visitor.check("run on a phone")
    for number in (3, 4, 1):
        visitor.press(f".nav button:nth-child({number})")
        visitor.check(f"pane {number} on a phone")


@pytest.mark.long
def test_past_runs(visitor: Visitor, runs: tuple[str, str]):
    for device in ({**PHONE, "width": 1440, "mobile": False}, PHONE):
        visitor.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
        visitor.open("/runs", ".run-row")
        visitor.reads(SCRIPT)
        visitor.shown("input").send_keys(SCRIPT)
        visitor.check("runs")
        visitor.open(f"/compare?a={runs[0]}&b={runs[1]}", ".side-by-side")
        visitor.reads(SCRIPT)
        visitor.check("compare")


@pytest.mark.long
def test_addresses(visitor: Visitor, runs: tuple[str, str]):
    for text in (SCRIPT + VUE, "../../../etc/passwd\u202e\x1b"):
        given = quote(text, safe="")
        for address in (f"/?like={given}", f"/?setup={given}", f"/compare?a={given}&b={given}", f"/run/{given}"):
            visitor.open(address)
            visitor.check(address)
    visitor.browser.get(f"{visitor.url}/run/{runs[0]}?turn={quote(SCRIPT, safe='')}")
    assert visitor.browser.execute_script("return window.__x") is None


def test_set_up(visitor: Visitor, runs: tuple[str, str], tmp_path: Path):
    visitor.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    visitor.open(f"/?like={runs[0]}", ".new")
    visitor.reads(SCRIPT)
    visitor.check("another like this")
    visitor.open("/", ".new")
    visitor.press(".files")
    visitor.press(".q-menu .q-item:nth-child(4)")
    upload(visitor, [hostile_setup(tmp_path / "{{ x }}<img src=x onerror=window.__x=12>.yaml")])
    for name in NAMES:
        visitor.reads(name)
    visitor.check("an uploaded set-up")
    visitor.press(".face-button")
    visitor.check("what can be done with a participant")
    visitor.press(".q-menu .q-item")
    visitor.shown(".q-dialog")
    visitor.check("a participant")


LAST = ".q-dialog .persona-foot button:last-child"
"""The button of a dialog that goes on."""


@pytest.mark.long
def test_personas(visitor: Visitor, tmp_path: Path):
    visitor.open("/personas", ".persona-grid")
    visitor.press(".persona-acts button:nth-child(1)")
    *good, broken = hostile_personas(tmp_path)
    read(visitor, [broken])
    visitor.check("a persona that cannot be read")
    visitor.open("/personas", ".persona-grid")
    visitor.press(".persona-acts button:nth-child(1)")
    read(visitor, good)
    visitor.shown(".q-dialog [role=checkbox]")
    visitor.press(LAST)  # Save selected
    for name in NAMES:
        visitor.reads(name)
    for device in ({**PHONE, "width": 1440, "mobile": False}, PHONE):
        visitor.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
        visitor.open("/personas", ".persona-grid")
        visitor.reads(SCRIPT)
        visitor.check("personas")
        visitor.press("[aria-label^='Read more: ']")
        visitor.shown(".q-dialog")
        visitor.check("a persona")
        visitor.escape(".q-dialog")
        visitor.press("[aria-label^='Edit ']")
        visitor.shown(".q-dialog textarea")
        visitor.check("editor")
    visitor.open("/", ".new")
    visitor.press("[title^='Add personas']")
    visitor.shown(".q-dialog [role=checkbox]")
    visitor.check("chooser")


def upload(visitor: Visitor, files: list[Path]) -> None:
    visitor.shown(".q-dialog")
    field: Any = visitor.wait.until(lambda b: b.find_element(By.CSS_SELECTOR, ".q-dialog input[type=file]"))
    field.send_keys("\n".join(map(str, files)))


def read(visitor: Visitor, files: list[Path]) -> None:
    """Have files of people read in the dialog."""
    upload(visitor, files)
    listed = "return document.querySelectorAll('.q-dialog .surface .truncate').length"
    visitor.wait.until(lambda b: b.execute_script(listed) == len(files))
    visitor.press(LAST)  # Read them
