"""The answers of models: one schema per module, with ranges, and the reason before the verdict.

The model reads docstrings and field descriptions as part of the JSON schema, so they are written for the model. If an
answer does not fit its schema, `models/asking.py` asks again and shows the model the validator's message. No answer is
repaired silently: `models/mending.py` counts each correction of a mind's answer. Only texts that are too long are cut
without a second request, because models cannot count characters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    model_validator,
)

from ..companion import Cause
from ..packages import ADDED, class_of, kept, loaded
from ..plain_text import shortened
from .emotion import EmotionalState, Level

LONGEST_REASON: Final = 200
LONGEST_SENTENCE: Final = 300
LONGEST_EXPLANATION: Final = 1500
LONGEST_KEYWORD: Final = 80
"""The most characters of a text in an answer, by kind of text."""


def cut_to(most: int) -> BeforeValidator:
    """A validator that strips a text and cuts it to at most `most` characters, with an ellipsis."""
    return BeforeValidator(lambda value: shortened(value.strip(), most) if isinstance(value, str) else value)


# The constraints come before the validator; after it, JSON schemas would not have them under their names.
Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_REASON), cut_to(LONGEST_REASON)
]
"""Why a mind judges as it does: one sentence."""
Sentence = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_SENTENCE), cut_to(LONGEST_SENTENCE)
]
Explanation = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_EXPLANATION),
    cut_to(LONGEST_EXPLANATION),
]
"""The reasons of a judge, an analyst or a debater, step by step if needed."""
Keyword = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_KEYWORD), cut_to(LONGEST_KEYWORD)
]

Points = Annotated[float, Field(ge=0, le=10), AfterValidator(lambda value: round(value, 1))]
"""A score from 0 to 10 with one decimal."""


class Judgement(BaseModel):
    """Base of all answers: unknown fields are ignored, because models like to add some."""

    model_config = ConfigDict(extra="ignore")


class _Told(Judgement):
    """A judgement whose prompt says what its fields are, so that its schema does not say it again."""

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """The schema without descriptions of its fields."""
        whole = super().model_json_schema(*args, **options)
        bare: dict[str, Any] = without_keywords(whole, ("title", "description"))
        return {key: of for key, of in whole.items() if key in ("title", "description")} | bare


def without_keywords(schema: Any, gone: Collection[str], *, names: bool = False) -> Any:
    """A JSON schema without some keywords; with `names`, the keys are the names of properties, which all stay."""
    if isinstance(schema, dict):
        kept = {key: of for key, of in schema.items() if names or key not in gone}
        return {key: without_keywords(of, gone, names=key == "properties") for key, of in kept.items()}
    return [without_keywords(of, gone) for of in schema] if isinstance(schema, list) else schema


class Percept(_Told):
    """What an agent takes from an utterance (thesis, perception module)."""

    theme: Sentence = Field(description="the overarching theme of what was said and its context, one sentence")
    keywords: list[Keyword] = Field(min_length=1, max_length=8, description="keywords and standout words")
    importance: Level = Field(description="how important this is to the persona, 0 trivial to 10 life-changing")


class FocalPoints(_Told):
    """The three most salient questions about what just happened; they are the queries of retrieval."""

    questions: list[Sentence] = Field(min_length=3, max_length=3, description="three high-level questions")


class Consolidation(_Told):
    """Whether the memory that leaves short-term memory is kept in long-term memory (memory filtering)."""

    reasoning: Reason = Field(description="one sentence: why it is worth keeping or not")
    keep: bool = Field(description="true to keep it in long-term memory, false to forget it")


class NeedToTalk(_Told):
    """How much an agent wants to speak next."""

    reasoning: Reason = Field(description="one sentence: why this much")
    need_to_talk: Level = Field(description="0 nothing to say to 10 cannot hold it back")


class Openness(_Told):
    """How open an agent is to a common answer (debates)."""

    reasoning: Reason = Field(description="one sentence: why this much")
    openness: Level = Field(
        description="0 accepts no common answer within sight to 10 agrees with what is on the table"
    )


class Action(_Told):
    """What an agent will do while somebody else speaks."""

    reasoning: Reason = Field(description="one sentence: why this")
    action: Literal["reflect", "plan"] = Field(description="reflect on what was experienced, or plan what to do")


class Feeling(_Told):
    """An agent's new emotional state."""

    reasoning: Reason = Field(description="one sentence: what changed and why")
    happiness: Level = Field(description="0–10")
    sadness: Level = Field(description="0–10")
    anger: Level = Field(description="0–10")
    fear: Level = Field(description="0–10")
    disgust: Level = Field(description="0–10")
    surprise: Level = Field(description="0–10")

    def state(self) -> EmotionalState:
        """The emotional state alone."""
        return EmotionalState(**self.model_dump(exclude={"reasoning"}))


class Insight(Judgement):
    """One high-level insight of a reflection."""

    theme: Sentence = Field(description="the insight, one sentence")
    keywords: list[Keyword] = Field(min_length=1, max_length=8, description="its keywords")
    evidence: list[Annotated[int, Field(ge=1)]] = Field(
        min_length=1, max_length=10, description="numbers of the memories, as listed, that it rests on"
    )
    importance: Level = Field(description="how important it is to the persona, 0–10")


class Reflection(_Told):
    """Five high-level insights from what was recalled."""

    insights: list[Insight] = Field(min_length=5, max_length=5, description="exactly five insights")


class BriefReflection(Reflection):
    """As many high-level insights as what was recalled bears, at most five."""

    insights: list[Insight] = Field(min_length=1, max_length=5, description="one to five insights")


class Plan(_Told):
    """What an agent intends: who it is now, how it reacts, what it holds on to."""

    progress: Sentence = Field(description="one sentence: is the conversation getting anywhere on its topic?")
    identity: Sentence = Field(description="who I am in this conversation now, first person, one or two sentences")
    react: bool = Field(description="whether to react to the last utterance")
    reaction: Sentence = Field(description="how I will react, or why I will not, one sentence")
    goals: list[Sentence] = Field(default_factory=list, max_length=5, description="goals that I hold on to")
    theme: Sentence = Field(description="the plan, one sentence")
    keywords: list[Keyword] = Field(min_length=1, max_length=8, description="the plan's keywords")
    importance: Level = Field(description="how important the plan is to the persona, 0–10")


class Score(Judgement):
    """How one utterance does in its conversation (analysis; thesis, 5.3)."""

    reasoning: Explanation = Field(description="one sentence: what stands out")
    coherence: Points = Field(description="0.0 beside the point to 10.0 follows from what was said and from the topic")
    sentiment: Points = Field(description="0.0 hostile or despairing, 5.0 neutral, 10.0 warm or delighted")
    engagement: Points = Field(description="0.0 absent or empty phrases to 10.0 deeply involved")


class Inconsistency(Judgement):
    """Whether words contradict what was left out of the prompt for them (revision)."""

    comment: Reason = Field(description="one sentence: what contradicts what, or that nothing does")
    score: Annotated[int, Field(ge=1, le=10)] = Field(description="1 no contradiction to 10 clearly contradicts")


class TrustChange(Judgement):
    """How the words just heard change an agent's trust in the person who said them."""

    reasoning: Reason = Field(description="one sentence: what in the words changes trust, or that nothing does")
    cause: Cause = Field(description="the strongest reason for a change, or none")
    change: Annotated[int, Field(ge=-3, le=1)] = Field(description="-3 much less trust to 1 a little more; 0 unchanged")
    wants_to_end: bool = Field(description="whether this person now wants to end the talk")


PARTS: Final[dict[str, type[Judgement]]] = {
    "perception": Percept,
    "focal_points": FocalPoints,
    "emotion": Feeling,
    "need_to_talk": NeedToTalk,
    "action": Action,
    "openness": Openness,
    "planning": Plan,
    "trust": TrustChange,
}
"""Schemas of the judgements that follow an utterance, by module, in the order that a combined answer has."""


class OwnModule(Judgement):
    """Base of a module of another package: what a mind judges of every utterance that it hears, once it has recalled.

    The fields are what a model answers, each with a description; numbers from 0 to 10 (`Level`) are drawn in charts. A
    package registers a class with the entry point `persimchat.module`; the entry point's name is the module's. Every
    later prompt of the mind shows the fields but `reasoning`.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    TASK: ClassVar[str] = ""
    """What the model is asked, in a few sentences."""

    @model_validator(mode="after")
    def _storable(self) -> Self:
        """Refuse whole numbers that no checkpoint can hold."""
        if not _is_storable(self.model_dump(mode="json")):
            raise ValueError("whole numbers are at most 2**63")
        return self

    @classmethod
    def asks(cls) -> str:
        """The task, and what each field of the answer is."""
        fields = (f"- {name}: {field.description or name}" for name, field in cls.model_fields.items())
        return "\n".join((cls.TASK, *fields))


def _is_storable(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_storable, value.values()))
    if isinstance(value, list):
        return all(map(_is_storable, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**63


@kept
def own_module(name: str) -> type[OwnModule]:
    """A module of an installed package.

    Raises:
        InputError: it cannot be loaded, or has no task or no fields.
    """
    wanted = "class of persimchat.state.minds.judgement.OwnModule with a TASK and fields"
    point, is_one = ADDED["module"][name], class_of(OwnModule)
    found: type[OwnModule] = loaded(point, lambda it: is_one(it) and bool(it.TASK and it.model_fields), wanted)
    return found


def schema_of(module: str) -> type[Judgement]:
    """The schema of one module's judgement, of this package or of another."""
    return PARTS[module] if module in PARTS else own_module(module)


IF_CHANGED: Final = frozenset({"planning"})
"""Parts of a combined answer that are null where nothing has changed."""


@kept
def in_parts(*modules: str) -> type[Judgement]:
    """The schema of a combined answer of several modules (the setting `cognition`): one field per module, in order.

    Only that of a long one leaves out what the prompt says. Servers cache what prompts have in common from about 1,024
    tokens on, schema included: below that, a shorter schema costs more than it saves (benchmarks/prefix.py).

    Args:
        modules: names of `PARTS`, and modules of installed packages.
    """
    fields: dict[str, Any] = {
        name: (schema | None if name in IF_CHANGED else schema, Field(description=schema.__doc__))
        for name in modules
        for schema in [schema_of(name)]
    }
    base = _Told if IF_CHANGED & set(modules) else Judgement
    return create_model("Parts", __base__=base, __doc__="Several judgements in one answer.", **fields)
