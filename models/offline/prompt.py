"""A prompt as data: the agent, its knowledge of the conversation and of the others, and the task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.persona_making.request import Request
from persimchat.state.errors import ModelError
from persimchat.state.intervention import MODERATOR

if TYPE_CHECKING:
    from persimchat.models.offline.companion.known import Known
    from persimchat.models.offline.story.told import Told

MODEL_NAME: Final = "offline"


@dataclass(frozen=True)
class Relation:
    """A participant's relationship to the prompt's agent; `valence` is -1, 0 or 1."""

    to: str
    role: str
    valence: int
    note: str


@dataclass(frozen=True)
class MemoryLine:
    """One memory in a prompt; `number` is 0 if the prompt shows none."""

    number: int
    kind: str
    turn: int
    importance: int
    theme: str
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class Member:
    """One participant in an onlooker's view; need and openness are None if they are not shown."""

    name: str
    need: int | None
    openness: int | None
    spoken: int
    last: int


@dataclass(frozen=True)
class Heard:
    """The last utterance."""

    speaker: str
    own: bool
    to_me: bool
    addressees: str
    emotion: dict[str, int]
    words: str
    whispered: bool = False


@dataclass(frozen=True)
class Said:
    """One of the last utterances; `emotion` is empty if the prompt does not show it."""

    speaker: str
    words: str
    emotion: tuple[tuple[str, int], ...] = ()
    whispered: bool = False

    @property
    def felt(self) -> dict[str, int]:
        """The speaker's emotions in the prompt."""
        return dict(self.emotion)


@dataclass(frozen=True)
class Answered:
    """One answer of the last round; `side` is empty and `confidence` None if there is none."""

    speaker: str
    own: bool
    side: str
    answer: str
    confidence: float | None
    reasons: str


@dataclass(frozen=True)
class Prompt:
    """The contents of a prompt. A field that the prompt lacks is empty, None or 0.

    Attributes:
        task: its name in `answers.TASKS`, "utterance", "group_chat" or "script".
        name: of the agent; empty for onlookers.
        form: of the debate's answer; None in discussions.
        avoid: words that must not be said again.
        answers: the last round of a debate in rounds.
        people: the participants of a script, each as in a prompt of their own.
        later: text after the task.
        words: length of an utterance.
        opposes: the answer to speak against, in a debate between two sides.
        confident: whether an answer includes a confidence.
        last_round: whether the judge of two sides must decide now.
        candidates: the possible next speakers.
        question: of a poll or an interview.
        possible: all answers to a poll; empty if any number is one.
        parts: the judgements of one answer.
        length: utterances of a script.
        takes_leave: whether participants take leave at the end of a script.
        request: the person to invent; None for all other tasks.
        story: of the tasks of a story; None for all others.
        companion: of a companion's prompts; None for all others.
        moderator: of a focus group with a guide; empty without one.
        asked: the question of the guide that the group talks about; empty before the first.
        puts: the question that the prompt's agent, the moderator, is to put now; empty for all others.
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
    question: str = ""
    possible: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    length: int = 0
    takes_leave: bool = False
    request: Request | None = None
    story: Told | None = None
    companion: Known | None = None
    moderator: str = ""
    asked: str = ""
    puts: str = ""

    def need_section(self, present: object, tag: str) -> None:
        """Refuse a prompt that lacks a section that its task needs.

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
        """All participants: the prompt's agent and the others; a judge takes no part."""
        if self.group:
            return tuple(member.name for member in self.group)
        return (self.name, *self.present) if self.name else self.present

    def leads(self, name: str) -> bool:
        """Whether this is the name of the moderator, who leads the conversation and takes no side in it."""
        return (name.startswith(MODERATOR) and name not in self.participants) or (name == self.moderator != "")

    def relation_to(self, name: str) -> Relation | None:
        """The relationship to `name`, if the prompt shows one."""
        return next((r for r in self.relations if r.to == name), None)
