"""Typical content of a prompt after a number of utterances: minds, memories and utterances of typical length.

The personas, relationships, goals, topic and rules are the conversation's own. Filler stands for the text of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field

from persimchat.graph.ending import leave_takers
from persimchat.prompts.blocks import LEAST_MEMORY_COST, within_budget
from persimchat.state.emotion import EMOTIONS
from persimchat.state.guide import Guide
from persimchat.state.memory import Memory, MemoryKind, given_memories, new_memory
from persimchat.state.mind import GuideSituation, Mind, Situation, Utterance
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MemoryLength(_Part):
    """One memory: UTF-8 bytes of its theme, number of keywords, bytes of a keyword."""

    theme: int = Field(gt=0)
    keywords: int = Field(ge=1)
    keyword: int = Field(gt=0)


class PlanLength(_Part):
    """UTF-8 bytes of a plan's text without its theme, which is that of a memory."""

    identity: int = Field(gt=0)
    reaction: int = Field(gt=0)


class Lengths(_Part):
    """The table.

    Attributes:
        measured: year and month.
        answer_tokens: tokens of one answer, by task.
        answer_tokens_a_participant: tokens more with every participant, by task.
        answer_shares: what is left of an answer, by ablation of a story and task, 0 to 1.
        bytes_a_word: UTF-8 bytes of a word of an utterance.
        memories: by kind.
        plan: sizes of a plan's text without its theme.
        reflecting: share of actions that reflect, 0 to 1.
        kept: share of memories that memory filtering keeps, 0 to 1.
    """

    measured: str
    answer_tokens: dict[str, int]
    answer_tokens_a_participant: dict[str, int]
    answer_shares: dict[str, dict[str, float]]
    bytes_a_word: float = Field(gt=0)
    memories: dict[MemoryKind, MemoryLength]
    plan: PlanLength
    reflecting: float = Field(ge=0, le=1)
    kept: float = Field(ge=0, le=1)

    def answered(self, task: str, *, participants: int, words: int, utterances: int = 1) -> int:
        """Tokens of one answer to a task.

        Args:
            task: by the name in its prompt.
            participants: how many take part.
            words: of an utterance (setting `utterance_words`).
            utterances: of a script (baseline `single_agent`).
        """
        spoken = max(1, round(words * self.bytes_a_word / 4))
        if task in ("utterance", "first_response", "group_chat"):
            return spoken
        if task == "script":
            return utterances * (spoken + self.answer_tokens["script"])
        return self.answer_tokens[task] + participants * self.answer_tokens_a_participant.get(task, 0)


@cache
def lengths() -> Lengths:
    """The table, read once."""
    text = (files("persimchat.runs.reports") / "estimate_lengths.yaml").read_text(encoding="utf-8")
    return Lengths.model_validate(yaml.safe_load(text))


_FELT: Final = dict.fromkeys(EMOTIONS, 0) | dict.fromkeys(EMOTIONS[:3], 3)
"""Half of all emotions are above 0."""

_MIDDLE: Final = 5
_INSIGHTS: Final = 5


def filler(length: int) -> str:
    """Filler text of this many bytes."""
    return ("word " * (length // 5 + 1))[: max(1, length)].strip().ljust(max(1, length), "x")


@dataclass(frozen=True)
class Typical:
    """A conversation of typical content.

    Attributes:
        scenario: who takes part and what about.
        settings: of the simulation.
        lengths: the table of lengths.
    """

    scenario: Scenario
    settings: Settings
    lengths: Lengths

    @property
    def names(self) -> list[str]:
        """Of all participants, in order of listing."""
        return [persona.name for persona in self.scenario.participants]

    @property
    def _felt(self) -> dict[str, int]:
        """An emotional state; empty where minds do not change."""
        return dict(_FELT) if self._changes else {}

    @property
    def _changes(self) -> bool:
        """Whether minds change; in baselines, participants have none."""
        return self.settings.baseline is None and self.settings.cognition != "fixed"

    def utterance(self, turn: int) -> Utterance:
        """The utterance with this number; the participants speak in turn."""
        return {
            "turn": turn,
            "speaker": self.names[(turn - 1) % len(self.names)],
            "text": filler(round(self.settings.utterance_words * self.lengths.bytes_a_word)),
            "addressees": [],
            "emotion": self._felt,
            "need_to_talk": {},
            "response_time_s": 0.0,
            "tokens": {"input": 0, "output": 0},
            "corrections": [],
        }

    def situation(self, name: str, turn: int, *, window: int | None = None) -> Situation:
        """The situation of a participant after a number of utterances, as in `graph/situation.py`."""
        first = max(1, turn - (window or self.settings.recent_utterances) + 1)
        ties = self.scenario.relationships if self.settings.relationships else []
        own = [tie.seen_by(name) for tie in ties if name in (tie.from_, tie.to)]
        takers = leave_takers(len(self.names), self.settings.max_messages)
        leaving = self.settings.closing != "off" and 0 < self.settings.max_messages - turn <= takers
        form: Any = {"format": self.settings.answer_format, "choices": self.settings.choices}
        situation: Situation = {
            "simulation": "",
            "topic": self.scenario.topic,
            "turn": turn,
            "max_messages": self.settings.max_messages,
            "present": self.names,
            "rules": list(self.scenario.rules),
            "relationships": [seen for seen in own if seen is not None],
            "recent": [self.utterance(number) for number in range(first, turn + 1)],
            "debate": form if self.settings.mode == "debate" else None,
            "closing": bool(leaving and turn and self.scenario.guide is None),
        }
        guide = self.scenario.guide
        return situation if guide is None else {**situation, "guide": self._guide(guide, turn)}

    def _guide(self, guide: Guide, turn: int) -> GuideSituation:
        """The guide after a number of utterances, if every question has as many answers as it may have."""
        number, left = 0, turn
        while left > 0 and number < len(guide.questions):
            number += 1
            left -= 1 + guide.most_answers(number, len(self.names) - 1)
        put = guide.questions[number - 1].ask if number else ""
        seen: GuideSituation = {"moderator": guide.moderator, "number": number, "of": len(guide.questions), "put": put}
        if guide.stimulus is not None and guide.shown_by(number):
            seen["stimulus"] = guide.stimulus.model_dump(exclude_none=True)
        return seen

    def mind(self, persona: Persona, turn: int, *, speaks: bool = True) -> Mind:
        """A mind after a number of utterances, without a situation."""
        thoughts = self._thoughts(turn, speaks=speaks) * (1 - self.lengths.reflecting)
        mind: Mind = {
            "name": persona.name,
            "persona": persona.model_dump(),
            "goals": self.scenario.goals_of(persona) if speaks and self.settings.social_goals else [],
            "emotion": self._felt,
            "plan": self._plan() if thoughts >= 0.5 else None,
            "stm": self.memory("perception", turn).model_dump() if turn and self._changes else None,
            "utterances": turn // len(self.names) if speaks else 0,
            "last_spoke": max(0, turn - 1),
        }
        speaks &= self._changes
        if speaks:
            mind["need_to_talk"] = _MIDDLE
        if speaks and self.settings.mode == "debate":
            mind["openness"] = _MIDDLE
        return mind

    @cached_property
    def _recalled(self) -> dict[tuple[int, str | None], list[Memory]]:
        """What `memories` has found: several tasks of one mind recall the same."""
        return {}

    def memories(self, turn: int, persona: Persona | None = None) -> list[Memory]:
        """The memories recalled after the utterance with this number, cut to a prompt's budget.

        Args:
            turn: number of the utterance.
            persona: whose; None for the persona judge.
        """
        key = (turn, persona.name if persona is not None else None)
        if key not in self._recalled:
            self._recalled[key] = self._recall(turn, persona)
        return self._recalled[key]

    def _recall(self, turn: int, persona: Persona | None) -> list[Memory]:
        speaks, given = persona is not None, given_memories(persona) if persona else []
        if self.settings.cognition == "fixed":
            return within_budget(given, self.settings.memory_tokens)
        if turn < 1 or not self._changes:
            return []
        kept = self.lengths.kept if self.settings.memory_filtering else 1.0
        thoughts = self._thoughts(turn, speaks=speaks)
        reflections = thoughts * self.lengths.reflecting
        alive: dict[MemoryKind, float] = {
            "perception": (turn - 1) * kept,
            "reflection": reflections * (_INSIGHTS - 1 + kept),
            "plan": thoughts * (1 - self.lengths.reflecting) * kept,
        }
        total = sum(alive.values())
        most = min(self.settings.ltm_capacity, self.settings.memory_tokens // LEAST_MEMORY_COST + 1)
        made: dict[MemoryKind, int] = dict.fromkeys(alive, 0)
        found = []
        for number in range(1, min(round(total), most) + 1):
            # The kind that is furthest behind its share comes next.
            kind = max(alive, key=lambda kind: alive[kind] * number / total - made[kind])
            made[kind] += 1
            found.append(self.memory(kind, turn, number))
        return within_budget([*found, *given], self.settings.memory_tokens)

    def memory(self, kind: MemoryKind, turn: int, number: int = 0) -> Memory:
        """One memory of typical length."""
        of = self.lengths.memories[kind]
        words = [filler(of.keyword)] * of.keywords
        return new_memory("", turn, kind, filler(of.theme), words, _MIDDLE, [0] * len(EMOTIONS), index=number)

    def _thoughts(self, turn: int, *, speaks: bool) -> float:
        """How often a mind is expected to have thought: from the second utterance on, whenever it did not speak."""
        if not self.settings.planning_and_reflection or not self._changes:
            return 0.0
        share = (len(self.names) - 1) / len(self.names) if speaks else 1.0
        return max(0, turn - 1) * share

    def _plan(self) -> dict[str, Any]:
        length = self.lengths.plan
        return {
            "identity": filler(length.identity),
            "reaction": filler(length.reaction),
            "react": True,
            "theme": filler(self.lengths.memories["plan"].theme),
        }
