"""A light simulation: the real templates, one model, no graph. Fixtures for the offline model's tests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from offline_prompts import blocks_of, situation, utterance

from persimchat.graph.ending import leave_takers
from persimchat.models.offline import OfflineChatModel
from persimchat.personas.catalogue import shipped as shipped_personas
from persimchat.prompts import blocks as b
from persimchat.prompts import render
from persimchat.state.minds.addressing import addressees
from persimchat.state.minds.judgement import Feeling, NeedToTalk, Openness, Percept, Plan
from persimchat.state.minds.memory import Memory, new_memory
from persimchat.state.persona import Persona


@dataclass
class Talk:
    """One simulated conversation. `utterances` holds what was said, in order."""

    personas: list[Persona]
    topic: str
    limit: int = 12
    seed: int = 0
    register: str = "casual"
    words: int = 25
    relationships: list[dict[str, str]] = field(default_factory=list)
    goals: dict[str, list[str]] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    plans: bool = False
    takes_leave: bool = True
    debate: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.model = OfflineChatModel(seed=self.seed)
        self.utterances: list[dict[str, Any]] = []
        self.memories: dict[str, list[Memory]] = {p.name: [] for p in self.personas}
        self.minds: dict[str, dict[str, Any]] = {
            p.name: {"name": p.name, "goals": [*p.social_goals, *self.goals.get(p.name, [])], "plan": None, "spoken": 0}
            for p in self.personas
        }

    def situation(self, name: str) -> dict[str, Any]:
        seen = [
            {**{k: v for k, v in r.items() if k != "from"}, "to": r["to"] if r["from"] == name else r["from"]}
            | {"side": "from" if r["from"] == name else "to", "note": r.get("note", "")}
            for r in self.relationships
            if name in (r["from"], r["to"])
        ]
        given = {"turn": len(self.utterances), "max_messages": self.limit, "rules": self.rules, "relationships": seen}
        names = [p.name for p in self.personas]
        return situation(names, self.topic, self.utterances[-6:], **given, debate=self.debate, closing=self.closing)

    @property
    def closing(self) -> bool:
        near = self.limit - len(self.utterances) <= leave_takers(len(self.personas), self.limit)
        return self.takes_leave and self.debate is None and near and bool(self.utterances)

    def values(self, persona: Persona) -> dict[str, Any]:
        mind, situation = self.minds[persona.name], self.situation(persona.name)
        known = self.memories[persona.name][::-1][:15]
        return {
            "basic_information": b.basic_information(persona),
            **blocks_of(mind, situation, persona.name, known, mind["spoken"]),
            "short_term_memory": b.short_term_memory(None),
        }

    def ask(self, task: str, persona: Persona, **more: Any) -> Any:
        return json.loads(self.model.invoke(render(task, **{**self.values(persona), **more})).content)

    def appraise(self) -> None:
        for p in self.personas:
            mind = self.minds[p.name]
            if self.utterances:
                percept = Percept.model_validate(self.ask("perception", p))
                vector = list(mind["emotion"].values())
                turn = len(self.utterances)
                kept = new_memory(
                    p.name, turn, "perception", percept.theme, percept.keywords, percept.importance, vector
                )
                self.memories[p.name].append(kept)
            mind["emotion"] = Feeling.model_validate(self.ask("emotion", p)).state().model_dump()
            if self.debate is not None:
                mind["openness"] = Openness.model_validate(self.ask("openness", p)).openness
            mind["need_to_talk"] = NeedToTalk.model_validate(self.ask("need_to_talk", p)).need_to_talk
            if self.plans:
                mind["plan"] = Plan.model_validate(self.ask("planning", p)).model_dump()

    def speaker(self) -> Persona:
        last = self.utterances[-1]["speaker"] if self.utterances else ""
        since = self.limit - leave_takers(len(self.personas), self.limit)
        left = {u["speaker"] for u in self.utterances[since:]} if self.closing else set()
        able = [p for p in self.personas if p.name not in left and p.name != last]
        able = able or [p for p in self.personas if p.name != last]
        return max(able, key=lambda p: (self.minds[p.name]["need_to_talk"], -self.minds[p.name]["spoken"]))

    def utterance_prompt(self, persona: Persona) -> Any:
        v = self.values(persona)
        order = ("needs_and_emotions", "relationships", "memories", "plan_and_identity")
        order += ("environment", "last_utterances")
        return render(
            "utterance",
            blocks=[b.basic_information(persona, knowledge=True), *(v[k] for k in order)],
            name=persona.name,
            register=self.register,
            words=self.words,
            debate=self.debate is not None,
            closing=self.closing,
        )

    def step(self) -> None:
        self.appraise()
        persona = self.speaker()
        mind = self.minds[persona.name]
        text = str(self.model.invoke(self.utterance_prompt(persona)).content)
        mind["spoken"] += 1
        said = utterance(persona.name, text, len(self.utterances) + 1, **mind["emotion"])
        self.utterances.append(said | {"addressees": addressees(text, persona.name, [p.name for p in self.personas])})

    def run(self) -> list[str]:
        while len(self.utterances) < self.limit:
            self.step()
        return [u["text"] for u in self.utterances]


@pytest.fixture(scope="session")
def shipped() -> list[Persona]:
    return shipped_personas()


@pytest.fixture(scope="session")
def talk() -> type[Talk]:
    return Talk
