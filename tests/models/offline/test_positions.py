"""Which position words speak for: choices, yes and no, numbers, and every phrase of the material that says one."""

from __future__ import annotations

import pytest

from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.grammar import filled, for_register
from persimchat.models.offline.lexicon import deck, lines, read
from persimchat.models.offline.options import candidate_numbers
from persimchat.models.offline.positions import anchor, place_in, position_in
from persimchat.models.offline.topics import analyse

QUESTION = "Which city should host the fair?"
CITIES = ("Brno", "Lviv", "Porto")
CHOICE = {"format": "choice", "choices": list(CITIES)}
FREE = {"format": "free", "choices": []}
FORMS = {
    "free": (AnswerForm(), "Should we build a playground or a car park?"),
    "choice": (AnswerForm("choice", CITIES), QUESTION),
    "yesno": (AnswerForm("yesno"), "Should schools ban phones?"),
    "number": (AnswerForm("number"), "How many piano tuners are there in Chicago?"),
}


def stating() -> list[tuple[str, str]]:
    """Every phrase that says where its speaker stands."""
    found = [
        (kind, p) for kind in ("stance", "near", "firm", "settled", "concede", "moved") for p in deck("debate", kind)
    ]
    found += [(f"child {k}", p) for k in read("debate")["child"] for p in deck("debate", "child", k)]
    for asked in read("debate")["questions"]:
        found += [(asked["cue"], p) for kind in ("same", "differ") for p in lines(asked[kind])]
        found += [(asked["cue"], asked["ask"])] if "{mine}" in asked["ask"] else []
    for kind in ("words", "near", "far"):
        found += [(f"leave {kind}", p) for p in deck("leave", kind)]
    found += [("leave child", p) for p in deck("leave", "child", "words")]
    return [(kind, p) for kind, p in found if "{mine" in p]


@pytest.mark.parametrize("form", FORMS)
def test_every_phrase_speaks_for_what_its_speaker_holds(form: str):
    topic = analyse(FORMS[form][1], FORMS[form][0])
    n = len(topic.positions)
    wrong = []
    for kind, phrase in stating():
        for register in ("casual", "neutral", "formal"):
            text = for_register(phrase, register)
            for mine in range(n) if text else ():
                values = {"mine": topic.positions[mine], "rival": topic.positions[(mine + 1) % n]}
                said = filled(text, {**values, "name": "Ann", "other": "Bob", "theirs": values["rival"]})
                if position_in(said, topic) != mine:
                    wrong.append((kind, said))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I say Brno, and Porto may wait.", "Brno"),
        ("Not Brno, please. Lviv it is.", "Lviv"),
        ("Nothing to say.", None),
    ],
)
def test_choices_are_recognised(text: str, answer: str | None):
    index = position_in(text, analyse(QUESTION, AnswerForm("choice", CITIES)))
    assert (None if index is None else CITIES[index]) == answer


def test_a_longer_choice_is_not_taken_for_the_shorter_one_in_it():
    topic = analyse("What now?", AnswerForm("choice", ("trams", "more trams", "no trams")))
    assert [position_in(f"I'm for {c}.", topic) for c in topic.answers] == [0, 1, 2]


@pytest.mark.parametrize(
    "choices",
    [
        ("Yes", "No", "Maybe"),
        ("A", "B"),
        ("A) 21", "B) 42"),
        ("one; two", "three"),
        ("Build the playground beside the school and pay for it from the reserve", "Wait for another year"),
        ("{mine}", "<task>"),
        ("is", "are"),
    ],
)
def test_odd_choices_have_names_that_can_be_said_and_understood(choices: tuple[str, ...]):
    topic = analyse("What is it to be?", AnswerForm("choice", choices))
    assert topic.answers == choices
    for index, label in enumerate(topic.positions):
        assert position_in(f"So my vote goes to {label}.", topic) == index


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("My answer is no.", "no"),
        ("I say yes, Bob.", "yes"),
        ("No, Bob, I don't buy that.", None),
        ("It's a yes.", "yes"),
        ("I think yes. Whoever stays at home lets others decide.", "yes"),
        ("I think no rule helps here.", None),
        ("Definitely no!", "no"),
        ("Yes!", "yes"),
        ("No.", "no"),
    ],
)
def test_a_bare_yes_or_no_is_an_answer_only_where_it_is_given_as_one(text: str, answer: str | None):
    topic = analyse("Should schools ban phones?", AnswerForm("yesno"))
    index = position_in(text, topic)
    assert (None if index is None else topic.answers[index]) == answer


def test_numbers_lie_in_order_and_others_between_them():
    topic = analyse("How many piano tuners are there in Chicago?", AnswerForm("number"))
    values = [float(a) for a in topic.answers]
    assert values == sorted(values) and len(set(values)) == 5
    places = [place_in(f"I'd say {v:,.10g}.", topic) for v in values]
    assert places == [anchor(i, 5) for i in range(5)]
    between = place_in(f"I'd say {(values[1] + values[2]) / 2:.2f}.", topic)
    assert between is not None and places[1] < between < places[2]
    assert place_in("I'd say 1.", topic) == places[0]
    assert place_in("No idea.", topic) is None


@pytest.mark.parametrize(
    "question",
    [
        "Ann has 3 apples and buys 4 more. How many?",
        "In which year was it?",
        "How likely is rain, in percent?",
        "What?",
    ],
)
def test_numbers_put_up_for_debate_are_few_different_and_always_the_same(question: str):
    numbers = candidate_numbers(question)
    assert 2 <= len(set(numbers)) == len(numbers) <= 5
    assert list(numbers) == sorted(numbers)
    assert candidate_numbers(question) == numbers
