"""Questions put to a group: a poll, which everybody answers in private, and the guide of a focus group."""

from __future__ import annotations

import json
import re
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model, model_validator
from pydantic.config import JsonDict

from .debates.answers import parse_answer
from .debates.verdict import answer_description, answer_type
from .minds.judgement import Explanation, Judgement
from .plain_text import one_line, seen, visible_form
from .setting import Choice

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


MOST_QUESTIONS: Final = 40
MOST_POSITIONS: Final = 10
LONGEST_STIMULUS: Final = 8_000
"""Characters of what is shown, and of the description of an image."""
REPLIES: Final = 1
"""How often a moderator answers between two questions when asked by name."""
_ROUNDS: Final = 2
"""The most answers to a question without `turns`, by every participant beside the moderator on average."""

_Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_STIMULUS), AfterValidator(seen)
]


class Stimulus(BaseModel):
    """What everybody is shown: a text, or an image in words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = Field(
        default="", description="a heading"
    )
    text: _Words | None = Field(default=None, description="what everybody reads")
    image: _Words | None = Field(default=None, description="a description of the image that everybody sees")

    @model_validator(mode="after")
    def _consistent(self) -> Stimulus:
        if self.text is None and self.image is None:
            raise ValueError("a stimulus needs a text or the description of an image")
        return self

    @property
    def words(self) -> str:
        """Heading, text, and description of the image, a paragraph each."""
        image = f"An image: {self.image}" if self.image else ""
        return "\n\n".join(filter(None, [self.title, self.text, image]))


class GuideQuestion(BaseModel):
    """One question of the moderator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUESTION), AfterValidator(seen)
    ] = Field(description="the question")
    turns: int | None = Field(
        default=None, ge=1, le=500, description="answers after which the next question follows; absent: when talk slows"
    )
    show: bool = Field(default=False, description="whether the stimulus is shown with this question")


class Guide(BaseModel):
    """The section `guide` of a scenario file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    moderator: str = Field(description="the participant who asks: an agent or a person")
    wording: Literal["exact", "own"] = Field(
        default="exact", description="whether the moderator puts questions in the guide's words, or in words of its own"
    )
    stimulus: Stimulus | None = Field(default=None, description="what everybody is shown")
    questions: list[GuideQuestion] = Field(min_length=1, max_length=MOST_QUESTIONS, description="in their order")
    positions: list[Poll] = Field(
        default_factory=list,
        max_length=MOST_POSITIONS,
        description="questions put to everybody but the moderator in private, before the talk and after it",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Guide:
        if any(question.show for question in self.questions) and self.stimulus is None:
            raise ValueError("a question shows the stimulus, but there is none; add stimulus, or leave out show")
        if len({poll.id for poll in self.positions}) < len(self.positions):
            raise ValueError("two of the positions are the same question; leave one of them out")
        return self

    def most_answers(self, number: int, others: int) -> int:
        """After how many answers the next question follows at the latest.

        Args:
            number: of the question, from 1.
            others: how many take part beside the moderator.
        """
        turns = self.questions[number - 1].turns
        return turns if turns is not None else _ROUNDS * others

    def length(self, everybody: int) -> int:
        """How many utterances there are at most if the moderator only asks.

        Args:
            everybody: how many take part, the moderator included.
        """
        numbers = range(1, len(self.questions) + 1)
        return sum(1 + self.most_answers(number, everybody - 1) for number in numbers)

    def most_said(self, everybody: int) -> int:
        """How many utterances there are at most, with the moderator's answers between the questions.

        Args:
            everybody: how many take part, the moderator included.
        """
        return self.length(everybody) + REPLIES * len(self.questions)

    def shortest(self, everybody: int) -> int:
        """How many utterances there are if the talk slows at once wherever a question has no `turns`.

        Args:
            everybody: how many take part, the moderator included.
        """
        half = everybody // 2  # of the others, rounded up
        return sum(1 + (question.turns or half) for question in self.questions)

    def shown_by(self, number: int) -> bool:
        """Whether everybody sees the stimulus once this question is put; 0 means before the first.

        It stays. If no question shows it, it is seen from the beginning.
        """
        return self.stimulus is not None and number >= self.shown_with

    @property
    def shown_with(self) -> int:
        """The number of the question with which the stimulus is first shown; 0 from the beginning."""
        return next((place for place, question in enumerate(self.questions, start=1) if question.show), 0)
