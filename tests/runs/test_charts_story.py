"""The figures of a story's charts, from happenings made up."""

from __future__ import annotations

from typing import Any

from persimchat.runs.events import Happened
from persimchat.runs.reports.charts_story import (
    belief_courses,
    closeness,
    influence_courses,
    meetings,
    supports,
    updates,
    votes,
)

NAMES = ["Ann", "Bo", "Cy"]


def happened(do: str, round_: int, speaker: str = "", turn: int = 0, **more: Any) -> Happened:
    return Happened(do=do, round=round_, speaker=speaker, turn=turn, **more)


def stands(
    round_: int, who: str, near: dict[str, int], beliefs: list[int], behind: str = "", weight: int = 0
) -> Happened:
    more = {"closeness": near, "beliefs": beliefs, "supports": behind, "influence": weight}
    return happened("standing", round_, who, 12 * round_, heard_by=[], **more)


STORY = [
    stands(0, "Ann", {"Bo": 10, "Cy": 4}, [60, 10], weight=30),
    stands(0, "Bo", {"Ann": 12, "Cy": 9}, []),
    stands(0, "Cy", {"Ann": 20, "Bo": 0}, [], "Ann"),
    happened("met", 1, "Ann", stage="private", room="1.1.1", others=["Bo"], heard_by=["Bo"]),
    happened("met", 1, "Ann", 2, stage="confidential", room="1.2.1", others=["Cy"]),
    happened("review", 1, "Ann", closeness={"Bo": 5, "Cy": 0}),
    stands(1, "Ann", {"Bo": 15, "Cy": 4}, [51, 19], weight=30),
    stands(1, "Bo", {"Ann": 2, "Cy": 9}, [], weight=20),
]


def test_closeness_is_a_square_with_changes_since_the_first_impression() -> None:
    rows = closeness(updates(STORY), NAMES)
    assert [[cell.value for cell in row] for row in rows] == [[None, 15, 4], [2, None, 9], [None, None, None]]
    assert [[cell.change for cell in row] for row in rows] == [[None, 5, 0], [-10, None, 0], [None, None, None]]
    assert [cell.share for cell in rows[0]] == [0, 0.15, 0.04]
    assert [[cell.value for cell in row] for row in closeness(updates(STORY), NAMES, 0)][2] == [20, 0, None]
    assert closeness([], NAMES) == []


def test_courses_go_over_rounds() -> None:
    found = updates(STORY)
    assert [(update.round, update.turn) for update in found] == [(0, 0), (1, 12)]
    assert belief_courses(found, "Ann") == [[(0, 60), (1, 51)], [(0, 10), (1, 19)]]
    assert belief_courses(found, "Bo") == []
    assert influence_courses(found, NAMES) == {"Ann": [(0, 30), (1, 30)], "Bo": [(0, 0), (1, 20)]}
    assert supports(found, NAMES) == {"Ann": ["", ""], "Bo": ["", ""], "Cy": ["Ann", None]}


def test_meetings_tell_who_knows_of_them() -> None:
    found = meetings(STORY)
    assert [(one.host, one.others, one.public, one.turn) for one in found] == [
        ("Ann", ["Bo"], False, 0),
        ("Ann", ["Cy"], True, 2),
    ]


def test_votes_are_gathered_by_voter() -> None:
    found = votes(
        [
            happened("guess", 2, "Ann", choice="Bo", text="He is loud."),
            happened("ballot", 2, "Bo", choice="Bo"),
            happened("ballot", 2, "Ann", choice="Ann", text="It is mine."),
            happened("closed_ballot", 2, "Ann", choice="Bo"),
        ]
    )
    assert [(one.voter, one.guess, one.openly, one.closed) for one in found] == [
        ("Ann", "Bo", "Ann", "Bo"),
        ("Bo", "", "Bo", ""),
    ]
    assert found[0].why == {"guess": "He is loud.", "ballot": "It is mine.", "closed_ballot": ""}
