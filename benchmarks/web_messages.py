"""The cost of a long conversation for the web page: 2,000 messages compared with 80, in a real browser.

Run: `python benchmarks/web_messages.py [--messages 2000]`. Needs Chromium and its driver. Both runs are in ordinary
run folders; their pages are opened in turn. It measures the time until the last message is visible (first visit, and
reload), the number of elements in the page, the page's JavaScript memory, and the memory of the server's process. Exits
with 1 if a reload takes more than three times as long as with 80 messages, or the page has twice the elements.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from run_folders import PEOPLE, mind, score, utterance, write_run
from selenium import webdriver
from selenium.webdriver.common.by import By
from web_pictures import chromium

FEW = 80
ROUNDS = 3
SLOWER, MORE = 3.0, 2.0


def write(out: Path, run: str, messages: int) -> str:
    """Write a run with this many utterances, with minds and scores; return its unique last words."""
    speakers = [PEOPLE[turn % len(PEOPLE)] for turn in range(messages + 1)]
    said = [
        utterance(turn, speakers[turn], f"Message {turn}: tea is what I would have.") for turn in range(1, messages + 1)
    ]
    minds = [
        mind(turn, name, need_to_talk=turn % 11, emotion={"happiness": turn % 7})
        for turn in range(messages + 1)
        for name in PEOPLE
    ]
    scores = [score(turn, speakers[turn]) for turn in range(1, messages + 1)]
    settings = {"max_messages": messages, "model": "offline", "analysis": True}
    write_run(out, said, minds, scores=scores, run=run, turn=messages, settings=settings)
    return f"Message {messages}:"


def resident(process: int) -> float:
    """Megabytes that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def visit(chrome: webdriver.Chrome, address: str, last: str) -> float:
    """Seconds until the last message is visible."""
    began = time.perf_counter()
    chrome.get(address)
    while not any(last in bubble.text for bubble in chrome.find_elements(By.CSS_SELECTOR, ".bubble")[-3:]):
        if time.perf_counter() - began > 120:
            raise TimeoutError(f"{last} did not come within two minutes")
        time.sleep(0.02)
    return time.perf_counter() - began


def main() -> int:
    """Measure, print, and say whether it is within the bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=2000)
    many = parser.parse_args().messages
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        print("Chromium and its driver are needed: apt install chromium chromium-driver", file=sys.stderr)
        return 1
    found: dict[int, tuple[float, float, int, float, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "runs"
        last = {number: write(out, f"run-{number}", number) for number in (FEW, many)}
        command = [sys.executable, "-m", "persimchat", "serve", "--port", "0", "--out", str(out)]
        server = subprocess.Popen(command, cwd=scratch, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        url = server.stdout.readline().split()[1].rstrip("/")
        chrome = chromium(browser, driver, str(Path(scratch) / "profile"))
        chrome.set_window_size(1440, 900)
        try:
            chrome.get(f"{url}/runs")
            for number in (FEW, many):
                before = resident(server.pid)
                first = visit(chrome, f"{url}/run/run-{number}", last[number])
                held = resident(server.pid) - before
                again = min(visit(chrome, f"{url}/run/run-{number}", last[number]) for _ in range(ROUNDS))
                time.sleep(2)  # charts
                elements = chrome.execute_script("return document.getElementsByTagName('*').length")
                heap = chrome.execute_script("return performance.memory.usedJSHeapSize") / 1e6
                found[number] = (first, again, elements, heap, held)
        finally:
            chrome.quit()
            server.terminate()
            server.wait(20)
    print(f"{'messages':>10} {'first s':>8} {'reload s':>9} {'elements':>9} {'page MB':>8} {'server +MB':>11}")
    for number, (first, again, elements, heap, held) in found.items():
        print(f"{number:>10,} {first:>8.2f} {again:>9.2f} {elements:>9,} {heap:>8.1f} {held:>11.1f}")
    slower, more = found[many][1] / found[FEW][1], found[many][2] / found[FEW][2]
    print(f"{many:,} beside {FEW}: reload × {slower:.2f} (at most {SLOWER}), elements × {more:.2f} (at most {MORE})")
    return int(slower > SLOWER or more > MORE)


if __name__ == "__main__":
    sys.exit(main())
