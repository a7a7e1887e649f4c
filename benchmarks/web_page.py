"""What the web page takes: to the first page, the first utterance, in ten tabs on one run, after a hundred runs.

Run: `python benchmarks/web_page.py [--runs 100]`. Needs Chromium and its driver, and a quiet machine. A real server
and a real browser, with the offline model. It prints each figure beside its goal, and exits with 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from selenium import webdriver
from selenium.webdriver.common.by import By
from web_pictures import chromium

FIRST_PAGE_S, PAINT_S, UTTERANCE_S, WRONG_S = 3.0, 1.0, 1.5, 3.0
GROWTH = 1.1
"""How much more memory the server may hold after all runs than after a fifth of them."""
WAIT_S = 60
_TABS = 10
_PATIENCE_S = 2.0
"""How long a silent server is waited for: what `timeout_s` says, which the goal adds to."""
_PAINT = "return (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime || 0"
_SENT = (
    "return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
    ".map(one => [one.transferSize, one.name])"
)


@dataclass
class Figure:
    """One measured value.

    Attributes:
        what: was measured.
        value: of it.
        unit: of the value.
        goal: the most that it should be; None for a value without a goal.
    """

    what: str
    value: float
    unit: str
    goal: float | None = None

    @property
    def missed(self) -> bool:
        """Whether the goal is missed."""
        return self.goal is not None and self.value > self.goal

    def __str__(self) -> str:
        goal = "" if self.goal is None else f"   goal {self.goal:g}{'   MISSED' if self.missed else ''}"
        return f"{self.what:<46} {self.value:>10,.2f} {self.unit}{goal}"


def resident(process: int) -> float:
    """Megabytes that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def processor(process: int) -> float:
    """Seconds of processor time that a process has used."""
    used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def asked(url: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """Status and answer of the REST API."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, data, {"content-type": "application/json"}), timeout=WAIT_S) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


def painted(chrome: webdriver.Chrome) -> float:
    """Seconds from the beginning of a visit to the first content on the screen."""
    ends = time.perf_counter() + WAIT_S
    while time.perf_counter() < ends:
        if found := chrome.execute_script(_PAINT):
            return float(found) / 1000
        time.sleep(0.02)
    raise TimeoutError("nothing was painted")


def first_page(chrome: webdriver.Chrome, url: str, began: float) -> list[Figure]:
    """The first visit, and another one."""
    chrome.get(url)
    painted(chrome)
    first = time.perf_counter() - began
    cold = painted(chrome)
    time.sleep(1)
    sent = chrome.execute_script(_SENT)
    nodes = chrome.execute_script("return document.getElementsByTagName('*').length")
    chrome.get(url)
    return [
        Figure("from `serve` to the first page", first, "s", FIRST_PAGE_S),
        Figure("first paint, first visit", cold, "s", PAINT_S),
        Figure("first paint, second visit", painted(chrome), "s", PAINT_S),
        Figure("requests of the page", len(sent), ""),
        Figure("transferred", sum(size for size, _ in sent) / 1000, "kB"),
        Figure("elements of the page", nodes, ""),
    ]


def first_utterance(chrome: webdriver.Chrome, url: str) -> Figure:
    """From the click on Start to the first words of somebody."""
    chrome.get(url)
    time.sleep(2)
    field = chrome.find_element(By.TAG_NAME, "textarea")
    field.clear()
    field.send_keys("Tea or coffee?")
    time.sleep(1)
    button = chrome.find_element(By.CSS_SELECTOR, ".new-start")
    chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    began = time.perf_counter()
    button.click()
    while time.perf_counter() - began < WAIT_S:
        if "/run/" in chrome.current_url:
            words = chrome.execute_script(
                "return [...document.querySelectorAll('section .bubble')].some(one => one.textContent.trim())"
            )
            if words:
                return Figure("from Start to the first words", time.perf_counter() - began, "s", UTTERANCE_S)
        time.sleep(0.02)
    raise TimeoutError("nobody said anything")


def wrong_server(url: str) -> list[Figure]:
    """A server that is not there, and one that says nothing."""
    found = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for what, port in (("is not there", 9), ("says nothing", silent.getsockname()[1])):
            began = time.perf_counter()
            settings = {"model": f"any@http://127.0.0.1:{port}/v1", "max_messages": 2, "timeout_s": _PATIENCE_S}
            status, answer = asked(f"{url}api/runs", {"topic": "Tea or coffee?", "settings": settings})
            if status < 400:
                raise ValueError(f"a run began with a server that {what}: {answer}")
            found.append(
                Figure(f"a server that {what}, told after", time.perf_counter() - began, "s", _PATIENCE_S + WRONG_S)
            )
    return found


def ten_tabs(chrome: webdriver.Chrome, url: str, process: int) -> list[Figure]:
    """A run of ten utterances that ten tabs watch, until each has shown the end; and what the server worked for it."""
    settings = {"model": "offline", "max_messages": _TABS, "closing": "off"}
    _, run = asked(f"{url}api/runs", {"topic": "Tea or coffee?", "settings": settings})
    began, worked, first = time.perf_counter(), processor(process), chrome.current_window_handle
    for _ in range(_TABS):
        chrome.switch_to.new_window("tab")
        chrome.get(f"{url}run/{run['run']}")
    for tab in chrome.window_handles[-_TABS:]:
        chrome.switch_to.window(tab)
        while len(chrome.find_elements(By.CSS_SELECTOR, "section .bubble")) < _TABS:
            if time.perf_counter() - began > 2 * WAIT_S:
                raise TimeoutError(f"a tab shows no {_TABS} messages")
            time.sleep(0.02)
    took, worked = time.perf_counter() - began, processor(process) - worked
    for tab in chrome.window_handles[-_TABS:]:
        chrome.switch_to.window(tab)
        chrome.close()
    chrome.switch_to.window(first)
    return [
        Figure("ten tabs on one run, until all show its end", took, "s"),
        Figure("the server's processor time for that", worked, "s"),
    ]


def memory(chrome: webdriver.Chrome, url: str, process: int, runs: int) -> list[Figure]:
    """What the server holds after runs, each of whose pages was opened."""
    held = {}
    for number in range(1, runs + 1):
        settings = {"model": "offline", "max_messages": 4, "closing": "off"}
        _, run = asked(f"{url}api/runs", {"topic": "Tea or coffee?", "settings": settings})
        chrome.get(f"{url}run/{run['run']}")
        ends = time.perf_counter() + WAIT_S
        while asked(f"{url}api/runs/{run['run']}")[1]["status"] == "running" and time.perf_counter() < ends:
            time.sleep(0.1)
        held[number] = resident(process)
        if number % 10 == 0:
            print(f"  after {number} runs: {held[number]:.0f} MB", flush=True)
    early = max(1, runs // 5)
    return [
        Figure(f"memory of the server after {early} runs", held[early], "MB"),
        Figure(f"memory of the server after {runs} runs", held[runs], "MB", held[early] * GROWTH),
    ]


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="runs for the measurement of memory; 0 for none")
    runs = parser.parse_args().runs
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        print("Chromium and its driver are needed: apt install chromium chromium-driver", file=sys.stderr)
        return 1
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as scratch:
        chrome = chromium(browser, driver, str(Path(scratch) / "profile"))
        chrome.set_window_size(1440, 900)
        chrome.get("about:blank")
        began = time.perf_counter()
        command = [sys.executable, "-m", "persimchat", "serve", "--port", "0"]
        server = subprocess.Popen(command, cwd=scratch, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            url = server.stdout.readline().split()[1]
            found += first_page(chrome, url, began)
            found.append(Figure("memory of the server after the first page", resident(server.pid), "MB"))
            found.append(first_utterance(chrome, url))
            found += wrong_server(url)
            found += ten_tabs(chrome, url, server.pid)
            if runs:
                found += memory(chrome, url, server.pid, runs)
        finally:
            chrome.quit()
            server.terminate()
            server.wait(20)
            print(*found, sep="\n")
    return int(any(figure.missed for figure in found))


if __name__ == "__main__":
    sys.exit(main())
