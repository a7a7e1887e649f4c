"""Pruning in a real browser: set up, the pieces left out in light, dark and narrow, and what would go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pruned_lines import PIECES, pruned
from run_folders import HOSTILE, PEOPLE, mind, utterance, write_run
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from web.conftest import Server
from web.fitting import WIDE
from web.npm import axe_core
from web.test_accessibility import Eyes
from web.test_past_browser import Page
from web.test_story_browser import faults

from persimchat.runs.api import simulate
from persimchat.state.minds.pruning import Pruning
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

WIDTHS = (1280, 390)
STRUCK = """
return [...document.querySelectorAll('del.left-text')].map(one => [
  one.textContent.trim(), getComputedStyle(one.firstElementChild).textDecorationLine]);
"""
OPEN = """
const one = [...document.querySelectorAll('.q-expansion-item')].find(one => one.textContent.includes(arguments[0]));
one.querySelector('.q-item').click();
"""
FOCUS = """
const named = document.querySelector("[aria-label='How freely do they speak?']");
const one = named.matches('[tabindex]') ? named : named.querySelector('[tabindex]');
one.scrollIntoView({block: 'center'});
one.focus();
"""


@pytest.fixture(scope="module")
def made_up(server: Server) -> str:
    """A run whose first prompt was pruned, and in it a piece that would be markup."""
    name = f"Eva {HOSTILE}"
    pieces: Any = [(*PIECES[0][:3], f"- Description: {HOSTILE}", 5, 0.5), *PIECES[1:]]
    checks = [{"scores": [8, 7, 9], "comment": HOSTILE, "taken": True}]
    people = [{"name": one, "description": "Somebody."} for one in (name, *PEOPLE[1:])]
    minds = [mind(1, PEOPLE[1]), mind(1, name, pruned=pruned(1, pieces=pieces, checks=checks))]
    scenario = {"topic": "Tea or coffee?", "participants": people}
    out: Path = server.folder / "conversations"
    return write_run(out, [utterance(1, name)], minds, run="pruned-by-hand", scenario=scenario).name


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    """A real run, of which λ = 0.6 left something out."""
    settings = Settings(model="offline", max_messages=4, pruning=Pruning(strength=0.6, method="embedding"))
    return simulate("Tea or coffee?", 3, settings=settings, out=server.folder / "conversations").run


@pytest.mark.long
def test_the_panel_in_light_dark_and_narrow(
    server: Server, browser: webdriver.Chrome, made_up: str, pytestconfig: pytest.Config
) -> None:
    eyes = Eyes(browser, server.url, axe_core(pytestconfig))
    found = []
    with eyes.held_still():
        for width in WIDTHS:
            eyes.be_wide(width)
            eyes.open(f"/run/{made_up}", ".said .who")
            eyes.press(".said .who")
            eyes.until(".left-blocks")
            found += eyes.look(f"left out, {width}")
            struck = browser.execute_script(STRUCK)
            assert [line for _, line in struck] == ["line-through", "line-through"]
            assert "<img src=x onerror=alert(2)>" in struck[0][0]  # as text
            assert "spoke without these 2 of 5 pieces of information." in browser.page_source
            assert browser.execute_script(WIDE) is False, width
    assert not found, "\n".join(found)
    assert faults(browser) == []


@pytest.mark.long
def test_what_would_go(server: Server, browser: webdriver.Chrome, run: str, pytestconfig: pytest.Config) -> None:
    eyes, page = Eyes(browser, server.url, axe_core(pytestconfig)), Page(browser)
    found = []
    with eyes.held_still():
        for width in WIDTHS:
            eyes.be_wide(width)
            eyes.open(f"/run/{run}?turn=2", ".said .who")
            browser.execute_script("[...document.querySelectorAll('.said .who')].pop().click()")
            eyes.until(".left-blocks")
            lacked = browser.execute_script(STRUCK)
            page.press("Show what would go")
            eyes.until(".would-choices ~ div .left-blocks")
            assert browser.execute_script(STRUCK) == lacked * 2  # the same λ and method leave out the same
            found += eyes.look(f"what would go, {width}")
            assert browser.execute_script(WIDE) is False, width
    assert not found, "\n".join(found)
    assert faults(browser) == []


@pytest.mark.long
def test_the_slider_with_the_keyboard(server: Server, browser: webdriver.Chrome, pytestconfig: pytest.Config) -> None:
    eyes, page = Eyes(browser, server.url, axe_core(pytestconfig)), Page(browser)
    found = []
    with eyes.held_still():
        for width in WIDTHS:
            eyes.be_wide(width)
            eyes.open("/", ".new textarea")
            if width == WIDTHS[0]:  # what is open stays open
                page.press("More settings")
                page.reading("Minds and words")
                browser.execute_script(OPEN, "Minds and words")
            page.reading("Nothing is left out. No further calls.")
            browser.execute_script(FOCUS)
            for _ in range(3):
                browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
            page.reading("λ 0.15")
            browser.execute_script(OPEN.replace(".find(", ".findLast("), "More on what is left out")
            eyes.wait.until(
                lambda b: any(e.is_displayed() for e in b.find_elements(By.CSS_SELECTOR, ".bare .q-select"))
            )
            found += eyes.look(f"slider, {width}")
            assert browser.execute_script(WIDE) is False, width
            browser.execute_script(FOCUS)
            for _ in range(3):  # the browser keeps what is set up
                browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
            page.reading("Nothing is left out. No further calls.")
    assert not found, "\n".join(found)
    assert faults(browser) == []
