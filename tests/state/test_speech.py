"""Whom an utterance addresses, and names in front of it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.state.minds import speech as repetition
from persimchat.state.minds.addressing import addressees
from persimchat.state.minds.speech import (
    CORRECTIONS,
    LEAST_WORDS,
    SHORT,
    OwnWords,
    nearness,
    overlaps,
    own_words,
    size,
    without_own_name,
    words,
)

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


@pytest.mark.proof
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
    begun = time.process_time()
    own(text)
    assert time.process_time() - begun < 10


def test_a_name_without_letters_is_nobody_s_address():
    assert addressees("Well, ¨ and so on.", "Eva", ["Eva", "¨", "Bo"]) == []


# How much of an utterance was said before


PAIRS: dict[str, list[tuple[str, str]]] = yaml.safe_load(
    (Path(__file__).parent / "repetition_pairs.yaml").read_text(encoding="utf-8")
)
OVERLAP, SIMILARITY = 0.45, 0.9
"""The limits that were chosen with the pairs; `benchmarks/repetition.py` has the figures."""

alphabets = st.sampled_from(
    ["abcdefgh", "áčďěž", "李雷我你他们觉得", "あいうえお", "กขคงจ", "अआइई", "אבגד", "😀👍🏽❤️", "?!…–."]
)
texts = st.one_of(
    st.text(max_size=80),
    alphabets.flatmap(lambda a: st.lists(st.text(a, min_size=1, max_size=6), min_size=1, max_size=30).map(" ".join)),
)


@given(texts, st.lists(texts, max_size=4))
def test_overlap_is_a_share(text: str, said: list[str]) -> None:
    shares = overlaps(text, said)
    assert len(shares) == len(said)
    assert all(0.0 <= share <= 1.0 for share in shares)


@given(texts)
def test_what_is_long_enough_repeats_itself_whole(text: str) -> None:
    expected = 1.0 if len(words(text)) >= 4 else overlaps(text, [text])[0]
    assert overlaps(text, [text]) == [expected]
    near = nearness(text, [text], [0.0], overlap=OVERLAP, similarity=SIMILARITY)[0]
    assert (near >= 1) == (size(text) >= LEAST_WORDS and len(words(text)) >= 3)


@given(
    st.lists(st.text("abcde", min_size=1, max_size=5), max_size=30).map(" ".join),
    st.lists(st.text("vwxyz", min_size=1, max_size=5), max_size=30).map(" ".join),
)
def test_texts_without_a_common_word_share_nothing(text: str, earlier: str) -> None:
    assert overlaps(text, [earlier]) == [0.0]


@given(texts, texts)
def test_case_marks_and_punctuation_make_no_difference(text: str, earlier: str) -> None:
    plain = " ".join(words(text)) or text
    assert words(plain) == words(text)
    assert overlaps(plain, [earlier]) == overlaps(text, [earlier])


@given(texts, texts, st.text(max_size=40))
def test_more_said_before_is_never_less_repetition(text: str, earlier: str, more: str) -> None:
    assume(any(character.isalnum() for character in earlier))  # marks are compared only where there is nothing else
    assert overlaps(text, [f"{earlier}\n{more}"])[0] >= overlaps(text, [earlier])[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't – DON’T!", ["dont", "dont"]),
        ("Žluťoučký kůň", ["zlutoucky", "kun"]),
        ("李雷你好 ok", ["李", "雷", "你", "好", "ok"]),
        ("हिन्दी में", ["हिनदी", "में"]),
        ("👍 ok 👍", ["ok"]),
        ("𝕊𝕒𝕪 ＳＡＹ", ["say", "say"]),
        ("?!", ["?", "!"]),
        ("", []),
        ("\u200fשלום, עולם!\u200e", ["שלום", "עולם"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_the_share_is_that_of_the_new_text() -> None:
    earlier = "one two three four five six seven eight nine ten eleven twelve"
    assert overlaps("one two three four five six other words are here now", [earlier]) == [3 / 8]
    assert overlaps(earlier, ["one two three four five six other words are here now"]) == [3 / 9]


def test_short_texts_are_compared_in_runs_of_three_and_signs_too() -> None:
    assert overlaps("one two three four", ["zero one two three"]) == [0.5]
    assert overlaps("我觉得我们应该问邻居", ["我觉得我们不该问邻居"]) == [5 / 8]
    long = "我觉得我们应该先问问邻居们的意见再做决定"
    assert overlaps(long, [long[:10]]) == [8 / 18]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("one two", 2.0), ("我觉得", 1.5), ("👍👍", 1.0), ("สวัสดี", 3.0), ("a 1 é", 3.0)],
)
def test_size_in_words(text: str, expected: float) -> None:
    assert size(text) == expected


def near(earlier: str, text: str, **limits: float) -> float:
    vectors = np.array(LexicalEmbeddings().embed_documents([earlier, text]))
    bounds = {"overlap": OVERLAP, "similarity": SIMILARITY, **limits}
    return nearness(text, [earlier], [float(vectors[0] @ vectors[1])], **bounds)[0]


@pytest.mark.parametrize(("earlier", "text"), PAIRS["verbatim"] + PAIRS["near_verbatim"])
def test_the_same_in_nearly_the_same_words_is_caught(earlier: str, text: str) -> None:
    assert near(earlier, text) >= 1


@pytest.mark.parametrize(("earlier", "text"), PAIRS["short"])
def test_short_words_are_nobodys_own(earlier: str, text: str) -> None:
    assert near(earlier, text) == 0


def test_another_point_on_the_same_topic_may_be_made() -> None:
    """One of ten is taken for a repetition all the same: its first half, nine words, is word for word the same."""
    caught = [text for earlier, text in PAIRS["other_point"] if near(earlier, text) >= 1]
    assert caught == ["I agree with Ben that the roof comes first. The windows can wait until spring."]


def test_paraphrases_are_left_to_embeddings_that_know_meanings() -> None:
    assert [text for earlier, text in PAIRS["paraphrase"] if near(earlier, text) >= 1] == []
    earlier, text = PAIRS["paraphrase"][0]
    assert nearness(text, [earlier], [0.93], overlap=OVERLAP, similarity=SIMILARITY)[0] >= 1


def test_there_are_fifty_pairs() -> None:
    assert {group: len(pairs) for group, pairs in PAIRS.items()} == dict.fromkeys(
        ("verbatim", "near_verbatim", "paraphrase", "other_point", "short"), 10
    )


def test_a_short_question_with_another_word_is_another_question() -> None:
    asked = "What do you think about the price, Eva?"
    assert LEAST_WORDS <= size(asked) < SHORT
    assert nearness(asked, [asked], [], overlap=OVERLAP, similarity=SIMILARITY) == [1.0]
    other = nearness("What do you think about the colour, Eva?", [asked], [], overlap=OVERLAP, similarity=SIMILARITY)
    assert 0 < other[0] < 1


def test_each_measure_can_tell_alone() -> None:
    said, new = ["one two three four five six seven eight nine ten"], "a b c d e f g h i j"
    assert nearness(new, said, [0.95], overlap=0.5, similarity=0.9) == [pytest.approx(0.95 / 0.9)]
    assert nearness(said[0], said, [-1.0], overlap=0.5, similarity=0.9) == [2.0]
    with pytest.raises(ValueError, match="shorter"):
        nearness(new, said, [], overlap=0.5, similarity=0.9)


@pytest.mark.parametrize("text", ["word " * 25_000, "w" * 100_000, "李" * 40_000, "?" * 100_000, "😀 " * 30_000])
def test_very_long_texts(text: str) -> None:
    assert overlaps(text, [text, "something else"]) == [1.0 if len(words(text)) > 2 else 0.0, 0.0]


def test_every_correction_is_explained() -> None:
    source = Path(repetition.__file__).read_text(encoding="utf-8")
    constants: dict[str, Any] = {k: v for k, v in vars(repetition).items() if k.isupper() and v in CORRECTIONS}
    assert list(constants.values()) == list(CORRECTIONS)
    for name, value in constants.items():
        assert f'{name}: Final = "{value}"\n"""' in source
