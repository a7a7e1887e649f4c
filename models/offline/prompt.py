"""A prompt as data: who is asked, what they know of the conversation and each other, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.persona_making.request import Request
from persimchat.state.errors import ModelError
from persimchat.state.intervention import MODERATOR

MODEL_NAME: Final = "offline"


@dataclass(frozen=True)
class Relation:
    """How somebody stands to the person whose prompt this is; `valence` is -1, 0 or 1."""

    to: str
    role: str
    valence: int
    note: str


@dataclass(frozen=True)
class MemoryLine:
    """One memory as a prompt shows it; `number` is 0 where none is shown."""

    number: int
    kind: str
    turn: int
    importance: int
    theme: str
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class Member:
    """One participant as those who look on see them; need and openness are None where they are not shown."""

    name: str
    need: int | None
    openness: int | None
    spoken: int
    last: int


@dataclass(frozen=True)
class Heard:
    """The utterance just heard."""

    speaker: str
    own: bool
    to_me: bool
    addressees: str
    emotion: dict[str, int]
    words: str
    whispered: bool = False


@dataclass(frozen=True)
class Said:
    """One of the last utterances; `emotion` is empty where the prompt does not tell it."""

    speaker: str
    words: str
    emotion: tuple[tuple[str, int], ...] = ()
    whispered: bool = False

    @property
    def felt(self) -> dict[str, int]:
        """The speaker's emotions that the prompt tells."""
        return dict(self.emotion)


@dataclass(frozen=True)
class Answered:
    """One answer of the last round of a debate in rounds; `side` is empty where there are none, confidence None."""

    speaker: str
    own: bool
    side: str
    answer: str
    confidence: float | None
    reasons: str


@dataclass(frozen=True)
class Prompt:
    """All that a prompt says. What it leaves out is empty, None or 0.

    Attributes:
        task: what is asked for, by its name in `answers.TASKS`, "utterance", "group_chat" or "script".
        name: who is asked; empty for those who take no part.
        form: the answer that a debate is to come to; None in discussions.
        avoid: what must not be said again.
        answers: the last round of a debate in rounds.
        people: those whom a script is to be written for, each as in a prompt of their own.
        later: what was said after the task.
        words: length of an utterance.
        opposes: the answer to speak against, in a debate between two sides.
        confident: whether an answer is to say how sure it is.
        last_round: whether the judge of two sides has to decide now.
        candidates: who may be named as the next to speak.
        parts: the judgements that one answer is to hold.
        length: utterances of a script.
        takes_leave: whether people take leave at the end of a script.
        request: the person to invent; None for every other task.
    """

    task: str
    name: str = ""
    description: str = ""
    characteristics: dict[str, str] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    style: str = ""
    knowledge: int | None = None
    need: int | None = None
    openness: int | None = None
    emotions: dict[str, int] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    memories: tuple[MemoryLine, ...] = ()
    stm: MemoryLine | None = None
    leaving: MemoryLine | None = None
    similarity: float = 0.0
    identity: str = ""
    plan: str = ""
    goals: tuple[str, ...] = ()
    topic: str = ""
    present: tuple[str, ...] = ()
    turn: int = 0
    limit: int = 0
    spoken: int | None = None
    rules: tuple[str, ...] = ()
    form: AnswerForm | None = None
    closing: bool = False
    group: tuple[Member, ...] = ()
    recent: tuple[Said, ...] = ()
    heard: Heard | None = None
    avoid: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    people: tuple[Prompt, ...] = ()
    later: tuple[str, ...] = ()
    register: str = "neutral"
    words: int = 25
    opposes: str = ""
    confident: bool = False
    last_round: bool = False
    candidates: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    length: int = 0
    takes_leave: bool = False
    request: Request | None = None

    def need_section(self, present: object, tag: str) -> None:
        """Refuse a prompt that lacks what its task is about.

        Raises:
            ModelError: `present` is false.
        """
        if not present:
            raise ModelError(
                f"the prompt has no <{tag}> section",
                model=MODEL_NAME,
                module=self.task,
                remedy="The offline model answers only prompts rendered from this package's templates.",
            )

    @property
    def participants(self) -> tuple[str, ...]:
        """Everybody who takes part: the person of the prompt, and those beside them; a judge takes no part."""
        if self.group:
            return tuple(member.name for member in self.group)
        return (self.name, *self.present) if self.name else self.present

    def leads(self, name: str) -> bool:
        """Whether this is the moderator, who leads the conversation and takes no part in it."""
        return name.startswith(MODERATOR) and name not in self.participants

    def relation_to(self, name: str) -> Relation | None:
        """The relationship to `name`, if the prompt tells one."""
        return next((r for r in self.relations if r.to == name), None)
