"""The tasks of the baselines: a whole conversation in one answer, and answers in rounds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.leaving import took_leave
from persimchat.models.offline.topics import analyse
from persimchat.prompts import answer_blocks, render
from persimchat.prompts import blocks as b
from persimchat.state.answering import answering_schema
from persimchat.state.decision import decision_schema
from persimchat.state.persona import Persona
from persimchat.state.script import faults, parse_script
from persimchat.state.verdict import answer_description

CITIES = ("Brno", "Lviv", "Porto")
QUESTION = "Which city should host the fair?"


def situation(names: list[str], debate: dict[str, Any] | None, topic: str, turn: int = 0) -> Any:
    return {
        "simulation": "x",
        "topic": topic,
        "turn": turn,
        "max_messages": 12,
        "present": names,
        "rules": [],
        "relationships": [],
        "debate": debate,
        "closing": False,
    }


# A script


def script(
    people: list[Persona], count: int, *, closing: bool = True, seed: int = 0, topic: str = "Cats or dogs?"
) -> str:
    names = [p.name for p in people]
    minds: Any = [{"name": p.name, "persona": p.model_dump(), "goals": p.social_goals} for p in people]
    prompt = render(
        "script",
        people=answer_blocks.people([(m, situation(names, None, topic)) for m in minds]),
        environment=b.environment(situation(names, None, topic), ""),
        names=names,
        count=count,
        everybody=count >= len(names),
        allow_repetition=False,
        closing=closing,
        register="casual",
        words=25,
    )
    return str(OfflineChatModel(seed=seed).invoke(prompt).content)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 12, 40])
def test_a_script_has_as_many_lines_as_asked_for_and_no_fault(shipped: list[Persona], count: int):
    for seed in range(3):
        people = shipped[seed : seed + 4]
        names = [p.name for p in people]
        parsed = parse_script(script(people, count, seed=seed), names)
        assert len(parsed.lines) == count
        assert faults(parsed, names, count, allow_repetition=False) is None
        assert len({line.text for line in parsed.lines}) == count


def test_a_script_answers_itself_and_comes_to_a_close(shipped: list[Persona]):
    text = script(shipped[:4], 16)
    lines = parse_script(text, [p.name for p in shipped[:4]]).lines
    firsts = {p.name.split()[0] for p in shipped[:4]}
    answered = sum(before.speaker.split()[0] in line.text for before, line in zip(lines, lines[1:], strict=False))
    assert answered >= 4
    assert sum(any(f in line.text for f in firsts) for line in lines) >= 8
    assert all(took_leave(line.text) for line in lines[-4:])
    assert not any(took_leave(line.text) for line in lines[:-4])
    open_end = parse_script(script(shipped[:4], 16, closing=False), [p.name for p in shipped[:4]]).lines
    assert not any(took_leave(line.text) for line in open_end)


def test_scripts_differ_by_seed_and_are_the_same_for_one(shipped: list[Persona]):
    assert script(shipped[:3], 8) == script(shipped[:3], 8)
    assert script(shipped[:3], 8) != script(shipped[:3], 8, seed=1)


def test_odd_names_speak_in_scripts():
    people = [Persona(name=n, description="Somebody.") for n in ("Eva (the elder)", "Dr. Bob, MD", "李雷")]
    lines = parse_script(script(people, 6), [p.name for p in people]).lines
    assert {line.speaker for line in lines} == {p.name for p in people}


# Answers in rounds


def answer(
    person: Persona,
    form: str,
    given: list[dict[str, Any]] | None = None,
    *,
    topic: str = QUESTION,
    side: str = "",
    opposes: str | None = None,
    seed: int = 0,
    others: tuple[str, ...] = ("Bob", "Cleo"),
) -> Any:
    choices = list(CITIES) if form == "choice" else []
    where = situation([person.name, *others], {"format": form, "choices": choices}, topic)
    sides = {u["speaker"]: u["side"] for u in given or [] if "side" in u}
    prompt = render(
        "answering",
        basic_information=b.basic_information(person, knowledge=True),
        relationships=b.Block("relationships", ()),
        plan_and_identity=b.plan_and_identity({"goals": person.social_goals}),
        environment=b.environment(where, person.name, spoken=1),
        answers=answer_blocks.answers(given or [], person.name, sides),
        side=side,
        opposes=opposes,
        grouped=False,
        confident=True,
        form=answer_description(form, choices),
    )
    schema = answering_schema(form, tuple(choices), confident=True)
    return schema.model_validate(json.loads(OfflineChatModel(seed=seed).invoke(prompt).content))


def said(speaker: str, answer: str, reasons: str = "", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "answer": answer, "text": f"{reasons or 'I say so.'}\nAnswer: {answer}"} | more


def person(city: str, **more: Any) -> Persona:
    return Persona(name="Ann Miller", description=f"A person who swears by {city}.", **more)


@pytest.mark.parametrize("form", ["free", "choice", "yesno", "number"])
def test_an_answer_has_the_form_asked_for_and_says_that_it_is_a_guess(form: str):
    topic = {"number": "How many eggs are left if 16 hens lay 3 each and 4 break?"}.get(form, QUESTION)
    given = answer(person("Lviv"), form, topic=topic)
    assert 0 < given.confidence <= 0.95
    guesses = re.search(r"feel|hunch|prove|guess|bet|lean|every step", given.reasoning) is not None
    assert guesses or form == "free"
    assert given.confidence <= 0.6 or form == "free"
    assert answer(person("Lviv"), form, topic=topic) == given


def test_one_answers_what_one_starts_from():
    assert answer(person("Porto"), "choice").answer == "Porto"


def test_near_answers_move_and_far_ones_do_not():
    def after(own: str, others: str, rounds: int = 4, **more: Any) -> str:
        held = own
        for _ in range(rounds):
            given = [said("Ann Miller", held), said("Bob", others), said("Cleo", others)]
            held = answer(person(own, **more), "choice", given).answer
        return str(held)

    assert after("Brno", "Lviv", traits=["open-minded"]) == "Lviv"
    assert after("Brno", "Porto", traits=["stubborn"]) == "Brno"
    assert after("Brno", "Lviv", social_goals=["Never agree"]) == "Brno"


def test_whoever_was_moved_says_so():
    given = [said("Ann Miller", "Brno"), said("Bob", "Lviv", "I'm for Lviv."), said("Cleo", "Lviv", "Lviv for me.")]
    moved = answer(person("Brno", traits=["open-minded"]), "choice", given)
    assert moved.answer == "Lviv"
    assert "Lviv" in moved.reasoning


def test_the_same_position_is_worded_the_same_by_everybody():
    topic = "Should we build a playground or a car park?"
    answers = {answer(person("x", traits=[t]), "free", topic=topic, seed=s).answer for s in range(9) for t in ("calm",)}
    assert len(answers) == 2


def test_all_of_a_round_speak_in_other_words():
    names = ("Ann Miller", "Bob Novak", "Cleo Reyes", "Dan Okafor")
    texts = []
    for name in names:
        one = person("Lviv").model_copy(update={"name": name})
        texts.append(answer(one, "choice", others=tuple(n for n in names if n != name)).reasoning)
    sentences = [s for t in texts for s in re.split(r"(?<=[.!?]) ", t)]
    assert len(set(sentences)) == len(sentences)


def test_the_negative_side_answers_something_else():
    for seed in range(6):
        assert answer(person("Lviv"), "choice", side="negative", opposes="Lviv", seed=seed).answer != "Lviv"
        assert answer(person("Lviv"), "yesno", side="negative", opposes="yes", seed=seed).answer == "no"


def decide(answers: list[dict[str, Any]], form: str = "choice", *, last: bool = False) -> Any:
    choices = list(CITIES) if form == "choice" else []
    names = [u["speaker"] for u in answers]
    prompt = render(
        "mad_judge",
        environment=b.environment(situation(names, {"format": form, "choices": choices}, QUESTION), ""),
        answers=answer_blocks.answers(answers, "", {u["speaker"]: u["side"] for u in answers}),
        round=2,
        rounds=3,
        last=last,
        form=answer_description(form, choices),
    )
    schema = decision_schema(form, tuple(choices), last=last)
    return schema.model_validate(json.loads(OfflineChatModel().invoke(prompt).content))


SIDES = [
    said("Ann", "Brno", "It's near.", side="affirmative"),
    said("Bob", "Porto", "It has a harbour, because it lies by the sea, and since trade came early.", side="negative"),
]


def test_two_sides_are_left_to_it_until_the_last_round():
    assert not decide(SIDES).decided
    last = decide(SIDES, last=True)
    assert (last.side, last.answer) == ("negative", "Porto")


def test_two_sides_that_say_the_same_have_decided():
    both = [SIDES[0], {**SIDES[1], "answer": "Brno", "text": "Fine.\nAnswer: Brno"}]
    assert decide(both).answer == "Brno"


def test_free_answers_are_compared_by_their_position():
    topic = analyse(QUESTION, AnswerForm())
    free = [
        said(n, f"The answer is {topic.positions[0]}.", side=s) for n, s in (("A", "affirmative"), ("B", "negative"))
    ]
    assert decide(free, "free").decided
