"""Prompts for tests of the offline model: what a person is told, without the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from persimchat.models.offline import OfflineChatModel
from persimchat.prompts import blocks as b
from persimchat.prompts import render
from persimchat.state.minds.emotion import EMOTIONS

CALM = dict.fromkeys(EMOTIONS, 0)


def situation(names: Sequence[str], topic: str, recent: Sequence[Any] = (), **more: Any) -> Any:
    """The situation of a conversation with these participants, as nodes hand it to the blocks."""
    return {
        "simulation": "x",
        "topic": topic,
        "turn": len(recent),
        "max_messages": 20,
        "present": list(names),
        "rules": [],
        "relationships": [],
        "recent": list(recent),
        "debate": None,
        "closing": False,
    } | more


def utterance(speaker: str, text: str, turn: int = 1, **felt: int) -> Any:
    """One utterance, addressed to nobody, by a calm speaker unless told otherwise."""
    return {"turn": turn, "speaker": speaker, "text": text, "addressees": [], "emotion": CALM | felt}


def blocks_of(mind: Any, where: Any, name: str, memories: Sequence[Any] = (), spoken: int = 0) -> dict[str, Any]:
    """What a mind is told in its prompts, by the names of the templates' values, without who it is."""
    last = where["recent"][-1:]
    return {
        "needs_and_emotions": b.needs_and_emotions(mind),
        "relationships": b.relationships(where),
        "memories": b.memories(list(memories)),
        "short_term_memory": b.short_term_memory(memories[0].model_dump() if memories else None),
        "plan_and_identity": b.plan_and_identity(mind),
        "goals": b.goals(mind),
        "plan": b.plan(mind),
        "environment": b.environment(where, name, spoken=spoken),
        "scene": b.scene(where, name),
        "progress": b.progress(where, spoken=spoken),
        "last_utterances": b.last_utterances(where["recent"], name),
        "heard": b.heard(last[0], name, where["present"]) if last else b.Block("heard", ()),
        "closing": where["closing"],
    }


def judged(task: str, schema: Any, seed: int = 0, **values: Any) -> Any:
    """The offline model's answer to a judging task, as the schema reads it."""
    return schema.model_validate(json.loads(str(OfflineChatModel(seed=seed).invoke(render(task, **values)).content)))
