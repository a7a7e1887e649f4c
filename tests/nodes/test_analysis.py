"""The analysis of one utterance: what the model is shown, what comes of its answer."""

from __future__ import annotations

from typing import Any

import pytest
from loopback.answering import Fault
from loopback.planned import section
from loopback.scripted import Scripted
from loopback.server import LoopbackServer

from persimchat.models.failures import TransientModelError
from persimchat.nodes.analysis import analyse
from persimchat.state.settings import Settings

ANSWER = {"reasoning": "It answers.", "coherence": 8.25, "sentiment": 5, "engagement": 10.0}
CALM = {"happiness": 0, "sadness": 0, "anger": 0, "fear": 0, "disgust": 0, "surprise": 0}


def utterance(turn: int, speaker: str, text: str, **more: Any) -> Any:
    return {
        "turn": turn,
        "speaker": speaker,
        "text": text,
        "addressees": [],
        "emotion": CALM,
        "need_to_talk": {},
        "response_time_s": 1.0,
        "tokens": {"input": 1, "output": 1},
        "corrections": [],
        **more,
    }


SAID = [
    utterance(1, "Ada", "Tea is best."),
    utterance(2, "Bo", "Coffee keeps me awake.", emotion={**CALM, "anger": 6, "surprise": 2}),
    utterance(3, "Ada", "Bo, sleep is for the weak.", addressees=["Bo"], emotion={**CALM, "happiness": 4}),
]


def given(turn: int) -> Any:
    situation = {
        "simulation": "s",
        "topic": "Tea or coffee?",
        "turn": turn,
        "max_messages": 10,
        "present": ["Ada", "Bo"],
        "rules": [],
        "relationships": [],
        "recent": SAID[:turn],
        "debate": None,
        "closing": False,
    }
    return {"situation": situation, "heard": SAID[turn - 1]}


async def asked(turn: int, answer: Any = ANSWER, **settings: Any) -> tuple[dict[str, Any], str]:
    with LoopbackServer(answer=(scripted := Scripted(analysis=answer))) as server:
        update = await analyse(given(turn), Settings(model=server.model(), **settings))
    return update, scripted.prompts("analysis")[0]


async def test_the_update_of_the_conversation() -> None:
    update, _ = await asked(3)
    assert update["scores"] == [
        {"turn": 3, "speaker": "Ada", **ANSWER, "coherence": pytest.approx(8.2, abs=0.11), "failed": ""},
    ]


async def test_the_utterance_stands_apart_from_what_was_said_before() -> None:
    _, prompt = await asked(3)
    assert section(prompt, "last_utterances").splitlines() == [
        "- Ada (calm): Tea is best.",
        "- Bo (anger 6, surprise 2): Coffee keeps me awake.",
    ]
    assert "- Words: Bo, sleep is for the weak." in section(prompt, "heard")
    assert "- Speaks to: Bo" in section(prompt, "heard")
    assert "(myself)" not in prompt
    environment = section(prompt, "environment")
    assert "Tea or coffee?" in environment
    assert "- Also present: Ada, Bo" in environment


async def test_the_first_utterance_is_compared_with_the_topic() -> None:
    _, prompt = await asked(1)
    assert "<last_utterances>" not in prompt
    assert "opens the conversation" in prompt


async def test_a_score_out_of_range_twice_is_said_and_stops_nothing() -> None:
    update, _ = await asked(2, {**ANSWER, "sentiment": 11})
    (score,) = update["scores"]
    assert (score["turn"], score["speaker"], score["sentiment"], score["coherence"]) == (2, "Bo", None, None)
    assert "sentiment" in score["failed"] and "module analysis" in score["failed"] and "turn 2" in score["failed"]


async def test_a_failure_that_may_pass_is_tried_again() -> None:
    with pytest.raises(TransientModelError), LoopbackServer(answer=lambda body: Fault(503)) as server:
        await analyse(given(2), Settings(model=server.model()))


async def test_it_is_asked_of_its_own_model() -> None:
    with LoopbackServer(answer=Scripted(analysis=ANSWER)) as server:
        settings = Settings(model="openai:gpt-4o-mini", module_models={"analysis": server.model()})
        (score,) = (await analyse(given(2), settings))["scores"]
    assert not score["failed"] and len(server.bodies()) == 1
