"""What a server's model reads in the text of a prompt; and that this is what the offline model is handed of it."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage

from loopback.reading import read_prompt
from loopback.reading_items import among, answered, form_of, member, said
from persimchat.graph.baselines import graph_for
from persimchat.memory.recollection import discard
from persimchat.models.ledger import LEDGER, Ledger
from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.reading import prompt_of
from persimchat.personas.catalogue import shipped
from persimchat.personas.generation.generation import generate
from persimchat.prompts import answer_blocks
from persimchat.prompts import blocks as b
from persimchat.prompts.rendering import worded_item
from persimchat.runs.run.simulation import input_of
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.verdict import answer_description

ODD = ["Eva", "Eva (the elder)", "Bob: Jr.", "Cleo, MD", "Dr. X (calm): y", "李雷"]

EVERY_KIND = {
    "minds": {"memory_filtering": True, "analysis": True, "pattern": "selector", "max_messages": 6},
    "in parts": {"cognition": "lean", "mode": "debate", "answer_format": "yesno", "max_messages": 6},
    "a judge with a mind": {"judge": "persona", "mode": "debate", "answer_format": "number", "max_messages": 6},
    "a majority": {"mode": "debate", "answer_format": "choice", "choices": ["close it", "keep it open"]},
    "rounds": {"baseline": "reconcile", "mode": "debate", "answer_format": "yesno", "max_messages": 20},
    "two sides": {"baseline": "mad_judge", "mode": "debate", "max_messages": 20},
    "a group chat": {"baseline": "group_chat", "mode": "debate", "max_messages": 6, "analysis": True},
    "a script": {"baseline": "single_agent", "max_messages": 12, "speech_register": "formal", "utterance_words": 12},
}


class Listening(Ledger):
    """A ledger that records the questions."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []

    @contextmanager
    def keeping(self, request: Any, settings: Settings) -> Any:
        self.asked.append(request)
        with super().keeping(request, settings):
            yield


async def prompts_of(kind: str) -> list[tuple[str, list[BaseMessage]]]:
    """All prompts of a short conversation, with the modules that asked."""
    people = shipped()[4 : 6 if kind == "two sides" else 7]
    scenario = Scenario.model_validate(
        {
            "topic": "Should our town close\nits centre to cars?",
            "participants": people,
            "rules": ["Nobody shouts."],
            "relationships": [{"from": people[0].name, "to": people[1].name, "type": "parent_child", "note": "dad"}],
            "social_goals": {people[0].name: ["convince the others"]},
        }
    )
    settings = Settings(model="offline", store="ephemeral", **{"max_messages": 4, **cast(Any, EVERY_KIND[kind])})
    ledger = Listening()
    name = f"reading-{kind.replace(' ', '-')}"
    try:
        await graph_for(settings).ainvoke(
            cast(Any, input_of(scenario, name)), {"configurable": {LEDGER: ledger}}, context=settings
        )
    finally:
        discard(name)
    return [(request.module, request.messages) for request in ledger.asked]


@pytest.mark.parametrize("kind", EVERY_KIND)
async def test_the_offline_model_is_handed_what_the_text_says(kind: str) -> None:
    """Nothing more, so that it answers as somebody who is asked, and nothing less."""
    modules = Counter[str]()
    for module, messages in await prompts_of(kind):
        handed = prompt_of(messages)
        assert handed is not None
        read = read_prompt([HumanMessage(str(message.text)) for message in messages[1:]])
        for one in fields(handed):
            assert getattr(handed, one.name) == getattr(read, one.name), (module, one.name)
        modules[module] += 1
    assert modules


async def test_so_it_is_where_a_person_is_to_be_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    from persimchat.models.offline import OfflineChatModel

    asked: list[list[BaseMessage]] = []
    answer = OfflineChatModel.answer
    monkeypatch.setattr(OfflineChatModel, "answer", lambda self, given: asked.append(given) or answer(self, given))
    await generate(3, Settings(model="offline"), about="people of a Czech village")
    for messages in asked:
        handed, read = prompt_of(messages), read_prompt([HumanMessage(str(m.text)) for m in messages[1:]])
        assert handed is not None and handed.request is not None
        assert handed.request == read.request
    assert len(asked) >= 3


def test_a_calm_speaker_and_one_who_has_not_spoken() -> None:
    calm = said("- Eva (calm): Hello: there", ())
    assert calm is not None and (calm.felt, calm.words) == ({}, "Hello: there")
    silent = member("- Eva: spoken 0 times, not yet")
    assert silent is not None and silent.last == 0
    last = member("- Eva: openness 0 of 10, spoken 1 times, last in turn 7")
    assert last is not None and last.openness == 0
    assert member("- Eva: no such line") is None


@given(st.lists(st.sampled_from(ODD), unique=True))
def test_lists_of_names_are_taken_apart(names: list[str]) -> None:
    assert among(", ".join(names), ODD) == names


def test_what_a_debate_is_to_come_to_is_read() -> None:
    for form in ("free", "yesno", "number"):
        assert form_of(answer_description(cast(Any, form))) == AnswerForm(cast(Any, form))
    assert form_of(answer_description("choice", ["Brno", "Lviv or so"])) == AnswerForm("choice", ("Brno", "Lviv or so"))


def test_answers_of_a_round_are_read() -> None:
    given: Any = [
        {"speaker": n, "answer": "tea | and more", "confidence": c, "text": "I said so | because: I can.\nAnswer: tea"}
        for n, c in (("Eva", 0.8), ("Bob: Jr.", None))
    ]
    block = answer_blocks.answers(given, "Eva", {"Bob: Jr.": "negative"})
    own, other = (answered(str(worded_item(item)).strip(), ODD, "Eva") for item in block.items)
    assert own is not None and other is not None
    assert (own.speaker, own.own, own.side, own.answer, own.confidence) == ("Eva", True, "", "tea | and more", 0.8)
    assert (other.speaker, other.own, other.side, other.confidence) == ("Bob: Jr.", False, "negative", None)
    assert other.reasons.startswith("I said so")


names = st.sampled_from(
    ["Eva", "Eva (the elder)", "Bob: Jr.", "Dr. X (calm): y", "李雷", "Moderator", "Mona (whispered)"]
)
spoken = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30)


@hypothesis_settings(max_examples=200)
@given(names, st.lists(names, max_size=2, unique=True), st.booleans(), spoken | st.just("Bo (whispered to me): hi"))
def test_lines_are_read_back(speaker: str, hearers: list[str], feels: bool, words: str) -> None:
    emotion = {"anger": 6} if feels else {}
    utterance: Any = {"turn": 1, "speaker": speaker, "text": words, "emotion": emotion, "heard_by": hearers or None}
    everybody = ["Eva", "Eva (the elder)", "Bob: Jr.", "Dr. X (calm): y", "李雷", "Mona (whispered)", "Moderator"]
    for block in (b.observed([utterance]), b.last_utterances([utterance], "Eva")):
        read = said(str(worded_item(block.items[0])).strip(), everybody)
        assert read is not None
        assert (read.speaker, read.words) == (speaker, " ".join(words.split()))
        assert read.whispered == bool({*hearers} - {speaker}), "nobody whispers to themselves"
        assert read.felt == (emotion if block.items[0].kind == "observed" else {})
