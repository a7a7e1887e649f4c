"""The figures of a story's charts, from standings made up."""

from __future__ import annotations

from persimchat.runs.reports.charts.story import belief_lines, closeness, influence_courses, supports
from persimchat.runs.reports.story_course import BeliefNow, CharacterNow, Update

NAMES = ["Ann", "Bo", "Cy"]


def stands(who: str, near: dict[str, int], beliefs: list[int], behind: str = "", weight: int = 0) -> CharacterNow:
    texts = ("Sell.", "Keep.")
    held = [BeliefNow.model_validate({"text": texts[n], "score": score, "for": ""}) for n, score in enumerate(beliefs)]
    return CharacterNow(name=who, beliefs=held, closeness=near, supports=behind, influence=weight)


STORY = [
    Update(
        round=0,
        turn=0,
        characters=[
            stands("Ann", {"Bo": 10, "Cy": 4}, [60, 10], weight=30),
            stands("Bo", {"Ann": 12, "Cy": 9}, []),
            stands("Cy", {"Ann": 20, "Bo": 0}, [], "Ann"),
        ],
    ),
    Update(
        round=1,
        turn=12,
        characters=[
            stands("Ann", {"Bo": 15, "Cy": 4}, [51, 19], weight=30),
            stands("Bo", {"Ann": 2, "Cy": 9}, [], weight=20),
        ],
    ),
]


def test_closeness_is_a_square_with_changes_since_the_first_impression() -> None:
    rows = closeness(STORY, NAMES)
    assert [[cell.value for cell in row] for row in rows] == [[None, 15, 4], [2, None, 9], [None, None, None]]
    assert [[cell.change for cell in row] for row in rows] == [[None, 5, 0], [-10, None, 0], [None, None, None]]
    assert [cell.share for cell in rows[0]] == [0, 0.15, 0.04]
    assert closeness([], NAMES) == []


def test_courses_go_over_rounds() -> None:
    assert belief_lines(STORY, "Ann") == {"Sell.": [(0, 60), (1, 51)], "Keep.": [(0, 10), (1, 19)]}
    assert belief_lines(STORY, "Bo") == belief_lines(STORY, "Dee") == {}
    assert influence_courses(STORY, NAMES) == {"Ann": [(0, 30), (1, 30)], "Bo": [(0, 0), (1, 20)]}
    assert supports(STORY, NAMES) == {"Ann": ["", ""], "Bo": ["", ""], "Cy": ["Ann", None]}
