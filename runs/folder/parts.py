"""Parts of a run's events: figures in their ranges, a debate's positions and result, a story's, a mind, the usage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)

from ...models.usage import summed
from ...state.minds.emotion import Level
from ...state.minds.pruning import Pruned
from ...state.poll import Guide

Count = Annotated[int, Field(ge=0)]
Turn = Annotated[int, Field(ge=0, le=10_000_000)]
Spoken = Annotated[int, Field(ge=1, le=10_000_000)]
"""The number of an utterance."""
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Points = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _known(value: Any) -> Any:
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value


Levels = Annotated[dict[str, Level], BeforeValidator(_known)]
"""Levels by name; null ones are left out."""
Counts = Annotated[dict[str, Count], BeforeValidator(_known)]
"""Figures by name; null ones are left out."""


def is_empty(value: object) -> bool:
    """For `exclude_if`: leaves an empty field out."""
    return not value


def is_none(value: object) -> bool:
    """For `exclude_if`: leaves a null field out."""
    return value is None


def left_out(description: str, default: Any = None) -> Any:
    """A field that is not written where it is null, or, with another default, where it is empty."""
    return Field(default=default, exclude_if=is_none if default is None else is_empty, description=description)


class Stored(BaseModel):
    """Base of what the log of a run holds."""

    model_config = ConfigDict(frozen=True)


class Open(Stored):
    """A record that also keeps the fields that are not named here."""

    model_config = ConfigDict(extra="allow")

    @property
    def given(self) -> dict[str, Any]:
        """All fields, as in JSON."""
        return self.model_dump()


class _Part(Open):
    """A part of a mind, written with the fields that it was given; programs may read it as a mapping."""

    @model_serializer(mode="wrap")
    def _as_given(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}

    def __getitem__(self, name: str) -> Any:
        """A field that it was given."""
        return self.given[name]


class Position(Stored):
    """A participant's position in a debate, as the judge sees it."""

    agent: str
    position: str = ""
    answer: str | None = left_out(
        "the position in the debate's form of answer; left out if any text is an answer, or it is unclear"
    )
    agrees: bool = Field(
        description="whether the participant agrees with the answer, or, without consensus, with the majority"
    )


class Standing(Stored):
    """A participant's position when a debate reached a conclusion that holds under conditions."""

    agent: str
    position: str = Field(
        default="", description="as the judge sees it, or the participant's own answer; empty if not known"
    )
    words: str = Field(default="", description="the participant's last utterance that all heard")


class Concluded(Stored):
    """The result of a debate."""

    answer: str = Field(description="the common answer, or the position of the majority")
    consensus: bool
    reasoning: str = ""
    supporters: list[str] = Field(default=[], description="agents who hold it, in order of listing")
    by: str = Field(default="", description="who found the answer: the judge, or the baseline's name")
    conditional: str | None = left_out("the conditions under which the answer holds; left out if there are none")
    positions: list[Standing] = left_out("the positions of all participants; left out if there are no conditions", [])


class GuideTold(Stored):
    """A focus group's guide, as far as somebody must know it who follows the run."""

    moderator: str
    questions: list[str] = Field(description="in the guide's words; an utterance's `question` counts them from 1")
    shown: str = Field(default="", description="what everybody is shown; empty if nothing is")
    shown_with: list[int] = Field(
        default=[], description="the numbers of the questions with which it is shown; empty: from the beginning"
    )

    @classmethod
    def of(cls, guide: Guide | None) -> Self | None:
        """What is told of a guide; None if there is none."""
        if guide is None:
            return None
        return cls(
            moderator=guide.moderator,
            questions=[question.ask for question in guide.questions],
            shown=guide.stimulus.words if guide.stimulus is not None else "",
            shown_with=[number for number, question in enumerate(guide.questions, start=1) if question.show],
        )


class StoryOutcome(Stored):
    """The result of a story's vote."""

    winners: list[str] = Field(default=[], description="one; several after a draw; none if nobody voted")
    decided: str = Field(default="", description="the choice of a decider who decides alone")
    ceded: str = Field(default="", description="whom the decider, a main character, has put in its own place")
    appointed: str = Field(default="", description="whom the decider would have if it could not have itself")
    elected: list[str] = Field(default=[], description="who has most open ballots after the rules for ties")
    open: dict[str, Count] = Field(default={}, description="open ballots by candidate")
    closed: dict[str, Count] = Field(default={}, description="closed ballots by candidate")


class StoryStanding(Stored):
    """Where a character of a story stands after an update."""

    main: bool = False
    beliefs: list[dict[str, Any]] = Field(default=[], description="text, score, and for whom; empty for nobody")
    closeness: dict[str, int] = Field(default={}, description="to each of the others, 0–100")
    supports: str = Field(default="", description="the main character supported; empty for nobody")
    review: str = Field(default="", description="the sentence of the last review")


WHOLE_ONLY: Final = frozenset(
    {"percept", "focal_points", "recalled", "memories", "need_reasoning", "openness_reasoning", "action"}
)
"""Fields that are omitted unless a mind is read whole: most of a run."""

_MAPPING: Final = WithJsonSchema({"additionalProperties": True, "type": "object"})


class Percept(_Part):
    """What an agent took from an utterance."""

    theme: str = ""
    keywords: list[str] = []
    importance: Level | None = None


class Thought(_Part):
    """A memory, a plan or an insight.

    Attributes:
        id: of a memory; empty for a plan.
        kind: of a memory; empty for a plan.
        keywords: and standout words.
        evidence: ids of the memories that support an insight.
        identity: of a plan: who the agent is.
        progress: of a plan: the agent's view of the conversation so far.
        react: of a plan: whether to react to the utterance.
        reaction: of a plan: how.
        goals: of a plan.
    """

    id: str = ""
    kind: str = ""
    turn: Turn | None = None
    theme: str = ""
    importance: int | None = None
    keywords: list[str] = []
    evidence: list[str] = []
    identity: str = ""
    progress: str = ""
    react: bool | None = None
    reaction: str = ""
    goals: list[str] = []


class RecalledMemory(Stored):
    """A recalled memory, and the weighted components of its score."""

    id: str
    kind: str
    turn: int = Field(description="when it was made")
    theme: str
    focal_point: int = Field(description="index of the focal point that recalled it best")
    score: float
    recency: float
    importance: float
    relevance: float
    emotional: float
    stm_relevance: float


class MindRecord(Stored):
    """The mind of one agent after it has heard an utterance: a row of the table minds."""

    turn: Turn = Field(description="utterances so far; 0 before the first")
    agent: str
    did: str = Field(
        default="", description="what it did while this utterance was made: speak, reflect, plan or nothing (empty)"
    )
    percept: Annotated[Percept, _MAPPING] | None = Field(
        default=None, description="theme, keywords, importance; null at turn 0"
    )
    focal_points: list[str] = []
    recalled: list[RecalledMemory] = Field(default=[], description="best first")
    short_term_memory: Annotated[Thought, _MAPPING] | None = None
    long_term_memories: Count = Field(default=0, description="memories alive")
    need_to_talk: Level | None = Field(
        default=None, description="0–10; null for the judge's mind, which never speaks, and with cognition=fixed"
    )
    need_reasoning: str | None = None
    openness: Level | None = Field(default=None, description="openness to consensus, 0–10; null in discussions")
    openness_reasoning: str | None = None
    own: dict[str, dict[str, Any]] = left_out(
        "what modules of installed packages judged last, by module: the fields of their answers; left out if none did",
        {},
    )
    action: str = Field(default="", description="what it will do while the next utterance is made, unless it speaks")
    emotion: Levels = {}
    plan: Annotated[Thought, _MAPPING] | None = Field(default=None, description="the plan made during this turn")
    insights: list[Annotated[Thought, _MAPPING]] = Field(default=[], description="the insights drawn during this turn")
    listened: bool | None = left_out(
        "whether its model was asked about the utterance; if false, it remembers only the words; left out if all are "
        "asked (the setting `listeners`)"
    )
    failed: list[str] = left_out(
        "modules whose answers were invalid twice, so their values stayed as they were; left out if none", []
    )
    corrected: list[str] = left_out(
        "modules of which a number was moved into its range, or a list was corrected; left out if none", []
    )
    pruned: Pruned | None = left_out(
        "what the prompt of its utterance lacked; left out unless the setting `pruning` left something out"
    )
    story: StoryStanding | None = left_out("in a story: beliefs, closeness, support; left out elsewhere")


class Totals(Stored):
    """The usage of a run so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = left_out(
        "the part of `input_tokens` that servers took from their caches; left out if there were none", 0
    )
    estimated: bool = Field(default=False, description="true where some of the token counts are estimates")
    cost_usd: float | None = Field(default=0.0, description="null where a price is not known")


UNKNOWN: Final = Totals(calls=0, input_tokens=0, output_tokens=0, estimated=True, cost_usd=None)
"""The totals of a past `turn_ended`: a log does not hold the usage at each turn."""


class UsageRow(Stored):
    """The usage of one module for one agent with one model."""

    agent: str
    module: str
    model: str
    calls: Count
    input_tokens: Count
    output_tokens: Count
    cached_tokens: Count = left_out("as in totals", 0)
    estimated: bool
    cost_usd: float | None = None


class Usage(Stored):
    """The usage of a run; empty while it runs."""

    total: Totals | None = None
    by_module: dict[str, Totals] = {}
    by_agent: dict[str, Totals] = {}
    by_model: dict[str, Totals] = {}
    rows: list[UsageRow] = []

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> Self:
        """The usage, from accounting rows."""
        if not rows:
            return cls()
        by = {f"by_{field}": totals_by(rows, field) for field in ("module", "agent", "model")}
        return cls(total=totals(rows), rows=rows, **by)


def totals(rows: Iterable[dict[str, Any]]) -> Totals:
    """The sum of accounting rows; the cost is unknown (None) if the cost of one row is."""
    return Totals.model_validate(reduce(summed, rows, Totals().model_dump()))


def totals_by(rows: Iterable[dict[str, Any]], field: str) -> dict[str, Totals]:
    """The sums of accounting rows for every value of a field ("module", "agent" or "model"), by name."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[field], []).append(row)
    return {name: totals(group) for name, group in sorted(groups.items())}
