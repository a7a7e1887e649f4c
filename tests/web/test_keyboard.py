"""Without a mouse, in a real browser: from the address to a run that goes on, and into a mind and back."""

from __future__ import annotations

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from web.conftest import Server, patient

pytestmark = [pytest.mark.proof, pytest.mark.timeout(180)]

MOST_TABS = 60
MOST_TO_START = 16
FOCUSED = """
if (document.activeElement === document.body) return '';
const one = document.activeElement.cloneNode(true);
for (const icon of one.querySelectorAll('.q-icon')) icon.remove();
return (one.getAttribute('aria-label') || one.textContent).trim();
"""
OUTLINED = "return getComputedStyle(document.activeElement).outlineStyle !== 'none'"


class Keyboard:
    """A user who has only keys."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser
        self.wait = patient(browser)

    def press(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    @property
    def at(self) -> str:
        """The name of what has the focus; empty where nothing has it."""
        return str(self.browser.execute_script(FOCUSED))

    def tab_to(self, name: str) -> list[str]:
        """Press Tab until something of that name has the focus; everything that had it on the way."""
        way = []
        for _ in range(MOST_TABS):
            self.press(Keys.TAB)
            way.append(self.at)
            if way[-1].startswith(name):
                return way
        raise AssertionError(f"no {name!r} among {way}")

    def until_there(self, selector: str, *, gone: bool = False) -> None:
        script = "return document.querySelector(arguments[0]) !== null"
        self.wait.until(lambda b: b.execute_script(script, selector) is not gone)


def test_set_up_start_and_look_into_a_mind(server: Server, browser: webdriver.Chrome):
    user = Keyboard(browser)
    browser.get(server.url)
    user.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    user.until_there(".new textarea")
    user.wait.until(lambda _: user.at == "Topic")  # it has the focus
    user.press("Tea or coffee?")
    way = user.tab_to("Message limit")
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys("3").perform()
    way += user.tab_to("Start the conversation")
    assert all(way), way  # everything on the way has a name
    assert len(way) <= MOST_TO_START, way
    assert browser.execute_script(OUTLINED)
    user.press(Keys.ENTER)
    user.wait.until(lambda b: "/run/" in b.current_url)
    user.until_there(".the-end")

    user.tab_to("What was said")
    user.tab_to("Look into the mind of")
    opened = user.at
    user.press(Keys.ENTER)
    user.until_there(".mind-cards")
    assert user.at == opened  # the focus stays in the conversation
    user.tab_to("Mind")
    user.tab_to("Previous message")
    user.press(Keys.ENTER)
    user.wait.until(lambda b: "turn=" in b.current_url)


@pytest.mark.long
def test_a_dialog_gives_the_focus_back(server: Server, browser: webdriver.Chrome):
    user = Keyboard(browser)
    browser.get(server.url)
    user.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    user.wait.until(lambda _: user.at == "Topic")
    user.tab_to("Me")
    for last in ("Take part", "Cancel"):
        user.press(Keys.ENTER)
        user.wait.until(lambda _: user.at == "What do the others call you?")
        user.press("Petr")
        user.tab_to(last)
        user.press(Keys.ENTER)
        user.until_there(".q-dialog", gone=True)
        user.wait.until(lambda _: user.at == "Me")  # the next key goes on from here


@pytest.mark.long
def test_a_key_leads_to_the_message_box(server: Server, browser: webdriver.Chrome):
    user = Keyboard(browser)
    wanted = {"topic": "Tea or coffee?", "settings": {"model": "offline", "max_messages": 500, "closing": "off"}}
    run = httpx.post(f"{server.url}/api/runs", json=wanted, timeout=60).json()["run"]
    try:
        browser.get(f"{server.url}/run/{run}")
        user.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
        user.until_there(".composer textarea")

        def led(_: object) -> bool:
            user.press("m")  # until the page listens to keys
            return user.at == "Your message"

        user.wait.until(led)
        user.press("Is it late?")
        words = "return document.activeElement.value"
        user.wait.until(lambda b: b.execute_script(words).endswith("Is it late?"))  # a field keeps its letters
    finally:
        httpx.post(f"{server.url}/api/runs/{run}/control", json={"do": "stop"}, timeout=60)
