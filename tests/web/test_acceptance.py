"""What a stranger tried on the page, and what it has to say to that."""

from __future__ import annotations

import asyncio

import pytest
from loopback.server import LoopbackServer
from nicegui import ui
from nicegui.testing import User
from state.test_settings import OTHER
from web.conftest import begin, until
from web.past_pages import named, press

from persimchat.app.web.chat.run_dialogs import changeable
from persimchat.app.web.context import WebContext
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.folder.lock import held
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.run.branch import branch_run
from persimchat.state.kinds import unheeded
from persimchat.state.settings import Settings


@pytest.mark.proof
@pytest.mark.parametrize("turn", ["", "abc", "-5", "1.5", "9" * 40, "99"])
async def test_an_address_whose_turn_is_none_leads_to_the_newest(user: User, web: WebContext, turn: str):
    live = await begin(web, messages=2)
    await live.ended()
    await user.open(f"/run/{live.run}?turn={turn}")
    await user.should_see(live.board.utterances[-1].text)


@pytest.mark.proof
async def test_an_address_that_leads_nowhere_has_a_page(user: User):
    response = await user.http_client.get("/nonsense")
    assert response.status_code == 404
    assert "This page does not exist" in response.text
    assert "HTTPException" not in response.text


@pytest.mark.proof
async def test_a_run_that_another_program_works_on(user: User, web: WebContext):
    live = await begin(web, messages=2_000, closing="off")
    await until(lambda: live.board.turn)
    live.control.stop()
    await live.ended()
    web.runs.forget(live.run)
    with held(web.runs.folder(live.run)):  # as another program would
        await user.open(f"/run/{live.run}")
        await user.should_see("Another program on this computer is running this conversation.")
        await user.should_see("Running elsewhere")
        await user.should_not_see(content="Resume", kind=ui.button)
    await user.open(f"/run/{live.run}")
    await user.should_see(content="Resume", kind=ui.button)
    await user.should_not_see("Running elsewhere")


@pytest.mark.proof
async def test_a_branch_with_another_setting(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    await user.open(f"/run/{live.run}?turn=1")
    press(user, named(user, "Branch from this message"))
    await user.should_see(marker="branch-settings")
    await user.should_not_see("Who says it")  # nothing is said in anybody's place
    (filtering,) = user.find(marker="setting-memory_filtering").elements
    (words,) = user.find(marker="setting-utterance_words").elements
    assert (filtering.value, words.value) == (False, str(Settings().utterance_words))
    filtering.set_value(True)
    words.set_value("many")
    user.find(marker="branch").click()
    await user.should_see("should be a valid integer")
    assert list(web.runs.active) == []
    words.set_value("12")
    user.find(marker="branch").click()
    while len(found := [web.runs.get(run.name) for run in web.runs.out.iterdir()]) < 2 or None in found:
        await asyncio.sleep(0.05)
    branch = next(one for one in found if one.run != live.run)
    await branch.ended()
    before, after = (
        read_manifest(web.runs.folder(run)).settings.model_dump(mode="json") for run in (live.run, branch.run)
    )
    assert {name for name in before if before[name] != after[name]} == {"memory_filtering", "utterance_words"}
    assert (after["memory_filtering"], after["utterance_words"]) == (True, 12)


@pytest.mark.proof
async def test_every_setting_that_a_branch_offers_can_be_another(web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    others = {**OTHER, "closing": "off", "cognition": "lean", "modules": []}
    others |= {"language": "en-GB", "pruning": {"lambda": 0.5, "method": "length"}}  # offline is English
    for name in changeable():
        if name in unheeded({}):
            continue  # its field is hidden in a discussion
        value = others[name]
        events = branch_run(web.runs.folder(live.run), 1, changes={name: value, "max_messages": 2})
        assert (await anext(events)).event == "started", name
        await events.aclose()


@pytest.mark.proof
async def test_millions_of_tokens_are_short_in_the_line_and_whole_below(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    used = live.board.stopped.totals.model_copy(update={"input_tokens": 1_468_850, "output_tokens": 72_350})
    live.board.stopped = live.board.stopped.model_copy(update={"totals": used})
    await user.open(f"/run/{live.run}")
    await user.should_see("· 1.5 M tokens ·")
    await user.should_see("about 1,541,200")
    await user.should_see("1,468,850 read, 72,350 written")


@pytest.mark.proof  # a server that does not answer is asked again
async def test_an_error_leaves_a_way_on(user: User, web: WebContext):
    """With a server that stops: the page says what is wrong, and the run goes on with another model."""
    scenario = make_scenario("Tea or coffee?", default_participants(2))
    with LoopbackServer() as server:
        live = await web.runs.start(scenario, Settings(model=server.model(), max_messages=2))
    await live.ended()
    await user.open(f"/run/{live.run}")
    await user.should_see(f"Nothing listens at {server.url}")
    await user.should_see("The conversation could not go on")
    user.find("Another model…").click()
    await user.should_see("Model from here on")
    await user.should_see("Offline, for trying out")
    user.find(marker="with-model").click()
    await until(lambda: web.runs.get(live.run) not in (live, None))
    again = web.runs.get(live.run)
    assert again is not None
    await again.ended()
    assert again.board.turn == 2
