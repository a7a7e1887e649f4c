"""A person's conversation in a real browser: a turn, two tabs, a closed tab, and a server that is killed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from web.conftest import Server, patient, press, until

from persimchat.app.web.live_runs import LiveRuns
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]


async def begun(out: Path) -> str:
    """Have a run that waits for Petr, whom nobody has answered for; returns its id."""
    people = [*default_participants(2), {"name": "Petr", "human": True}]
    settings = Settings(model="offline", max_messages=2_000, closing="off", human_turns="hand")
    live = await LiveRuns(out).start(make_scenario("Tea or coffee?", people), settings)
    live.control.raise_hand("Petr")
    await until(lambda: live.board.asked is not None)
    live.control.leave()
    await live.ended()
    return live.run


class Page:
    """What somebody sees of a run in the browser's present tab."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser
        self.wait = patient(browser)

    def open(self, server: Server, run: str) -> None:
        self.browser.get(f"{server.url}/run/{run}")

    def until(self, true: Callable[[], object]) -> None:
        self.wait.until(lambda _: true())

    @property
    def said(self) -> list[str]:
        script = "return [...document.querySelectorAll('.said:not(.live) .bubble')].map(bubble => bubble.textContent)"
        return list(self.browser.execute_script(script))

    @property
    def header(self) -> str:
        return str(self.browser.find_element(By.TAG_NAME, "header").text)

    @property
    def turn(self) -> int:
        found = re.search(r"(\d+) of 2,000", self.header)
        return int(found.group(1)) if found else 0

    def button(self, name: str) -> WebElement:
        """The visible button of that name; waits for it."""
        path = f"//button[@aria-label='{name}' or .//*[normalize-space()='{name}']]"

        self.connected()

        def found(_: object) -> WebElement | None:
            shown = [one for one in self.browser.find_elements(By.XPATH, path) if one.is_displayed()]
            return next((one for one in shown if one.is_enabled()), None)

        return self.wait.until(found)

    def press(self, name: str) -> None:
        """Click the visible button of that name."""
        press(self.browser, lambda: self.button(name))

    def connected(self) -> None:
        """Wait until the page listens: what is done before is lost."""
        self.until(lambda: self.browser.execute_script("return window.did_handshake === true"))

    def answer(self, words: str) -> None:
        self.until(lambda: "Your turn, Petr" in self.browser.page_source)
        self.connected()
        field = self.browser.find_element(By.CSS_SELECTOR, "textarea[aria-label='Your message']")
        field.send_keys(words, Keys.ENTER)
        self.until(lambda: words in self.said)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[list[Server], str]]:
    """A server, and the run that waits in its folder; the list may be given another server."""
    run = asyncio.run(begun(tmp_path / "conversations"))
    servers = [Server(tmp_path, "--out", "conversations")]
    yield servers, run
    for server in servers:
        server.close()


@pytest.mark.long
def test_a_phone_shows_who_speaks_and_who_hears_it(served: tuple[list[Server], str], browser: webdriver.Chrome):
    servers, run = served
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        page = Page(browser)
        page.open(servers[0], run)
        page.press("Resume")
        page.until(lambda: "Your turn, Petr" in browser.page_source)
        page.until(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".composer-who .q-select")) == 2)
        for choice in browser.find_elements(By.CSS_SELECTOR, ".composer-who .q-select"):
            assert choice.size["width"] >= 120
        browser.get("about:blank")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_person_and_a_server_that_is_killed(served: tuple[list[Server], str], browser: webdriver.Chrome):
    servers, run = served
    page = Page(browser)
    page.open(servers[0], run)
    page.until(lambda: "Ended" in page.header)
    page.press("Resume")
    page.until(lambda: "Your turn, Petr" in browser.page_source)
    page.press("Pause")  # after this utterance
    page.answer("I would like some tea.")
    page.until(lambda: "Paused" in page.header)
    page.press("Raise hand")
    page.press("Continue")
    page.until(lambda: "Waiting for Petr" in page.header)
    page.until(lambda: browser.title.startswith("Your turn, Petr"))
    page.until(lambda: browser.switch_to.active_element.get_attribute("aria-label") == "Your message")
    first, seen = browser.current_window_handle, page.said
    assert "I would like some tea." in seen

    browser.switch_to.new_window("tab")
    page.open(servers[0], run)
    page.until(lambda: page.said == seen)
    page.press("Pause")
    page.answer("No, coffee.")
    page.until(lambda: "Paused" in page.header)
    second, seen = browser.current_window_handle, page.said
    browser.switch_to.window(first)
    page.until(lambda: page.said == seen and "Paused" in page.header)
    browser.close()
    browser.switch_to.window(second)
    page.press("Step in from outside: change the topic, give somebody the floor")
    item = (By.XPATH, "//*[contains(@class, 'q-item')][contains(., 'Give the floor to')]")
    page.until(lambda: browser.find_elements(*item))
    press(browser, lambda: browser.find_elements(*item)[0])
    page.press("Raise hand")
    page.press("Continue")
    page.until(lambda: "Paused" not in page.header)
    browser.get("about:blank")  # nobody looks, and it goes on
    page.open(servers[0], run)
    page.until(lambda: page.turn > len(seen))
    page.until(lambda: "Waiting for Petr" in page.header)
    seen = page.said
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []

    browser.get("about:blank")
    os.kill(servers[0].process.pid, signal.SIGKILL)
    servers[0].process.wait(60)
    servers.append(Server(servers[0].folder, "--out", "conversations"))
    page.open(servers[1], run)
    page.until(lambda: "Unfinished" in page.header)
    assert page.said == seen
    page.press("Resume")
    page.until(lambda: "Your turn, Petr" in browser.page_source)
    page.press("Pause")
    page.answer("I am still here.")
    page.until(lambda: "Paused" in page.header)
    page.press("Stop")
    page.press("End it")
    page.until(lambda: "Ended" in page.header)
    assert "Somebody ended the conversation from outside." in browser.page_source
