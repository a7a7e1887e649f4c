"""The panel shows the turn that is looked at, and nothing later; its arithmetic is that of the report."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ElementFilter, ui
from nicegui.testing import User
from run_files import logged
from run_folders import (
    EMOTIONS,
    PEOPLE,
    manifest,
    mind,
    put,
    score,
    utterance,
    verdict,
    write_debate,
    write_run,
    write_steered,
)
from run_folders import given as given_words
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from web.conftest import Server, begin, patient, press, until

from persimchat.app.web import panel
from persimchat.app.web.board import Board, board_of
from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.panel.charts import charts_part, talk
from persimchat.app.web.panel.people import Stand, Stirring, felt, figures, latest, people_part, stands, stirred, turned
from persimchat.app.web.serving import web_context
from persimchat.app.web.shared.chart_box import ChartBox
from persimchat.app.web.shared.runs import budgets
from persimchat.reports.charts.lines import Lane, Series, lanes
from persimchat.reports.charts.model import MOST_POINTS, Chart
from persimchat.reports.charts.talk import Talk
from persimchat.reports.palette import people
from persimchat.reports.report import talk_of
from persimchat.reports.stances import ledger
from persimchat.reports.summary import most_active, names_of, summarise
from persimchat.runs.events import Analysed, MindRecord, Started, Totals
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import UNKNOWN, read_run

EVA, BO, LI = PEOPLE
_EVERY = 0.5
SCALES = (
    "return [...document.querySelectorAll('.charts svg.chart')].map("
    "(one) => one.getBoundingClientRect().width / one.dataset.width).filter((one) => one)"
)


def figure(user: User, name: str, beside: bool = False) -> str:
    """A figure of the run, or what stands beside it; empty if it is not known."""
    marker = f"{'beside' if beside else 'figure'}-{name}"
    (label,) = (one for one in user.client.elements.values() if marker in one._markers)
    assert isinstance(label, ui.label)
    return label.text


def drawn(user: User) -> dict[str, ElementTree.Element]:
    """The visible charts by their names."""
    found = {}
    for html in user.find(kind=ui.html).elements:
        if html.visible and html.content.startswith("<svg"):
            svg = ElementTree.fromstring(html.content)
            found[svg[0].text or ""] = svg
    return found


def around(user: User) -> ui.element:
    """The element around all charts."""
    return next(element for element in user.client.elements.values() if "charts" in element.classes)


async def look_at(user: User, web: WebContext, folder: Path, turn: int | None = None) -> Viewing:
    """Draw the parts on people and charts of a kept run alone."""
    viewing = Viewing(web, folder.name, await web.runs.board(folder.name), turn)

    @ui.page("/insights")
    async def _page() -> None:
        people, charts = people_part(viewing), charts_part(viewing)

        async def draw() -> None:
            await people()
            await charts()

        await draw()
        ui.timer(_EVERY, draw)

    await user.open("/insights")
    return viewing


def tea(out: Path, **about: Any) -> Path:
    """Four messages with everything that the figures tell, all of it different from turn to turn."""
    said = [
        utterance(1, EVA, "One two three.", response_time_s=1.0, tokens={"input": 10, "output": 5}),
        utterance(2, BO, "One two.", response_time_s=2.0, tokens={"input": 10, "output": 4}),
        utterance(3, EVA, "One.", response_time_s=3.0, tokens={"input": 10, "output": 3}),
        utterance(4, LI, "One two three four.", response_time_s=6.0, tokens={"input": 10, "output": 9}),
    ]
    scores = [score(turn, name, value) for turn, name, value in ((1, EVA, 4), (2, BO, 8), (3, EVA, 6), (4, LI, 9))]
    minds = [mind(turn, name, need_to_talk=turn + n) for turn in range(5) for n, name in enumerate(PEOPLE)]
    return write_run(out, said, minds, scores=scores, **about)


@pytest.mark.proof
async def test_figures_at_a_turn(user: User, web: WebContext):
    viewing = await look_at(user, web, tea(web.runs.out), turn=3)
    assert figure(user, "messages") == "3"
    assert (figure(user, "response"), figure(user, "response", True)) == ("2.00 s", "↑ +1.00 s a message")
    assert (figure(user, "last"), figure(user, "last", True)) == ("1 word", f"3 tokens · {EVA}")
    assert (figure(user, "active"), figure(user, "active", True)) == (EVA, "2 messages")
    assert (figure(user, "coherence_best"), figure(user, "coherence_best", True)) == ("8.0", f"{BO}, message 2")
    assert figure(user, "coherence_mean") == "6.0"
    await user.should_see("After message 3")
    await user.should_see(f"Wants to talk most: {LI} (5 of 10)")
    viewing.go_to(None)
    await user.should_see(f"Wants to talk most: {LI} (6 of 10)")
    assert figure(user, "messages") == "4"
    assert figure(user, "response") == "3.00 s"
    assert figure(user, "coherence_best") == "9.0"
    await user.should_not_see("After message 3")


@pytest.mark.proof
async def test_a_tab_that_is_chosen_while_the_page_is_drawn_stays(user: User, web: WebContext):
    folder = write_debate(web.runs.out, 3)
    await user.open(f"/run/{folder.name}")
    await user.should_see(kind=ui.tabs)
    (tabs,) = user.find(kind=ui.tabs).elements
    assert isinstance(tabs, ui.tabs)
    with user:
        panes = next(one.callback.__self__ for one in ElementFilter(kind=ui.timer) if "Panes" in str(one.callback))
    panes._drawn = None  # something new came
    tabs.set_value("charts")
    await panes.draw()
    await asyncio.sleep(0)
    assert (tabs.value, panes._viewing.part) == ("charts", "charts")


@pytest.mark.proof
async def test_before_the_first_message(user: User, web: WebContext):
    await look_at(user, web, tea(web.runs.out), turn=0)
    assert figure(user, "messages") == "0"
    assert figure(user, "response") == figure(user, "last") == figure(user, "active") == ""
    assert "--at" in around(user).style


@pytest.mark.proof
async def test_every_chart_says_in_words_what_it_shows(user: User, web: WebContext):
    await look_at(user, web, write_debate(web.runs.out, 12), turn=5)
    found = drawn(user)
    assert {"Openness to consensus", "Need to talk", "Emotions", "Scores of the analysis"} <= set(found)
    for svg in found.values():
        assert svg.get("role") == "img"
        assert svg[1].tag == "desc"
        assert svg[1].text
        assert (svg.get("data-first"), svg.get("data-last")) == ("0", "12")


@pytest.mark.proof
async def test_the_slider_moves_a_line_and_draws_nothing_again(user: User, web: WebContext):
    viewing = await look_at(user, web, tea(web.runs.out), turn=1)
    assert around(user).style["--at"] == "0.3"
    assert "following" not in around(user).classes
    before = {title: ElementTree.tostring(svg) for title, svg in drawn(user).items()}
    await user.should_see(f"Wants to talk most: {LI} (3 of 10)")
    viewing.go_to(3)
    await user.should_see(f"Wants to talk most: {LI} (5 of 10)")
    assert around(user).style["--at"] == "0.7"
    viewing.go_to(None)
    await user.should_see(f"Wants to talk most: {LI} (6 of 10)")
    assert "following" in around(user).classes
    assert {title: ElementTree.tostring(svg) for title, svg in drawn(user).items()} == before


@pytest.mark.proof
async def test_long_runs_are_thinned(user: User, web: WebContext):
    await look_at(user, web, write_debate(web.runs.out, 450))
    for svg in drawn(user).values():
        for path in svg.iterfind(".//path[@class='c-line']"):
            assert len(re.findall("[ML]", path.get("d") or "")) <= MOST_POINTS
    await user.should_see("Each point is the mean of 3 messages.")


@pytest.mark.proof
async def test_a_poll_without_change_draws_nothing(user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch):
    viewing = await look_at(user, web, tea(web.runs.out))
    updates: list[ui.html] = []
    monkeypatch.setattr(ui.html, "set_content", lambda html, content: updates.append(html))
    viewing.board.revision += 1  # as a token does
    with user:
        (timer, *_) = (timer for timer in user.find(kind=ui.timer).elements if timer.interval == _EVERY)
        await timer.callback()
        viewing.go_to(2)
        await timer.callback()
    assert updates == []


@pytest.mark.proof
async def test_a_live_run_is_drawn_seldom_and_its_newest_turn_is_not_missed(
    user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch
):
    drawings: list[int] = []

    def counted(board: Board, manifest: Manifest) -> Talk:
        drawings.append(board.turn)
        return talk(board, manifest)

    monkeypatch.setattr(panel.charts, "talk", counted)
    monkeypatch.setattr(panel.charts, "_LEAST_S", 3.0)  # longer than a busy machine takes until the page is there
    viewing = Viewing(web, "tea", board_of(tea(web.runs.out / "other", run="tea")))
    monkeypatch.setattr(web.runs, "folder", lambda run: web.runs.out / "other" / run)
    board, whole = viewing.board, [*viewing.board.utterances]
    board.kept, board.stopped = False, None
    board.utterances[:] = whole[:1]

    @ui.page("/charts")
    async def _page() -> None:
        viewing.part = "charts"
        draw = charts_part(viewing)
        await draw()
        for upto in range(2, 5):
            board.utterances[:] = whole[:upto]
            await draw()

    await user.open("/charts")
    assert drawings == [1]
    await until(lambda: len(drawings) > 1)
    assert drawings == [1, 4]


def eva(last: int, width: int) -> Chart:
    """A chart of two points."""
    return lanes("Need to talk", [Lane("Eva", "p0", [Series("Eva", "", "p0", [(0, 1), (1, last)])])], width=width)


@pytest.mark.proof
async def test_a_chart_is_laid_out_at_the_width_that_the_browser_tells(user: User, web: WebContext):
    boxes = []

    @ui.page("/box")
    def _page() -> None:
        boxes.append(ChartBox("needs"))
        boxes[0].draw(lambda width: eva(5, width))

    await user.open("/box")
    for told, width in (({"width": 377.5}, 370), ({"width": 0}, 370), ({}, 370), ({"width": 9e9}, 900), (None, 900)):
        user.find(marker="chart-room").trigger("resize", told)
        assert boxes[0].chart.width == width
    user.find(marker="chart-room").trigger("resize", {"width": 12.0})
    assert boxes[0].chart.width == 900


@pytest.mark.proof
async def test_a_chart_is_kept_as_a_picture_and_as_a_table(user: User, web: WebContext):
    @ui.page("/box")
    def _page() -> None:
        box = ChartBox("a run/needs")
        box.draw(lambda width: eva(5, width))
        box.draw(lambda width: eva(7, width))

    await user.open("/box")
    user.find(marker="keep-table").click()
    assert (await user.download.next()).text == "turn,Eva\n0,1\n1,7\n"
    user.find(marker="keep-picture").click()
    response = await user.download.next()
    assert ElementTree.fromstring(response.text).get("class") == "chart"


@pytest.mark.proof
async def test_people_only(user: User, web: WebContext):
    said = [given_words(1, LI, "Water."), given_words(2, LI, "Wine.")]
    people = [{"name": LI, "description": "A person.", "human": True}]
    about = {"scenario": {"topic": "Tea?", "participants": people}}
    await look_at(user, web, write_run(web.runs.out, said, [], **about))
    await user.should_not_see(kind=ui.html)
    await user.should_see("Nothing yet.")
    assert figure(user, "last") == "1 word"


@pytest.mark.proof
async def test_a_person_among_agents(user: User, web: WebContext):
    await look_at(user, web, write_steered(web.runs.out))
    assert figure(user, "messages") == "6"
    assert (figure(user, "active"), figure(user, "active", True)) == (EVA, "2 messages")
    await user.should_see("person")


@pytest.mark.proof
async def test_what_is_left_of_the_budget(user: User, web: WebContext):
    settings = manifest()["settings"] | {"budget_calls": 10, "budget_tokens": 1000, "budget_usd": None}
    await look_at(user, web, tea(web.runs.out, settings=settings))
    await user.should_see("7 of 10 left")
    await user.should_see("0 of 1,000 left")


@pytest.mark.proof
async def test_names_in_charts_are_data(user: User, web: WebContext):
    names = (":alert(1)", "<img src=x onerror=alert(2)>", "{a|b}</text><script>alert(3)</script>")
    await look_at(user, web, write_debate(web.runs.out, 6, names))
    for svg in drawn(user).values():
        assert {one.tag for one in svg.iter()} <= {
            *["svg", "title", "desc", "line", "rect", "text", "g", "path", "circle"]
        }
    assert "<img src=x" in (drawn(user)["Need to talk"][1].text or "")


@pytest.mark.proof
async def test_a_live_run(user: User, web: WebContext):
    live = await begin(web, messages=4, analysis=True)
    await user.open(f"/run/{live.run}")
    await live.ended()
    await user.should_see(marker="figure-messages", content="4")
    assert figure(user, "tokens").startswith("about ")


def shown_turn(browser: Any) -> str:
    return str(browser.execute_script("return document.querySelector('.charts').style.getPropertyValue('--at').trim()"))


@pytest.mark.long
@pytest.mark.proof
def test_charts_in_a_browser(server: Server, browser):
    names = (":alert(1)", "<img src=x onerror=alert(2)>", "Eva")
    folder = write_debate(server.folder / "conversations", 6, names, run="20260101-120000-hostile")
    browser.get(f"{server.url}/run/{folder.name}")
    wait = patient(browser)
    press(browser, ".panel-tabs [role=tab]", 1)
    wait.until(lambda b: (found := b.execute_script(SCALES)) and max(found) < 1.05)  # laid out for the panel
    needs = wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".charts svg[data-last='6']"))[-3]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", needs)
    size = needs.size
    left, right, laid_out = (float(needs.get_dom_attribute(f"data-{name}")) for name in ("left", "right", "width"))
    to_turn_2 = (left + 2.5 / 7 * (right - left)) / laid_out * size["width"] - size["width"] / 2
    ActionChains(browser).move_to_element_with_offset(needs, round(to_turn_2), 0).click().perform()
    wait.until(lambda _: shown_turn(browser) == str(round(2.5 / 7, 4)))  # the slider's place in all charts
    around = browser.find_element(By.CSS_SELECTOR, ".charts")
    browser.execute_script("arguments[0].focus()", around)
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    wait.until(lambda _: shown_turn(browser) == "0.5")
    buttons = browser.find_elements(By.CSS_SELECTOR, ".charts .chart-box button")
    press(browser, lambda: next(button for button in buttons if button.is_displayed()))
    window = wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".chart-window svg[data-width='900']"))
    browser.execute_script(
        "arguments[0].querySelector('[data-turn]').dispatchEvent(new MouseEvent('click', {bubbles: true}))", window[0]
    )
    wait.until(lambda b: not b.find_elements(By.CSS_SELECTOR, ".chart-window"))
    assert browser.find_elements(By.CSS_SELECTOR, "canvas") == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert browser.find_elements(By.CSS_SELECTOR, "img[src=x]") == []


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("width", [1440, 1024, 768, 390])
def test_texts_of_charts_are_12_pixels(server: Server, browser, width: int):
    folder = write_debate(server.folder / "conversations", 6, run=f"20260101-120000-sizes-{width}")
    browser.set_window_size(width, 900)
    browser.get(f"{server.url}/run/{folder.name}")
    wait = patient(browser)
    opener = ".panel-tabs [role=tab]" if width >= 900 else ".nav-view"
    press(browser, opener, 1 if width >= 900 else 2)
    try:
        wait.until(lambda b: (found := b.execute_script(SCALES)) and 0.995 <= min(found) <= max(found) < 1.05)
    finally:
        browser.set_window_size(1440, 900)


NAMES = st.sampled_from(["Eva", "Bo", "Li", ":x"])
LEVELS = st.dictionaries(st.integers(0, 40), st.dictionaries(NAMES, st.integers(0, 10)), max_size=30)
TURNS = st.integers(-1, 45)


@given(LEVELS, TURNS)
def test_the_latest_levels_hold_nothing_of_later_turns(levels: dict[int, dict[str, int]], turn: int):
    board = Board()
    board.started = Started(run="a", topic="Tea", participants=["Eva", ":x"], models={}, max_messages=9)
    for at, found in levels.items():
        board.minds[at] = {name: MindRecord(turn=at, agent=name, need_to_talk=need) for name, need in found.items()}
    for name in ("Eva", ":x"):
        known = sorted((at, found[name]) for at, found in levels.items() if name in found and at <= turn)
        assert latest(board, turn, "need_to_talk").get(name) == (known[-1][1] if known else None)


@pytest.mark.parametrize("turns", [1, 9])
def test_a_page_draws_from_the_same_data_as_the_report(tmp_path: Path, turns: int):
    folder = write_debate(tmp_path, turns)
    record = read_run(folder)
    shown = talk(board_of(folder), record.manifest)
    reported = talk_of(record, people(names_of(record)), ledger(record))
    assert shown.people == reported.people
    assert (shown.last, shown.speakers, shown.verdicts) == (reported.last, reported.speakers, reported.verdicts)
    for levels in ("needs", "openness", "felt"):
        assert {name: [*own] for name, own in getattr(shown, levels).items()} == getattr(reported, levels)
    assert shown.response_times == reported.response_times
    assert [row.stance for row in shown.positions] == [row.stance for row in reported.positions]


@pytest.mark.parametrize("turns", [0, 1, 9])
def test_figures_are_those_of_the_summary(tmp_path: Path, turns: int):
    folder = write_debate(tmp_path, max(turns, 1))
    if not turns:
        for kind in ("utterance", "analysis", "verdict", "turn_ended"):
            put(folder, kind, [])
    found, summary = figures(board_of(folder), 100), summarise(read_run(folder))
    assert found.total == summary.total
    assert [agent.speech for agent in found.agents] == [agent.speech for agent in summary.agents]
    assert most_active(found.agents) == summary.most_active
    best = summary.highest_coherence
    assert found.best == (None if best is None else (best.value, f"{best.speaker}, message {best.turn}"))


@pytest.mark.parametrize("turn", [0, 1, 4, 9])
def test_figures_at_a_turn_are_those_of_a_run_that_ended_there(tmp_path: Path, turn: int):
    whole = write_debate(tmp_path / "whole", 9)
    cut = write_debate(tmp_path / "cut", 9)
    for kind in ("utterance", "analysis"):
        put(cut, kind, [row for row in logged(cut, kind) if row["turn"] <= turn])
    put(cut, "verdict", [])
    summary, found = summarise(read_run(cut)), figures(board_of(whole), turn)
    assert found.total == summary.total
    best = summary.highest_coherence
    assert found.best == (None if best is None else (best.value, f"{best.speaker}, message {best.turn}"))
    assert [agent.speech for agent in found.agents] == [agent.speech for agent in summary.agents]


def test_words_of_people_have_no_response_time(tmp_path: Path):
    eva, bo, li = PEOPLE
    said = [utterance(1, eva, response_time_s=2.0), given_words(2, "Moderator", "Go on."), given_words(3, li, "Water.")]
    found = figures(board_of(write_run(tmp_path, said, scores=[score(1, eva)])), 3)
    assert found.total.utterances == 3
    assert found.total.response_time_s.mean == 2.0
    assert most_active(found.agents) == [eva, li]
    assert found.last is not None
    assert (found.last_speaker, found.last.length.last_words, found.last.length.last_tokens) == (li, 1, None)


def test_a_message_that_could_not_be_scored_has_no_score():
    failed = Analysed(
        turn=1, speaker="Eva", reasoning=None, coherence=None, sentiment=None, engagement=None, failed="x"
    )
    assert not failed.is_scored


@given(st.integers(1, 1000), st.integers(0, 2000))
def test_what_is_left_of_a_budget(limit: int, used: int):
    totals = Totals(calls=used, input_tokens=used, output_tokens=0, cost_usd=None)
    calls, tokens, usd = budgets({"budget_calls": limit, "budget_tokens": limit, "budget_usd": 1.0}, totals)
    assert calls.left == tokens.left == max(0, limit - used)
    assert usd.left is None


def test_what_is_left_is_not_known_of_a_run_without_calls():
    (calls,) = budgets({"budget_calls": 5}, UNKNOWN)
    assert calls.left is None


def feels(**levels: int) -> dict[str, int]:
    return dict.fromkeys(EMOTIONS, 0) | levels


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Bo hears Eva and grows angry; Li whispers to Bo alone, who turns from no to yes."""
    said = [
        utterance(1, EVA, "Yes."),
        utterance(2, BO, "No."),
        utterance(3, LI, "Come, Bo.", heard_by=[BO]),
        utterance(4, EVA, "Yes, I say."),
        utterance(5, BO, "Well, yes."),
    ]
    angry = {0: 0, 1: 4, 2: 4, 3: 4, 4: 6, 5: 6}
    minds = [mind(turn, BO, emotion=feels(anger=level, happiness=1)) for turn, level in angry.items()]
    minds += [mind(turn, EVA, emotion=feels(happiness=2)) for turn in range(6)]

    def places(of_bo: str, words: str) -> list[dict[str, Any]]:
        eva = {"agent": EVA, "position": "For it.", "answer": "yes", "agrees": True}
        return [eva, {"agent": BO, "position": words, "answer": of_bo, "agrees": of_bo == "yes"}]

    verdicts = [verdict(2, positions=places("no", "Against it.")), verdict(5, positions=places("yes", "Came round."))]
    settings = manifest()["settings"] | {"mode": "debate", "answer_format": "yesno"}
    return write_run(tmp_path, said, minds, verdicts=verdicts, settings=settings)


def test_positions_are_those_of_the_last_verdict(folder: Path):
    board = board_of(folder)
    assert stands(board, 1) == {}
    assert stands(board, 4)[BO] == Stand("Against it.", "no")
    assert stands(board, 5)[BO] == Stand("Came round.", "yes")


async def test_who_changed_sides_and_after_whom(folder: Path):
    viewing = Viewing(web_context(folder.parent, folder, folder), folder.name, board_of(folder), 4)
    await viewing.read()
    assert turned(viewing) == []
    viewing.go_to(None)
    (row,) = turned(viewing)
    assert (row.agent, row.turn, row.before, row.stance, dict(row.credit)) == (BO, 5, "no", "yes", {EVA: 1.0})


def test_the_strongest_feeling_comes_first_with_its_change(folder: Path):
    board = board_of(folder)
    assert felt(board, BO, 1) == [("anger", 4, 4), ("happiness", 1, 0)]
    assert felt(board, BO, 0) == [("happiness", 1, 0)]
    assert felt(board, LI, 5) is None


def test_feelings_change_after_words_that_were_heard(folder: Path):
    board = board_of(folder)
    assert stirred(board, 0) == []
    assert stirred(board, 1) == [Stirring(EVA, BO, 4.0, 1)]
    assert stirred(board, 5) == [Stirring(EVA, BO, 3.0, 2)]  # 4 and 2 points; his own words and a whisper move nobody
