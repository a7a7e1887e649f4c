"""What models answer in the debate baselines: an answer with its reasons, and the verdict of the mad_judge baseline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StringConstraints, create_model, model_validator

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.judgement import Judgement
from persimchat.state.mind import Utterance
from persimchat.state.verdict import answer_description, answer_type

Reasons = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=6000)]
"""Reasons step by step; what the others are given of them bounds the length of their prompts."""

Side = Literal["affirmative", "negative"]

_ANSWER: Final = "\nAnswer: "


class Answering(Judgement):
    """One participant's answer; made for one debate by `answering_schema`."""

    reasoning: Reasons = Field(description="your reasons, in the first person, as you say them to the others")
    answer: str
    confidence: float | None = None


class Decision(Judgement):
    """What the judge of mad_judge says after a round; made for one debate by `decision_schema`."""

    reasoning: Reasons = Field(description="what speaks for and against each answer")
    decided: bool = Field(description="true where one answer is clearly right")
    side: Side | None
    answer: str | None

    @model_validator(mode="after")
    def _consistent(self) -> Decision:
        if self.decided and (self.answer is None or self.side is None):
            missing = "answer" if self.answer is None else "side"
            raise ValueError(f"decided is true, but there is no {missing}: give it, or set decided to false")
        return self


class LastDecision(Decision):
    """The same after the last round, when the judge has to decide."""

    decided: Literal[True] = Field(description="true: this was the last round")


def answering_schema(
    form: AnswerFormat, choices: tuple[str, ...] = (), *, confident: bool = False
) -> type[Answering]:
    """The schema of a participant's answer in this form, with or without how sure the participant is."""
    return _answering(form, choices, confident)


@lru_cache(maxsize=64)
def _answering(form: AnswerFormat, choices: tuple[str, ...], confident: bool) -> type[Answering]:
    fields: dict[str, Any] = {
        "answer": (answer_type(form, choices), Field(description=answer_description(form, choices)))
    }
    if confident:
        described = Field(ge=0, le=1, description="how likely it is that the answer is right, 0.0 to 1.0")
        fields["confidence"] = (Annotated[float, described], ...)
    return create_model("Answering", __base__=Answering, **fields)


@lru_cache(maxsize=64)
def decision_schema(form: AnswerFormat, choices: tuple[str, ...] = (), *, last: bool = False) -> type[Decision]:
    """The schema of the judge's decision after a round; after the last one it has to be one."""
    answer, side = answer_type(form, choices), Side
    described = answer_description(form, choices)
    return create_model(
        "LastDecision" if last else "Decision",
        __base__=LastDecision if last else Decision,
        side=(side if last else _or_none(side), Field(description="whose answer it is; null where not decided")),
        answer=(answer if last else _or_none(answer), Field(description=f"where decided: {described}; else null")),
    )


_NOTHING: Final = frozenset({"", "null", "none", "n/a"})


def _or_none(kind: Any) -> Any:
    """The type or None, which models also write as text."""

    def nothing_is_none(value: Any) -> Any:
        return None if isinstance(value, str) and value.strip().casefold() in _NOTHING else value

    return Annotated[kind | None, BeforeValidator(nothing_is_none)]


def worded(reasoning: str, answer: str) -> str:
    """The utterance that an answer with its reasons makes."""
    return f"{reasoning}{_ANSWER}{answer}"


def reasons_of(utterance: Utterance) -> str:
    """The reasons alone in an utterance that `worded` made."""
    return utterance["text"].removesuffix(f"{_ANSWER}{utterance['answer']}")


def sides(names: Sequence[str]) -> dict[str, Side]:
    """Who debates on which side: in order of listing, one by one in turn, the first on the affirmative side."""
    return {name: "negative" if index % 2 else "affirmative" for index, name in enumerate(names)}
