"""The course of a story, from records made by hand: what was when, and what each character knows of it."""

from __future__ import annotations

from typing import Any

import pytest
from story_talks import WORD, scenario

from persimchat.runs.events import Happened, StoryOutcome, Uttered
from persimchat.runs.reports.story_course import AWAKENING, SETTLEMENT, StoryCourse, character, course
from persimchat.state.errors import InputError
from persimchat.state.story import Story

ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"
WHO = (ADA, BO, CY)


def story() -> Story:
    found = scenario(2, 1).story
    assert found is not None
    return found


def happened(turn: int, do: str, speaker: str = "", **more: Any) -> Happened:
    return Happened(turn=turn, do=do, speaker=speaker, **{"round": 1, **more})


def own(turn: int, do: str, speaker: str, **more: Any) -> Happened:
    return happened(turn, do, speaker, heard_by=[], **more)


def standings(turn: int, number: int, near: int) -> list[Happened]:
    return [
        own(
            turn, "standing", name, round=number, closeness={other: near for other in WHO if other != name},
            beliefs=[] if name == CY else [60 + number, 10], supports="", influence=30 if name == ADA else 0,
        )
        for name in WHO
    ]  # fmt: skip


HAPPENED = [
    *standings(0, 0, 10),
    happened(0, "stage", stage="private"),
    own(0, "choice", ADA, stage="private", room="1.1.1", choice=BO, text="Bo has zyx0900q."),
    happened(0, "met", ADA, stage="private", room="1.1.1", others=[BO], heard_by=[BO]),
    own(2, "summary", ADA, stage="private", room="1.1.1", others=[BO], text="Bo said zyx0901q."),
    happened(2, "stage", stage="confidential"),
    happened(2, "met", BO, stage="confidential", room="1.2.1", others=[CY]),
    happened(4, "stage", stage="group"),
    own(7, "review", CY, text="It was zyx0902q.", closeness={ADA: 1, BO: 2}),
    *standings(7, 1, 20),
    own(7, "guess", ADA, round=2, choice=BO),
    own(10, "ballot", ADA, round=2, choice=ADA),
    own(10, "closed_ballot", ADA, round=2, choice=BO),
    own(10, "ballot", BO, round=2, choice=BO),
    happened(10, "outcome", round=2, text="It is a draw.", choice="Ada Lind and Bo Vik"),
]
HEARD = {1: [BO], 2: [ADA], 3: [CY], 4: [BO]}
SPEAKERS = [ADA, BO, BO, CY, ADA, BO, CY, ADA, BO, CY]
SAID = [
    Uttered(turn=turn, speaker=name, text=f"zyx{turn:04d}q", heard_by=HEARD.get(turn))
    for turn, name in enumerate(SPEAKERS, start=1)
]
OUTCOME = StoryOutcome(
    winners=[ADA, BO], elected=[ADA, BO], open={ADA: 1, BO: 1}, closed={BO: 1}, appointed=BO
)  # fmt: skip


def made(**more: Any) -> StoryCourse:
    return course(story(), HAPPENED, SAID, rounds=1, outcome=OUTCOME, **more)


def test_the_whole_story_for_the_researcher() -> None:
    found = made()
    assert [(stage.stage, stage.turn, stage.rooms, stage.said) for stage in found.stages] == [
        ("private", 0, ["1.1.1"], []),
        ("confidential", 2, ["1.2.1"], []),
        ("group", 4, [], [5, 6, 7]),
        (SETTLEMENT, 7, [], [8, 9, 10]),
    ]
    private, meeting = found.rooms
    assert (private.members, private.public, private.said, private.open) == ([ADA, BO], False, [1, 2], False)
    assert (private.why, private.kept) == ("Bo has zyx0900q.", {ADA: "Bo said zyx0901q."})
    assert (meeting.members, meeting.public, meeting.said, meeting.open) == ([BO, CY], True, [3, 4], False)
    assert found.stages[2].reviews == {CY: "It was zyx0902q."}
    assert [(update.round, len(update.characters)) for update in found.standings] == [(0, 3), (1, 3)]
    ada = found.standings[1].characters[0]
    assert ([(one.text, one.score, one.favours) for one in ada.beliefs], ada.closeness) == (
        [("I should lead.", 61, ADA), ("Bo Vik should lead.", 10, BO)],
        {BO: 20, CY: 20},
    )
    assert [ballots.model_dump() for ballots in found.ballots] == [
        {"voter": ADA, "guess": BO, "open": ADA, "closed": BO},
        {"voter": BO, "guess": None, "open": BO, "closed": None},
    ]
    assert (found.outcome, found.round, found.stage, found.turn) == (OUTCOME, 2, SETTLEMENT, 10)


@pytest.mark.parametrize(
    ("turn", "number", "stage", "rooms", "open_rooms"),
    [
        (0, 1, "private", ["1.1.1"], ["1.1.1"]),
        (1, 1, "private", ["1.1.1"], ["1.1.1"]),
        (2, 1, "confidential", ["1.1.1", "1.2.1"], ["1.2.1"]),
        (5, 1, "group", ["1.1.1", "1.2.1"], []),
        (8, 2, SETTLEMENT, ["1.1.1", "1.2.1"], []),
    ],
)
def test_at_a_turn(turn: int, number: int, stage: str, rooms: list[str], open_rooms: list[str]) -> None:
    found = made(turn=turn)
    assert (found.round, found.stage, found.outcome) == (number, stage, None)
    assert [room.room for room in found.rooms] == rooms
    assert [room.room for room in found.rooms if room.open] == open_rooms
    said = [at for stage in found.stages for at in stage.said] + [at for room in found.rooms for at in room.said]
    assert sorted(said) == list(range(1, turn + 1))


def test_before_anything_has_happened() -> None:
    found = course(story(), [], [], rounds=1)
    assert (found.round, found.stage, found.stages, found.turn) == (0, AWAKENING, [], 0)
    moderated = course(story(), [], [Uttered(turn=1, speaker="Moderator", text="Begin.")], rounds=1)
    assert [(stage.stage, stage.said) for stage in moderated.stages] == [(AWAKENING, [1])]


def test_a_character_knows_its_own_rooms_and_no_word_more() -> None:
    bo, cy = made(seen_by=BO), made(seen_by=CY)
    assert [room.room for room in bo.rooms] == ["1.1.1", "1.2.1"]
    assert bo.rooms[0].why == "" and bo.rooms[0].kept == {}  # they are the host's
    (meeting,) = cy.rooms
    assert (meeting.room, meeting.heard, meeting.said) == ("1.2.1", True, [3, 4])
    ada = made(seen_by=ADA)
    assert [(room.room, room.heard, room.said) for room in ada.rooms] == [("1.1.1", True, [1, 2]), ("1.2.1", False, [])]
    for name, found in ((ADA, ada), (BO, bo), (CY, cy)):
        assert [one.name for update in found.standings for one in update.characters] == [name, name]
        assert {ballots.voter for ballots in found.ballots} <= {name}
        assert found.outcome is not None
        assert (found.outcome.closed, found.outcome.appointed) == ({}, "")
        assert (found.outcome.winners, found.outcome.open) == ([ADA, BO], {ADA: 1, BO: 1})
        assert [stage.turn for stage in found.stages] == [0, 2, 4, 7]


def test_no_thought_of_another_is_in_it() -> None:
    whose = {"zyx0900q": ADA, "zyx0901q": ADA, "zyx0902q": CY}
    assert set(WORD.findall(made().model_dump_json())) == set(whose)
    for name in WHO:
        found = set(WORD.findall(made(seen_by=name).model_dump_json()))
        assert found == {word for word, owner in whose.items() if owner == name}


def test_an_unknown_character_names_the_nearest() -> None:
    assert character("bo", story(), "as") == BO
    with pytest.raises(InputError, match="no character 'Boo'") as error:
        character("Boo", story(), "as")
    assert BO in error.value.remedy
