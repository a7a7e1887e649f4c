"""What a companion keeps: what one agent knows of one person (`Tie`), and what comes in (`Occurrence`).

A companion is one agent in a talk with one person. The agent's mind is one for all persons; each pair of agent and
person has a tie and a thread of its own.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from ..errors import InputError
from ..minds.emotion import EMOTIONS
from ..plain_text import clean, name_as_written

LONGEST_PERSON: Final = 80
"""The most characters of a person's name."""
STRANGER: Final = "the stranger"
"""Stands for the name of a person who has not been introduced."""
DIGESTED: Final = 64
"""How many exchanges a mind remembers as digested, so that none is digested twice."""
CLIENT_S_NAME: Final = 64
"""The most characters of a client's name for a talk."""
LINES: Final = 48
"""The last lines that a thread keeps besides those of talks that are not consolidated yet."""
FACTS: Final = 200
"""The most facts in force of one person; then the least important goes."""

Label = Literal["happy", "angry", "disgust", "fear", "surprised", "sad", "neutral"]
"""An emotion in one word, as clients get it (the paper's seven words)."""
LABELS: Final[tuple[Label, ...]] = ("happy", "angry", "disgust", "fear", "surprised", "sad", "neutral")

Cause = Literal[
    "none",
    "shared_interest",
    "disclosure",
    "kindness",
    "help",
    "apology",
    "kept_promise",
    "insult",
    "threat",
    "contempt",
    "lie",
    "broken_promise",
    "pressure",
]
"""Why trust changes."""
HOSTILE: Final = frozenset({"insult", "threat", "contempt"})
"""Causes after which trust stays below its former level until the talk ends."""

About = Literal["person", "agent", "other"]
"""Whom a fact is about: the person of the tie, the agent, or somebody or something else."""


class Fact(BaseModel):
    """Something that a person has said and the agent keeps word for word; a fact never changes, it is replaced."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="id of its memory")
    about: About = "person"
    subject: str = Field(max_length=80, description="what of, in one to four words: sister, job, home town")
    statement: str = Field(max_length=300, description="one sentence")
    quote: str = Field(max_length=200, description="the person's own words")
    importance: int = Field(ge=0, le=10)
    at: str = Field(description="when it was said, ISO time")
    talk: str = Field(description="id of the talk")
    exchange: str = Field(default="", description="id of the exchange; empty for a statement that a person has written")
    replaced_by: str = Field(
        default="", description="id of the fact that replaces it, or dropped; empty: it is in force"
    )
    replaced_at: str = ""
    pinned: bool = False
    edited_by: str = Field(default="", description="who wrote it in place of the agent; empty: nobody")

    @property
    def in_force(self) -> bool:
        """Whether it is recalled."""
        return not self.replaced_by


class Talk(BaseModel):
    """A talk that is open, or over and not consolidated yet."""

    model_config = ConfigDict(extra="forbid")

    id: str
    number: int = Field(ge=1, description="of the pair's talks, from 1")
    begun: str = Field(description="ISO time")
    last: str = Field(description="when the last words were said, ISO time")
    exchanges: int = 0
    trust: int = Field(description="trust when it began")
    ceiling: int | None = Field(default=None, description="the most that trust can be until it ends, after hostility")
    hostile: bool = Field(default=False, description="whether the last appraised words were hostile")
    closing: bool = Field(default=False, description="whether the agent wants to take leave")
    client: str = Field(default="", max_length=CLIENT_S_NAME, description="the client's name for it; empty: none")


class Tie(BaseModel):
    """What one agent knows of one person."""

    model_config = ConfigDict(extra="forbid")

    person: str = Field(description="id of the person")
    name: str = Field(description="the person's name")
    introduced: bool = Field(default=False, description="whether the agent knows the name")
    trust: int = Field(default=5, ge=0, le=10)
    type: str = Field(default="unknown", description="a type of state/persona.py")
    side: Literal["from", "to"] = "from"
    note: str = Field(default="", max_length=500)
    talks: int = Field(default=0, description="talks that are over")
    first_met: str = ""
    last_met: str = ""
    summary: str = Field(default="", description="of the last talks, in the agent's words")
    promises: list[str] = Field(default_factory=list)
    facts: list[Fact] = Field(default_factory=list, description="in order of arrival; replaced ones too")
    talk: Talk | None = Field(default=None, description="the open talk")
    talked: int | None = Field(default=None, description="tick of the last exchange; None: there was none")
    over: list[Talk] = Field(default_factory=list, description="talks that are over and not consolidated yet")

    @property
    def in_force(self) -> list[Fact]:
        """The facts that may be recalled, in order of arrival."""
        return [fact for fact in self.facts if fact.in_force]

    @property
    def unconsolidated(self) -> list[Talk]:
        """The talks that are over and not consolidated yet, then the open one."""
        return [*self.over, *([self.talk] if self.talk else [])]


class Happening(BaseModel):
    """Something that an agent perceives, as a quadruple; a client's words are data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    predicate: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = "is"
    object: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = "idle"
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    person: bool = Field(default=False, description="whether the subject is a person or an agent")
    importance: int | None = Field(default=None, ge=0, le=10, description="None: a model rates it")


class Occurrence(TypedDict):
    """What comes in: the input of one run of the graph."""

    kind: Literal["message", "events", "time", "end", "retract"]
    """"retract" takes the last exchange back, as if it had not been."""
    id: NotRequired[str]
    """Of the exchange; missing: made of thread and number. The same id is answered once."""
    text: NotRequired[str]
    at: NotRequired[str]
    """When, ISO local time without a zone; missing: now."""
    talk: NotRequired[str]
    """The client's name for its talk, at most 64 characters; missing: the open one."""
    events: NotRequired[list[dict[str, Any]]]
    """`Happening` as mappings."""
    unasked: NotRequired[bool]
    """Whether the agent may speak because of events; missing: it may."""
    introduced: NotRequired[bool]
    """Whether the client says that agent and person know each other by name."""
    seed: NotRequired[int]
    """Added to the seed: another answer to the same words."""
    temperature: NotRequired[float]
    """Of the model that words this answer; missing: the settings'."""
    closing: NotRequired[bool]
    """Whether the agent takes leave in its answer; `attend` decides it."""
    happened: NotRequired[list[str]]
    """What the agent answers in place of words, a sentence each; `react` decides it."""
    shown: NotRequired[list[dict[str, str]]]
    """Earlier lines (`speaker`, `text`) that a client shows and nobody remembers."""
    instructions: NotRequired[str]
    """What a client says of the scene (a character card, a house): data, never obeyed."""


class Exchange(TypedDict):
    """A message of the person, or an event, and the answer."""

    id: str
    talk: str
    turn: int
    """The mind's tick."""
    at: str
    said: str
    """The person's words; empty if the agent spoke unasked."""
    utterance: str
    """The agent's words; empty while there are none."""
    emotion: Label
    trust: int
    """Emotion and trust after it, or before it while `appraised` is false."""
    end: bool
    appraised: bool
    tried: NotRequired[int]
    """How often its appraisal has failed."""
    events: NotRequired[list[str]]
    """What the agent answered in place of words, a sentence each."""


class CompanionMind(TypedDict, total=False):
    """What a mind carries as a companion: a group of `Mind`."""

    tick: int
    """The memory clock: one more for every occurrence that was remembered, and for every full hour in between."""
    version: int
    """How often the mind was written."""
    last: str
    """When the clock last moved, ISO time."""
    private: dict[str, list[str]]
    """Who may hear of a memory alive, ids of persons by id of memory; a memory that is missing is everybody's."""
    label: Label
    """The emotion in one word."""
    digested: list[str]
    """Ids of the last exchanges digested."""
    since_reflection: int
    """Importance of the memories since the last reflection."""
    at: str
    """Where the agent is, an address."""
    seen: list[dict[str, Any]]
    """The last events perceived (`Happening`), which are not new when they come again."""
    day: str
    """The date of the day plan, ISO; empty: none."""
    wakes: str
    sleeps: str
    """Wake-up and bedtime, HH:MM."""
    plan: list[dict[str, Any]]
    """The day plan's entries (state/companion/day.py)."""


class CompanionSituation(TypedDict):
    """The talk as the agent sees it in one step; never stored in its mind."""

    person: str
    """Id of the person."""
    shown: str
    """The person's name in prompts; "the stranger" until introduced."""
    introduced: bool
    share: bool
    """Whether what this person tells may be recalled with others."""
    at: str
    """ISO time."""
    begun: str
    """When the talk began, ISO time."""
    exchange: str
    """Id of the exchange."""
    talk: str
    place: str
    """The address where they are; empty without a place."""
    around: list[str]
    """What is there, a line each."""
    activity: str
    """What the agent is doing; empty: nothing that is known."""
    trust: int
    talks: int
    """Talks before this one."""
    last_met: str
    summary: str
    promises: list[str]
    facts: list[dict[str, Any]]
    """Facts in force (`Fact`), those that fit the budget."""
    confides: list[str]
    """What the agent tells at this trust. What it withholds is not here."""
    happened: list[str]
    """Events perceived since the last words, a sentence each."""
    instructions: str
    """What a client says of the scene."""
    candour: bool
    """Whether the agent, asked in earnest, says that it is simulated."""


def person_key(name: str) -> str:
    """The form of a person's name by which persons are told apart: without control characters, NFC, case-folded.

    Raises:
        InputError: nothing is left of the name, or it is too long.
    """
    shown = person_name(name)
    return unicodedata.normalize("NFC", shown.casefold())


def person_name(name: str) -> str:
    """A person's name as it is shown: on one line, without control characters, tags and separators of paths.

    Raises:
        InputError: nothing is left of the name, or it is too long.
    """
    bare = "".join(letter for letter in clean(name) if letter not in '<>/\\{}|"')
    try:
        shown = name_as_written(" ".join(unicodedata.normalize("NFC", bare).split()))
    except ValueError:
        shown = ""
    if not shown or len(shown) > LONGEST_PERSON:
        raise InputError(
            "the person's name is empty" if not shown else f"the person's name has {len(shown)} characters",
            where="person",
            remedy=f"Give a name of 1 to {LONGEST_PERSON} letters, for example --person Petr.",
        )
    return shown


def new_person_id(name: str, number: int = 0) -> str:
    """The id of a person who is new in a world, 16 hexadecimal digits; a renamed person keeps theirs.

    Args:
        name: the person's.
        number: of those who had this name before and now have another.
    """
    return _hash("person", person_key(name), *([str(number)] if number else []))


def thread_id(world: str, agent: str, person: str) -> str:
    """The LangGraph thread of one agent and one person.

    Args:
        world: id of the world.
        agent: the agent's name.
        person: id of the person.
    """
    return _hash("thread", world, agent, person)


def exchange_id(thread: str, number: int | str) -> str:
    """The id of an exchange for which the client gives none.

    Args:
        thread: of the pair.
        number: of the line in the thread's transcript that begins it, from 1; or the id of a message that is said.
    """
    return _hash("exchange", thread, str(number))


def talk_id(thread: str, number: int) -> str:
    """The id of a talk.

    Args:
        thread: of the pair.
        number: of the pair's talks, from 1.
    """
    return _hash("talk", thread, str(number))


def _hash(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]


_LABELS: Final[dict[str, Label]] = {
    "happiness": "happy",
    "sadness": "sad",
    "anger": "angry",
    "fear": "fear",
    "disgust": "disgust",
    "surprise": "surprised",
}


def label_of(emotion: Mapping[str, int], before: Label, floor: int) -> Label:
    """The word for the strongest emotion; "neutral" if none is above the floor.

    Args:
        emotion: intensities by name; one that is missing is not felt.
        before: the last word, which stays if its emotion is among the strongest; then the order of `EMOTIONS` counts.
        floor: an emotion counts from one level above this.
    """
    highest = max(emotion.get(name, 0) for name in EMOTIONS)
    if highest <= floor:
        return "neutral"
    strongest = [_LABELS[name] for name in EMOTIONS if emotion.get(name, 0) == highest]
    return before if before in strongest else strongest[0]
