"""The guide of a focus group: what a moderator asks, what is shown to everybody, and on what people take a stand."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from persimchat.state.normalise import seen
from persimchat.state.poll import LONGEST_QUESTION, Poll

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
