"""Debates in rounds of answers: what participants answer, how answers are counted, and what a judge decides.

Sources: majority at the end, Du et al. 2023 (arXiv:2305.14325), section 2; weights of confidences and weighted vote,
Chen, Saha and Bansal 2023 (arXiv:2309.13007), section 3; two sides and a judge, Liang et al. 2023 (arXiv:2305.19118).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, create_model, model_validator

from ..debates.answers import AnswerFormat, Condition, joined, or_none, positions_of, same_answer, with_condition
from ..debates.verdict import Conclusion, VerdictRecord, answer_description, answer_type, with_conditions
from ..errors import InputError
from ..minds.judgement import Explanation, Judgement
from ..minds.mind import Utterance
from ..settings import Settings

_SHOWN: Final = 80
"""The most characters of an answer in the line of `in_words`."""


class Vote(NamedTuple):
    """One agent's answer in a round.

    Attributes:
        agent: whose it is.
        answer: in the form that was asked for.
        weight: how much it counts; 1 if all answers count the same.
    """

    agent: str
    answer: str
    weight: float = 1.0


class Tally(NamedTuple):
    """An answer and those who hold it.

    Attributes:
        answer: as the first of its holders worded it.
        supporters: its holders, in order of listing.
        weight: the sum of their weights.
    """

    answer: str
    supporters: list[str]
    weight: float


def rounds_of(participants: int, settings: Settings) -> int:
    """How many rounds of answers a debate baseline has at most: `rounds`, or as many as `max_messages` allows.

    Raises:
        InputError: the message limit is smaller than one round, in which each participant answers once.
    """
    allowed = settings.max_messages // participants
    if not allowed:
        raise InputError(
            f"max_messages={settings.max_messages} leaves no room for one round of {participants} answers",
            where=f"baseline {settings.baseline}",
            remedy=f"Set max_messages to {participants} or more.",
        )
    return min(settings.rounds, allowed)


def tallied(votes: Sequence[Vote], form: AnswerFormat) -> list[Tally]:
    """The answers given and who holds them, the one with the greatest weight first.

    Answers of equal weight are in the order in which they were first given, so a tie goes to the earliest listed.

    Args:
        votes: one an agent, in order of listing.
        form: the form of the answers, which says when two are the same.
    """
    groups: list[list[Vote]] = []
    for vote in votes:
        group = next((group for group in groups if is_same(group[0].answer, vote.answer, form)), None)
        if group is None:
            groups.append([vote])
        else:
            group.append(vote)
    tallies = [Tally(group[0].answer, [vote.agent for vote in group], _sum(group)) for group in groups]
    return sorted(tallies, key=lambda tally: -tally.weight)


def is_same(one: str, other: str, form: AnswerFormat) -> bool:
    """Whether two parsed answers are the same; a parsed choice is one of the choices, character by character."""
    return one == other if form == "choice" else same_answer(one, other, form)


def _sum(votes: Sequence[Vote]) -> float:
    """Rounded, because 0.5 + 0.3 and 0.8 are the same weight and must tie."""
    return round(math.fsum(vote.weight for vote in votes), 9)


_WEIGHTS: Final = ((1.0, 1.0), (0.9, 0.8), (0.8, 0.5))


def calibrated(confidence: float) -> float:
    """The weight of an answer by the confidence that its agent states; models are more confident than they are right.

    1 stays 1; from 0.9 on it is 0.8; from 0.8 on 0.5; above 0.6 it is 0.3; else 0.1 (Chen et al. 2023, section 3).

    Args:
        confidence: 0 to 1.

    Raises:
        ValueError: it is outside these bounds.
    """
    if not 0 <= confidence <= 1:
        raise ValueError(f"a confidence is from 0 to 1, not {confidence}")
    at_least = next((weight for least, weight in _WEIGHTS if confidence >= least), None)
    if at_least is not None:
        return at_least
    return 0.3 if confidence > 0.6 else 0.1


def in_words(tallies: Sequence[Tally], *, weights: bool = False) -> str:
    """A count of votes in one line: "18: Ada Lind, Bo Říha; 20: 李雷", with the weights if asked for."""
    return "; ".join(
        f"{textwrap.shorten(tally.answer, _SHOWN, placeholder=' …')}: {', '.join(tally.supporters)}"
        + (f" (weight {tally.weight:g})" if weights else "")
        for tally in tallies
    )


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


Side = Literal["affirmative", "negative"]


def sides(names: Sequence[str]) -> dict[str, Side]:
    """Each participant's side: they alternate in order of listing, the first on the affirmative side."""
    return {name: "negative" if index % 2 else "affirmative" for index, name in enumerate(names)}


class Decision(Judgement):
    """What the judge of mad_judge says after a round; made for one debate by `decision_schema`."""

    reasoning: Explanation = Field(description="what speaks for and against each answer")
    decided: bool = Field(description="true where one answer is clearly right")
    side: Side | None
    answer: str | None
    conditional: Condition = None

    @model_validator(mode="wrap")
    @classmethod
    def _keeps_condition(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return with_condition(handler(data), data)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.decided and (self.answer is None or self.side is None):
            missing = "answer" if self.answer is None else "side"
            raise ValueError(f"decided is true, but there is no {missing}: give it, or set decided to false")
        return self


class LastDecision(Decision):
    """The same after the last round, when the judge has to decide."""

    decided: Literal[True] = Field(description="true: this was the last round")


@lru_cache(maxsize=64)
def decision_schema(form: AnswerFormat, choices: tuple[str, ...] = (), *, last: bool = False) -> type[Decision]:
    """The schema of the judge's decision after a round; after the last round the judge has to decide."""
    answer: Any = answer_type(form, choices)
    side: Any = Side
    described = answer_description(form, choices)
    return create_model(
        "LastDecision" if last else "Decision",
        __base__=LastDecision if last else Decision,
        side=(side if last else or_none(side), Field(description="whose answer it is; null where not decided")),
        answer=(
            answer if last else or_none(answer, unless=choices),
            Field(description=f"where decided: {described}; else null"),
        ),
    )


def supporters(decision: Decision, answers: Sequence[Utterance], names: Sequence[str], form: AnswerFormat) -> list[str]:
    """The participants who hold the answer that the judge decided for, in order of listing.

    They gave that answer last. With free text, which the judge words in its own way, all members of the side that the
    judge names count as well.

    Args:
        decision: a decision that names an answer.
        answers: of the last round, one per participant.
        names: of all participants, in order of listing.
        form: the form of the answers.
    """
    holds = {u["speaker"] for u in answers if is_same(u["answer"], decision.answer or "", form)}
    if form == "free":
        holds |= {name for name, side in sides(names).items() if side == decision.side}
    return [name for name in names if name in holds]


def conclusion_of(
    decision: Decision, answers: Sequence[Utterance], names: Sequence[str], form: AnswerFormat
) -> Conclusion:
    """The conclusion that follows from the judge's decision; a consensus only if all participants gave that answer.

    Arguments as for `supporters`.
    """
    holders = supporters(decision, answers, names, form)
    conclusion: Conclusion = {
        "answer": decision.answer or "",
        "consensus": _all_hold(decision, answers, form),
        "reasoning": decision.reasoning,
        "supporters": holders,
        "by": "mad_judge",
    }
    conditions = decision.conditional or joined(holders, answers)
    return with_conditions(conclusion, conditions, names, positions_of(answers), answers)


def _all_hold(decision: Decision, answers: Sequence[Utterance], form: AnswerFormat) -> bool:
    return all(is_same(u["answer"], decision.answer or "", form) for u in answers)


def verdict_of(
    decision: Decision,
    answers: Sequence[Utterance],
    before: Mapping[str, str],
    names: Sequence[str],
    turn: int,
    form: AnswerFormat,
) -> VerdictRecord:
    """The decision as the record that every debate keeps of its judge.

    Args:
        decision: of the round.
        answers: of the round, one per participant.
        before: each participant's answer of the previous round; empty in the first.
        names: of all participants, in order of listing.
        turn: utterances so far.
        form: the form of the answers.
    """
    by_name = {u["speaker"]: u["answer"] for u in answers}
    if decision.decided:
        agreeing = supporters(decision, answers, names, form)
    else:
        agreeing = tallied([Vote(name, by_name[name]) for name in names], form)[0].supporters
    agreed = decision.decided and _all_hold(decision, answers, form)
    moved = not before or any(not is_same(by_name[name], before[name], form) for name in names)
    conditions = decision.conditional or joined(agreeing, answers) if agreed else ""
    held = positions_of(answers)
    return {
        "turn": turn,
        "reasoning": decision.reasoning,
        "consensus": agreed,
        "answer": decision.answer or "" if agreed else "",
        "positions": [{"agent": n, "position": held[n], "agrees": n in agreeing} for n in names],
        "progress": "progressing" if moved else "circling",
        "overruled": "",
        **({"conditional": conditions} if conditions else {}),  # type: ignore[typeddict-item]
    }
