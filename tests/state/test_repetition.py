"""How much of an utterance was said before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.state import repetition
from persimchat.state.repetition import CORRECTIONS, LEAST_WORDS, SHORT, nearness, overlaps, size, words

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
