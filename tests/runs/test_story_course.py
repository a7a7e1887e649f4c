"""The course of a story, from records made by hand: what was when, and what each character knows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from story_records import ADA, BO, CY, HAPPENED, OUTCOME, SAID, WHO, story, write_story
from story_talks import WORD

from persimchat.reports.story_course import AWAKENING, SETTLEMENT, StoryCourse, character, course, recorded_course
from persimchat.runs.events import Uttered
from persimchat.runs.folder.reading import read_run


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


def test_an_unknown_character_names_the_nearest(refused: Refused) -> None:
    assert character("bo", story(), "as") == BO
    refused(lambda: character("Boo", story(), "as"), "no character 'Boo'", BO)


def test_from_a_folder(tmp_path: Path) -> None:
    record = read_run(write_story(tmp_path / "story"))
    assert recorded_course(record) == made()
    assert recorded_course(record, seen_by="Cy", turn=5) == made(seen_by=CY, turn=5)
