"""Breakouts on the page: numbered rooms, who hears their words, and no standing where a story has none."""

from __future__ import annotations

import pytest
from minds_told import breakouts
from nicegui import ui
from nicegui.testing import User
from story_records import happened, own, write_story
from story_talks import NAMES
from web.past_pages import named, press
from web.test_story_page import source, words

from persimchat.app.web.chat.story import StoryView, room_known, room_name, stage_name
from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.shared.runs import read_plan
from persimchat.runs.events import Uttered

RUN = "a-workshop"
ADA, BO, CY, DEE = NAMES[:4]
WORKSHOP = breakouts(
    4, [{"kind": "plenary", "utterances": 1}, {"kind": "rooms", "split": {"size": 2}, "utterances": 1}]
)
HAPPENED = [
    happened(0, "stage", stage="plenary"),
    happened(1, "stage", stage="rooms"),
    happened(1, "met", ADA, stage="rooms", room="1.2.1", others=[CY]),
    happened(1, "met", BO, stage="rooms", room="1.2.2", others=[DEE]),
    own(3, "summary", ADA, stage="rooms", room="1.2.1", text="It was zyx0901q."),
]
SAID = [
    Uttered(turn=1, speaker=BO, text="zyx0001q"),
    Uttered(turn=2, speaker=CY, text="zyx0002q", heard_by=[ADA]),
    Uttered(turn=3, speaker=DEE, text="zyx0003q", heard_by=[BO]),
]


@pytest.fixture
def kept(web: WebContext) -> str:
    """The workshop made by hand, over."""
    write_story(web.runs.out / RUN, made=WORKSHOP, happened=HAPPENED, said=SAID)
    return RUN


@pytest.mark.proof
async def test_rooms_and_plenary_have_names_of_their_own(web: WebContext, kept: str) -> None:
    plan = read_plan(web.runs.folder(kept))
    assert plan is not None
    view = StoryView(Viewing(web, kept, await web.runs.board(kept)), plan)
    rooms = view.course.rooms
    assert [room_name(room, view.names) for room in rooms] == ["Room 1: Ada, Cy", "Room 2: Bo, Dee"]
    assert room_name(rooms[0], [ADA, CY, "Ada Vik"]) == f"Room 1: {ADA}, {CY}"
    assert {room_known(room) for room in rooms} == {"Everybody knows who is in it; only those in it hear the words."}
    assert (stage_name("plenary"), stage_name("rooms")) == ("Together", "Rooms")


@pytest.mark.proof
async def test_a_workshop_has_rooms_and_no_standing(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    for text in ("Round 1 of 1 · Together", "Round 1 of 1 · Rooms", "Room 1: Ada, Cy", "Room 2: Bo, Dee"):
        await user.should_see(text)
    await user.should_see("Seen by Everybody (researcher)")
    told = source(user)
    for text in ("onfidential", "main character", "other character", "Where they stand", "Closeness", "Beliefs"):
        assert text not in told, text
    for text in ("Resources", "Standing", "At the beginning"):
        assert text not in told, text
    (tabs,) = user.find(kind=ui.tabs).elements
    assert isinstance(tabs, ui.tabs)
    tabs.set_value("rooms")
    await user.should_see(kind=ui.button, content="Room 1: Ada, Cy")
    press(user, named(user, "Go to Room 1: Ada, Cy, round 1"))
    await user.should_not_see(SAID[2].text)


@pytest.mark.proof
async def test_one_room_does_not_hear_the_other(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    (eyes,) = user.find(marker="seen-by").elements
    assert isinstance(eyes, ui.select)
    eyes.set_value(BO)
    await user.should_not_see(SAID[1].text)
    assert words(user) == {SAID[0].text, SAID[2].text}
    await user.should_see("The words are not heard here.")
