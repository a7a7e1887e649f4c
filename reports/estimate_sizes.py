"""Typical content of a prompt after a number of utterances: minds, memories and utterances of typical length.

The personas, relationships, goals, topic and rules are the conversation's own. Filler stands for the text of models.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from os.path import commonprefix
from typing import Any, Final

from langchain_core.messages import BaseMessage
from pydantic import BaseModel, ConfigDict, Field

from ..graph.calls import LEAN_REFLECTS
from ..graph.ending import leave_takers
from ..models import ladder
from ..models.drawn import answer_to
from ..models.exchange import wording
from ..models.naming import ModelName
from ..models.schemas import prompt_schema
from ..models.usage import cost_usd
from ..nodes.debates.judge import judge_blocks
from ..nodes.minds.appraising import AT_ONCE, parts_of, prompt_values, told_of
from ..nodes.minds.context import common_blocks
from ..nodes.minds.natural_language import in_order
from ..nodes.minds.revision import question_of
from ..nodes.onlookers import selection_schema
from ..prompts import blocks, render
from ..prompts.blocks import LEAST_MEMORY_COST, Item, estimated_tokens, within_budget
from ..prompts.spans import together, units_of
from ..state.baselines.rounds import answering_schema, decision_schema
from ..state.debates.verdict import answer_description, has_positions_in_form, majority_schema, verdict_schema
from ..state.document import table
from ..state.minds import judgement
from ..state.minds.emotion import EMOTIONS
from ..state.minds.memory import Memory, MemoryKind, given_memories, new_memory
from ..state.minds.mind import GuideSituation, Mind, Situation, Step, Utterance, in_step
from ..state.minds.pruning import select
from ..state.packages import kept
from ..state.persona import Persona
from ..state.poll import Guide
from ..state.scenario import Scenario
from ..state.settings import Settings


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


class StoryLengths(_Part):
    """Tokens of prompts of a story's own tasks.

    Attributes:
        around: the words around the data, by task.
        less: what a prompt lacks by ablation and task.
        line: of what has happened.
        utterance: said in a room.
        place: by which round, stage and room are longer than a conversation's progress.
    """

    around: dict[str, int]
    less: dict[str, dict[str, int]]
    line: int
    utterance: int
    place: int


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
        story: of a story's own prompts.
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
    story: StoryLengths

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
        if task not in self.answer_tokens:
            return estimated_tokens(json.dumps(of_package(task)))
        return self.answer_tokens[task] + participants * self.answer_tokens_a_participant.get(task, 0)


@cache
def lengths() -> Lengths:
    """The table, read once."""
    return Lengths.model_validate(table(__file__, "estimate_lengths.yaml"))


_FELT: Final = dict.fromkeys(EMOTIONS, 0) | dict.fromkeys(EMOTIONS[:3], 3)
"""Half of all emotions are above 0."""

_MIDDLE: Final = 5
_INSIGHTS: Final = 5
_LEAN_PLANS: Final = 1 / 3
"""With lean cognition, how often what a mind hears changes its plan."""


@kept
def of_package(module: str) -> dict[str, Any]:
    """An answer to a module of an installed package: typical, for want of others, is the one that is drawn."""
    return answer_to(module, random.Random(module))


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
        return dict(_FELT) if self._changes and "emotion" not in self.settings.ablation else {}

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
        if self.settings.brief is not None:
            situation["brief"] = self.settings.brief
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
        _, plans = self._thoughts(turn, speaks=speaks)
        mind: Mind = {
            "name": persona.name,
            "persona": persona.model_dump(),
            "goals": self.scenario.goals_of(persona) if speaks and self.settings.social_goals else [],
            "emotion": self._felt,
            "plan": self._plan() if plans >= 0.5 else None,
            "stm": self.memory("perception", turn).model_dump() if turn and self._changes else None,
            "utterances": turn // len(self.names) if speaks else 0,
            "last_spoke": max(0, turn - 1),
        }
        speaks &= self._changes
        gone = self.settings.left_out
        if speaks and "need_to_talk" not in gone:
            mind["need_to_talk"] = _MIDDLE
        if speaks and self.settings.mode == "debate" and "openness" not in gone:
            mind["openness"] = _MIDDLE
        if speaks and turn and self.settings.modules:
            mind["own"] = {name: of_package(name) for name in self.settings.modules}
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
        if turn < 1 or not self._changes or "recall" in self.settings.ablation:
            return []
        kept = self.lengths.kept if self.settings.memory_filtering else 1.0
        reflections, plans = self._thoughts(turn, speaks=speaks)
        alive: dict[MemoryKind, float] = {
            "perception": (turn - 1) * kept,
            "reflection": reflections * (_INSIGHTS - 1 + kept),
            "plan": plans * kept,
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

    def _thoughts(self, turn: int, *, speaks: bool) -> tuple[float, float]:
        """How often a mind is expected to have reflected and to have planned.

        That is from the second utterance on, whenever it did not speak; with lean cognition, a plan comes with what it
        hears.
        """
        if not self.settings.thinks or not self._changes:
            return 0.0, 0.0
        share = (len(self.names) - 1) / len(self.names) if speaks else 1.0
        thoughts, gone = max(0, turn - 1) * share, self.settings.left_out
        reflecting = LEAN_REFLECTS if self.settings.cognition == "lean" or "action" in gone else self.lengths.reflecting
        plans = thoughts * (1 - reflecting)
        if self.settings.cognition == "lean":
            plans = 1 + turn * _LEAN_PLANS if turn else 0.0
        return thoughts * reflecting * ("reflection" not in gone), plans * ("planning" not in gone)

    def _plan(self) -> dict[str, Any]:
        length = self.lengths.plan
        return {
            "identity": filler(length.identity),
            "reaction": filler(length.reaction),
            "react": True,
            "theme": filler(self.lengths.memories["plan"].theme),
        }


def expected(
    settings: Settings,
    agent: str,
    module: str,
    name: ModelName,
    *,
    calls: float,
    given: float,
    made: float,
    cached: float = 0.0,
) -> dict[str, Any]:
    """A row of an estimate: the calls of one agent and module, tokens in and out, and what they cost.

    `cached_tokens` are those that may come from a server's cache; `least_usd` is the cost if they do.
    """
    whole = (name, round(given), round(made), settings.prices)
    return {
        "agent": agent,
        "module": module,
        "model": name.written,
        "calls": calls,
        "input_tokens": given,
        "cached_tokens": cached,
        "output_tokens": made,
        "estimated": True,
        "cost_usd": cost_usd(*whole),
        "least_usd": cost_usd(*whole, cached_tokens=round(cached)),
    }


# Tokens of one task's prompt after a number of utterances: the real templates, rendered with typical content


_SCHEMAS: Final[dict[str, type[BaseModel]]] = {
    "perception": judgement.Percept,
    "focal_points": judgement.FocalPoints,
    "memory_filtering": judgement.Consolidation,
    "need_to_talk": judgement.NeedToTalk,
    "openness": judgement.Openness,
    "action": judgement.Action,
    "emotion": judgement.Feeling,
    "reflection": judgement.Reflection,
    "planning": judgement.Plan,
    "analysis": judgement.Score,
    "inconsistency": judgement.Inconsistency,
}
_SPOKEN: Final = ("utterance", "first_response", "group_chat")
"""Tasks whose answer is an utterance, or words like one."""
_BEFORE_IT_IS_MADE: Final = (*_SPOKEN, "inconsistency", "reflection", "planning", "selector")
"""Tasks that run while an utterance is made, so their prompts have only the utterances before it."""
_RECALL_NOTHING: Final = ("perception", "focal_points", "hearing", "group_chat")
_SIMILARITY: Final = 0.5


def tokens_of(messages: list[BaseMessage]) -> int:
    """Tokens of a prompt, estimated as the accounting does if a server reports none."""
    return sum(estimated_tokens(str(message.text)) for message in messages)


LEAST_CACHED: Final = 1024
CACHED_STEP: Final = 128
"""The shortest beginning that is cached, and the step in which it grows, in tokens (OpenAI's rule)."""


def whole_steps(tokens: int) -> int:
    """Tokens that are cached of a beginning of so many."""
    return tokens // CACHED_STEP * CACHED_STEP if tokens >= LEAST_CACHED else 0


def cached_of(prompt: list[BaseMessage], earlier: list[BaseMessage], front: int) -> int:
    """Tokens of a prompt that a server may have from an earlier one, by OpenAI's rule.

    Args:
        prompt: the prompt.
        earlier: one that was asked before.
        front: tokens in front of both, which are no part of them: of the answer's schema.
    """
    alike = commonprefix(["\n".join(str(message.text) for message in one) for one in (prompt, earlier)])
    return max(0, whole_steps(front + estimated_tokens(alike)) - front)


def prompt_of_mind(
    typical: Typical, persona: Persona, task: str, turn: int, *, speaks: bool = True
) -> list[BaseMessage]:
    """The prompt of one task of a mind, or of a persona of the group_chat baseline, at one utterance.

    Args:
        typical: the conversation.
        persona: whose mind.
        task: by the name in its prompt.
        turn: number of the utterance that is made or heard; 0 at the awakening.
        speaks: False for the persona judge's mind.
    """
    known = turn - 1 if task in _BEFORE_IT_IS_MADE else turn
    mind = _mind(typical, persona, known, speaks=speaks)
    if turn and task not in _BEFORE_IT_IS_MADE:
        mind["heard"] = typical.utterance(turn)
    if turn == 0 and task == "emotion":
        mind["emotion"] = {}
    if turn == 0:
        mind.pop("need_to_talk", None)
        mind.pop("openness", None)
    shown = [] if task in _RECALL_NOTHING else typical.memories(known, persona if speaks else None)
    if task == "reflection" and turn:
        shown = [typical.memory("perception", known), *shown]
    common = common_blocks(mind, shown, knowledge=task in (*_SPOKEN, "inconsistency"))
    if task in AT_ONCE:
        parts = parts_of(task, mind, typical.settings)
        return render("parts", **prompt_values(task, parts, common))
    if task in _SPOKEN:
        return _utterance("group_chat" if task == "group_chat" else "utterance", typical, mind, common)
    if task == "inconsistency":
        return _check(typical, mind, common, turn)
    more: dict[str, Any] = {}
    if task == "memory_filtering":
        more = {"leaving": Item("stm", typical.memory("perception", turn).model_dump()), "similarity": _SIMILARITY}
    own = task in typical.settings.modules
    return render("own" if own else task, **common, **(told_of([task]) if own else more))


def prompt_of_onlooker(typical: Typical, task: str, turn: int, *, judge: Persona | None = None) -> list[BaseMessage]:
    """The prompt of one task of judge, selector or analysis at one utterance.

    Args:
        typical: the conversation.
        task: "judge", "majority", "selector" or "analysis".
        turn: number of the utterance.
        judge: the persona judge; None for a judge that sees a window.
    """
    return _ONLOOKERS[task](typical, turn, judge)


def judgements(typical: Typical, task: str) -> dict[str, float]:
    """The judgements in the answer to a task, several if the mind gives them in one; and how often each is given."""
    if task not in AT_ONCE:
        return {task: 1.0}
    name = typical.names[0]
    mind: Step = {"name": name, "situation": typical.situation(name, 1), "heard": typical.utterance(1)}
    parts = parts_of(task, mind, typical.settings)
    return {part: _LEAN_PLANS if part in judgement.IF_CHANGED else 1.0 for part in parts}


def schema_tokens(typical: Typical, task: str, model: ModelName) -> tuple[int, int]:
    """Tokens of an answer's schema in front of the prompt, and in it; both are 0 if the model gets none.

    Only a request shows what a server refuses; until then, the server is assumed to support all forms.
    """
    if task in (*_SPOKEN, "script") or model.provider == "offline":
        return 0, 0
    names, settings = tuple(typical.names), typical.settings
    made: dict[str, Callable[[], type[BaseModel]]] = {
        "judge": lambda: verdict_schema(names, settings.answer_format, tuple(settings.choices)),
        "majority": lambda: majority_schema(names, settings.answer_format, tuple(settings.choices)),
        "selector": lambda: selection_schema(names),
        "answering": lambda: answering_schema(
            settings.answer_format, tuple(settings.choices), confident=settings.baseline == "reconcile"
        ),
        "mad_judge": lambda: decision_schema(settings.answer_format, tuple(settings.choices)),
    }
    made |= dict.fromkeys(AT_ONCE, lambda: judgement.in_parts(*judgements(typical, task)))
    made |= {name: partial(judgement.own_module, name) for name in settings.modules}
    schema = _SCHEMAS[task] if task in _SCHEMAS else made[task]()
    if ladder.rung(model).needs_schema_in_prompt:
        return 0, estimated_tokens(wording("json_answer", schema=prompt_schema(schema)))
    return estimated_tokens(prompt_schema(schema)), 0


def _mind(typical: Typical, persona: Persona, turn: int, *, speaks: bool = True) -> Step:
    return in_step(typical.mind(persona, turn, speaks=speaks), situation=typical.situation(persona.name, turn))


def _utterance(template: str, typical: Typical, mind: Step, common: dict[str, Any]) -> list[BaseMessage]:
    situation, settings = mind["situation"], typical.settings
    return render(
        template,
        blocks=[*in_order(common, settings.prompt_order), blocks.avoid(())],
        name=mind["name"],
        debate=situation["debate"] is not None,
        closing=situation["closing"],
        register=settings.speech_register,
        words=settings.utterance_words,
    )


def _check(typical: Typical, mind: Step, common: dict[str, Any], turn: int) -> list[BaseMessage]:
    """The question whether an utterance contradicts what was left out, as if the longest pieces of information were."""
    pruning, order = typical.settings.pruning, typical.settings.prompt_order
    units = units_of(in_order(common, order))
    whole = [unit for unit in units if order[unit.block] in pruning.remove]
    others = [unit for unit in units if order[unit.block] not in pruning.remove]
    gone = select([estimated_tokens(unit.text) for unit in others], pruning.strength, fill=pruning.fill)
    left_out = together([*whole, *(others[n] for n in gone)])
    return question_of(typical.utterance(turn)["text"], left_out, mind).messages


def _judging(task: str) -> Callable[[Typical, int, Persona | None], list[BaseMessage]]:
    def prompt(typical: Typical, turn: int, judge: Persona | None) -> list[BaseMessage]:
        settings = typical.settings
        situation = typical.situation("", turn, window=settings.judge_window)
        standing = blocks.group(_minds(typical, turn))
        if judge is None:
            shown = [blocks.environment(situation, ""), standing, blocks.observed(situation["recent"])]
        else:
            mind = in_step(typical.mind(judge, turn, speaks=False), situation=situation)
            common = common_blocks(mind, typical.memories(turn))
            shown = judge_blocks(common, standing)
        form = settings.answer_format
        described = answer_description(form, settings.choices)
        return render(task, blocks=shown, form=described, in_form=has_positions_in_form(form))

    return prompt


def _selector(typical: Typical, turn: int, judge: Persona | None) -> list[BaseMessage]:
    situation = typical.situation("", turn - 1)
    shown = ("name", "utterances", "last_spoke")
    return render(
        "selector",
        environment=blocks.environment(situation, ""),
        group=blocks.group({k: v for k, v in mind.items() if k in shown} for mind in _minds(typical, turn - 1)),
        last_utterances=blocks.observed(situation["recent"]),
        candidates=typical.names[1:] if turn > 1 and not typical.settings.allow_repeated_speaker else typical.names,
    )


def _analysis(typical: Typical, turn: int, judge: Persona | None) -> list[BaseMessage]:
    situation = typical.situation("", turn)
    return render(
        "analysis",
        environment=blocks.environment(situation, ""),
        last_utterances=blocks.observed(situation["recent"][:-1]),
        heard=blocks.heard(typical.utterance(turn), ""),
    )


def _minds(typical: Typical, turn: int) -> list[dict[str, Any]]:
    return [dict(typical.mind(persona, turn)) for persona in typical.scenario.participants]


_ONLOOKERS: Final = {
    "judge": _judging("judge"),
    "majority": _judging("majority"),
    "selector": _selector,
    "analysis": _analysis,
}
