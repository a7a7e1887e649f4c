"""Whom an utterance addresses, and names in front of it."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.speech import OwnWords, addressees, own_words, without_own_name

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
    ["Eva: Hello.", "Eva Horáková: Hello.", "**Eva Horáková:** Hello.", "**Eva**: Hello.", '"Hello."', "[Eva]: Hello."]
    + ["eva horakova: Hello.", "Eva: Eva: Hello.", '"Eva: Hello."', 'Eva: "Hello."', "Eva:\nHello.", "- Eva: Hello."]
    + ["Eva (smiling): Hello.", "**[Eva] (she smiles)**: Hello.", "Horáková: Hello.", "*Eva:* Hello.", "Eva：Hello."],
)
def test_the_own_name_in_front_is_removed(text: str) -> None:
    assert without_own_name(text, "Eva Horáková") == "Hello."


@pytest.mark.parametrize(
    "text",
    ["Evaluation: fine.", 'He said "no" and "yes"', "Eva is my name.", "Bob: Hello.", "“No” is not “maybe”", '""']
    + ["Eva and Bob: hello.", "I, Eva: a witness.", "*waves* Hello.", "At 5:30, then.", "…", "👋", ":", "Hello.\nBob."],
)
def test_other_words_stay(text: str) -> None:
    assert without_own_name(text, "Eva Horáková") == text


def test_a_name_alone_is_still_an_utterance() -> None:
    assert without_own_name("Eva:", "Eva Horáková") == "Eva:"


NAMES = ["Eva Horáková", "Ben Carter", "Lukáš Jelínek", "李雷", "Anna Bell"]
LIST = "So, who does what:\nBen: the chairs\nLukáš: the lamps\nEva: the rest."


def own(text: str, last: str = "") -> OwnWords:
    return own_words(text, "Eva Horáková", NAMES, last)


@pytest.mark.parametrize(
    "text",
    [
        "I think so.\nBen: Me too!",
        "I think so.\n\n**Ben Carter:** Me too!\n\n**Eva:** Good.\n",
        "I think so.\n- ben carter: Me too!\n- Eva: Good.",
        "I think so.\n[Ben] (nods): Me too!",
        "I think so.\nCARTER: Me too!",
        "I think so.\n李雷：我也是。",
        "I think so.\n**Lukas**\u200f: Me too!\nAnd so on.",
        'I think so.\n"Ben: Me too!"',
        "Ben: What now?\nEva: I think so.\nBen: Me too!",
        "**Ben:**\nWhat now?\n\n**Eva:**\nI think so.",
        "Here is how it goes on:\n\nBen: What now?\n\nEva: I think so.",
    ],
)
def test_what_others_are_made_to_say_is_cut_off(text: str) -> None:
    found = own(text)
    assert (found.text, found.others) == ("I think so.", True)


@pytest.mark.parametrize(
    "text",
    [
        "Ben: Me too!",
        "**Ben Carter:** Me too!\n\nAnd I would say so again.",
        "Ben: Me too!\nLukáš: And me.",
        "Ben: Eva, I don't think so.",
        "👋\nBen: Me too!",
        "Here is what comes next:\nBen: Me too!",
        "Eva:\nBen: Me too!",
    ],
)
def test_words_for_others_only_leave_nothing(text: str) -> None:
    assert own(text, last="Lukáš Jelínek") == OwnWords("", text.startswith("Eva"), True)


@pytest.mark.parametrize(
    "text",
    [
        "Ben, I think so.",
        "As Ben said: never again.",
        "Ben said: never again.",
        "Ben and Lukáš: thank you!",
        "Everybody: thank you!",
        "Ben Adams: a friend of mine.",
        "I agree. Ben: what about you?",
        "(Ben nods.)\nI think so.",
        "*Ben laughs*",
        "Three things.\nFirst: Ben.\nThen: Lukáš.",
        LIST,
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert own(text) == OwnWords(text, False, False)


def test_a_list_that_names_its_maker_too_stays_whole_where_a_script_does_not() -> None:
    assert own(f"Eva: {LIST}") == OwnWords(LIST, True, False)
    script = LIST.replace("chairs", "chairs, please!").replace("lamps", "lamps!")
    assert own(script) == OwnWords("the rest.", True, True)


def test_one_name_in_front_answers_whoever_has_just_spoken() -> None:
    answer = "Ben: I don't think so."
    assert own(answer, last="Ben Carter") == OwnWords(answer, False, False)
    assert own(answer, last="Anna Bell").text == own(answer).text == ""
    assert own("Ben: Eva, I don't think so.", last="Ben Carter").text == ""
    assert own(f"{answer}\nLukáš: Me neither.", last="Ben Carter").text == ""


@pytest.mark.parametrize(
    "text", ["Eva: I think so.", "Sure! Here is what Eva says:\n\nEva: I think so.", "I think so.\nEva: And more."]
)
def test_the_own_name_is_told(text: str) -> None:
    found = own(text)
    assert found.text in ("I think so.", "I think so.\nAnd more.")
    assert (found.own_name, found.others) == (True, False)


def test_a_name_alone_is_no_words() -> None:
    assert own("Eva:") == own("**Eva Horáková:**") == OwnWords("", True, False)


def test_a_shared_first_name_is_the_speakers_own() -> None:
    assert own_words("Anna: Hello.", "Anna Bell", ["Anna Bell", "Anna Novak"]) == OwnWords("Hello.", True, False)
    assert own_words("Anna: Hello.", "Anna Bell", ["Anna Bell", "Anna Novak"], "Anna Novak").text == "Hello."
    script = own_words("Hello.\nAnna: Well?\nNovak: Well.", "Anna Bell", ["Anna Bell", "Anna Novak"])
    assert script == OwnWords("Hello.\nWell?", True, True)
    assert own_words("Novak: Hello.", "Anna Bell", ["Anna Bell", "Anna Novak"]) == OwnWords("", False, True)


pieces = st.sampled_from(
    [
        "Eva",
        "Ben Carter",
        "李雷",
        "Eva Horáková",
        ":",
        "：",
        "\n",
        "\n\n",
        " ",
        "**",
        '"',
        "„",
        "(nods)",
        "[",
        "]",
        "- ",
    ]
    + ["Hello.", "Well", "👋", "\u200f", "שלום", "_", "…", "你好。"]
)
answers = st.lists(pieces, max_size=14).map("".join)


@given(answers)
def test_removing_the_own_name_twice_changes_nothing(text: str) -> None:
    once = without_own_name(text, "Eva Horáková")
    assert without_own_name(once, "Eva Horáková") == once
    assert bool(once) == bool(text.strip())


@given(answers, st.sampled_from(["", *NAMES]))
def test_own_words_are_words_of_the_answer(text: str, last: str) -> None:
    found = own(text, last)
    assert all(line in text for line in found.text.splitlines())
    if found.others:
        assert not re.search(r"^\W*(?:Ben Carter|李雷)\s*[:：]", found.text, re.MULTILINE)
    if found.text == text.strip():
        assert not found.others


@given(st.text(max_size=200), st.sampled_from(["", *NAMES]))
def test_any_text_without_labels_stays(text: str, last: str) -> None:
    if ":" not in text and "：" not in text and not {*text} & {*'"“”„«»'}:
        assert own(text, last) == OwnWords(text.strip(), False, False)


@pytest.mark.parametrize(
    "text",
    [
        "w" * 100_000,
        "Eva: " * 4_000,
        "Ben: " * 20_000,
        "Ben\n" * 25_000,
        "Ben: x\n" * 15_000,
        "Hm.\nBen: x\n" * 9_000,
        "(" * 100_000,
        "x.(" * 35 + ":\n",
    ],
)
def test_long_answers_take_no_long_time(text: str) -> None:
    begun = time.perf_counter()
    own(text)
    assert time.perf_counter() - begun < 5


def test_a_name_without_letters_is_nobody_s_address():
    assert addressees("Well, ¨ and so on.", "Eva", ["Eva", "¨", "Bo"]) == []
