"""What tests of companions share: a scripted model in the offline model's place, and a world in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from persimchat.graph.companion.companion import companion_graph
from persimchat.graph.companion.records import Records
from persimchat.models.offline import OfflineChatModel
from persimchat.state.companion import Tie, new_person_id, thread_id
from persimchat.state.companion.place import Place
from persimchat.state.minds.mind import Mind
from persimchat.state.settings import Settings

ODA = {
    "persona": {"name": "Oda Brandvik", "description": "Sells tickets at the ferry stage."},
    "at": "Stage/hut",
    "confides": [{"trust": 7, "text": "She has applied for a job in town."}],
}
FERRY = Place.model_validate(
    {
        "world": "Lake",
        "occasion": "waiting for the boat",
        "places": {"Stage": {"hut": {"stove": "lit"}}},
        "agents": [ODA],
    }
)


class Scripted:
    """The scripted model: answers every task of a companion, and records who was given which prompt."""

    def __init__(self, **replaced: Callable[[Any], Any]) -> None:
        self.asked: list[tuple[str, str]] = []
        """Task and text of the prompt."""
        self.replaced = replaced

    def install(self, patch: pytest.MonkeyPatch) -> Scripted:
        """Let it answer in the offline model's place."""
        patch.setattr(OfflineChatModel, "answer", lambda _, messages: self(messages))
        return self

    def __call__(self, messages: list[Any]) -> str:
        text = "\n".join(str(message.text) for message in messages)
        source = next(m.source for m in messages if getattr(m, "source", None) is not None)
        task = source.values["module_name"] if source.template == "parts" else source.template
        self.asked.append((task, text))
        parts = source.values["parts"] if source.template == "parts" else None
        found: Any = (
            self._one(task, source.values) if parts is None else {p: self._one(p, source.values) for p in parts}
        )
        return found if isinstance(found, str) else json.dumps(found)

    def prompts(self, task: str) -> list[str]:
        """The prompts of a task, in the order in which they were asked."""
        return [text for name, text in self.asked if name == task]

    def _one(self, task: str, values: Any) -> Any:
        if task in self.replaced:
            return self.replaced[task](values)
        match task:
            case "companion":
                return f"Well, that is number {len(self.prompts('companion'))}."
            case "perception":
                return {"theme": "They told something.", "keywords": ["something"], "importance": 4}
            case "emotion":
                return {"reasoning": "So.", **dict.fromkeys(("sadness", "anger", "fear", "disgust", "surprise"), 0),
                        "happiness": 6}  # fmt: skip
            case "trust":
                return {"reasoning": "So.", "cause": "disclosure", "change": 1, "wants_to_end": False}
            case "consolidation":
                return {"summary": "We talked.", "keywords": ["talk"], "importance": 5, "relationship": "acquaintance",
                        "note": "", "promises": [], "facts": []}  # fmt: skip
            case "events":
                (block,) = (one for one in values.values() if getattr(one, "tag", "") == "events")
                return {"events": [{"number": item["number"], "importance": 6, "sentence": f"I see: {item['text']}"}
                                   for item in block.items]}  # fmt: skip
            case "reacting":
                return {"reasoning": "So.", "react": values["may"][-1], "words_about": "What was seen."}
            case "day_plan":
                entry = {"start": "08:00", "minutes": 120, "activity": "sell tickets", "place": 1}
                return {"wakes": "06:00", "sleeps": "22:00",
                        "entries": [entry | {"start": f"{8 + 2 * n:02}:00"} for n in range(5)]}  # fmt: skip
            case "chunks":
                half = values["minutes"] // 2
                return {"chunks": [{"minutes": half, "activity": f"{values['activity']}, part {n}"} for n in (1, 2)]}
            case "focal_points" | "questions":
                return {"questions": ["Who?", "What?", "Why?"]}
            case "reflection":
                insight = {"theme": "People come and go.", "keywords": ["people"], "evidence": [1], "importance": 5}
                return {"insights": [insight | {"theme": f"Insight {n}."} for n in range(5)]}
        raise AssertionError(f"no answer to {task}")


class Talking:
    """A world in this process, without a session: one run of the graph for each occurrence."""

    def __init__(self, place: Place = FERRY, **settings: Any) -> None:
        self.store, self.place = InMemoryStore(), place
        self.graph = companion_graph(InMemorySaver(), self.store)
        self.settings = Settings(**{"model": "offline", "cognition": "lean", "ltm_capacity": 2000, **settings})
        self.records = Records("lake", self.store)
        self._minutes = 0

    async def come(self, kind: str = "message", person: str = "Petr", **occurrence: Any) -> dict[str, Any]:
        """What one occurrence gives."""
        if await self.records.place() is None:
            await self.records.keep_place(self.place)
        own = self.settings.companion.model_copy(update={"world": "lake", "person": person})
        settings = self.settings.model_copy(update={"companion": own})
        self._minutes += 1
        at = f"2025-03-03T{8 + self._minutes // 60:02}:{self._minutes % 60:02}:00"
        thread = thread_id("lake", self.place.agents[0].name, new_person_id(person))
        found: dict[str, Any] = await self.graph.ainvoke(
            {"occurrence": {"kind": kind, "at": at, **occurrence}},
            {"configurable": {"thread_id": thread}},
            context=settings,
            durability="sync",
        )
        return found

    async def say(self, text: str, person: str = "Petr", **occurrence: Any) -> dict[str, Any]:
        """The answer to words, appraised."""
        found = await self.come("message", person, text=text, **occurrence)
        answer: dict[str, Any] = found["answer"]
        return answer

    async def tie(self, person: str = "Petr") -> Tie:
        """What the agent knows of a person."""
        found = await self.records.tie(self.place.agents[0].name, new_person_id(person))
        assert found is not None
        return found

    async def mind(self) -> Mind:
        """The agent's mind."""
        found = await self.records.mind(self.place.agents[0].name)
        assert found is not None
        return found
