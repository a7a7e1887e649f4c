"""The evaluators' arithmetic, on conversations that are written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.evaluation import (
    CONVERSATION_EVALUATORS,
    UTTERANCE_EVALUATORS,
    addressee_named,
    balance,
    consensus,
    correct,
    goodbye,
    greatest_share,
    length_error,
    repetition,
    words_for_others,
)
from persimchat.evaluation.conversations import shares
from persimchat.evaluation.utterances import length_error_of, repetition_of

ADA, BO, EVA = "Ada Lind", "Bo Říha", "Eva Horáková"
PEOPLE = [ADA, BO, EVA]


def outputs(*said: tuple[str, str], conclusion: Any = None, **settings: Any) -> dict[str, Any]:
    rows = [
        {"turn": turn, "speaker": speaker, "text": text, "addressees": [], "corrections": []}
        for turn, (speaker, text) in enumerate(said, 1)
    ]
    base = {"utterance_words": 10, "answer_format": "free", "choices": []}
    return {"utterances": rows, "participants": PEOPLE, "settings": {**base, **settings}, "conclusion": conclusion}


def concluded(answer: str, *, agreed: bool = True) -> dict[str, Any]:
    return {"answer": answer, "consensus": agreed, "reasoning": "", "supporters": [], "by": "judge"}


WORDS = "We could close the square to cars on Sunday mornings only"


def test_repetition_is_the_greatest_share_that_was_said_before() -> None:
    talk = outputs((ADA, WORDS), (BO, "I would rather ask the shopkeepers what they think"), (EVA, WORDS))
    assert repetition_of(talk) == [0.0, 0.0, 1.0]
    assert repetition(talk) == {"key": "repetition", "score": pytest.approx(1 / 3), "comment": "utterance 3 has 1.00"}
    assert repetition(outputs((ADA, "Yes."), (BO, "Yes.")))["score"] == 0


def test_words_for_others() -> None:
    talk = outputs((ADA, "I agree.\nBo: So do I, of course."), (BO, "Fine by me."))
    assert words_for_others(talk)["score"] == 0.5
    talk["utterances"][1]["corrections"] = ["others_words_removed"]
    assert words_for_others(talk)["score"] == 1


def test_length_against_the_target() -> None:
    talk = outputs((ADA, "one two three four five"), (BO, " ".join(["word"] * 20)), utterance_words=10)
    assert length_error_of(talk) == [0.5, 1.0]
    assert length_error(talk)["comment"] == "utterance 2 has 1.00"


def test_an_addressee_is_named() -> None:
    talk = outputs((ADA, "Bo, what now?"), (BO, "Let us see."))
    talk["utterances"][0]["addressees"] = [BO]
    assert addressee_named(talk)["score"] == 0.5


def test_consensus_and_the_right_answer() -> None:
    debate = outputs((ADA, "Yes"), conclusion=concluded("Yes."), answer_format="yesno")
    assert consensus(debate)["score"] == 1
    assert correct(debate, {"answer": "yes"})["score"] == 1
    assert correct(debate, {"answer": "no"})["score"] == 0
    assert correct(debate, {})["score"] is None
    assert correct(outputs((ADA, "Yes")), {"answer": "yes"})["score"] is None
    assert consensus(outputs((ADA, "Yes")))["score"] is None
    number = outputs((ADA, "12"), conclusion=concluded("1,200", agreed=False), answer_format="number")
    assert (correct(number, {"answer": 1200})["score"], consensus(number)["score"]) == (1, 0)
    vague = outputs((ADA, "?"), conclusion=concluded("It depends"), answer_format="yesno")
    assert correct(vague, {"answer": "yes"})["score"] == 0


def test_a_reference_that_is_no_answer_is_refused(refused: Callable[..., str]) -> None:
    debate = outputs((ADA, "Yes"), conclusion=concluded("Yes."), answer_format="yesno")
    refused(lambda: correct(debate, {"answer": "maybe"}), "'maybe'", "answer", "answer_format=yesno")


def test_shares_and_balance() -> None:
    alike = outputs((ADA, "a"), (BO, "b"), (EVA, "c"))
    assert balance(alike)["score"] == pytest.approx(1)
    alone = outputs((ADA, "a"), (ADA, "b"))
    assert balance(alone)["score"] == 0
    assert greatest_share(alone) == {"key": "greatest_share", "score": 1.0, "comment": ADA}
    assert shares(outputs((ADA, "a"), (ADA, "b"), (BO, "c"), (EVA, "d"))) == {ADA: 0.5, BO: 0.25, EVA: 0.25}


def test_goodbye() -> None:
    assert goodbye(outputs((ADA, "Good night!"), (BO, "a"), (EVA, "b")))["score"] == 1
    assert goodbye(outputs((ADA, "Bye!"), (BO, "a"), (EVA, "b"), (ADA, "c")))["score"] == 0
    assert goodbye(outputs((ADA, "Stand by me"), (BO, "the byes"), (EVA, "b")))["score"] == 0
    assert goodbye(outputs((EVA, "Na shledanou!")), farewells=["na shledanou"])["comment"] == EVA


_SAID = st.lists(st.tuples(st.sampled_from(PEOPLE), st.text(max_size=60)), max_size=12)


@given(_SAID)
def test_scores_are_in_range_for_whatever_was_said(said: list[tuple[str, str]]) -> None:
    talk = outputs(*said, conclusion=concluded("tea", agreed=False))
    for evaluator in (*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS):
        given_ = {"reference_outputs": {"answer": "tea"}} if evaluator is correct else {}
        found = evaluator(talk, **given_)
        assert found["key"] == evaluator.__name__
        assert found["comment"]
        if not said and evaluator not in (consensus, correct):
            assert found["score"] is None
        else:
            assert found["score"] >= 0
            assert evaluator is length_error or found["score"] <= 1


@given(_SAID.filter(bool), st.permutations(PEOPLE))
def test_balance_does_not_heed_the_order(said: list[tuple[str, str]], order: list[str]) -> None:
    talk = outputs(*said)
    assert balance(talk)["score"] == pytest.approx(balance({**talk, "participants": order})["score"])
    assert sum(shares(talk).values()) == pytest.approx(1)
