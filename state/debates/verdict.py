"""The answers of a debate's judge: verdicts, and the conclusion of the debate.

Each debate has schemas of its own, so that a model can name participants only, and its answer is checked against the
debate's form of answer. The reason comes before the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NotRequired, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    create_model,
    model_validator,
)
from typing_extensions import TypedDict

from ..minds.judgement import LONGEST_EXPLANATION, Explanation, Judgement, Sentence
from ..plain_text import full_names
from .answers import AnswerFormat, Condition, Stand, or_none, parse_answer, stands, with_condition


class VerdictRecord(TypedDict):
    """One verdict of the judge, as the conversation keeps it."""

    turn: int
    """Number of utterances when the judge gave it."""
    reasoning: str
    consensus: bool
    """Whether it ends the debate."""
    answer: str
    """The answer agreed on; empty without consensus."""
    conditional: NotRequired[str]
    """The conditions under which the answer holds; missing if there are none."""
    positions: list[dict[str, Any]]
    """`agent`, `position`, `agrees` (with the answer, or without consensus with the majority), and `answer`: the
    position in the debate's form of answer; missing if any text is an answer, or the position is not clear."""
    progress: str
    """"progressing" or "circling"."""
    overruled: str
    """Why a verdict of consensus was not accepted; empty if it was accepted or there was none."""


class Conclusion(TypedDict):
    """The conclusion of a debate."""

    answer: str
    """The common answer, or the position of the majority; in the debate's form of answer."""
    consensus: bool
    reasoning: str
    supporters: list[str]
    """The participants who hold it, in order of listing."""
    by: str
    """Who found it: "judge", or the method ("mad", "mad_judge", "reconcile")."""
    conditional: NotRequired[str]
    """The conditions under which the answer holds; missing if there are none."""
    positions: NotRequired[list[Stand]]
    """Each participant's position, in order of listing; missing if there are no conditions."""


def with_conditions(
    conclusion: Conclusion,
    conditions: str | None,
    names: Sequence[str],
    positions: Mapping[str, str],
    said: Iterable[Mapping[str, Any]],
) -> Conclusion:
    """A conclusion with its conditions and each participant's position; unchanged if there are no conditions.

    Args:
        conclusion: of the debate.
        conditions: under which it holds; None or empty if there are none.
        names: the participants' names, in order of listing.
        positions: by name, as far as they are known.
        said: utterances, oldest first.
    """
    if not conditions:
        return conclusion
    return {**conclusion, "conditional": conditions, "positions": stands(names, positions, said)}


class Verdict(Judgement):
    """The judge's verdict after an utterance; made for one debate by `verdict_schema`."""

    reasoning: Explanation = Field(description="who holds what, and whether they have come to agree")
    consensus: bool = Field(description="true only where every participant agrees with one answer")
    answer: str | None
    conditional: Condition = None
    positions: list[Any]
    progress: Literal["progressing", "circling"] = Field(
        description="progressing: new reasons or positions move; circling: the same is said again"
    )

    @model_validator(mode="wrap")
    @classmethod
    def _keeps_condition(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return with_condition(handler(data), data)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.consensus:
            if self.answer is None:
                raise ValueError(
                    "consensus is true, but there is no answer: word the answer, or set consensus to false"
                )
            against = [position.agent for position in self.positions if not position.agrees]
            if against:
                names = ", ".join(against)
                raise ValueError(
                    f"consensus is true, but by positions {names} do not agree: consensus means that everybody does"
                )
        return self


class Majority(Judgement):
    """What most hold when a debate ends without consensus; made for one debate by `majority_schema`."""

    reasoning: Explanation = Field(description="who holds what, and which position has the most supporters")
    answer: str
    conditional: Condition = None
    supporters: list[str]

    @model_validator(mode="wrap")
    @classmethod
    def _keeps_condition(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return with_condition(handler(data), data)


_ANSWERS: Final[dict[str, str]] = {
    "free": "one message that words it completely",
    "yesno": "yes or no",
    "choice": "one of the choices, word for word",
    "number": "one number, in digits",
}


def answer_type(form: AnswerFormat, choices: Sequence[str] = ()) -> Any:
    """The type of an answer in this form: text that is parsed and checked."""

    def parsed(value: Any) -> str:
        text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        if isinstance(value, bool) and form == "yesno":
            text = "yes" if value else "no"
        if not isinstance(text, str):
            raise ValueError("the answer is not text")
        return parse_answer(text, form, choices)

    allowed = {"yesno": ["yes", "no"], "choice": list(choices)}.get(form)
    shape: dict[str, Any] = {"type": "number"} if form == "number" else {"type": "string"}
    if form == "free":
        shape |= {"minLength": 1, "maxLength": LONGEST_EXPLANATION}
    return Annotated[str, BeforeValidator(parsed), WithJsonSchema(shape | ({"enum": allowed} if allowed else {}))]


def answer_description(form: AnswerFormat, choices: Sequence[str] = ()) -> str:
    """The form of an answer, in words for a model."""
    listed = f": {'; '.join(choices)}" if form == "choice" else ""
    return _ANSWERS[form] + listed


def has_positions_in_form(form: AnswerFormat) -> bool:
    """Whether a verdict gives each position in the debate's form of answer, too: where not any text is an answer."""
    return form != "free"


def _answer_or_none(form: AnswerFormat, choices: Sequence[str]) -> Any:
    """The type of an answer that nothing depends on: what is not in the form is None, and is not asked for again."""

    def lenient(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValueError:
            return None

    return Annotated[or_none(answer_type(form, choices), unless=choices), WrapValidator(lenient)]


@lru_cache(maxsize=64)
def verdict_schema(names: tuple[str, ...], form: AnswerFormat, choices: tuple[str, ...] = ()) -> type[Verdict]:
    """The verdict's schema for these participants and this form of answer."""
    described = f"the answer that they hold now: {answer_description(form, choices)}; null if that is not clear"
    in_form: dict[str, Any] = {"answer": (_answer_or_none(form, choices), Field(default=None, description=described))}
    position = create_model(
        "Position",
        __base__=Judgement,
        agent=(_one_of(names), Field(description="the participant's name")),
        position=(Sentence, Field(description="what they hold now, one sentence")),
        **(in_form if has_positions_in_form(form) else {}),
        agrees=(bool, Field(description="whether they agree with the answer, or with what most hold")),
    )
    return create_model(
        "Verdict",
        __base__=Verdict,
        answer=(
            or_none(answer_type(form, choices), unless=choices),
            Field(description=f"with consensus: {answer_description(form, choices)}; null without"),
        ),
        positions=(
            Annotated[list[position], AfterValidator(_everybody(names))],
            # These bounds are for servers; the validator itself names the participant without an entry.
            Field(
                description="one entry for every participant",
                json_schema_extra={"minItems": len(names), "maxItems": len(names)},
            ),
        ),
    )


@lru_cache(maxsize=64)
def majority_schema(names: tuple[str, ...], form: AnswerFormat, choices: tuple[str, ...] = ()) -> type[Majority]:
    """The schema of the majority's position for these participants and this form of answer."""
    name: Any = _one_of(names)
    return create_model(
        "Majority",
        __base__=Majority,
        answer=(answer_type(form, choices), Field(description=f"its position: {answer_description(form, choices)}")),
        supporters=(
            list[name],
            Field(min_length=1, description="who holds it", json_schema_extra={"maxItems": len(names)}),
        ),
    )


def _one_of(names: tuple[str, ...]) -> Any:
    return Annotated[Literal[names], BeforeValidator(full_names(names))]


def _everybody(names: tuple[str, ...]) -> Callable[[list[Any]], list[Any]]:
    def check(positions: list[Any]) -> list[Any]:
        given = [position.agent for position in positions]
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"no position is given for {', '.join(missing)}")
        twice = sorted({name for name in given if given.count(name) > 1})
        if twice:
            raise ValueError(f"two positions are given for {', '.join(twice)}")
        return positions

    return check
