"""Stories in a real browser: begun and watched, looked at by axe-core, with keys alone, and played by a person."""

from __future__ import annotations

import json
import time
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from run_files import logged
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from web.conftest import Server, press
from web.fitting import AT_WIDTHS, WIDE
from web.npm import axe_core
from web.test_accessibility import Eyes
from web.test_keyboard import Keyboard
from web.test_past_browser import Page

from persimchat.personas.scenario import load_story
from persimchat.runs.api import simulate

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

PLAYER = "Tuuli Koskela"
SOURCE = """
const done = arguments[0];
fetch(location.href).then(answer => answer.text()).then(text => done(text + document.documentElement.outerHTML));
"""
"""The page's source as it is sent, and as it stands in the browser."""
PATIENCE_S = 150
FIRST = "Round 1 of 1 · Private talks"


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    """The small story, over."""
    out = server.folder / "conversations"
    return simulate(load_story(), model="offline", seed=1, out=out).run


def body(**more: Any) -> dict[str, Any]:
    """The small story for the REST API."""
    story = load_story()
    given = story.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {**given, "settings": {**story.settings, "model": "offline", "seed": 1}, **more}


def faults(browser: webdriver.Chrome) -> list[Any]:
    """What the browser's console complains of."""
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


SAID = "return [...document.querySelectorAll('.cols .bubble')].map(one => one.textContent)"
QUESTION = """
const one = [...document.querySelectorAll('.your-turn [role=status]')].find(one => one.offsetParent);
return one ? one.textContent : '';
"""
SHOWN = "return document.querySelector(arguments[0])?.offsetParent != null"


def said(browser: webdriver.Chrome) -> list[str]:
    """The bubbles; Selenium takes those above the view of the conversation for hidden."""
    found: list[str] = browser.execute_script(SAID)
    return found


def test_it_is_begun_and_watched(server: Server, browser: webdriver.Chrome) -> None:
    page = Page(browser)
    browser.get(server.url)
    press(browser, lambda: page.reading("Story"))
    about = "Main characters: 3, others: 1. A round has 3 stages. At the end there is a vote."
    page.reading(f"{about} For a story of your own, load its file: Set-ups, Load a file.")
    assert page.wait.until(lambda b: "calls" in b.find_element(By.CSS_SELECTOR, ".new").text)
    press(browser, lambda: page.reading("Start the conversation"))
    page.wait.until(lambda b: "/run/" in b.current_url)
    page.named("Rounds and stages")
    page.wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".the-end"))
    page.wait.until(lambda b: len(said(b)) == 20)
    texts = said(browser)
    assert browser.find_element(By.CSS_SELECTOR, ".story-heading").get_attribute("textContent").endswith(FIRST)
    page.press_named("Meetings, round 1")
    page.wait.until(lambda b: said(b) == texts[:7])
    page.wait.until(lambda b: b.current_url.endswith("?turn=7"))
    page.reading("7 of 20")
    assert page.named("Meetings, round 1").get_attribute("aria-current") == "step"
    press(browser, ".story-eyes .q-field__control")

    def option() -> WebElement:
        entries = (By.CSS_SELECTOR, ".q-menu .q-item")
        return page.wait.until(lambda b: next((one for one in b.find_elements(*entries) if "Veikko" in one.text), None))

    press(browser, option)
    page.wait.until(lambda b: said(b) == texts[4:6])
    assert faults(browser) == []


@pytest.mark.long
@AT_WIDTHS
def test_nothing_serious_at_any_width(
    server: Server, browser: webdriver.Chrome, run: str, pytestconfig: pytest.Config, widths: tuple[int, ...]
) -> None:
    eyes = Eyes(browser, server.url, axe_core(pytestconfig))
    found = []
    with eyes.held_still():
        for width in widths:
            eyes.be_wide(width)
            eyes.open(f"/run/{run}", ".the-end")
            found += eyes.look(f"story, {width}")
            if width < 900:
                press(browser, ".nav button", 1)
            eyes.until(".heat")
            click(eyes, "Graph")
            found += eyes.look(f"Graph, {width}")
            for number, part in enumerate(("Rooms", "Mind"), 2):
                views = ".nav button" if width < 900 else ".panel-tabs [role=tab]"
                press(browser, views, number - (width >= 900))
                eyes.until(".mind-cards, .mind .q-icon" if part == "Mind" else "aside .who")
                found += eyes.look(f"{part}, {width}")
            assert browser.execute_script(WIDE) is False, width
    assert not found, "\n".join(found)
    assert faults(browser) == []


def click(eyes: Eyes, text: str) -> None:
    """Click the button of the panel that reads so."""
    found = f'//aside//*[contains(@class, "seg")]//button[normalize-space()="{text}"]'
    press(eyes.browser, lambda: eyes.browser.find_element(By.XPATH, found))


def test_with_keys_alone(server: Server, browser: webdriver.Chrome, run: str) -> None:
    user = Keyboard(browser)
    browser.get(f"{server.url}/run/{run}")
    user.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    user.until_there(".the-end")
    way = user.tab_to("Private talks, round 1")
    user.press(Keys.ENTER)
    user.wait.until(lambda b: b.current_url.endswith("?turn=1"))
    way += user.tab_to("Seen by")
    way += user.tab_to("What was said")
    way += user.tab_to("Fold the room: Aino Koskela with Olle Granat")
    user.press(Keys.ENTER)
    user.wait.until(lambda _: user.at.startswith("Unfold the room"))
    user.tab_to("Standing")
    user.press(Keys.ARROW_RIGHT)
    assert user.at == "Rooms"
    user.press(Keys.ENTER)
    user.until_there("aside [aria-label^='Go to Aino Koskela with Olle Granat']")
    way += user.tab_to("Go to Aino Koskela with Olle Granat, round 1")
    assert [place for place, name in enumerate(way) if not name] == [], " | ".join(way)


class Played:
    """A story that a person plays in the browser."""

    def __init__(self, browser: webdriver.Chrome, folder: Path) -> None:
        self.browser, self.folder = browser, folder
        self.page = Page(browser)
        self.answered: list[str] = []

    def secrets(self) -> set[str]:
        """All that the player does not hear: others' words in rooms, and what others have in mind."""
        lines = [line for kind in ("utterance", "happening") for line in logged(self.folder, kind)]
        heard = {line["text"] for line in lines if self._hears(line) and "text" in line}
        return {line["text"] for line in lines if not self._hears(line) and "text" in line} - heard

    @staticmethod
    def _hears(line: dict[str, Any]) -> bool:
        return line["speaker"] == PLAYER or line.get("heard_by") is None or PLAYER in line["heard_by"]

    def told(self) -> list[str]:
        """The secrets that the page's source holds."""
        source = unescape(self.browser.execute_async_script(SOURCE))
        return [text for text in self.secrets() if text in source or json.dumps(text)[1:-1] in source]

    def question(self) -> str:
        return str(self.browser.execute_script(QUESTION))

    def answer(self) -> None:
        """Answer the question that the page shows."""
        asked = self.question()
        self.answered.append(asked)
        if self.browser.execute_script(SHOWN, ".deciding"):
            press(self.browser, ".deciding .q-radio")
            press(self.browser, lambda: self.page.reading("Answer"))
        else:
            words = self.browser.find_element(By.CSS_SELECTOR, ".composer textarea")
            words.send_keys("Let us think about the winter line once more.", Keys.ENTER)
        self.page.wait.until(lambda b: self.question() != asked or self.over())

    def over(self) -> bool:
        return bool(self.browser.find_elements(By.CSS_SELECTOR, ".the-end"))


def test_a_person_plays(server: Server, browser: webdriver.Chrome) -> None:
    given = body()
    for one in given["participants"]:
        one["human"] = one["name"] == PLAYER
    begun = httpx.post(f"{server.url}/api/runs", json=given, timeout=60).json()
    assert begun.get("people") == [PLAYER], begun
    played = Played(browser, server.folder / "conversations" / begun["run"])
    browser.get(f"{server.url}/run/{begun['run']}")
    end = time.monotonic() + PATIENCE_S
    while not played.over() and time.monotonic() < end:
        if played.question():
            assert played.told() == []
            assert not browser.execute_script(SHOWN, ".story-eyes")
            played.answer()
        time.sleep(0.1)
    asked = " ".join(played.answered)
    for part in (
        "whom do you want to talk to",
        "nobody else knows",
        "before everybody",
        "open ballot",
        "closed ballot",
    ):
        assert part in asked, asked
    played.page.wait.until(lambda b: b.execute_script(SHOWN, ".story-eyes"))  # the story opens to all
    words = [line["text"] for line in logged(played.folder, "utterance")]
    played.page.wait.until(lambda b: len(said(b)) == len(words))
    assert played.told()
    assert faults(browser) == []
