"""Afterwards, in a real browser: a replay with the slider, a link to a turn, a download, deleting."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request, urlopen
from zipfile import ZipFile

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from web.conftest import Server, patient, press
from web.fitting import WIDE

from persimchat.runs.api import simulate
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

TOPIC = "Tea <i>or</i> coffee?"


class Page:
    """What somebody sees and does."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser
        self.wait = patient(browser)

    def named(self, name: str) -> WebElement:
        """The control of a name, once it is to be seen."""
        found = (By.CSS_SELECTOR, f'[aria-label="{name}"]')
        return self.wait.until(lambda b: next((e for e in b.find_elements(*found) if e.is_displayed()), None))

    def press_named(self, name: str) -> None:
        """Click the control of a name."""
        press(self.browser, lambda: self.named(name))

    def reading(self, text: str) -> WebElement:
        """The innermost thing that reads so, once it is to be seen."""
        found = (By.XPATH, f'//*[normalize-space(text())="{text}"]')
        return self.wait.until(lambda b: next((e for e in b.find_elements(*found) if e.is_displayed()), None))

    def press(self, text: str) -> None:
        """Click the innermost thing that reads so, also where the page has just drawn it anew."""

        def pressed(_: webdriver.Chrome) -> bool:
            found = self.reading(text)
            self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)  # not behind a bar
            found.click()
            return True

        self.wait.until(pressed)

    def choose(self, text: str) -> None:
        """Click the entry of the open menu in whose text this stands, once it stays where it is."""

        def clicked(browser: webdriver.Chrome) -> bool:
            entries = browser.find_elements(By.CSS_SELECTOR, ".q-menu a.q-item")
            entry = next((entry for entry in entries if text in entry.text), None)
            if entry is not None:
                entry.click()
            return entry is not None

        self.wait.until(clicked)

    def said(self) -> list[str]:
        """The bubbles in the order in which they are on the page, also those that one has to scroll to."""
        bubbles = self.browser.find_elements(By.CSS_SELECTOR, ".cols .bubble")
        ordered = sorted(bubbles, key=lambda bubble: bubble.location["y"])
        return [str(bubble.get_attribute("textContent")) for bubble in ordered]

    def shows(self, turn: int, texts: list[str]) -> None:
        """Wait until every panel shows a turn: header, conversation, bar and insights."""
        self.wait.until(lambda _: self.said() == texts[:turn])
        self.reading(f"{turn} of {len(texts)}")
        if turn < len(texts):
            self.reading(f"After message {turn}")
            self.wait.until(lambda b: b.current_url.endswith(f"?turn={turn}"))


@pytest.mark.long
def test_replay_link_and_deleting(server: Server, browser: webdriver.Chrome):
    out = server.folder / "conversations"
    result = simulate(TOPIC, 3, settings=Settings(model="offline", max_messages=4), out=out)
    texts = [said.text for said in result.utterances]
    page = Page(browser)
    browser.get(f"{server.url}/runs")
    assert page.reading(TOPIC).tag_name == "div"  # text, not markup
    page.press_named(f"Replay: {TOPIC}")
    page.named("Pause the replay")
    page.shows(4, texts)  # it has played to the end
    page.named("Play the replay")
    ActionChains(browser).send_keys(Keys.ARROW_LEFT).perform()
    page.shows(3, texts)
    slider = browser.find_element(By.CSS_SELECTOR, ".time-bar .q-slider__track-container")
    ActionChains(browser).move_to_element(slider).click().perform()
    page.shows(2, texts)
    ActionChains(browser).send_keys(Keys.ARROW_LEFT).perform()  # the slider's own key: one turn, not two
    page.shows(1, texts)
    browser.refresh()  # the address is a link to the turn
    page.shows(1, texts)
    page.press_named("More actions for this run")
    press(browser, lambda: page.reading("Delete"))
    page.reading("Delete this run?")
    press(browser, ".q-dialog .bg-negative")
    page.reading("No conversations yet")
    assert list(out.iterdir()) == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.long
def test_every_format_comes_down(server: Server, browser: webdriver.Chrome, tmp_path: Path):
    result = simulate(TOPIC, 3, settings=Settings(model="offline", max_messages=2), out=server.folder / "conversations")
    page = Page(browser)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.get(f"{server.url}/run/{result.run}")
    for line in ("CSV", "Parquet"):
        page.press_named("Share")
        page.choose(f"{line}:")
        name = f"{result.run}-{line.lower()}.zip"
        page.wait.until(lambda _, path=tmp_path / name: path.is_file())
        with ZipFile(tmp_path / name) as archive:
            assert f"utterances.{line.lower()}" in archive.namelist()
        page.wait.until(lambda b: not b.find_elements(By.CSS_SELECTOR, ".q-menu"))
    page.press("Charts")
    page.press_named("Keep")
    page.press("Picture (PNG)")  # the browser paints it itself
    (painted,) = page.wait.until(lambda _: list(tmp_path.glob("*.png")))
    header = painted.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(header[16:20]) >= 1600  # pixels wide
    assert "/run/" in browser.current_url  # nobody has left the page
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_branching_from_an_old_turn(server: Server, browser: webdriver.Chrome):
    settings = Settings(model="offline", max_messages=4)
    result = simulate(TOPIC, 3, settings=settings, out=server.folder / "conversations")
    texts = [said.text for said in result.utterances]
    page = Page(browser)
    browser.get(f"{server.url}/run/{result.run}?turn=2")
    page.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    page.shows(2, texts)
    page.press_named("Branch from this message")
    page.reading("Branch the conversation")
    page.named("A different next message (optional)").send_keys("Neither. I only drink water.")
    branch = (By.XPATH, '//*[@class and contains(@class, "q-dialog")]//button[contains(., "Branch")]')
    press(browser, lambda: browser.find_element(*branch))
    page.wait.until(lambda b: "/run/" in b.current_url and result.run not in b.current_url)
    page.wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".the-end"))
    page.wait.until(lambda _: len(page.said()) == 4)
    assert page.said()[:3] == [*texts[:2], "Neither. I only drink water."]


@pytest.mark.long
def test_a_row_opens_its_run_and_words_stand_in_its_header(server: Server, browser: webdriver.Chrome):
    settings = Settings(model="offline", max_messages=2)
    result = simulate("Cats or dogs?", 3, settings=settings, out=server.folder / "conversations")
    page = Page(browser)
    browser.get(f"{server.url}/runs")
    page.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    row = page.reading("Cats or dogs?").find_element(By.XPATH, './ancestor::*[contains(@class, "run-row")]')
    size = row.size
    ActionChains(browser).move_to_element_with_offset(row, 0, int(size["height"] / 2) - 3).click().perform()
    page.wait.until(lambda b: result.run in b.current_url)
    page.wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    for word in ("Branch", "Share", "More"):
        page.reading(word)
    try:
        phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        page.press_named("More actions for this run")  # one menu has all of them
        for line in ("Branch from this message", "Report (new tab)", "Name and tags…", "Delete"):
            page.reading(line)
        assert browser.execute_script(WIDE) is False
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.long
def test_from_a_line_to_its_alternative(server: Server, browser: webdriver.Chrome):
    out = server.folder / "conversations"
    origin = simulate("Bus or tram?", 3, settings=Settings(model="offline", max_messages=3), out=out)
    said = origin.utterances[1]
    made = json.loads(
        urlopen(
            Request(
                f"{server.url}/api/runs/{origin.run}/branch",
                json.dumps({"turn": 1, "say": {"speaker": said.speaker, "text": "A tram, of course."}}).encode(),
                {"content-type": "application/json"},
            )
        ).read()
    )
    page = Page(browser)
    browser.get(f"{server.url}/run/{origin.run}")
    page.reading("1 of 2 wordings")
    page.press_named(f"Alternative 2 of 2: {said.speaker}: A tram, of course.")
    page.wait.until(lambda b: b.current_url.endswith(f"/run/{made['run']}?turn=2"))
    page.wait.until(lambda _: page.said() == [origin.utterances[0].text, "A tram, of course."])
    page.reading("2 of 2 wordings")
