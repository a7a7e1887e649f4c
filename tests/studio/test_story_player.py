"""A person who plays a character of a story, on LangGraph's server: interrupts, and the answers that resume them."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

pytestmark = pytest.mark.proof


async def test_a_character_is_played_by_resuming(client: LangGraphClient, thread: str) -> None:
    names = ("Ann Lind", "Bo Vik", "Cy Dahl")
    people = [{"name": name, "description": "Somebody.", "human": name == "Ann Lind"} for name in names]
    characters = {
        name: {"main": True, "beliefs": [{"text": "I lead.", "score": 60, "for": name}]} if name != "Cy Dahl" else {}
        for name in names
    }
    stages = [{"kind": "private", "exchanges": 1}]
    story = {"characters": characters, "stages": stages, "settlement": {}, "first_impressions": False}
    given: dict[str, Any] | None = {"topic": "Who leads?", "participants": people, "story": story}
    context: Any = {"model": "offline", "rounds": 1}
    answers: dict[str, list[Any]] = {
        "choice": [{"choice": "Zoe"}, "Bo"],
        "utterance": ["Hello.", {"pass": True}, {"text": "A last word."}],
        "ballot": [1, "Ann", {"choice": 1}],
    }
    asked, command = [], None
    while True:
        await client.runs.wait(thread, "story", input=given, command=command, context=context)
        state: Any = await client.threads.get_state(thread)
        if not state["interrupts"]:
            break
        question = state["interrupts"][0]["value"]
        asked.append((question["what"], bool(question["problem"])))
        given, command = None, {"resume": answers[question["what"]].pop(0)}
    assert asked[:3] == [("choice", False), ("choice", True), ("utterance", False)]
    assert asked[-2:] == [("ballot", False), ("ballot", False)]
    assert state["values"]["stop_reason"] == "settled"
    rooms = [one for one in state["values"]["happenings"] if one["do"] == "met" and one["speaker"] == "Ann Lind"]
    assert [one["others"] for one in rooms] == [["Bo Vik"]]
