"""The offline model through `ask` and `speak`, with the real prompts: directly, and behind a real server."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures import Serve
from loopback.answering import EVALUATED, SCHEMAS
from offline_prompts import blocks_of
from pydantic import BaseModel

from persimchat.models.asking import ask, speak
from persimchat.models.health_check import check_model
from persimchat.models.registry import chat_model
from persimchat.prompts import blocks
from persimchat.state.minds import judgement
from persimchat.state.minds.memory import new_memory
from persimchat.state.minds.mind import Mind, Situation, Utterance
from persimchat.state.persona import Persona
from persimchat.state.settings import Settings

FELT = {"happiness": 4, "sadness": 1, "anger": 0, "fear": 1, "disgust": 0, "surprise": 2}
ANN = Persona(name="Ann Miller", description="A gardener who likes quiet mornings.", traits=["calm"])
HEARD: Utterance = {
    "turn": 2,
    "speaker": "Ben Novak",
    "text": "Should the village plant more trees along the road, Ann?",
    "addressees": ["Ann Miller"],
    "emotion": FELT,
    "need_to_talk": {"Ann Miller": 5, "Ben Novak": 6},
    "response_time_s": 1.0,
    "tokens": {"input": 1, "output": 1},
}
SITUATION: Situation = {
    "simulation": "test",
    "topic": "Should the village plant more trees?",
    "turn": 2,
    "max_messages": 10,
    "present": ["Ann Miller", "Ben Novak"],
    "rules": [],
    "relationships": [],
    "recent": [HEARD],
    "debate": None,
    "closing": False,
}
MIND: Mind = {"name": "Ann Miller", "emotion": FELT, "need_to_talk": 5, "goals": []}
MEMORIES = [
    new_memory("Ann Miller", n, "perception", f"Ben spoke about tree number {n}", ["tree"], 5, list(FELT.values()))
    for n in range(1, 7)
]


def values() -> dict[str, Any]:
    common = {
        "basic_information": blocks.basic_information(ANN, knowledge=True),
        **blocks_of(MIND, SITUATION, ANN.name, MEMORIES, 1),
    }
    order = ("basic_information", "needs_and_emotions", "memories", "environment", "last_utterances")
    speaking = {"blocks": [common[tag] for tag in order], "register": "casual", "words": 25, "debate": False}
    checking = {"left_out": [common["goals"]], "wording": blocks.wording(ANN.name, "More trees, please.", [])}
    leaving = blocks.Item("stm", MEMORIES[1].model_dump())
    return {**common, "leaving": leaving, "similarity": 0.4, "name": ANN.name, **speaking, **checking}


async def judged(task: str, settings: Settings) -> BaseModel:
    schema = getattr(judgement, SCHEMAS[task])
    asked = {"settings": settings, "agent": "Ann Miller", "module": task, "turn": 2}
    answer = await ask(task, schema, **asked, **values())
    assert answer.call["calls"] == 1
    assert isinstance(answer.value, schema)
    return answer.value


JUDGED = [task for task in SCHEMAS if task not in EVALUATED]


@pytest.mark.parametrize("task", JUDGED)
async def test_every_task_is_answered_at_the_first_try_and_the_same_again(task: str) -> None:
    settings = Settings(model="offline", seed=7)
    assert await judged(task, settings) == await judged(task, settings)


async def said(settings: Settings) -> str:
    asked = {"settings": settings, "agent": "Ann Miller", "module": "natural_language", "turn": 2}
    spoken = await speak("utterance", **asked, **values())
    assert spoken.response_time_s > 0
    assert spoken.call["cost_usd"] in (0.0, None)
    return spoken.text


async def test_words_are_spoken_and_depend_on_the_seed() -> None:
    assert await said(Settings(model="offline", seed=7)) == await said(Settings(model="offline", seed=7))
    assert len({await said(Settings(model="offline", seed=seed)) for seed in range(8)}) > 1


@pytest.mark.parametrize("refuses", [set(), {"json_schema"}, {"json_schema", "tools", "json_object"}])
async def test_the_loopback_server_carries_every_task_in_every_form(refuses: set[str], serve: Serve) -> None:
    server = serve(refuses=refuses)
    settings = Settings(model=server.model(), seed=7)
    await check_model(server.model(), settings)
    for task in JUDGED:
        await judged(task, settings)
    assert await said(settings)


async def test_the_offline_model_needs_no_check() -> None:
    assert "offline" in await check_model("offline", Settings())
    assert chat_model("offline", Settings(seed=1)) is not chat_model("offline", Settings(seed=2))
