"""What tests of the web app share: a place with runs, a simulated user, a real browser before a real server."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("nicegui", reason="the extra [web] is not installed")

from nicegui import ui
from nicegui.functions.download import download
from nicegui.functions.navigate import Navigate
from nicegui.functions.notify import notify
from nicegui.testing import User
from nicegui.testing.general import nicegui_reset_globals
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from persimchat.app.web.api.app import api_app
from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.serving import web_app, web_context
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings

WAIT_S = 90
"""How long a browser waits for what it shall see: a busy machine is slow, and a fault is one after a minute, too."""
SEE_S = 60
"""How long a simulated user waits for it."""
MOVING = (ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException)
"""What a busy machine shows a click: a menu that is still moving, an element that the page has just drawn anew."""


class PatientUser(User):
    """A user whose browser is simulated, and who waits for what shall be seen, however slow the machine is."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        super().__init__(client)
        self.download.next = partial(self.download.next, timeout=SEE_S)  # type: ignore[method-assign]

    async def should_see(self, *wanted: Any, **more: Any) -> None:
        """Wait until it is seen."""
        await super().should_see(*wanted, **{**more, "retries": round(SEE_S / 0.1)})

    async def should_not_see(self, *wanted: Any, **more: Any) -> None:
        """Wait until it is not seen."""
        await super().should_not_see(*wanted, **{**more, "retries": round(SEE_S / 0.05)})


async def until(true: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(WAIT_S):
        while not true():
            await asyncio.sleep(0.02)


def patient(browser: webdriver.Chrome) -> WebDriverWait[webdriver.Chrome]:
    """The wait for something in a browser; its condition begins again where the page was drawn anew meanwhile."""
    return WebDriverWait(browser, WAIT_S, ignored_exceptions=MOVING)


def greeted(server: Server, browser: webdriver.Chrome) -> WebDriverWait[webdriver.Chrome]:
    """Open the page for a new conversation, and wait until it is connected."""
    browser.get(server.url)
    wait = patient(browser)
    wait.until(lambda b: b.execute_script("return window.did_handshake === true"))
    return wait


def press(browser: webdriver.Chrome, what: str | Callable[[], WebElement], number: int = 0) -> None:
    """Click something as soon as it is there and nothing lies over it: a menu or a notice goes in its own time.

    Args:
        what: what finds it, or a selector of the browser's.
        number: which of those that have the selector.
    """

    def pressed(_: object) -> bool:
        found = browser.find_elements(By.CSS_SELECTOR, what)[number:] if isinstance(what, str) else [what()]
        for one in found[:1]:
            one.click()
        return bool(found)

    patient(browser).until(pressed)


@pytest.fixture
def web(tmp_path: Path) -> WebContext:
    """Empty folders for runs and for the library."""
    return web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results")


@pytest.fixture
async def user(web: WebContext) -> AsyncIterator[User]:
    """A user whose browser is simulated: logic in seconds."""
    modules = dict(sys.modules)
    os.environ["NICEGUI_USER_SIMULATION"] = "true"
    try:
        with nicegui_reset_globals():
            app = web_app(web, secret="simulated", hosts=frozenset({"test"}))
            async with app.router.lifespan_context(app):
                transport = httpx.ASGITransport(app)
                async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                    yield PatientUser(client)
    finally:
        del os.environ["NICEGUI_USER_SIMULATION"]
        ui.navigate, ui.notify, ui.download = Navigate(), notify, download
        sys.modules.update(modules)  # NiceGUI's reset removes those that have pages


@pytest.fixture
async def api(web: WebContext) -> AsyncIterator[httpx.AsyncClient]:
    """The application without its pages."""
    transport = httpx.ASGITransport(api_app(web))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
    await web.runs.close()


async def begin(web: WebContext, *, messages: int = 6, topic: str = "Tea or coffee?", **settings: object) -> LiveRun:
    """Begin a run of three shipped personas, with the offline model unless settings name another."""
    scenario = make_scenario(topic, default_participants(3))
    return await web.runs.start(scenario, Settings(**{"model": "offline", "max_messages": messages, **settings}))


class Server:
    """`persimchat serve` in a process of its own, on a free port of loopback, as a user starts it."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "persimchat", "serve", "--port", "0", *options],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.url = line.split()[1].rstrip("/")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real server."""
    served = Server(tmp_path_factory.mktemp("served"))
    yield served
    served.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """A real browser of desktop size; the test is skipped where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    chrome = start_browser(chromium, driver, tmp_path_factory.mktemp("chrome"))
    yield chrome
    chrome.quit()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of a test in a browser that failed, tell what the page showed: once is often all that a busy machine gives."""
    report = yield
    browser = getattr(item, "funcargs", {}).get("browser")
    if report.when == "call" and report.failed and browser is not None:
        with suppress(WebDriverException, OSError):
            shown = browser.execute_script("return document.body.innerText.slice(0, 3000)")
            focus = browser.execute_script("return document.activeElement.outerHTML.slice(0, 300)")
            said = "\n".join(str(entry["message"]) for entry in browser.get_log("browser")[-10:])
            report.sections.append(("the page", f"{browser.current_url}\n{shown}\nfocus: {focus}\nconsole: {said}"))
    return report


def start_browser(chromium: str, driver: str, profile: Path, *more: str) -> webdriver.Chrome:
    """Start Chromium without a window; it asks nobody but the page's server."""
    os.environ.update(SE_OFFLINE="true", SE_AVOID_STATS="true")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--window-size=1440,900",
        f"--user-data-dir={profile}",
        *more,
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(driver), options=options)
