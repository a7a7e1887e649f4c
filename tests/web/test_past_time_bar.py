"""Through a run's turns: every panel shows the turn at which the slider stands."""

from __future__ import annotations

import json

import pytest
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin, until
from web.past_pages import named, press

from persimchat.app.web.context import WebContext
from persimchat.app.web.past import time_bar
from persimchat.app.web.shared.navigation import page_of

pytestmark = pytest.mark.proof


async def shows(user: User, turn: int, of: int) -> None:
    """The page shows what was said up to a turn, and nothing after it."""
    await user.should_see(content=f"{turn} of {of}", kind=ui.label)
    slider = named(user, "Message shown")
    assert isinstance(slider, ui.slider)
    assert (slider.value, slider.props["max"]) == (turn, of)


async def test_it_waits_until_there_is_something_to_go_through(user: User, web: WebContext):
    live = await begin(web, messages=1)
    await live.ended()
    await user.open(page_of(live.run))
    await user.should_see(live.board.utterances[0].text)
    await user.should_not_see("Message shown")
    assert not [one for one in user.find(kind=ui.element).elements if "time-bar" in one.classes]


async def test_steps_slider_and_the_end(user: User, web: WebContext):
    live = await begin(web, messages=4)
    await live.ended()
    texts = [said.text for said in live.board.utterances]
    await user.open(page_of(live.run, 2))
    await shows(user, 2, 4)
    await user.should_not_see(texts[2])
    press(user, named(user, "One message forward (→)"))
    await shows(user, 3, 4)
    await user.should_see(texts[2])
    press(user, named(user, "One message back (←)"))
    press(user, named(user, "One message back (←)"))
    await shows(user, 1, 4)
    await user.should_not_see(texts[1])
    slider = named(user, "Message shown")
    assert isinstance(slider, ui.slider)
    slider.set_value(3)
    await shows(user, 3, 4)
    press(user, named(user, "To the end"))
    await shows(user, 4, 4)
    await user.should_see(texts[3])


async def test_arrow_keys_of_the_page(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    client = await user.open(page_of(live.run))
    await shows(user, 3, 3)
    for step, turn in ((-1, 2), (-1, 1), (1, 2), ("2; evil", 2)):
        heard = [one for one in client.layout._event_listeners.values() if one.type == "turn_step"]
        assert len(heard) == 1
        client.handle_event({"id": client.layout.id, "listener_id": heard[0].id, "args": [json.dumps(step)]})
        await shows(user, turn, 3)


async def test_a_replay_begins_runs_and_ends(user: User, web: WebContext, monkeypatch):
    monkeypatch.setattr(time_bar, "STEP_S", 0.3)
    live = await begin(web, messages=3)
    await live.ended()
    await user.open(page_of(live.run, 0, play=True))
    named(user, "Pause the replay")
    for turn in range(4):
        await shows(user, turn, 3)
    await user.should_see(live.board.utterances[2].text)
    press(user, named(user, "Play the replay"))  # once more, from the beginning
    await shows(user, 0, 3)
    press(user, named(user, "Pause the replay"))
    named(user, "Play the replay")
    press(user, named(user, "Speed of the replay: 1×"))
    press(user, named(user, "Speed of the replay: 2×"))
    press(user, named(user, "Speed of the replay: 4×"))
    named(user, "Speed of the replay: 1×")


async def test_one_that_goes_on_can_be_looked_at_and_followed_again(user: User, web: WebContext):
    live = await begin(web, messages=200)
    await until(lambda: live.board.turn >= 2)
    await user.open(page_of(live.run, 1))
    await user.should_see(live.board.utterances[0].text)
    await user.should_not_see(live.board.utterances[1].text)
    await user.should_see("Follow live")
    live.control.stop()
    user.find("Follow live").click()
    await live.ended()
    await shows(user, live.board.turn, live.board.turn)
    await user.should_see(live.board.utterances[-1].text)
