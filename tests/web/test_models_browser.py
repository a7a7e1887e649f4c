"""The page of models in a real browser: providers, a wrong server, one with its models, and keys that stay unseen."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from loopback.server import LoopbackServer, free_port
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from web.conftest import Server, press
from web.npm import axe_core
from web.test_accessibility import STILL, Eyes
from web.test_hostile import WIDTH
from web.test_past_browser import Page

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

SECRET = "sk-secret-0123456789"
STATUS = """
return [...document.querySelectorAll('[role=status]')].map(one => one.textContent.trim()).find(
  text => text.includes(arguments[0]))
"""
SAYS = """
const shown = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() && !one.children.length);
return shown.some(one => one.textContent.includes(arguments[0]));
"""
VALUES = "return [...document.querySelectorAll('input')].map(one => one.value)"
SUMMARY = "//*[contains(@class, 'q-expansion-item')]//*[contains(text(), 'Not set up yet: ')]"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the page with one key, in whose folder no model lies."""
    folder = tmp_path_factory.mktemp("models")
    empty = dict.fromkeys(("PERSIMCHAT_API_KEY", "OLLAMA_HOST"), "")
    served = Server(folder, OPENAI_API_KEY=SECRET, PERSIMCHAT_MODELS=str(folder / "files"), **empty)
    yield served
    served.close()


class Models(Page):
    """The page of models, and its field."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        super().__init__(browser)
        browser.get(f"{url}/models")
        self.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
        self.reading("Who answers")

    def field(self, label: str) -> WebElement:
        """The field of a label, once it is to be seen."""
        found = (By.XPATH, f"//input[@aria-label={json.dumps(label)}]")
        return self.wait.until(lambda b: next((e for e in b.find_elements(*found) if e.is_displayed()), None))

    def choose_provider(self, name: str) -> None:
        """Choose who answers."""
        press(self.browser, "main .q-select, .q-page .q-select")

        def chosen(browser: webdriver.Chrome) -> bool:
            entries = browser.find_elements(By.CSS_SELECTOR, ".q-menu .q-item")
            entry = next((entry for entry in entries if entry.text == name), None)
            if entry is not None:
                entry.click()
            return entry is not None

        self.wait.until(chosen)
        self.wait.until(lambda b: not b.find_elements(By.CSS_SELECTOR, ".q-menu .q-item"))

    def write(self, label: str, text: str) -> None:
        """Write into a field, in place of what stands there."""

        def written(_: webdriver.Chrome) -> bool:
            element = self.field(label)
            element.send_keys(Keys.CONTROL, "a")
            element.send_keys(text)
            return element.get_property("value") == text

        self.wait.until(written)

    def says(self, text: str) -> None:
        """Wait until a text is to be seen."""
        self.wait.until(lambda b: b.execute_script(SAYS, text))


def test_a_provider_its_models_and_its_key(keyed: Server, browser: webdriver.Chrome):
    page = Models(browser, keyed.url)
    page.says("The key is set (OPENAI_API_KEY).")  # it answers where nobody chooses
    page.choose_provider("Offline, for trying out")
    page.says("says nothing real")
    page.choose_provider("OpenAI")
    page.says("The key is set (OPENAI_API_KEY).")
    page.wait.until(lambda b: "gpt-4o-mini" in b.execute_script(VALUES))
    page.says("ready (OPENAI_API_KEY)")
    press(browser, lambda: browser.find_element(By.XPATH, SUMMARY))
    page.says("ANTHROPIC_API_KEY")
    assert SECRET not in browser.page_source
    assert not any(SECRET in value for value in browser.execute_script(VALUES))


def test_a_server_that_is_not_there_is_told_once_and_plainly(keyed: Server, browser: webdriver.Chrome):
    page = Models(browser, keyed.url)
    page.choose_provider("A server, by its address")
    url = f"http://127.0.0.1:{free_port()}/v1"
    page.write("Address of the server", url)
    page.write("Model", "any")
    page.press("Test")
    words = page.wait.until(lambda b: b.execute_script(STATUS, url))  # sooner than a silent one is given up
    assert words == f"Nothing listens at {url}. Is the server started? Check its address, too."
    shown = browser.execute_script("return document.body.innerText")
    assert (shown.count("Nothing listens"), "Errno" in shown) == (1, False)


@pytest.mark.long
def test_a_server_tells_its_models_and_answers(keyed: Server, browser: webdriver.Chrome):
    listed = {"/v1/models": {"data": [{"id": "small"}, {"id": "<b>large</b>"}]}}
    with LoopbackServer(tells=listed) as server:
        page = Models(browser, keyed.url)
        page.choose_provider("A server, by its address")
        page.write("Address of the server", server.url)
        page.press_named("Ask the server which models it has")
        page.says("The server has 2 models.")
        page.wait.until(lambda b: "small" in b.execute_script(VALUES))
        page.press_named("Models to choose from")
        page.press("<b>large</b>")
        page.wait.until(lambda b: "<b>large</b>" in b.execute_script(VALUES))
        assert server.requests == []  # until here nobody was asked anything
        page.press("Test")
        page.says("It works: it answered in ")
        assert [body["model"] for body in server.bodies()] == ["<b>large</b>"]
        page.write("Model", "huge")
        page.field("Model").send_keys(Keys.TAB)
        for _ in range(2):  # the buttons in the field
            browser.switch_to.active_element.send_keys(Keys.TAB)
        page.says("The server does not list this model.")


@pytest.mark.long
def test_everybody_can_use_it(keyed: Server, browser: webdriver.Chrome, pytestconfig: pytest.Config):
    eyes = Eyes(browser, keyed.url, axe_core(pytestconfig))
    found = []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", STILL)
    with eyes.held_still():
        for width in (1440, 390):
            eyes.be_wide(width)
            page = Models(browser, keyed.url)
            page.choose_provider("A server, by its address")
            page.write("Address of the server", f"http://127.0.0.1:{free_port()}/v1")
            page.press_named("Ask the server which models it has")
            page.says("Nothing listens at http://127.0.0.1")
            assert browser.execute_script(WIDTH) == [], width
            found += eyes.look(f"models, {width} pixels wide")
    assert not found, "\n".join(found)
