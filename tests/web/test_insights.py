"""The insights show the turn that is looked at, and nothing later; what there is none of is said in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nicegui import ui
from nicegui.testing import User
from run_folders import PEOPLE, given, manifest, mind, score, utterance, write_debate, write_run, write_steered
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from web.conftest import WAIT_S, Server, begin

from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.insights.charts_part import charts_part
from persimchat.app.web.insights.figures import drawn_from
from persimchat.app.web.insights.people_part import people_part

pytestmark = pytest.mark.proof

EVA, BO, LI = PEOPLE
_EVERY = 0.5


def figure(user: User, name: str, beside: bool = False) -> str:
    """A figure of the run, or what stands beside it; empty if it is not known."""
    marker = f"{'beside' if beside else 'figure'}-{name}"
    (label,) = (one for one in user.client.elements.values() if marker in one._markers)
    assert isinstance(label, ui.label)
    return label.text


def charts(user: User) -> list[ui.echart]:
    found = user.find(kind=ui.echart).elements
    return sorted((chart for chart in found if chart.visible), key=lambda chart: chart.id)


async def look_at(user: User, web: WebContext, folder: Path, turn: int | None = None) -> Viewing:
    """Draw the parts on people and charts of a kept run alone."""
    viewing = Viewing(web, folder.name, await web.runs.board(folder.name), turn)

    @ui.page("/insights")
    async def _page() -> None:
        people, charts = people_part(viewing), charts_part(viewing)

        async def draw() -> None:
            await people()
            charts()

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
    await user.should_see(f"Wants to talk most: {LI} (6 of 10)", retries=20)
    assert figure(user, "messages") == "4"
    assert figure(user, "response") == "3.00 s"
    assert figure(user, "coherence_best") == "9.0"
    await user.should_not_see("After message 3")


async def test_before_the_first_message(user: User, web: WebContext):
    await look_at(user, web, tea(web.runs.out), turn=0)
    assert figure(user, "messages") == "0"
    assert figure(user, "response") == figure(user, "last") == figure(user, "active") == ""
    await user.should_see("No response times are known")
    await user.should_see("No message has been scored yet")


async def test_charts_end_at_the_turn(user: User, web: WebContext):
    await look_at(user, web, write_debate(web.runs.out, 12), turn=5)
    drawn = charts(user)
    assert len(drawn) == 4
    for chart in drawn[1:]:
        data = [point for series in chart.options["series"] for point in series["data"]]
        assert data
        assert max(point[0] for point in data) == chart.options["xAxis"]["max"] == 5
        assert chart.options["tooltip"]["renderMode"] == "richText"
        assert chart.props["role"] == "img"
        assert "between" in chart.props["aria-label"]
    names = [series["name"] for series in drawn[1].options["series"]]
    assert names[:3] == list(PEOPLE)
    assert names[3].startswith("judge: ")


async def test_over_time(user: User, web: WebContext):
    await look_at(user, web, tea(web.runs.out))
    for toggle in user.find(kind=ui.toggle).elements:
        toggle.set_value("time")
    needs, emotions, *_ = charts(user)
    assert [series["data"][-1] for series in needs.options["series"]] == [[4, 4], [4, 5], [4, 6]]
    assert [series["data"][-1] for series in emotions.options["series"]] == [[4, 3]] * 6
    (whose,) = (select for select in user.find(kind=ui.select).elements if select.visible)
    whose.set_value(1)
    assert [series["data"][-1] for series in emotions.options["series"]] == [[4, 1]] * 6
    assert BO in emotions.props["aria-label"]


async def test_long_runs_are_thinned(user: User, web: WebContext):
    await look_at(user, web, write_debate(web.runs.out, 450))
    for toggle in user.find(kind=ui.toggle).elements:
        toggle.set_value("time")
    for chart in charts(user):
        assert all(len(series["data"]) <= 200 for series in chart.options["series"])
    await user.should_see("Each point is the mean of up to 3 messages.")


async def test_a_poll_without_change_draws_nothing(user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch):
    viewing = await look_at(user, web, tea(web.runs.out))
    updates: list[ui.echart] = []
    monkeypatch.setattr(ui.echart, "update", lambda chart: updates.append(chart))
    key = drawn_from(viewing)
    viewing.board.revision += 1  # as a token does
    assert drawn_from(viewing) == key
    with user:
        (timer, *_) = (timer for timer in user.find(kind=ui.timer).elements if timer.interval == _EVERY)
        await timer.callback()
        assert updates == []
        viewing.go_to(2)
        await timer.callback()
    assert updates


async def test_people_only(user: User, web: WebContext):
    said = [given(1, LI, "Water."), given(2, LI, "Wine.")]
    people = [{"name": LI, "description": "A person.", "human": True}]
    about = {"scenario": {"topic": "Tea?", "participants": people}}
    await look_at(user, web, write_run(web.runs.out, said, [], **about))
    await user.should_not_see(kind=ui.echart)
    await user.should_see("No emotions are known")
    await user.should_see("Need to talk is not known")
    await user.should_see("No response times are known")
    assert figure(user, "last") == "1 word"


async def test_a_person_among_agents(user: User, web: WebContext):
    await look_at(user, web, write_steered(web.runs.out))
    assert figure(user, "messages") == "6"
    assert (figure(user, "active"), figure(user, "active", True)) == (EVA, "2 messages")
    await user.should_see("person")


async def test_what_is_left_of_the_budget(user: User, web: WebContext):
    settings = manifest()["settings"] | {"budget_calls": 10, "budget_tokens": 1000, "budget_usd": None}
    await look_at(user, web, tea(web.runs.out, settings=settings))
    await user.should_see("7 of 10 left", retries=20)
    await user.should_see("0 of 1,000 left")


async def test_names_in_charts_are_no_keys(user: User, web: WebContext):
    names = (":alert(1)", "<img src=x onerror=alert(2)>", "{a|b}")
    await look_at(user, web, write_debate(web.runs.out, 6, names))
    text = json.dumps([chart.options for chart in charts(user)])
    assert '":' + "alert" not in text
    assert "{a|b}" not in text
    assert "alert(1)" in text


@pytest.mark.proof
async def test_a_live_run(user: User, web: WebContext):
    live = await begin(web, messages=4, analysis=True)
    await user.open(f"/run/{live.run}")
    await live.ended()
    await user.should_see(marker="figure-messages", content="4", retries=30)
    assert figure(user, "tokens").startswith("about ")


@pytest.mark.proof
def test_charts_in_a_browser(server: Server, browser):
    names = (":alert(1)", "<img src=x onerror=alert(2)>", "Eva")
    folder = write_debate(server.folder / "conversations", 6, names, run="20260101-120000-hostile")
    browser.get(f"{server.url}/run/{folder.name}")
    wait = WebDriverWait(browser, WAIT_S)
    wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".panel-tabs [role=tab]"))[1].click()
    wait.until(lambda b: len(b.find_elements(By.CSS_SELECTOR, ".nicegui-echart canvas")) >= 4)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert browser.find_elements(By.CSS_SELECTOR, "img[src=x]") == []
