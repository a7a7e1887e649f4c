"""Whom words address: titles, surnames in front, first names that are words, other forms of names."""

from __future__ import annotations

import pytest

from persimchat.graph.situation import situation_of
from persimchat.nodes.onlookers import selection_schema
from persimchat.state.conversation import new_utterance
from persimchat.state.minds.addressing import addressees, first_name
from persimchat.state.minds.speech import without_own_name
from persimchat.state.plain_text import matching
from persimchat.state.settings import Settings

WILL, HOPE, SO, MY = WORDS = ("Will Turner", "Hope Adeyemi", "So-yeon Park", "My Nguyễn")
EVA, MILAN = ("Dr. Eva Horáková", "Novák, Milan")
PRESENT = [*WORDS, EVA, MILAN]


MAY = "May Lindqvist"


@pytest.mark.parametrize("text", ["In May, we paid.", "Since last May it works.", "It was May 5.", "We may go in May."])
def test_a_month_is_no_name(text: str) -> None:
    assert addressees(text, "Somebody Else", [MAY, EVA]) == []


@pytest.mark.parametrize("text", ["I agree with May.", "May, did you pay in May?", "What do you say, May?"])
def test_a_name_is_no_month(text: str) -> None:
    assert addressees(text, "Somebody Else", [MAY, EVA]) == [MAY]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It will work, I hope, and so will my plan.", []),
        ("Will you come? So far my answer is yes. Hope is not enough.", []),
        ("WE WILL WIN", []),
        ("So, what do we do?", []),
        ("I would like it that way, if you will, and so on.", []),
        ("Will, what do you say?", [WILL]),
        ("will, what do you say?", [WILL]),
        ("What do you say, hope?", [HOPE]),
        ("Hope: I do not think so.", [HOPE]),
        ("I agree with Will and My.", [WILL, MY]),
        ("That was Hope's idea.", [HOPE]),
        ("I asked Dr. Hope.", [HOPE]),
        ("What does will turner say?", [WILL]),
        ("What does So-yeon say?", [SO]),
        ("Eva, and what about Milan?", [EVA, MILAN]),
        ("eva co ty na to", [EVA]),
        ("Milan Novák is right.", [MILAN]),
        ("Ask Mr. Novák or Dr Horáková.", [EVA, MILAN]),
    ],
)
def test_a_first_name_counts_where_it_stands_as_a_name(text: str, expected: list[str]) -> None:
    assert addressees(text, "Somebody Else", PRESENT) == expected


@pytest.mark.parametrize(
    ("name", "first"),
    [
        (EVA, "Eva"),
        (MILAN, "Milan"),
        ("Ing. Petr Malý, Ph.D.", "Petr"),
        ("Novák, Ing. Milan", "Milan"),
        ("Martin Luther King, Jr.", "Martin"),
        ("Anna, the baker", "Anna"),
        ("Old Tom", "Tom"),
        ("Mrs Dalloway", "Dalloway"),
        ("J. R. R. Tolkien", "Tolkien"),
        ("So-yeon Park", "So-yeon"),
        ("李雷", "李雷"),
        ("Father", "Father"),
    ],
)
def test_titles_and_surnames_in_front_are_read(name: str, first: str) -> None:
    assert first_name(name) == first


def test_names_are_found_and_removed_as_they_are_spoken() -> None:
    assert matching("Milan Novák", PRESENT) == matching("novak", PRESENT) == [MILAN]
    assert without_own_name("Eva: Hello.", EVA) == without_own_name("Milan: Hello.", MILAN) == "Hello."


def test_other_forms_of_a_name_are_its_own() -> None:
    called = {EVA: ["Evo", "Evička"], MILAN: ["Milane"]}
    said = "Evo, co ty na to? A ty, Milane?"
    assert addressees(said, WILL, PRESENT) == []
    assert new_utterance(1, WILL, said, PRESENT, called=called)["addressees"] == [
        EVA,
        MILAN,
    ]
    shared = {EVA: ["Evo"], HOPE: ["Evo"]}
    assert addressees("Evo, co ty na to?", WILL, PRESENT, shared) == []


def test_a_situation_tells_the_other_forms() -> None:
    state = {"simulation": "s", "topic": "t", "turn": 0, "rules": [], "relationships": [], "messages": []}
    state["agents"] = {EVA: {"name": EVA, "persona": {"called": ["Evo"]}}, WILL: {"name": WILL, "persona": {}}}
    assert situation_of(state, EVA, Settings())["called"] == {EVA: ["Evo"]}


@pytest.mark.parametrize(
    "answer",
    ["Role: Will", "1. Will", "2) Will Turner", "@Will", "The next speaker is Will.", "**Speaker:** Will", "Will"]
    + ["Will should speak next.", "will", "[Role] Will"],
)
def test_an_answer_that_names_one_candidate_is_that_one(answer: str) -> None:
    assert selection_schema((WILL, HOPE)).model_validate({"reasoning": "-", "speaker": answer}).speaker == WILL


@pytest.mark.parametrize("answer", ["Will or Hope", "nobody", "It will be decided later."])
def test_an_answer_that_names_no_one_or_several_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match="speaker"):
        selection_schema((WILL, HOPE)).model_validate({"reasoning": "-", "speaker": answer})
