"""The page of a story: stages, rooms, standings and the vote, as everybody or as one character knows them."""

from __future__ import annotations

import json

import pytest
from nicegui import ui
from nicegui.testing import User
from story_records import ADA, BO, CY, HAPPENED, SAID, write_story
from story_talks import WORD
from web.conftest import until
from web.first_screen import choose, more_settings
from web.past_pages import named, press

from persimchat.app.web.context import WebContext

pytestmark = pytest.mark.proof

RUN = "a-story"
PRIVATE = (SAID[0].text, SAID[1].text)
MEETING = (SAID[2].text, SAID[3].text)
GROUP = SAID[5].text


@pytest.fixture
def kept(web: WebContext) -> str:
    """The story made by hand, over."""
    write_story(web.runs.out / RUN)
    return RUN


def source(user: User) -> str:
    """All that the page has sent to the browser."""
    client = user.client
    assert client is not None
    return json.dumps([element._to_dict() for element in client.elements.values()], default=str)


def words(user: User) -> set[str]:
    return set(WORD.findall(source(user)))


async def test_the_whole_story(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    for text in ("Round 1", "Private talks", "Meetings", "Group", "Vote", f"{ADA} with {BO}", f"{BO} with {CY}"):
        await user.should_see(text)
    for text in (*PRIVATE, *MEETING, GROUP):
        await user.should_see(text)
    await user.should_see("Private: nobody else knows that they talk.")
    await user.should_see("Confidential: everybody knows that they meet, nobody else what they say.")
    await user.should_see("The vote is a draw between Ada Lind and Bo Vik. Open ballots: Ada Lind 1, Bo Vik 1.")
    await user.should_see("Closed ballots: Bo Vik 1.")
    await user.should_see("Mill")
    for text in ("Need to talk", "Emotions", "Openness to consensus"):
        await user.should_not_see(text)


async def test_ballots_that_nobody_has_cast_yet_are_no_dashes(user: User, web: WebContext) -> None:
    before = [one for one in HAPPENED if one.do not in ("ballot", "closed_ballot", "outcome")]
    write_story(web.runs.out / RUN, ended=False, happened=before)
    await user.open(f"/run/{RUN}")
    await user.should_see("not yet")
    assert "–" not in source(user)


async def test_seen_by_one_character(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    (eyes,) = user.find(marker="seen-by").elements
    assert isinstance(eyes, ui.select)
    eyes.set_value(CY)
    await user.should_not_see(PRIVATE[0])
    await user.should_see("After round 1, seen by Cy Dahl")
    known = {one.text for one in SAID[2:]} | {"zyx0902q"}
    assert words(user) == known
    eyes.set_value(ADA)
    await user.should_see(PRIVATE[0])
    await user.should_not_see(MEETING[0])
    assert words(user) == {one.text for one in (*SAID[:2], *SAID[4:])} | {"zyx0900q", "zyx0901q"}
    eyes.set_value("")
    await user.should_see(MEETING[0])


async def test_the_slider_and_the_bar_go_to_a_stage(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}?turn=2")
    assert words(user) == {*PRIVATE, "zyx0900q", "zyx0901q"}
    await user.should_see("At the beginning, seen by Everybody (researcher)")
    assert named(user, "Meetings, round 1").props["aria-current"] == "step"
    press(user, named(user, "Private talks, round 1"))
    await user.should_not_see(PRIVATE[1])
    await until(lambda: "aria-current" in named(user, "Private talks, round 1").props)
    assert "aria-current" not in named(user, "Meetings, round 1").props


async def test_a_room_is_folded(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    press(user, named(user, f"Fold the room: {ADA} with {BO}"))
    await user.should_not_see(PRIVATE[0])
    press(user, named(user, f"Unfold the room: {ADA} with {BO}"))
    await user.should_see(PRIVATE[0])


async def test_a_word_is_found_in_a_folded_room(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    await user.should_see(PRIVATE[0])
    press(user, named(user, f"Fold the room: {ADA} with {BO}"))
    await user.should_not_see(PRIVATE[0])
    user.find(marker="search").click()
    (field,) = user.find(marker="search-field").elements
    assert isinstance(field, ui.input)
    field.value = PRIVATE[0]
    await user.should_see("1 of 1")
    await user.should_see(PRIVATE[0])
    user.find(marker="shortcuts").click()
    await user.should_see("Use single keys as shortcuts")


async def test_a_player_finds_only_what_their_character_hears(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, people=(CY,), ended=False)
    await user.open(f"/run/{RUN}")
    user.find(marker="search").click()
    (field,) = user.find(marker="search-field").elements
    assert isinstance(field, ui.input)
    field.value = PRIVATE[0]
    await user.should_see("Nothing found")
    field.value = GROUP
    await user.should_see("1 of 1")


async def test_the_rooms(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    (parts,) = user.find(kind=ui.tabs).elements
    parts.set_value("rooms")
    await user.should_see("Private talks, round 1")
    press(user, named(user, f"Go to {BO} with {CY}, round 1"))
    await user.should_see("1 message, still open")


async def test_a_story_that_is_over_can_not_be_resumed(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    await user.should_see("The story is settled.")
    await user.should_not_see("Resume")


async def test_while_a_person_plays_the_page_keeps_secrets(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, people=(BO,), ended=False)
    await user.open(f"/run/{RUN}?turn=9")
    await user.should_see(PRIVATE[0])
    secret = {"zyx0900q", "zyx0901q", "zyx0902q"}
    assert words(user) == {one.text for one in SAID} - secret  # Bo has heard all of the words, and no thoughts
    await user.should_not_see(marker="seen-by")
    for name in ("Set-up", "Export", "Branch from here"):
        assert not [one for one in user.find(kind=ui.button).elements if one.props.get("aria-label") == name]
    assert "message 5" not in source(user)


async def test_another_player_sees_less(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, people=(CY,), ended=False)
    await user.open(f"/run/{RUN}")
    await user.should_see(GROUP)
    assert words(user) == {one.text for one in SAID[2:]} | {"zyx0902q"}
    assert "10 of" not in source(user)  # how much was said elsewhere


async def test_a_story_is_set_up(user: User) -> None:
    await user.open("/")
    await more_settings(user)
    user.find(marker="kind-story").click()
    await user.should_see("Who leads the ferry company when Aino steps down?")
    await user.should_see("Main characters: 3, others: 1. A round has 3 stages. At the end there is a vote.")
    await user.should_not_see(marker="setting-pattern")
    await user.should_not_see(marker="setting-max_messages")
    await user.should_not_see(marker="add")
    await user.should_see(marker="setting-rounds")
    await choose(user, "discussion")
    await user.should_see(marker="setting-pattern")
