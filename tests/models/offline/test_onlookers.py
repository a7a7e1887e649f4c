"""What is read from prompts of those who look on and take no part; and the selector, who is one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.reading import prompt_of
from persimchat.prompts import answer_blocks, render
from persimchat.prompts import blocks as b
from persimchat.state.emotion import EMOTIONS

ODD = ["Eva", "Eva (the elder)", "Bob: Jr.", "Cleo, MD", "Dr. X (calm): y", "李雷"]


def utterance(speaker: str, text: str, turn: int = 1, **felt: int) -> dict[str, Any]:
    emotion = dict.fromkeys(EMOTIONS, 0) | felt
    return {"turn": turn, "speaker": speaker, "text": text, "addressees": [], "emotion": emotion}


def situation(names: list[str], recent: list[dict[str, Any]], **more: Any) -> Any:
    return {
        "simulation": "x",
        "topic": "Tea or coffee?",
        "turn": len(recent),
        "max_messages": 20,
        "present": names,
        "rules": [],
        "relationships": [],
        "recent": recent,
        "debate": None,
        "closing": False,
    } | more


def members(names: list[str], **known: Any) -> list[dict[str, Any]]:
    return [{"name": n, "utterances": 2, "last_spoke": 4 + i} | known for i, n in enumerate(names)]


def selector_prompt(names: list[str], recent: list[dict[str, Any]], able: list[str], **known: Any) -> Any:
    return render(
        "selector",
        environment=b.environment(situation(names, recent), ""),
        group=b.group(members(names, **known)),
        last_utterances=b.observed(recent),
        candidates=able,
    )


def test_names_with_brackets_colons_and_commas_are_known_whole():
    recent = [utterance(n, f"I am {n} (calm): or so", anger=6, surprise=2) for n in ODD]
    prompt = prompt_of(selector_prompt(ODD, recent, ODD[1:4], need_to_talk=5, openness=3))
    assert [m.name for m in prompt.group] == ODD
    assert prompt.participants == tuple(ODD)
    assert [(s.speaker, s.words) for s in prompt.recent] == [(n, f"I am {n} (calm): or so") for n in ODD]
    assert all(s.felt == {"anger": 6, "surprise": 2} for s in prompt.recent)
    assert prompt.present == tuple(ODD)
    assert prompt.candidates == tuple(ODD[1:4])
    assert {(m.need, m.openness, m.spoken) for m in prompt.group} == {(5, 3, 2)}


def test_a_calm_speaker_and_one_who_has_not_spoken():
    recent = [utterance("Eva", "Hello: there")]
    group = b.group([{"name": "Eva", "utterances": 0, "last_spoke": 0, "openness": 0}])
    shown = {"environment": b.environment(situation(["Eva"], recent), ""), "last_utterances": b.observed(recent)}
    prompt = prompt_of(render("selector", group=group, candidates=["Eva"], **shown))
    assert prompt is not None
    (said,), (member,) = prompt.recent, prompt.group
    assert (said.felt, said.words) == ({}, "Hello: there")
    assert (member.last, member.openness, member.need) == (0, 0, None)


def test_what_a_debate_is_to_come_to_is_read():
    words = situation(["Eva"], [], debate={"format": "choice", "choices": ["A a", "B b"]}, closing=True)
    prompt = prompt_of(render("focal_points", **shown(words)))
    assert prompt.form == AnswerForm("choice", ("A a", "B b"))
    assert prompt.closing
    plain = prompt_of(render("focal_points", **shown(situation(["Eva"], []))))
    assert plain.form is None and not plain.closing


def shown(where: Any) -> dict[str, Any]:
    none = ("heard", "last_utterances", "basic_information", "relationships", "goals")
    return {
        **{tag: b.Block(tag, ()) for tag in none},
        "needs_and_emotions": b.needs_and_emotions({"openness": 4, "emotion": {}}),
        "scene": b.scene(where, "Eva"),
        "progress": b.progress(where, spoken=0),
    }


def test_openness_is_read_from_what_somebody_feels():
    prompt = prompt_of(render("focal_points", **shown(situation(["Eva"], []))))
    assert prompt.openness == 4


def test_answers_of_a_round_are_read():
    given = [
        {"speaker": n, "answer": "tea | and more", "confidence": c, "text": f"Because (x) answered: y\nAnswer: {n}"}
        for n, c in (("Eva", 0.8), ("Bob: Jr.", None))
    ]
    for u in given:
        u["text"] = f"I said so | because: I can.\nAnswer: {u['answer']}"
    block = answer_blocks.answers(given, "Eva", {"Bob: Jr.": "negative"})
    where = b.environment(situation(["Eva", "Bob: Jr."], []), "Eva")
    nothing = {tag: b.Block(tag, ()) for tag in ("relationships", "plan_and_identity")}
    asked = {"side": "", "opposes": "tea\nleaves", "confident": True, "form": "one message", "environment": where}
    who = b.Block("basic_information", (b.Item("name", {"name": "Eva"}),))
    prompt = prompt_of(render("answering", basic_information=who, answers=block, **nothing, **asked))
    assert prompt is not None
    own, other = prompt.answers
    assert (prompt.confident, prompt.opposes) == (True, "tea leaves")
    assert (own.speaker, own.own, own.side, own.answer, own.confidence) == ("Eva", True, "", "tea | and more", 0.8)
    assert (other.speaker, other.own, other.side, other.confidence) == ("Bob: Jr.", False, "negative", None)
    assert other.reasons.startswith("I said so")


def select(names: list[str], recent: list[dict[str, Any]], able: list[str], seed: int = 0) -> str:
    answer = json.loads(OfflineChatModel(seed=seed).invoke(selector_prompt(names, recent, able)).content)
    assert answer["reasoning"].endswith(".")
    return str(answer["speaker"])


def test_whoever_was_asked_speaks_next():
    recent = [utterance("Ann", "And you, Cleo?")]
    assert select(["Ann", "Bob", "Cleo"], recent, ["Bob", "Cleo"]) == "Cleo"


def test_else_whoever_has_been_silent_longest():
    recent = [utterance("Cleo", "Hm.")]
    assert select(["Ann", "Bob", "Cleo"], recent, ["Bob", "Ann"]) == "Ann"


@pytest.mark.parametrize("seed", range(5))
def test_only_candidates_are_named(seed: int):
    recent = [utterance(ODD[0], f"What do you say, {ODD[3]}?")]
    assert select(ODD, recent, ODD[1:3], seed) in ODD[1:3]


def test_equally_silent_people_are_chosen_by_the_seed():
    names = ["Ann", "Bob", "Cleo"]
    prompt = render(
        "selector",
        environment=b.environment(situation(names, []), ""),
        group=b.group([{"name": n, "utterances": 0, "last_spoke": 0} for n in names]),
        last_utterances=b.observed([]),
        candidates=names,
    )
    chosen = {json.loads(OfflineChatModel(seed=s).invoke(prompt).content)["speaker"] for s in range(12)}
    assert chosen == set(names)
