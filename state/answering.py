"""What participants answer in the debate baselines: an answer in the form asked for, with its reasons."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, create_model, model_validator

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.condition import Condition, with_condition
from persimchat.state.judgement import Explanation, Judgement
from persimchat.state.mind import Utterance
from persimchat.state.verdict import answer_description, answer_type

LONGEST: Final = 6000
"""The most characters of an answer. A longer one is asked for again: a part of it would be another answer."""

_ANSWER: Final = "\nAnswer: "


class Answering(Judgement):
    """One participant's answer; made for one debate by `answering_schema`."""

    reasoning: Explanation = Field(description="your reasons, in the first person, as you say them to the others")
    answer: str
    conditional: Condition = None

    @model_validator(mode="wrap")
    @classmethod
    def _keeps_condition(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return with_condition(handler(data), data)


class ConfidentAnswering(Answering):
    """An answer with how sure the participant is of it."""

    confidence: float = Field(ge=0, le=1, description="how likely it is that the answer is right, 0.0 to 1.0")


@lru_cache(maxsize=64)
def answering_schema(
    form: AnswerFormat, choices: tuple[str, ...] = (), *, confident: bool = False
) -> type[Answering] | type[ConfidentAnswering]:
    """The schema of a participant's answer in this form, with or without the participant's confidence."""
    base = ConfidentAnswering if confident else Answering
    parsed: Any = answer_type(form, choices)
    answer: Any = (
        Annotated[parsed, AfterValidator(_not_too_long)],
        Field(description=answer_description(form, choices)),
    )
    return create_model(base.__name__, __base__=base, answer=answer)


def _not_too_long(answer: str) -> str:
    if len(answer) > LONGEST:
        raise ValueError(f"the answer has {len(answer)} characters, more than {LONGEST}")
    return answer


def worded(reasoning: str, answer: str) -> str:
    """The text of an utterance that gives reasons and then the answer."""
    return f"{reasoning}{_ANSWER}{answer}"


def reasons_of(utterance: Utterance) -> str:
    """The reasons in an utterance whose text `worded` made."""
    return utterance["text"].removesuffix(f"{_ANSWER}{utterance['answer']}")
