"""The types of settings that are not plain numbers or texts."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from persimchat.state.normalise import seen


def no_switch(value: Any, name: str = "it") -> Any:
    """A validator that refuses true and false, which Python counts as numbers, and returns every other value.

    Raises:
        ValueError: the value is true or false.
    """
    if isinstance(value, bool):
        raise ValueError(f"{name} should be a number, not {str(value).lower()}")
    return value


Weight = Annotated[float, Field(ge=0, le=100), BeforeValidator(lambda value: no_switch(value))]
Choice = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^;\x00-\x1f\x7f]+$"),
    AfterValidator(seen),
]
Price = Annotated[float, Field(ge=0, le=1e9), BeforeValidator(lambda value: no_switch(value))]
Temperature = Annotated[float, Field(ge=0, le=2), BeforeValidator(lambda value: no_switch(value))]
Prices = Annotated[tuple[Price, ...], Field(min_length=2, max_length=3)]
Listeners = Annotated[int, Field(ge=1, le=100_000), BeforeValidator(lambda value: no_switch(value, "listeners"))]

Module = Literal[
    "perception",
    "focal_points",
    "memory_filtering",
    "need_to_talk",
    "openness",
    "action",
    "emotion",
    "reflection",
    "planning",
    "natural_language",
    "pruning",
    "revision",
    "hearing",
    "appraisal",
    "reaction",
    "stocktaking",
    "choice",
    "summary",
    "review",
    "ballot",
    "trust",
    "events",
    "reacting",
    "day_plan",
    "chunks",
    "consolidation",
    "judge",
    "selector",
    "analysis",
    "answering",
    "script",
    "evaluation",
    "poll",
    "interview",
]
"""A module that asks a model, by the name used in settings, accounting and traces.

"pruning" asks for first responses, by which it is decided what is left out of an utterance's prompt; "revision" whether
an utterance contradicts what was left out.
"hearing", "appraisal" and "reaction" ask for several judgements in one answer (the setting `cognition`). "stocktaking"
to "ballot" are modules of a mind in a story, "trust" to "consolidation" those of a companion. The last eight
are not part of an agent's mind: the judge of debates, the selector of speakers, the analysis of utterances, the
answers of the debate baselines, the script that the single_agent baseline writes, the evaluation of conversations
that are over, and the polls of their participants and the interviews with them.
"""

MODULES: Final[tuple[Module, ...]] = get_args(Module)
"""All modules that ask a model."""

OF_STORIES: Final[tuple[Module, ...]] = ("stocktaking", "choice", "summary", "review", "ballot")
"""The modules of a mind in a story."""

OF_COMPANIONS: Final[tuple[Module, ...]] = ("trust", "events", "reacting", "day_plan", "chunks", "consolidation")
"""The modules of a companion."""

OF_PRUNING: Final[tuple[Module, ...]] = ("pruning", "revision")
"""The modules that ask only if something may be left out of prompts."""

OUTSIDE: Final[tuple[Module, ...]] = (
    "judge",
    "selector",
    "analysis",
    "answering",
    "script",
    "evaluation",
    "poll",
    "interview",
)
"""The modules that are not part of an agent's mind."""

AFTERWARDS: Final[tuple[Module, ...]] = ("evaluation", "poll", "interview")
"""The modules that ask about conversations that are over; a conversation needs no model for them."""


class RetrievalWeights(BaseModel):
    """Weights of the five components of a memory's retrieval score (thesis, equation 5.1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recency: Weight = 1.0
    importance: Weight = 1.0
    relevance: Weight = 1.0
    emotional: Weight = 1.0
    stm_relevance: Weight = 1.0
