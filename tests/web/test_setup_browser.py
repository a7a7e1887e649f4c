"""In a real browser: a discussion is set up and runs to its end, and a debate to its verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.server import LoopbackServer
from run_files import run_json
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions
from web.conftest import Server, patient, press
from web.npm import axe_core
from web.test_accessibility import Eyes

START = "//button[contains(., 'Start the conversation')]"


def field(browser: webdriver.Chrome, label: str) -> Any:
    return browser.find_element(By.XPATH, f"//*[self::input or self::textarea][@aria-label={json.dumps(label)}]")


def write(browser: webdriver.Chrome, label: str, text: str) -> None:
    element = patient(browser).until(lambda b: field(b, label))
    patient(browser).until(expected_conditions.element_to_be_clickable(element))  # what is unfolded takes its time
    element.send_keys(Keys.CONTROL, "a")
    element.send_keys(text)


def click(browser: webdriver.Chrome, xpath: str) -> None:
    def found() -> WebElement:
        element = patient(browser).until(lambda b: b.find_element(By.XPATH, xpath))
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        return element

    press(browser, found)


def ended(browser: webdriver.Chrome, folder: Path) -> dict[str, Any]:
    """The record of the run that the page leads to, once it is over."""

    def record(browser: webdriver.Chrome) -> dict[str, Any] | None:
        address, slash, run = browser.current_url.rpartition("/run/")
        path = folder / "conversations" / run
        found = run_json(path) if slash and (path / "run.sqlite").is_file() else {}
        return found if found.get("stop_reason") else None

    return patient(browser).until(record)


@pytest.mark.proof
def test_a_discussion_and_a_debate(server: Server, browser: webdriver.Chrome):
    browser.get(server.url)
    wait = patient(browser)
    wait.until(lambda b: b.find_element(By.XPATH, START))
    click(browser, START)
    wait.until(lambda b: "Say what the conversation is about." in b.find_element(By.TAG_NAME, "body").text)
    write(browser, "Topic", "Tea or coffee?")
    write(browser, "Message limit", "0")
    wait.until(lambda b: "greater than or equal to 1" in b.find_element(By.TAG_NAME, "body").text)
    write(browser, "Message limit", "3")
    wait.until(lambda b: "greater than or equal to 1" not in b.find_element(By.TAG_NAME, "body").text)
    click(browser, START)
    discussion = ended(browser, server.folder)
    assert (discussion["scenario"]["topic"], discussion["turn"]) == ("Tea or coffee?", 3)
    assert discussion["stop_reason"] == "message_limit"

    browser.get(f"{server.url}/?like={discussion['run']}")
    click(browser, "//button[contains(., 'Debate to a verdict')]")
    click(browser, "//button[contains(., 'More settings')]")
    click(browser, "//*[contains(@class, 'q-item')][contains(., 'who speaks next, how it ends')]")
    wait.until(lambda b: field(b, "Judge's window").is_displayed())
    assert field(browser, "Topic").get_attribute("value") == "Tea or coffee?"
    write(browser, "Message limit", "30")
    click(browser, START)
    debate = ended(browser, server.folder)
    assert debate["settings"]["mode"] == "debate"
    assert debate["conclusion"] is not None
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.long
@pytest.mark.proof
def test_a_draft_survives_reload_and_navigation(server: Server, browser: webdriver.Chrome):
    wait = patient(browser)
    browser.get(server.url)
    wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    click(browser, "//button[contains(., 'Start over')]")
    wait.until(lambda b: "10 messages, 4 participants" in b.find_element(By.XPATH, START).text)
    click(browser, "//button[contains(., 'Focus group')]")
    wait.until(lambda b: field(b, "Question 1").is_displayed())
    write(browser, "Topic", "Cats or dogs?")
    write(browser, "Question 1", "Who has a cat?")
    write(browser, "Message limit", "33")  # the server has heard of all before, too, when it says so
    wait.until(lambda b: "33 messages, 5 participants" in b.find_element(By.XPATH, START).text)
    assert "at most" in browser.find_element(By.XPATH, START).text  # the guide ends the talk
    for leave in (browser.refresh, lambda: browser.get(f"{server.url}/runs")):
        leave()
        browser.get(server.url)
        wait.until(lambda b: field(b, "Question 1").get_attribute("value") == "Who has a cat?")
        assert field(browser, "Topic").get_attribute("value") == "Cats or dogs?"
    click(browser, "//button[contains(., 'Start over')]")
    wait.until(lambda b: field(b, "Topic").get_attribute("value") == "")
    browser.refresh()
    wait.until(lambda b: field(b, "Topic").get_attribute("value") == "")
    assert browser.find_elements(By.XPATH, "//*[@aria-label='Question 1']") == []


def unfolded(folder: Path) -> str:
    """What the server keeps of a browser."""
    return "".join(file.read_text("utf-8") for file in folder.rglob("storage-user-*.json"))


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("width", [1440, 390])
def test_the_start_stays_in_reach_and_open_groups_stay_open(server: Server, browser: webdriver.Chrome, width: int):
    wait = patient(browser)
    screen = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        browser.get(server.url)
        wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
        click(browser, "//button[contains(., 'Start over')]")
        click(browser, "//button[contains(., 'More settings')]")
        click(browser, "//*[contains(@class, 'q-item')][contains(., 'who speaks next, how it ends')]")
        wait.until(lambda b: field(b, "Rules (one per line)").is_displayed())
        wait.until(lambda _: "talk" in unfolded(server.folder))  # the server has heard of it
        browser.refresh()
        wait.until(lambda b: field(b, "Rules (one per line)").is_displayed())
        for element in (field(browser, "Topic"), field(browser, "Rules (one per line)")):
            top, bottom, bar, height = browser.execute_script(
                "arguments[0].focus(); arguments[0].scrollIntoView({block: 'nearest'});"
                "const field = arguments[0].getBoundingClientRect();"
                "const bar = document.querySelector('.start-bar').getBoundingClientRect();"
                "return [field.top, field.bottom, bar.top, innerHeight - bar.bottom]",
                element,
            )
            assert top >= 0
            assert bottom <= bar  # what is filled in is not behind the bar
            assert height >= 0
        click(browser, "//button[contains(., 'Start over')]")
        wait.until(lambda b: not b.find_elements(By.XPATH, "//*[@aria-expanded='true'][contains(., 'More settings')]"))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.long
@pytest.mark.proof
def test_what_is_typed_goes_with_the_click(server: Server, browser: webdriver.Chrome):
    """The button is busy at once, and starts what stands in the fields, even if the server has not heard of it."""
    wait = patient(browser)
    browser.get(server.url)
    wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    wait.until(lambda b: field(b, "Topic").is_displayed())
    busy = browser.execute_script(
        "document.querySelector('[data-typed=topic]').value = 'Late words?';"
        "document.querySelector('[data-typed=max_messages]').value = '2';"
        "const button = document.querySelector('.new-start'); button.click(); return button.getAttribute('aria-busy')"
    )
    assert busy == "true"
    run = ended(browser, server.folder)
    assert (run["scenario"]["topic"], run["turn"]) == ("Late words?", 2)


@pytest.mark.long
@pytest.mark.proof
def test_the_wait_for_a_silent_server_is_in_sight_and_can_be_ended(
    tmp_path: Path, browser: webdriver.Chrome, serving: Callable[..., LoopbackServer], pytestconfig: pytest.Config
):
    slow = serving(silent_s=math.inf)
    server = Server(tmp_path, PERSIMCHAT_MODEL=slow.model())
    wait, eyes = patient(browser), Eyes(browser, server.url, axe_core(pytestconfig))
    try:
        with eyes.held_still():
            browser.get(server.url)
            wait.until(lambda b: b.find_element(By.XPATH, START))
            write(browser, "Topic", "Tea or coffee?")
            click(browser, START)
            wait.until(lambda b: f"{slow.url} says nothing yet." in b.find_element(By.TAG_NAME, "body").text)
            assert eyes.look("waiting for a server") == []
            click(browser, "//div[@role='dialog']//button[contains(., 'Cancel')]")
            wait.until(lambda b: "says nothing yet" not in b.find_element(By.TAG_NAME, "body").text)
        assert slow.requests == [] and not (tmp_path / "conversations").exists()
    finally:
        server.close()
