"""The docs site builds without a warning, and no page of it loads anything from another host."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

LOADS = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}
"""Tags that make a browser load something, and the attribute that says what."""
NO_LOAD = {"canonical", "prev", "next", "author"}
REQUEST = "Network.requestWillBeSent"
FOREIGN = re.compile(r"(?:https?:)?//", re.IGNORECASE)


class Loaded(HTMLParser):
    """Collects what a page loads, the hosts that it prepares to ask, and its classes."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.classes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.classes |= set(given.get("class", "").split())
        target = given.get(LOADS.get(tag, ""), "")
        if FOREIGN.match(target) and given.get("rel") not in NO_LOAD:
            self.foreign.append(target)


def loaded(html: str) -> Loaded:
    page = Loaded()
    page.feed(html)
    return page


@pytest.mark.parametrize(
    ("html", "foreign"),
    [
        ('<script src="https://unpkg.com/a.js"></script>', ["https://unpkg.com/a.js"]),
        ('<link rel="preconnect" href="//fonts.example">', ["//fonts.example"]),
        ('<a href="https://example.org">there</a><img src="pictures/a.svg"><link rel="next" href="http://x/">', []),
    ],
)
def test_what_a_page_loads_is_found(html: str, foreign: list[str]):
    assert loaded(html).foreign == foreign


def test_the_figures_are_fresh(root: Path):
    done = subprocess.run(
        [sys.executable, root / "tools/site_figures.py", "--check"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in ("mkdocs", "material", "mkdocstrings"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: pip install 'persimchat[docs]'")
    built = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", built],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return built


@pytest.mark.long
@pytest.mark.proof
def test_no_page_loads_from_another_host(site: Path):
    pages = {path: loaded(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 20
    assert {path.name: page.foreign for path, page in pages.items() if page.foreign} == {}
    # The theme's script fetches Mermaid from another host where a page has a drawing of that class.
    assert [path.name for path, page in pages.items() if "mermaid" in page.classes] == []


@pytest.mark.long
@pytest.mark.proof
def test_no_style_loads_from_another_host(site: Path):
    styles = list(site.rglob("*.css"))
    assert styles
    found = {
        path.name: re.findall(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)", path.read_text())
        for path in styles
    }
    assert {name: urls for name, urls in found.items() if urls} == {}


@pytest.mark.long
def test_the_search_knows_the_pages(site: Path):
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    assert all(page in index for page in ("concepts.html", "settings.html", "api.html#persimchat.runs.api.simulate"))


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The site's address on loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def browser() -> Iterator[Any]:
    """Chromium without a window, which keeps a log of its requests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs Chromium and its driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


def asked(browser: Any) -> list[str]:
    """The addresses that the pages have asked for."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message["params"]["request"]["url"] for message in messages if message["method"] == REQUEST]
    return [url for url in sent if not url.startswith(("data:", "blob:"))]


@pytest.mark.proof
def test_the_search_works_in_a_browser_and_asks_no_other_host(browser: Any, served: str):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(f"http://{served}/concepts.html")
    field = browser.find_element("css selector", "input.md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("whisper")
    found = WebDriverWait(browser, 30).until(
        lambda page: page.find_elements("css selector", ".md-search-result__item a.md-search-result__link")
    )
    assert any("people.html?h=whisper#whispers" in link.get_attribute("href") for link in found)
    urls = asked(browser)
    assert any(url.endswith("search_index.json") for url in urls)
    assert [url for url in urls if urlsplit(url).netloc != served] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.proof
def test_figures_are_readable_on_a_phone(browser: Any, served: str):
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    browser.get(f"http://{served}/concepts.html")
    width, page = browser.execute_script(
        "return [document.querySelector('img[src$=\"turn.svg\"]').clientWidth, document.documentElement.scrollWidth]"
    )
    assert width >= 600  # of 820 that are drawn, so letters of 13 px have 10
    assert page == 390


@pytest.mark.proof
def test_the_reference_has_everything_that_is_exported(site: Path):
    import persimchat

    ids = set(re.findall(r'id="persimchat\.[\w.]*?(\w+)"', (site / "api.html").read_text(encoding="utf-8")))
    assert set(persimchat.__all__) - ids == set()


@pytest.mark.proof
def test_links_to_files_of_the_repository_lead_to_pages(site: Path):
    assert 'href="contributing.html#adding-something"' in (site / "personas.html").read_text(encoding="utf-8")
    assert 'id="examples-adversarial-yaml"' in (site / "examples.html").read_text(encoding="utf-8")
