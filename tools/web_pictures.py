"""Take the README's pictures of the web page from a real run: `python tools/web_pictures.py [FOLDER]`.

It starts the server, begins a conversation with the offline model over the REST API, and takes pictures of its page
while it runs, with Chromium and its driver, which must be installed: web_new.png, web_light.png, web_dark.png and
web_phone.png in docs/pictures, or in FOLDER. Then it holds the small story and takes story_page.png, and talks with a
companion for companion_page.png.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import yaml
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from persimchat.personas.scenario import load_story

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
CONVERSATION = {
    "topic": "Should our town close its centre to cars?",
    "settings": {"model": "offline", "max_messages": 24, "analysis": True},
}
SHOWN = 9
"""Utterances to wait for."""

STORY = {"model": "offline", "seed": 1, "rounds": 2}
STORY_TURN = 26
"""The utterance at which the picture shows the small story: two meet in its second round."""

PLACE = ROOT / "examples" / "companion" / "ferry.yaml"
CLOCK = {"mode": "game", "start": "2025-03-03 11:30"}
"""So that nobody is asleep in the picture."""
COMPANION = "/companion?agent=Oda&person=Petr"
TOLD = (
    "Good morning! My sister is called Mira.",
    "I repair violins in a workshop behind the station.",
    "Actually my sister is called Mara. Goodbye!",
    "Good morning, Oda. What is my sister called?",
    "You are kind. Thank you!",
)

Views = dict[str, tuple[int, int, bool]]
VIEWS: Views = {"web_light": (1440, 900, False), "web_dark": (1440, 900, True), "web_phone": (390, 844, False)}
"""Picture: width and height in pixels, and whether it is dark."""


def ask(url: str, body: dict[str, Any] | None = None) -> Any:
    """Ask the REST API."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"content-type": "application/json"})) as answer:
        return json.load(answer)


def chromium(browser: str, driver: str, profile: str) -> webdriver.Chrome:
    """Start a browser without a window."""
    os.environ.update(SE_OFFLINE="true", SE_AVOID_STATS="true")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    return webdriver.Chrome(service=Service(driver), options=options)


def take_new(url: str, folder: Path, chrome: webdriver.Chrome) -> None:
    """Take the picture of the first screen."""
    metrics = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    chrome.get(url)
    while not chrome.find_elements(By.CSS_SELECTOR, "textarea"):
        time.sleep(0.1)
    time.sleep(2.5)
    chrome.save_screenshot(str(folder / "web_new.png"))


def take(url: str, folder: Path, chrome: webdriver.Chrome) -> None:
    """Begin the conversation and take the pictures."""
    run = ask(f"{url}/api/runs", CONVERSATION)["run"]
    while ask(f"{url}/api/runs/{run}")["utterances"] < SHOWN:
        time.sleep(0.2)
    dark_now = False
    for name, (width, height, dark) in VIEWS.items():
        phone = width < 600
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        chrome.get(f"{url}/run/{run}")
        while not chrome.find_elements(By.CSS_SELECTOR, ".bubble"):
            time.sleep(0.1)
        if dark != dark_now:
            button = chrome.find_element(By.CSS_SELECTOR, '.rail [aria-label="Appearance"]')
            chrome.execute_script("arguments[0].click()", button)  # the mouse would bring its tooltip
            dark_now = dark
        time.sleep(2.5)  # charts draw themselves in
        chrome.save_screenshot(str(folder / f"{name}.png"))


def take_story(url: str, folder: Path, chrome: webdriver.Chrome) -> None:
    """Hold the small story and take its picture, in a room."""
    story = load_story().model_dump(mode="json", by_alias=True, exclude_defaults=True)
    run = ask(f"{url}/api/runs", {**story, "settings": {**story["settings"], **STORY}})["run"]
    while ask(f"{url}/api/runs/{run}")["active"]:
        time.sleep(0.2)
    metrics = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    chrome.get(f"{url}/run/{run}?turn={STORY_TURN}")
    while not chrome.find_elements(By.CSS_SELECTOR, ".heat"):
        time.sleep(0.1)
    time.sleep(2.5)
    chrome.save_screenshot(str(folder / "story_page.png"))


def take_companion(url: str, folder: Path, chrome: webdriver.Chrome) -> None:
    """Talk with a companion, twice, and take the picture of the second talk."""
    metrics = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    chrome.get(url + COMPANION)
    while not chrome.find_elements(By.CSS_SELECTOR, "svg.face"):
        time.sleep(0.1)
    for number, words in enumerate(TOLD, start=1):
        chrome.find_element(By.CSS_SELECTOR, ".composer textarea").send_keys(words, Keys.ENTER)
        while len(chrome.find_elements(By.CSS_SELECTOR, ".said:not(.mine):not(.live) .bubble")) < number:
            time.sleep(0.1)
        time.sleep(2.5)  # the digest, and after a goodbye the look back
    chrome.save_screenshot(str(folder / "companion_page.png"))


@contextmanager
def served(scratch: str, *command: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    line = [sys.executable, "-m", "persimchat", *command, "--port", "0"]
    server = subprocess.Popen(line, cwd=scratch, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[1].rstrip("/")
    finally:
        server.terminate()
        server.wait(20)


def main() -> int:
    """Take the pictures.

    Returns:
        The exit code: 1 if there is no Chromium.
    """
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        print("Chromium and its driver are needed: apt install chromium chromium-driver", file=sys.stderr)
        return 1
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        chrome = chromium(browser, driver, str(Path(scratch) / "profile"))
        try:
            with served(scratch, "serve") as url:
                take_new(url, folder, chrome)
                take(url, folder, chrome)
                take_story(url, folder, chrome)
            place = yaml.safe_load(PLACE.read_text(encoding="utf-8")) | {"clock": CLOCK}
            (Path(scratch) / PLACE.name).write_text(yaml.safe_dump(place, allow_unicode=True), encoding="utf-8")
            with served(scratch, "companion", "serve", PLACE.name) as url:
                take_companion(url, folder, chrome)
        finally:
            chrome.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
