"""The page of a report: what it must not run, what it needs, and what it says of pruning and stories."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parts import Page
from pruned_lines import heavy, pruned
from run_folders import (
    HOSTILE,
    PEOPLE,
    mind,
    utterance,
    write_run,
)

from persimchat.reports.charts.drawing import picture, place_of, table
from persimchat.reports.charts.lines import Lane, Series, lanes
from persimchat.reports.charts.story import belief_lines, closeness, influence_courses, supports
from persimchat.reports.palette import initials, people
from persimchat.reports.report import report_html
from persimchat.reports.story_course import BeliefNow, CharacterNow, Update
from persimchat.runs.folder.reading import read_run

EVA, BO, LI = PEOPLE


def test_a_table_runs_no_formula() -> None:
    chart = lanes("T", [Lane("=1+1", "p0", [Series("=1+1", "", "p0", [(0, 1)])])])
    assert table(chart) == "turn,'=1+1\n0,1\n"


def test_a_picture_needs_nothing_else() -> None:
    drawn = picture(lanes("T", [Lane("Eva", "p0", [Series("Eva", "", "p0", [(0, 1)])])]))
    assert set(re.findall(r"var\((--[\w-]+)", drawn)) <= {*re.findall(r"(--[\w-]+):", drawn), "--at", "--span"}
    assert not re.findall(r"url\(|@import|href", drawn)
    assert "svg.chart { font-family: system-ui, sans-serif;" in drawn  # stronger than the page's `inherit`


@pytest.mark.parametrize(("turn", "place"), [(0, 0.05), (9, 0.95), (-3, 0.0), (40, 1.0)])
def test_the_place_of_a_turn_is_the_middle_of_its_column(turn: int, place: float) -> None:
    assert place_of(turn, 0, 9) == place


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Eva Horáková", "EH"), ("Bo", "B"), ("李雷", "李"), ("Anna Maria dos Santos", "AS"), ("*** !", "?"), ("", "?")],
)
def test_initials(name: str, expected: str) -> None:
    assert initials(name) == expected


@given(st.lists(st.text("ABab ", min_size=1, max_size=5), unique=True, max_size=20))
def test_everybody_has_initials_of_their_own(names: list[str]) -> None:
    found = people(names)
    assert len({person.initials for person in found.values()}) == len(names)
    assert [person.place for person in found.values()] == list(range(len(names)))


# The report on what utterances were worded without: insights, the line below an utterance, the pieces in the mind


CHECKS = [
    {"scores": [7, 8, 6], "comment": "It denies the hives.", "taken": False},
    {"scores": [2, 3, 2], "comment": "Nothing.", "taken": True},
    {"scores": [], "taken": False},
]


def html_of(out: Path, *given: tuple[int, str, dict[str, Any]], said: Any = None, turns: int = 4) -> str:
    own = {(turn, name): {"pruned": record} for turn, name, record in given}
    minds = [mind(turn, name, **own.get((turn, name), {})) for turn in range(turns) for name in PEOPLE]
    return report_html(read_run(write_run(out, said, minds)))


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    records = ((1, EVA, pruned(1, checks=CHECKS)), (2, BO, pruned(2, 1.0)), (3, LI, pruned(3, 0.01)))
    return html_of(tmp_path_factory.mktemp("runs"), *records)


def test_one_sentence_and_every_piece_in_the_speakers_mind(html: str) -> None:
    words = Page(html).words
    assert f"turn 1: {EVA} spoke without these 2 of 5 pieces of information" in words
    assert f"turn 2: {BO} spoke without these 5 of 5 pieces of information" in words
    assert f"turn 3: {LI} spoke with all of 5 pieces of information" in words
    assert "λ 0.6, embedding: 8 of 22 words, 60 % of the scores. The bars are the scores." in words
    gone = re.findall(r"<del[^>]*>([^<]*)</del>", html.partition('id="without1"')[2].partition("</details>")[0])
    assert gone == ["Description: A keeper of bees.", "Trait: patient"]
    assert html.count("<del ") == html.count("left out: ") == 2 + 5
    bars = re.findall(r'class="(gone|kept)" width="([\d.]+)"', html.partition('id="without1"')[2])[:5]
    assert bars == [("gone", "100.0"), ("gone", "20.0"), ("kept", "60.0"), ("kept", "10.0"), ("kept", "10.0")]


def test_the_checks_of_revision(html: str) -> None:
    words = Page(html).words
    assert "wording 1: 7, 8, 6 (7.0 on average), not said: It denies the hives." in words
    assert "wording 2: 2, 3, 2 (2.3 on average), said: Nothing." in words
    assert "wording 3: no usable answer, not said" in words
    assert words.count("Checks for contradictions") == 1


def test_the_insights_have_words_by_turn_and_by_block(html: str) -> None:
    card = html.partition('<section class="card" aria-labelledby="left-out-h">')[2].partition("</section>")[0]
    words = Page(card).words
    assert "λ 0.6, 1, 0.01, embedding: 2.3 of 5.0 pieces of information, 10.0 of 22.0 words a message" in words
    assert re.findall(r'<rect class="c-cell [^>]*><title>([^<]*)<', card) == [
        f"Message 1, {EVA}: 8 words",
        f"Message 2, {BO}: 22 words",
        f"Message 3, {LI}: 0 words",
    ]
    assert "Who I am 16 of 24 words" in words
    assert "Memories 10 of 30 words" in words
    assert "split the description" not in words


def test_below_the_utterance_stands_how_much(html: str) -> None:
    page = Page(html)
    assert page.words.count("without 2 of 5 pieces of information") == 1
    links = [link["href"] for link in page.all("a") if "without" in (link["href"] or "")]
    assert links == ["#without1", "#without2", "#without3"]
    assert {str(link)[1:] for link in links} <= set(page.ids)
    assert [key for key, number in Counter(page.ids).items() if number > 1] == []


def test_a_piece_that_holds_nearly_all_is_named(tmp_path: Path) -> None:
    words = Page(html_of(tmp_path, (1, EVA, heavy(1)))).words
    warning = "one item (description) holds 93 % of the score; split the description into traits."
    assert f"{EVA}: {warning}" in words
    assert words.count(warning) == 2


def test_without_pruning_there_is_nothing_of_it(tmp_path: Path) -> None:
    html = html_of(tmp_path)
    assert "pieces of information" not in html
    assert "left-out-h" not in html


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    pieces = [("memories", HOSTILE[:20], HOSTILE, HOSTILE[:80], 4, 0.5)]
    html = html_of(
        tmp_path, (1, EVA, pruned(1, 1.0, pieces, checks=[{"scores": [3], "comment": HOSTILE, "taken": True}]))
    )
    page = Page(html)
    assert page.all("script") == page.all("img") == []
    assert "\x1b" not in html
    assert "alert(1)" in page.words


def test_long_runs_list_the_last_utterances_only(tmp_path: Path) -> None:
    said = [utterance(turn, EVA) for turn in range(1, 31)]
    html = html_of(tmp_path, *((turn, EVA, pruned(turn)) for turn in range(1, 31)), said=said, turns=31)
    assert [n for n in range(1, 31) if f'id="without{n}"' in html] == list(range(7, 31))
    assert html.count('href="#without') == 24
    assert Page(html).words.count("without 2 of 5 pieces of information") == 30


# The figures of a story's charts, from standings made up


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
