"""The mad_judge baseline's judge: the sides of a debate, the judge's decision, and the conclusion that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, create_model, model_validator

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.condition import Condition, joined, or_none, positions_of, with_condition
from persimchat.state.judgement import Explanation, Judgement
from persimchat.state.mind import Utterance
from persimchat.state.verdict import Conclusion, VerdictRecord, answer_description, answer_type, with_conditions
from persimchat.state.voting import Vote, is_same, tallied

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
