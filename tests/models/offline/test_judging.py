"""The judge of a debate, and the majority."""

from __future__ import annotations

import json
from typing import Any

import pytest

from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.answer_form import AnswerForm
from persimchat.prompts import blocks as b
from persimchat.prompts import render
from persimchat.state.emotion import EMOTIONS
from persimchat.state.memory import new_memory
from persimchat.state.persona import Persona
from persimchat.state.verdict import answer_description, majority_schema, verdict_schema

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


CALM = dict.fromkeys(EMOTIONS, 0)


def asked(
    task: str,
    said: list[tuple[str, str]],
    debate: dict[str, Any],
    openness: dict[str, int] | None = None,
    topic: str = QUESTION,
    memories: list[Any] | None = None,
) -> Any:
    names = list(dict.fromkeys([*(who for who, _ in said), *(openness or {})]))
    spoken = {n: sum(who == n for who, _ in said) for n in names}
    recent: Any = [
        {"turn": i, "speaker": who, "text": text, "addressees": [], "emotion": CALM | {"anger": i % 3}}
        for i, (who, text) in enumerate(said, 1)
    ]
    situation: Any = {
        "topic": topic,
        "turn": len(said),
        "max_messages": 60,
        "present": names,
        "rules": [],
        "relationships": [],
        "debate": debate,
        "closing": False,
    }
    group = [
        {"name": n, "need_to_talk": 4, "openness": (openness or {}).get(n, 8), "utterances": spoken[n], "last_spoke": 1}
        for n in names
    ]
    shown = [b.environment(situation, ""), b.group(group)]
    if memories is None:
        shown.append(b.observed(recent))
    else:
        judge = Persona(name="Judge", description="The judge takes no part.")
        shown = [b.basic_information(judge), b.memories(memories), *shown]
    form, choices = debate["format"], tuple(debate["choices"])
    prompt = render(task, blocks=shown, form=answer_description(form, choices), in_form=form != "free")
    schema: Any = (verdict_schema if task == "judge" else majority_schema)(tuple(names), form, choices)
    return schema.model_validate(json.loads(OfflineChatModel().invoke(prompt).content))


AGREED = [("Ann", "I'm for Lviv."), ("Bob", "Lviv it is, as far as I'm concerned."), ("Cleo", "My vote goes to Lviv.")]


def test_all_for_the_same_by_their_own_words_is_consensus():
    verdict = asked("judge", AGREED, CHOICE)
    assert verdict.consensus and verdict.answer == "Lviv"
    assert all(p.agrees for p in verdict.positions)


@pytest.mark.parametrize(
    ("last", "openness"),
    [
        ("I'm still for Porto.", 9),
        ("That was a fine argument.", 9),
        ("My vote goes to Lviv.", 0),
        ("My vote goes to Lviv.", 5),
    ],
)
def test_no_consensus_with_another_view_silence_or_unwillingness(last: str, openness: int):
    verdict = asked("judge", [*AGREED[:2], ("Cleo", last)], CHOICE, {"Cleo": openness})
    assert not verdict.consensus and verdict.answer is None
    assert not next(p for p in verdict.positions if p.agent == "Cleo").agrees
    assert "Cleo" in verdict.reasoning


def test_somebody_who_has_not_spoken_is_no_consent():
    verdict = asked("judge", AGREED, CHOICE, {"Dan": 9})
    assert not verdict.consensus
    assert next(p for p in verdict.positions if p.agent == "Dan").position == "Has not spoken yet."


def test_the_last_word_counts_and_who_came_round_is_told():
    verdict = asked("judge", [("Cleo", "I'm for Porto."), *AGREED], CHOICE)
    assert verdict.consensus and verdict.progress == "progressing"
    assert next(p for p in verdict.positions if p.agent == "Cleo").position == "Came round from Porto to Lviv."


def test_a_free_answer_is_a_sentence_with_what_spoke_for_it():
    topic = "Should we build a playground or a car park?"
    said = [("Ann", "I'm for building a playground."), ("Bob", "A place with swings keeps the young families here. ")]
    said.append(("Bob", "So my vote goes to building a playground."))
    verdict = asked("judge", said, FREE, topic=topic)
    assert verdict.consensus and "building a playground" in verdict.answer and verdict.answer.endswith(".")


def test_yes_with_and_without_conditions_is_yes():
    said = [("Ann", "My vote goes to a plain yes."), ("Bob", "I'd sign a yes with conditions today.")]
    verdict = asked("judge", said, {"format": "yesno", "choices": []}, topic="Should schools ban phones?")
    assert verdict.consensus and verdict.answer == "yes"


def test_numbers_that_nobody_put_up_agree_only_where_they_are_equal():
    number = {"format": "number", "choices": []}
    question = "How many cups are on the table?"
    agreed = asked("judge", [("Ann", "I'd say 1,234."), ("Bob", "It's 1234 for me.")], number, topic=question)
    assert agreed.consensus and float(agreed.answer) == 1234
    differ = asked("judge", [("Ann", "I'd say 1,234."), ("Bob", "It's 1235 for me.")], number, topic=question)
    assert not differ.consensus


def test_a_judge_with_a_mind_reads_its_memories():
    memories = [
        new_memory("Judge", i, "perception", f"{who} spoke for Lviv, on the fair.", ["Lviv"], 4, [0] * 6)
        for i, (who, _) in enumerate(AGREED, 1)
    ]
    assert asked("judge", AGREED, CHOICE, memories=memories).consensus
    forgotten = asked("judge", AGREED, CHOICE, memories=memories[:2])
    assert not forgotten.consensus
    assert next(p for p in forgotten.positions if p.agent == "Cleo").position == "Has not said what they hold."


def test_saying_the_same_again_is_going_in_circles():
    same = [(who, f"I'm for {city}.") for _ in range(3) for who, city in (("Ann", "Brno"), ("Bob", "Porto"))]
    assert asked("judge", same, CHOICE).progress == "circling"
    new = [
        ("Ann", "I'm for Brno."),
        ("Bob", "I'm for Porto."),
        ("Ann", "Brno lies nearer to the railway and has cheaper hotels."),
        ("Bob", "Porto has a harbour, mild winters and excellent fish."),
    ]
    assert asked("judge", new, CHOICE).progress == "progressing"


def test_the_majority_is_named_with_its_holders():
    said = [("Ann", "I'm for Brno."), ("Bob", "I'm for Porto."), ("Cleo", "My answer is Porto.")]
    majority = asked("majority", said, CHOICE)
    assert majority.answer == "Porto" and majority.supporters == ["Bob", "Cleo"]


def test_of_equally_many_the_more_open_holders_count():
    said = [("Ann", "I'm for Brno."), ("Bob", "I'm for Porto.")]
    assert asked("majority", said, CHOICE, {"Ann": 2, "Bob": 7}).supporters == ["Bob"]
    assert asked("majority", said, CHOICE, {"Ann": 7, "Bob": 2}).supporters == ["Ann"]


def test_a_tie_is_not_called_a_majority():
    said = [("Ann", "I'm for tea."), ("Bob", "I'm for coffee.")]
    topic = "Tea or coffee?"
    assert "most" in asked("majority", [*said, ("Cleo", "I'm for coffee.")], FREE, topic=topic).answer.lower()
    assert "divided" in asked("majority", said, FREE, topic=topic).answer
    assert "guess" in asked("majority", [("Ann", "Hm."), ("Bob", "Well.")], FREE, topic=topic).answer


@pytest.mark.parametrize("form", FORMS)
def test_a_majority_is_named_even_where_words_tell_nothing_and_called_a_guess(form: str):
    debate = {"format": form, "choices": list(CITIES) if form == "choice" else []}
    majority = asked("majority", [("Ann", "Hm."), ("Bob", "Well.")], debate, topic=FORMS[form][1])
    assert "guess" in majority.reasoning
