"""The companion in a real browser: a talk that is remembered, the looks at two widths, keys alone, and forgetting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from web.companion_worlds import ODA, lake
from web.conftest import Server
from web.fitting import WIDE
from web.npm import axe_core
from web.test_accessibility import Eyes
from web.test_keyboard import OUTLINED, Keyboard
from web.test_past_browser import Page

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

WIDTHS = (1280, 390)
TALK = f"/companion?agent={ODA.replace(' ', '+')}&person="
HOSTILE = "<img src=x onerror=window.__x=1>"


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has opened the world at the lake."""
    folder = tmp_path_factory.mktemp("companion")

    async def make() -> None:
        async with lake(folder / "worlds" / "lake"):
            pass

    asyncio.run(make())
    served = Server(folder, "--world", "worlds/lake")
    yield served
    served.close()


def say(page: Page, text: str, answers: int) -> None:
    """Say something, and wait for the answer."""
    page.browser.find_element(By.CSS_SELECTOR, ".composer textarea").send_keys(text, Keys.ENTER)
    page.wait.until(lambda b: len(b.find_elements(By.CSS_SELECTOR, ".said:not(.mine):not(.live) .bubble")) == answers)


def test_a_talk_is_remembered_and_forgotten(companion: Server, browser: webdriver.Chrome) -> None:
    page = Page(browser)
    browser.get(f"{companion.url}{TALK}Petr")
    page.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    say(page, f"My sister is called Mira. {HOSTILE}", 1)
    say(page, "Goodbye!", 2)
    page.reading("“My sister is called Mira.”")
    assert browser.find_element(By.CSS_SELECTOR, "svg.face").get_attribute("role") == "img"
    browser.refresh()
    page.reading("“My sister is called Mira.”")
    say(page, "What is my sister called?", 3)
    page.wait.until(lambda b: "Mira" in b.find_elements(By.CSS_SELECTOR, ".said:not(.mine) .bubble")[2].text)
    assert browser.execute_script("return window.__x") is None

    page.press("Forget everything")
    page.reading("To confirm, type your name: Petr")
    button = browser.find_element(By.CSS_SELECTOR, ".q-dialog .bg-negative")
    assert not button.is_enabled()
    browser.find_element(By.CSS_SELECTOR, ".q-dialog input").send_keys("petr")
    page.wait.until(lambda _: button.is_enabled())
    button.click()
    page.reading(f"{ODA} has forgotten you.")
    browser.get(f"{companion.url}{TALK}Petr")
    page.reading(f"You have not talked with {ODA} yet. Say something.")
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert not any(b"Mira" in path.read_bytes() for path in (companion.folder / "worlds").rglob("*") if path.is_file())


@pytest.mark.long
def test_nothing_serious_at_any_width(
    companion: Server, browser: webdriver.Chrome, pytestconfig: pytest.Config
) -> None:
    eyes, page = Eyes(browser, companion.url, axe_core(pytestconfig)), Page(browser)
    found = []
    with eyes.held_still():
        for width, person in zip(WIDTHS, ("Eva", "Jan"), strict=True):
            eyes.be_wide(width)
            eyes.open("/companion", ".run-topic, .persona-text")
            found += eyes.look(f"choice, {width}")
            eyes.open(f"{TALK}{person}", "svg.face")
            say(page, "My sister is called Mira. I want to die.", 1)
            say(page, "Goodbye!", 2)
            eyes.until(".your-turn")
            found += eyes.look(f"talk, {width}")
            assert browser.execute_script(WIDE) is False, width
            if width < 1100:
                eyes.press(".nav button:nth-child(2)")
            eyes.until(".fact")
            found += eyes.look(f"memory, {width}")
            assert browser.execute_script(WIDE) is False, width
            eyes.press(".fact button[aria-label^=Edit]")
            eyes.until(".q-dialog textarea")
            found += eyes.look(f"a correction, {width}")
    assert not found, "\n".join(found)


@pytest.mark.long
def test_with_keys_alone(companion: Server, browser: webdriver.Chrome) -> None:
    user = Keyboard(browser)
    browser.get(f"{companion.url}/companion")
    user.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    way = user.tab_to("Your name")
    user.press("Ida")
    way += user.tab_to(f"Talk with {ODA}")
    user.press(Keys.ENTER)
    user.until_there("svg.face")
    way += user.tab_to("Your words")
    user.press("Good morning!", Keys.ENTER)
    user.until_there(".said:not(.mine):not(.live) .bubble")
    way += user.tab_to("Something happens")
    user.press(Keys.ENTER)
    user.until_there("[aria-expanded=true]")
    way += user.tab_to("End the talk")
    assert browser.execute_script(OUTLINED)
    user.press(Keys.ENTER)
    user.until_there(".fact, .the-end")
    assert all(way), str(way)  # everything on the way has a name


@pytest.mark.long
def test_without_a_world(browser: webdriver.Chrome, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    served = Server(tmp_path)
    try:
        eyes = Eyes(browser, served.url, axe_core(pytestconfig))
        eyes.open("/companion", ".command")
        assert "--world worlds/NAME" in browser.find_element(By.CSS_SELECTOR, ".command").text
        assert not eyes.look("no world")
    finally:
        served.close()
