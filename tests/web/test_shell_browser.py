"""The frame of every page in a browser: navigation, panes and panel at four widths, type, a lost connection."""

from __future__ import annotations

import pytest
from selenium import webdriver
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from web.conftest import WAIT_S, Server, press
from web.fitting import AT_WIDTHS, unfit
from web.npm import axe_core
from web.test_accessibility import Eyes

from persimchat.runs.api import simulate
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]

TOPIC = "Should our town close its centre to cars, and who would pay for the buses that come in their place?"
PLACES = ["New", "Runs", "People", "Studies"]
BAR = """
const bar = document.getElementById('popup'), {y, width} = bar.getBoundingClientRect();
const seen = bar.checkVisibility({opacityProperty: true, visibilityProperty: true});
return [seen, bar.getAttribute('role'), seen ? [y, width] : null];
"""


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    settings = Settings(model="offline", max_messages=6, analysis=True)
    return simulate(TOPIC, 3, settings=settings, out=server.folder / "conversations").run


@pytest.fixture
def eyes(server: Server, browser: webdriver.Chrome, pytestconfig: pytest.Config):
    made = Eyes(browser, server.url, axe_core(pytestconfig))
    with made.held_still():
        yield made


def shown(eyes: Eyes, selector: str) -> list[str]:
    return [one.text for one in eyes.browser.find_elements(By.CSS_SELECTOR, selector) if one.is_displayed()]


@pytest.mark.long
@AT_WIDTHS
def test_the_page_of_a_run_at_every_width(eyes: Eyes, run: str, widths: tuple[int, ...]):
    found = []
    for width in widths:
        eyes.be_wide(width)
        eyes.open(f"/run/{run}", ".the-end")
        assert TOPIC in " ".join(shown(eyes, ".run-topic")), width  # the topic has a place at every width
        two = width >= 900
        assert [bool(shown(eyes, selector)) for selector in (".rail", ".panel-tabs", ".nav")] == [two, two, not two]
        if two:
            assert [name.split("\n")[-1] for name in shown(eyes, ".rail a")] == PLACES
            assert shown(eyes, ".rail a[aria-current]")[0].endswith("Runs")
            assert shown(eyes, "aside") and shown(eyes, "section")
        views = ".panel-tabs [role=tab]" if two else ".nav .nav-view"
        for number, ready in enumerate((".people li", "aside figure, aside canvas, aside svg", ".mind-cards")):
            press(eyes.browser, views, number + (not two))
            eyes.until(ready)
            assert not unfit(eyes.browser), (width, ready)
            found += eyes.look(f"{ready}, {width}")
    assert not found, "\n".join(found)


@pytest.mark.long
def test_a_name_opens_the_mind_beside_the_conversation(eyes: Eyes, run: str):
    for width in (1440, 390):
        eyes.be_wide(width)
        eyes.open(f"/run/{run}", ".the-end")
        for _ in range(2):  # on a phone, the same name opens it again
            eyes.press(".said .who")
            eyes.until(".mind-cards")
            assert bool(shown(eyes, ".said .who")) is (width > 900)
            if width < 900:
                eyes.press(".nav .nav-view")
        assert not eyes.browser.find_elements(By.CSS_SELECTOR, ".q-dialog")


def test_the_menu_of_a_phone_leads_everywhere(eyes: Eyes):
    eyes.be_wide(390)
    for address in ("/", "/runs", "/personas", "/compare", "/experiments", "/models", "/companion"):
        eyes.open(address, "main")
        eyes.press("header [aria-label=Menu]")
        eyes.until(".q-menu .q-item")
        links = eyes.browser.find_elements(By.CSS_SELECTOR, ".q-menu a.q-item")
        assert [one.text.split("\n")[-1] for one in links] == [*PLACES, "Models"]
        here = [one.get_attribute("href") for one in links if one.get_attribute("aria-current")]
        assert here == [eyes.url + {"/compare": "/runs", "/companion": "/"}.get(address, address)]
        assert not unfit(eyes.browser), address


def test_a_bar_tells_that_the_connection_is_lost(eyes: Eyes, run: str):
    # A busy server is itself taken for lost for moments, and a page whose server has forgotten it loads again.
    wait = WebDriverWait(eyes.browser, WAIT_S, ignored_exceptions=[JavascriptException])
    eyes.be_wide(1024)
    eyes.open(f"/run/{run}", ".the-end")
    hidden, shown_above = [False, "alert", None], [True, "alert", [0, 1024]]
    wait.until(lambda browser: browser.execute_script(BAR) == hidden)  # it has its role and words from the server
    wait.until(lambda browser: browser.execute_script(f"window.socket.disconnect(); {BAR}") == shown_above)
    assert "PerSimChat does not answer" in eyes.browser.execute_script(
        "return document.getElementById('popup').innerText"
    )
    eyes.browser.execute_script("window.socket.connect()")
    wait.until(lambda browser: browser.execute_script(BAR) == hidden)
