"""In a real browser: a discussion is set up and runs to its end, and a debate to its verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from web.conftest import WAIT_S, Server

START = "//button[contains(., 'Start the conversation') or contains(., 'Start a new conversation')]"


def field(browser: webdriver.Chrome, label: str) -> Any:
    return browser.find_element(By.XPATH, f"//*[self::input or self::textarea][@aria-label={json.dumps(label)}]")


def write(browser: webdriver.Chrome, label: str, text: str) -> None:
    element = field(browser, label)
    element.send_keys(Keys.CONTROL, "a")
    element.send_keys(text)


def click(browser: webdriver.Chrome, xpath: str) -> None:
    element = WebDriverWait(browser, WAIT_S).until(lambda b: b.find_element(By.XPATH, xpath))
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def ended(browser: webdriver.Chrome, folder: Path) -> dict[str, Any]:
    """The record of the run that the page leads to, once it is over."""

    def record(browser: webdriver.Chrome) -> dict[str, Any] | None:
        address, slash, run = browser.current_url.rpartition("/run/")
        path = folder / "conversations" / run / "run.json"
        found = json.loads(path.read_text(encoding="utf-8")) if slash and path.is_file() else {}
        return found if found.get("stop_reason") else None

    return WebDriverWait(browser, WAIT_S).until(record)


@pytest.mark.proof
def test_a_discussion_and_a_debate(server: Server, browser: webdriver.Chrome):
    browser.get(server.url)
    wait = WebDriverWait(browser, WAIT_S)
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
    click(browser, "//button[contains(., 'Group debate')]")
    wait.until(lambda b: field(b, "Judge's window").is_displayed())
    assert field(browser, "Topic").get_attribute("value") == "Tea or coffee?"
    write(browser, "Message limit", "30")
    click(browser, START)
    debate = ended(browser, server.folder)
    assert debate["settings"]["mode"] == "debate"
    assert debate["conclusion"] is not None
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
