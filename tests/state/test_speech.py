"""Whom an utterance addresses, and names in front of it."""

from __future__ import annotations

import pytest

from persimchat.state.speech import addressees, without_own_name

PRESENT = ["Eva Horáková", "Lukáš Jelínek", "李雷", "Anna Bell", "Anna Novak", "Łukasz Żórawski"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What do you think, Lukáš?", ["Lukáš Jelínek"]),
        ("LUKAS, you first!", ["Lukáš Jelínek"]),
        ("Lukáše neznám", []),
        ("Eva, Lukáš, come here", ["Eva Horáková", "Lukáš Jelínek"]),
        ("Lukasz, zaczekaj", ["Łukasz Żórawski"]),
        ("李雷你好", ["李雷"]),
        ("Anna, please", []),
        ("Anna Novak, please", ["Anna Novak"]),
        ("Evacuate!", []),
        ("Nobody in particular", []),
    ],
)
def test_addressees(text: str, expected: list[str]) -> None:
    assert addressees(text, "Somebody Else", PRESENT) == expected


def test_speakers_do_not_address_themselves() -> None:
    assert addressees("I, Eva, say so", "Eva Horáková", PRESENT) == []


@pytest.mark.parametrize(
    "text",
    ["Eva: Hello.", "Eva Horáková: Hello.", "**Eva Horáková:** Hello.", "**Eva**: Hello.", '"Hello."', "[Eva]: Hello."],
)
def test_the_own_name_in_front_is_removed(text: str) -> None:
    assert without_own_name(text, "Eva Horáková") == "Hello."


@pytest.mark.parametrize("text", ["Evaluation: fine.", 'He said "no" and "yes"', "Eva is my name.", "Bob: Hello."])
def test_other_words_stay(text: str) -> None:
    assert without_own_name(text, "Eva Horáková") == text


def test_a_name_alone_is_still_an_utterance() -> None:
    assert without_own_name("Eva:", "Eva Horáková") == "Eva:"
