"""A poll: one question that is put to everybody in private, and the form of its answer."""

from __future__ import annotations

import json
import re
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.config import JsonDict

from persimchat.state.answer_format import parse_answer
from persimchat.state.judgement import Explanation, Judgement
from persimchat.state.normalise import visible_form
from persimchat.state.plain_text import one_line
from persimchat.state.setting_values import Choice
from persimchat.state.verdict import answer_description, answer_type

FORMS: Final = "yesno, choice, number, or a scale such as scale:1-5"
_SCALE: Final = re.compile(r"scale:\s*(-?\d{1,4})\s*(?:-|–|to|\.\.)\s*(-?\d{1,4})")
_MOST_STEPS: Final = 101
LONGEST_QUESTION: Final = 2000


class Poll(BaseModel):
    """A question and the form of its answer.

    Attributes:
        ask: the question.
        answer: yesno, choice, number, or scale:LOW-HIGH.
        options: of a choice, in order.
        named: its name; empty: it is named after question, form and options.
        by: the model that answers for everybody; empty: each agent's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION), AfterValidator(one_line)]
    answer: str = "yesno"
    options: tuple[Choice, ...] = ()
    named: Annotated[str, Field(max_length=60, pattern=r"^[\w.-]*$")] = ""
    by: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.ask:
            raise ValueError("the question is empty")
        found = _SCALE.fullmatch(self.answer)
        if not found and self.answer not in ("yesno", "choice", "number"):
            raise ValueError(f"answer should be {FORMS}, not {self.answer!r}")
        if found and not 1 <= int(found[2]) - int(found[1]) < _MOST_STEPS:
            raise ValueError(f"a scale should have 2 to {_MOST_STEPS} steps, from low to high, not {self.answer!r}")
        if self.answer == "choice":
            if len({visible_form(option) for option in self.options}) < max(2, len(self.options)):
                raise ValueError("answer=choice needs two or more different options")
        elif self.options:
            raise ValueError(f"options go with answer=choice, not with {self.answer}")
        return self

    @cached_property
    def id(self) -> str:
        """Its name: as given, or made of question, form and model."""
        told = json.dumps([self.ask, self.answer, self.options, self.by], ensure_ascii=False)
        return self.named or f"poll-{sha256(told.encode(errors='surrogatepass')).hexdigest()[:8]}"

    @cached_property
    def bounds(self) -> tuple[int, int] | None:
        """The ends of its scale; None if it is no scale."""
        found = _SCALE.fullmatch(self.answer)
        return (int(found[1]), int(found[2])) if found else None

    @property
    def form(self) -> Literal["yesno", "choice", "number"]:
        """The form in which an answer is read: that of a number for a scale."""
        return "number" if self.bounds or self.answer == "number" else "choice" if self.options else "yesno"

    @property
    def is_ordered(self) -> bool:
        """Whether its answers are numbers, which have an order."""
        return self.form == "number"

    @property
    def possible(self) -> tuple[str, ...]:
        """All answers that it can have, in order; empty for any number."""
        if self.bounds:
            low, high = self.bounds
            return tuple(str(step) for step in range(low, high + 1))
        return {"yesno": ("yes", "no"), "choice": self.options, "number": ()}[self.form]

    @property
    def described(self) -> str:
        """The form of its answer, in words for a model."""
        if self.bounds:
            return "a whole number from {} to {}".format(*self.bounds)
        return answer_description(self.form, self.options)

    def parsed(self, text: str) -> str:
        """An answer in its one form.

        Raises:
            ValueError: the text is none of its answers; the message says what would be one.
        """
        answer = parse_answer(text, self.form, self.options)
        if self.bounds and answer not in self.possible:
            raise ValueError(f"{answer} is not {self.described}")
        return answer


class PollReply(Judgement):
    """What somebody answers to a poll; made for one poll by `reply_schema`."""

    reasoning: Explanation = Field(description="in the first person: what speaks for and against, for you")
    answer: str


@lru_cache(maxsize=64)
def reply_schema(poll: Poll) -> type[PollReply]:
    """The schema of a reply to a poll."""

    def fits(answer: str) -> str:
        return poll.parsed(answer)

    kind: Any = answer_type(poll.form, poll.options)
    bounds: JsonDict = dict(zip(("minimum", "maximum"), poll.bounds, strict=True)) if poll.bounds else {}
    about: Any = Field(description=poll.described, json_schema_extra=bounds)
    return create_model("PollReply", __base__=PollReply, answer=(Annotated[kind, AfterValidator(fits)], about))
