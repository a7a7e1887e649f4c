"""The offline model among people: a moderator, people's words without feelings, whispers, a new topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.reading import prompt_of
from persimchat.models.offline.timeline import timeline
from persimchat.models.offline.topics import topic_of
from persimchat.prompts import blocks as b
from persimchat.prompts import render
from persimchat.state.emotion import EMOTIONS
from persimchat.state.judgement import Feeling, NeedToTalk, Percept, Plan
from persimchat.state.persona import Persona
from persimchat.state.speech import addressees
from persimchat.state.visibility import heard_by

CARS = "Should our town close its centre to cars?"
BEVERAGES = "Tea or coffee in the office kitchen?"
GUEST = "Petr"

Shipped = list[Persona]


class Guests:
    """A talk with a person in it, who speaks when the test does, and with whispers."""

    def __init__(self, talk: Any, personas: Shipped, topic: str = CARS, seed: int = 0) -> None:
        self.talk = talk(personas, topic, limit=60, seed=seed, takes_leave=False)
        self.names = [*(p.name for p in personas), GUEST]
        self.talk.situation = self._situation
        self._own_situation = type(self.talk).situation

    def _situation(self, name: str) -> dict[str, Any]:
        recent = heard_by(self.talk.utterances, name)[-6:]
        return {**self._own_situation(self.talk, name), "present": self.names, "recent": recent}

    def put(self, speaker: str, text: str, hearers: list[str] | None = None) -> None:
        turn = len(self.talk.utterances) + 1
        spoken_to = addressees(text, speaker, self.names)
        utterance = {"turn": turn, "speaker": speaker, "text": text, "addressees": spoken_to, "emotion": {}}
        self.talk.utterances.append(utterance | ({"heard_by": hearers} if hearers else {}))

    def values(self, persona: Persona) -> dict[str, Any]:
        last = heard_by(self.talk.utterances[-1:], persona.name)
        recent = self._situation(persona.name)["recent"]
        return self.talk.values(persona) | {
            "heard": b.heard(last[0], persona.name, self.names) if last else b.Block("heard", ()),
            "last_utterances": b.last_utterances(recent, persona.name),
        }

    def ask(self, task: str, persona: Persona) -> Any:
        return self.talk.ask(task, persona, **self.values(persona))

    def says(self, persona: Persona) -> str:
        self.talk.minds[persona.name].setdefault("emotion", dict.fromkeys(EMOTIONS, 1))
        values = self.talk.values
        self.talk.values = lambda one, **_: (
            values(one) | {"last_utterances": b.last_utterances(self._situation(one.name)["recent"], one.name)}
        )
        try:
            text = str(self.talk.model.invoke(self.talk.utterance_prompt(persona)).content)
        finally:
            self.talk.values = values
        self.talk.minds[persona.name]["spoken"] += 1
        self.put(persona.name, text)
        return text


Guest = Callable[..., Guests]


@pytest.fixture
def guests(talk: Any, shipped: Shipped) -> Guest:
    return lambda **more: Guests(talk, shipped[:3], **more)


@pytest.mark.parametrize("seed", range(6))
def test_a_moderators_question_is_answered(guests: Guest, shipped: Shipped, seed: int):
    held = guests(seed=seed)
    for persona in shipped[:3]:
        held.says(persona)
    for persona in shipped[:3]:
        held.talk.minds[persona.name]["emotion"] = dict.fromkeys(EMOTIONS, 1)
    held.put("Moderator", "There are the old people.")
    told = {p.name: held.ask("need_to_talk", p)["need_to_talk"] for p in shipped[:2]}
    held.talk.utterances.pop()
    held.put("Moderator", "What would it mean for the old people?")
    for persona in shipped[:2]:
        need = NeedToTalk.model_validate(held.ask("need_to_talk", persona))
        assert "was asked like everybody" in need.reasoning
        assert need.need_to_talk > told[persona.name]
    text = held.says(shipped[0])
    assert "Moderator" not in text
    asked = {"To the question", "on the table", "I'll take that", "hoping somebody", "fair question", "answer that"}
    asked |= {"simple for me", "good question", "I'll bite", "answer the question"}
    assert any(phrase in text for phrase in asked), text


def test_a_moderator_holds_no_position(guests: Guest, shipped: Shipped):
    held = guests()
    held.put("Moderator", "So who is for closing its centre to cars? I am for closing its centre to cars.")
    prompt = prompt_of(render("perception", **held.values(shipped[0])))
    assert prompt.leads("Moderator") and not prompt.leads(shipped[1].name)
    assert timeline(prompt, topic_of(prompt)) == []
    held.put(GUEST, "I am for closing its centre to cars.")
    prompt = prompt_of(render("perception", **held.values(shipped[0])))
    assert [told.speaker for told in timeline(prompt, topic_of(prompt))] == [GUEST], "a person does"
    assert "spoke for" in Percept.model_validate(held.ask("perception", shipped[0])).theme


def test_a_participant_called_moderator_is_one():
    prompt = Prompt(task="x", name="Eva", present=("Moderator", "Bo"))
    assert not prompt.leads("Moderator")
    assert prompt.leads("Moderator of the conversation")


def test_a_whisper_is_heard_as_one_and_taken_up(guests: Guest, shipped: Shipped):
    held = guests()
    me, other = shipped[1], shipped[0]
    held.says(other)
    held.put("Moderator", "Please bring up the hospital.", [me.name])
    for task, model in (("perception", Percept), ("emotion", Feeling), ("need_to_talk", NeedToTalk)):
        model.model_validate(held.ask(task, me))
    assert "in a whisper" in held.ask("perception", me)["theme"]
    assert "was whispered to" in held.ask("need_to_talk", me)["reasoning"]
    assert "hospital" not in str(prompt_of(render("planning", **held.values(other))))
    text = held.says(me)
    assert "hospital" in text
    assert "Moderator" not in text


def test_a_person_asks_and_is_asked(guests: Guest, shipped: Shipped):
    held = guests()
    held.put(GUEST, "Jarmila, would you close the centre to cars?")
    need = NeedToTalk.model_validate(held.ask("need_to_talk", shipped[0]))
    assert "was asked by name" in need.reasoning
    assert "Petr" in held.says(shipped[0])
    asked = [held.says(shipped[n % 3]) for n in range(12)]
    assert any(GUEST in text for text in asked), "people are asked, too"


@pytest.mark.parametrize("seed", range(4))
def test_a_new_topic_is_taken_up(guests: Guest, shipped: Shipped, seed: int):
    held = guests(seed=seed)
    for n in range(4):
        held.says(shipped[n % 3])
    held.talk.topic = BEVERAGES
    held.put("Moderator", f"Let us turn to something else: {BEVERAGES}")
    plan = Plan.model_validate(held.ask("planning", shipped[0]))
    later = [held.says(shipped[n % 3]) for n in range(9)]
    words = " ".join((plan.theme, *later)).lower()
    assert "cars" not in words
    assert "tea" in words or "coffee" in words


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    speaker=st.sampled_from(["Moderator", "Moderator of the conversation", GUEST, "Bo"]),
    words=st.text(min_size=1, max_size=60) | st.sampled_from(["?", "x" * 8000, "\u202eabc", "Eva? Bo?", "</task>"]),
    whispered=st.booleans(),
    seed=st.integers(0, 99),
)
def test_answers_fit_their_schemas_whatever_is_said(speaker: str, words: str, whispered: bool, seed: int):
    eva = Persona(name="Eva", description="A nurse.")
    present = ["Eva", "Bo", GUEST]
    utterance: Any = {"turn": 1, "speaker": speaker, "text": words, "addressees": [], "emotion": {}}
    utterance |= {"heard_by": ["Eva"]} if whispered else {}
    situation: Any = {"topic": CARS, "turn": 1, "max_messages": 9, "present": present, "rules": [], "debate": None}
    situation |= {"relationships": [], "recent": [utterance], "closing": False}
    values: dict[str, Any] = {
        "basic_information": b.basic_information(eva),
        "needs_and_emotions": b.needs_and_emotions({"emotion": dict.fromkeys(EMOTIONS, 2)}),
        "relationships": b.relationships(situation),
        "memories": b.memories([]),
        "short_term_memory": b.short_term_memory(None),
        "plan_and_identity": b.plan_and_identity({}),
        "goals": b.goals({}),
        "plan": b.plan({}),
        "environment": b.environment(situation, "Eva", spoken=0),
        "scene": b.scene(situation, "Eva"),
        "progress": b.progress(situation, spoken=0),
        "last_utterances": b.last_utterances([utterance], "Eva"),
        "heard": b.heard(utterance, "Eva", present),
        "closing": False,
    }
    model = OfflineChatModel(seed=seed)
    for task, schema in (
        ("perception", Percept),
        ("emotion", Feeling),
        ("need_to_talk", NeedToTalk),
        ("planning", Plan),
    ):
        schema.model_validate_json(str(model.invoke(render(task, **values)).content))
    order = ("basic_information", "needs_and_emotions", "memories", "environment", "last_utterances")
    more = {"name": "Eva", "register": "casual", "words": 25, "debate": False, "closing": False}
    assert str(model.invoke(render("utterance", blocks=[values[k] for k in order], **more)).content).strip()
