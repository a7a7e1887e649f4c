"""Every page fits its window at four widths, with what people have made, and without; nothing lies over the words."""

from __future__ import annotations

import shutil

import pytest
from run_folders import write_debate, write_story
from selenium import webdriver
from selenium.webdriver.common.by import By
from web.conftest import Server
from web.experiment_folders import hold_cell, write_experiment
from web.fitting import AT_WIDTHS, unfit
from web.npm import axe_core
from web.test_accessibility import Eyes

from persimchat.runs.api import simulate
from persimchat.state.settings import Settings
from persimchat.state.wording import LANGUAGES

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

TOPIC = "An oat drink with protein costs twice as much as milk. Who would buy it, and what would they pay for it?"
EMPTY = ("/", "/runs", "/personas", "/compare", "/experiments", "/models", "/companion", "/run/none", "/nowhere")
ABOVE = """
const [one, other] = [arguments[0], arguments[1]].map(one => document.querySelector(one).getBoundingClientRect());
return one.bottom <= other.top + 1;
"""
CUT = """
return [...document.querySelectorAll('.q-dialog .font-semibold')]
  .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent);
"""
COVERED = """
return [...document.querySelectorAll('.chat .bubble, .chat .facts-of')].filter(one => {
  const box = one.getBoundingClientRect(), at = one.closest('.chat').getBoundingClientRect();
  const [right, y] = [box.right - 4, (box.top + box.bottom) / 2];
  return y > at.top && y < at.bottom && !one.contains(document.elementFromPoint(right, y));
}).map(one => one.textContent.slice(0, 40));
"""


@pytest.fixture
def eyes(server: Server, browser: webdriver.Chrome, pytestconfig: pytest.Config):
    made = Eyes(browser, server.url, axe_core(pytestconfig))
    with made.held_still():
        yield made


def unfit_pages(eyes: Eyes, addresses: list[str], widths: tuple[int, ...]) -> list[str]:
    found = []
    for width in widths:
        eyes.be_wide(width)
        for address in addresses:
            eyes.open(address, "[role=heading], .the-end")
            found += [f"{address}, {width}: {fault}" for fault in unfit(eyes.browser)]
    return found


@pytest.mark.long
def test_pages_that_have_nothing_to_show(eyes: Eyes):
    found = unfit_pages(eyes, list(EMPTY), (1440, 1024, 768, 390))
    eyes.open("/compare", "main [role=heading][aria-level='2']")
    assert "Nothing to compare yet" in eyes.browser.find_element(By.TAG_NAME, "main").text
    eyes.open("/run/none", "main [role=heading]")
    assert "There is no run 'none'" in eyes.browser.find_element(By.TAG_NAME, "main").text
    assert not found, "\n".join(found)


@pytest.mark.long
def test_names_are_whole_where_personas_are_chosen(eyes: Eyes):
    eyes.be_wide(390)
    eyes.open("/", ".face-button")
    eyes.press(".who-acts button")
    eyes.until(".q-dialog .q-checkbox")
    assert eyes.browser.execute_script(CUT) == []


@pytest.mark.long
@AT_WIDTHS
def test_pages_with_what_people_have_made(eyes: Eyes, server: Server, widths: tuple[int, ...]):
    out, settings = server.folder / "conversations", Settings(model="offline", max_messages=4)
    a, b = (simulate(TOPIC, 3, settings=settings.model_copy(update={"seed": seed}), out=out) for seed in (1, 2))
    place, cells = write_experiment(server.folder / "results", name := f"tea-{widths[0]}")
    hold_cell(place, cells[0])
    speaker = a.utterances[0].speaker
    more = [
        f"/compare?a={a.run}&b={b.run}",
        f"/experiments/{name}",
        f"/run/{a.run}/interview/{speaker}",
        f"/run/{a.run}",
    ]
    found = unfit_pages(eyes, ["/", "/runs", "/compare", "/experiments", *more], widths)
    eyes.be_wide(390)
    for address, name, about in (
        ("/runs", ".run-row .run-topic", ".run-row .run-topic + .muted"),
        ("/", ".recent > .grow", ".recent > .muted"),
    ):
        eyes.open(address, name)
        assert eyes.browser.execute_script(ABOVE, name, about), address  # the name stands over what is said of it
    for width in widths:
        eyes.be_wide(width)
        eyes.open(f"/run/{a.run}", ".the-end")
        assert eyes.browser.execute_script(COVERED) == [], width
        eyes.press(".said [aria-label^='More about message']")
        eyes.until(".q-menu .q-item")
        eyes.press(".q-menu .q-item:nth-child(3)")
        eyes.until(".call summary")
        eyes.press(".call summary")
        eyes.until(".call-text")
        found += [f"prompts, {width}: {fault}" for fault in unfit(eyes.browser)]
    assert not found, "\n".join(found)


def test_reports_fit_a_phone(eyes: Eyes, server: Server):
    out = server.folder / "conversations"
    folders = [write_debate(out, 9, run="wide-debate"), write_story(out, run="wide-story")]
    eyes.be_wide(390)
    for folder in folders:
        for language in LANGUAGES:
            eyes.browser.get(f"{eyes.url}/api/runs/{folder.name}/report?language={language}")
            eyes.until("#agents")
            width = eyes.browser.execute_script("return document.documentElement.scrollWidth")
            assert width == 390, (folder.name, language)
        shutil.rmtree(folder)


@pytest.mark.long
@pytest.mark.parametrize("language", ["de", "cs"])
def test_pages_in_another_language(eyes: Eyes, server: Server, language: str):
    """German words are the longest."""
    simulate(TOPIC, 3, settings=Settings(model="offline", max_messages=4), out=(out := server.folder / "conversations"))
    run = f"/run/{next(path.name for path in out.iterdir() if path.is_dir())}"
    agent = {"userAgent": eyes.browser.execute_script("return navigator.userAgent")}
    eyes.browser.execute_cdp_cmd("Emulation.setUserAgentOverride", {**agent, "acceptLanguage": language})
    try:
        eyes.browser.get("about:blank")  # the override holds from the next page on
        eyes.open("/", "[role=heading]")
        eyes.wait.until(lambda b: b.execute_script("return document.documentElement.lang") == language)
        found = unfit_pages(eyes, [address for address in EMPTY if address != "/run/none"] + [run], (1440, 768, 390))
    finally:
        eyes.browser.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": ""})
    assert not found, "\n".join(found)
