"""Interventions of people, moderators and branches: words, a whisper, a topic, a hand, the floor, a choice, the end.

Interventions wait in the conversation's channel `interventions`; the graph carries them out one by one between turns.
This module validates every intervention, whether the command line, the web page, Studio or another program made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from .errors import InputError, suggestion
from .plain_text import as_listed, clean, is_visible, one_line, quoted
from .scenario import Topic

MODERATOR: Final = "Moderator"

LONGEST_WORDS: Final = 8_000
"""The most characters of a person's utterance."""


MOST_COUNTED: Final = 1_000_000
"""A longer text is told as so long "or more": of a line of standard input, no more is kept."""
_SHOWN: Final = 60
"""The most characters of an invalid value that an error quotes."""


def _plain(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it is not text")
    text = clean(value).strip()
    if not is_visible(text):
        raise ValueError("there are no words in it")
    return text


def _each_once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


Words = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_WORDS), BeforeValidator(_plain)]
"""What a person says: without control characters, not empty, of at most `LONGEST_WORDS` characters."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class _Intervention(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Say(_Intervention):
    """The moderator or a participant says the given words next."""

    do: Literal["say"] = "say"
    text: Words
    speaker: str = Field(default="", description="a participant; empty for the moderator, who takes no part")
    heard_by: Annotated[list[Name], Field(min_length=1), AfterValidator(_each_once)] | None = Field(
        default=None, description="who hears it beside its speaker (a whisper); null for everybody"
    )
    edited_by: Literal["branch"] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description='"branch" if a branch replaces what the speaker said; else null',
    )


class NewTopic(_Intervention):
    """The conversation turns to another topic."""

    do: Literal["topic"] = "topic"
    topic: Annotated[Topic, BeforeValidator(_plain)]


class Hand(_Intervention):
    """A person raises a hand, to speak next, or lowers it."""

    do: Literal["hand"] = "hand"
    agent: Name
    raised: bool = True


class Floor(_Intervention):
    """A participant speaks next, regardless of the needs to talk."""

    do: Literal["floor"] = "floor"
    agent: Name
    avoid: list[str] = Field(default=[], description="texts that it must not repeat")
    question: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="of a focus group's moderator: whether to put the guide's next question, though it is not due yet",
    )


class Choose(_Intervention):
    """A host of a story, about to choose whom to talk to, is given its partner. Only branches make it."""

    do: Literal["choose"] = "choose"
    host: Name
    partner: str = Field(default="", description="a participant; empty for nobody")


class Stop(_Intervention):
    """The conversation ends."""

    do: Literal["stop"] = "stop"


AnyIntervention = Say | NewTopic | Hand | Floor | Choose | Stop
Intervention = Annotated[AnyIntervention, Field(discriminator="do")]

_ONE: Final[TypeAdapter[AnyIntervention]] = TypeAdapter(Intervention)


def intervention(given: Any, present: Sequence[str], people: Iterable[str] = ()) -> AnyIntervention:
    """Validate an intervention, and write the names in it as they are listed.

    Args:
        given: a mapping with `do`, or an intervention.
        present: the participants' full names, in order of listing.
        people: the names of those who are people.

    Raises:
        InputError: `given` is not an intervention, its words are empty or too long, or a name in it is not that of a
            participant.
    """
    try:
        made = _ONE.validate_python(given)
    except ValidationError as error:
        raise InputError(
            _problem(error), where="intervention", remedy="docs/people.md lists all interventions with their fields."
        ) from None
    made = _as_listed(made, present)
    for name in _named(made):
        if name not in present:
            raise InputError(
                f"{quoted(name, _SHOWN)} does not take part", where="intervention", remedy=suggestion(name, present)
            )
    if made.do == "say" and made.heard_by == [made.speaker]:
        raise InputError(
            "nobody but the speaker would hear it",
            where="intervention",
            remedy="Name at least one other participant in heard_by.",
        )
    if made.do == "hand" and made.agent not in set(people):
        raise InputError(
            f"{made.agent} is an agent, and only people raise a hand",
            where="intervention",
            remedy="Name a person, or give the agent the floor.",
        )
    return made


def _as_listed(made: AnyIntervention, present: Sequence[str]) -> AnyIntervention:
    """The same intervention with names as they are listed."""
    match made:
        case Say(speaker=speaker, heard_by=heard_by):
            heard = None if heard_by is None else _each_once([as_listed(name, present) for name in heard_by])
            return made.model_copy(update={"speaker": speaker and as_listed(speaker, present), "heard_by": heard})
        case Hand() | Floor():
            return made.model_copy(update={"agent": as_listed(made.agent, present)})
        case Choose(host=host, partner=partner):
            listed = {"host": as_listed(host, present), "partner": partner and as_listed(partner, present)}
            return made.model_copy(update=listed)
        case _:
            return made


def _named(made: AnyIntervention) -> list[str]:
    """The participants that an intervention names."""
    match made:
        case Say():
            return [name for name in (made.speaker, *(made.heard_by or ())) if name]
        case Hand() | Floor():
            return [made.agent]
        case Choose():
            return [name for name in (made.host, made.partner) if name]
        case _:
            return []


def words(text: Any) -> str:
    """Validate what a person says.

    Raises:
        InputError: it is not text, or is empty or too long.
    """
    try:
        return _WORDS.validate_python(text)
    except ValidationError as error:
        remedy = f"Write a text of 1 to {LONGEST_WORDS:,} characters."
        raise InputError(_problem(error), where="what a person says", remedy=remedy) from None


def said_by(text: str, *, where: str, example: str) -> tuple[str, str]:
    """Who says what, from "NAME: text".

    Args:
        text: as it was given.
        where: the place in words.
        example: how it is written there.

    Raises:
        InputError: the name or the words are missing.
    """
    name, colon, words = text.partition(":")
    if name.strip() and colon and not words.strip():
        raise InputError("there are no words after the colon", where=where, remedy=f"Add the words: {example}")
    if not name.strip() or not words.strip():
        raise InputError(
            "the speaker or the words are missing", where=where, remedy=f"Write a name, a colon, the words: {example}"
        )
    return name.strip(), words.strip()


def chosen_for(text: str, *, where: str, example: str) -> tuple[str, str]:
    """For whom a partner is chosen, and which, from "HOST=PARTNER".

    Args:
        text: as it was given.
        where: the place in words.
        example: how it is written there.

    Raises:
        InputError: the host or the partner is missing.
    """
    host, equals, partner = (part.strip() for part in text.partition("="))
    if not (host and equals and partner):
        raise InputError(
            "the host or the partner is missing",
            where=where,
            remedy=f"Write a name, an equals sign, and a name or nobody: {example}",
        )
    return host, partner


_WORDS: Final[TypeAdapter[str]] = TypeAdapter(Words)


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    # The caller wrote keys and tags, so they may hold any character.
    field = one_line(".".join(str(part) for part in first["loc"][1:]))[:_SHOWN]
    field = field if field.isprintable() else quoted(field, _SHOWN)
    what = one_line(first["msg"].removeprefix("Value error, "))
    if first["type"] == "string_too_long":
        count = len(str(first["input"]))
        said = f"{count:,}" if count < MOST_COUNTED else f"{MOST_COUNTED:,} or more"
        what = f"{said} characters are too many: at most {first['ctx']['max_length']:,}"
    elif first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        what = "there is no such intervention"
    elif first["type"] == "string_too_short":
        what = "a name is missing"
    shown = what[:1].lower() + what[1:]
    return f"{field}: {shown}" if field and field != "text" else shown
