"""The guide of a focus group in progress: what the form holds, valid or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from persimchat.app.web.words import t
from persimchat.state.document import Document
from persimchat.state.errors import InputError
from persimchat.state.guide import Guide, Stimulus
from persimchat.state.persona import Persona
from persimchat.state.validation_errors import input_error

FEWEST: Final = 3
"""Participants of a focus group, the moderator among them."""
SUGGESTED: Final = 3
"""How many questions a new guide has."""


@dataclass
class Asked:
    """One question: its words, the answers after which the next follows, and whether the stimulus is shown with it."""

    ask: str = ""
    turns: int | None = None
    show: bool = False


@dataclass
class Stand:
    """A question on which everybody takes a stand; the fields of `Poll`."""

    ask: str = ""
    answer: str = "scale:1-5"
    options: list[str] = field(default_factory=list)
    named: str = ""
    by: str = ""


@dataclass
class GuideDraft:
    """The fields of `Guide`, flat; texts that are empty are left out.

    Attributes:
        moderator: who asks.
        wording: whether the moderator keeps to the guide's words.
        title: of the stimulus.
        text: of the stimulus.
        image: of the stimulus, described.
        questions: in their order.
        positions: taken before and after the talk.
        limit: the message limit that followed from the guide last; None if the user gave one.
    """

    moderator: str = ""
    wording: str = "exact"
    title: str = ""
    text: str = ""
    image: str = ""
    questions: list[Asked] = field(default_factory=list)
    positions: list[Stand] = field(default_factory=list)
    limit: int | None = field(default=None, compare=False)

    @classmethod
    def suggested(cls, moderator: str) -> GuideDraft:
        """A first guide, in the page's language."""
        questions = [Asked(t(f"setup.guide_question_{number}")) for number in range(1, SUGGESTED + 1)]
        return cls(moderator, questions=questions)

    @classmethod
    def of(cls, guide: Guide) -> GuideDraft:
        """The draft of a guide."""
        shown = guide.stimulus or Stimulus.model_construct()
        return cls(
            guide.moderator,
            guide.wording,
            shown.title,
            shown.text or "",
            shown.image or "",
            [Asked(one.ask, one.turns, one.show) for one in guide.questions],
            [Stand(one.ask, one.answer, list(one.options), one.named, one.by) for one in guide.positions],
        )

    def data(self) -> dict[str, Any]:
        """The section of a scenario file; questions without words are left out."""
        stimulus = {key: value.strip() for key in ("title", "text", "image") if (value := getattr(self, key)).strip()}
        questions = [
            {
                "ask": one.ask.strip(),
                **({"turns": one.turns} if one.turns else {}),
                **({"show": True} if one.show else {}),
            }
            for one in self.questions
            if one.ask.strip()
        ]
        found = {
            "moderator": self.moderator,
            **({"wording": self.wording} if self.wording != "exact" else {}),
            **({"stimulus": stimulus} if stimulus else {}),
            "questions": questions,
        }
        positions = [_poll(one) for one in self.positions if one.ask.strip()]
        return {**found, "positions": positions} if positions else found

    def fault(self, present: Sequence[str]) -> InputError | None:
        """What is wrong with it; None if nothing is.

        Args:
            present: the names of those who take part.
        """
        if self.moderator not in present:
            return InputError(t("setup.guide_nobody_asks"), remedy=t("setup.guide_choose"))
        if len(present) < FEWEST:
            return InputError(t("setup.guide_too_few"), remedy=t("setup.guide_choose_more"))
        data = self.data()
        if not data["questions"]:
            return InputError(t("setup.guide_no_question"), remedy=t("setup.guide_write"))
        try:
            Guide.model_validate(data)
        except ValidationError as error:
            return input_error(error, Guide, Document(data))
        return None

    def renamed(self, old: str, new: str) -> None:
        """Follow a participant who has another name now."""
        if self.moderator == old:
            self.moderator = new

    def answers_expected(self, usual: int) -> int:
        """Messages that the whole guide takes: every question and its answers.

        Args:
            usual: answers to a question that says no number.
        """
        return sum(1 + (one.turns or usual) for one in self.questions if one.ask.strip())

    def most_said(self, everybody: int) -> int | None:
        """How many messages the guide can take at most; None as long as it cannot be read.

        Args:
            everybody: how many take part, the moderator included.
        """
        try:
            return Guide.model_validate(self.data()).most_said(everybody)
        except ValidationError:
            return None


def _poll(stand: Stand) -> dict[str, Any]:
    found: dict[str, Any] = {"ask": stand.ask.strip(), "answer": stand.answer}
    if stand.answer == "choice":
        found["options"] = [option.strip() for option in stand.options if option.strip()]
    return {**found, **{key: value for key in ("named", "by") if (value := getattr(stand, key))}}


def moderator() -> Persona:
    """The persona who asks where nobody was chosen to; what it reads is English, as all that models read."""
    return Persona(
        name="Mira Solheim",
        description=(
            "Mira moderates research groups. She asks one short, open question at a time, and for the last time "
            "somebody did a thing rather than whether they would. Her own opinions she leaves at the door."
        ),
        characteristics={"age": "47", "occupation": "research moderator"},
        traits=["neutral", "attentive", "patient"],
        speaking_style="One short open question at a time.",
    )
