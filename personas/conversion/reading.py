"""Reads descriptions with a model, because no mapping says which field is which."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from persimchat.models.asking import Answer, ask
from persimchat.models.failures import TransientModelError
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import model_name, ready_model
from persimchat.personas.conversion.draft import SHOWN, Draft
from persimchat.personas.conversion.mapping_paths import text_of
from persimchat.personas.conversion.record import Record
from persimchat.state.errors import InputError, ModelError
from persimchat.state.mind import Call
from persimchat.state.normalise import folded
from persimchat.state.plain_text import one_line, quoted
from persimchat.state.settings import Settings

MODULE: Final = "persona_conversion"
LONGEST: Final = 60_000
"""The longest description that a model reads, in characters: about 15,000 tokens."""
MOST_RECORDS: Final = 200
"""The most descriptions that a model reads in one conversion; use a mapping for more."""

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_ATTEMPTS: Final = 5
"""Attempts of one request that fails for a transient reason, as in the graph."""
_OTHER: Final = "Try another model, or a mapping file (--mapping)."
_REMEDY: Final = (
    "Say which column of a table is which (--column 'COLUMN=name'), write a mapping file (--mapping FILE), "
    "or name a model that reads it (--model)."
)


def _flat(value: Any) -> Any:
    return "" if value is None else one_line(value) if isinstance(value, str) else value


_Line = Annotated[str, StringConstraints(max_length=1000), BeforeValidator(_flat)]


class Fact(BaseModel):
    """A characteristic that a description states."""

    name: _Line = Field(description="what it is, for example age")
    value: _Line = Field(description="its value, as the record has it")


class ReadPerson(BaseModel):
    """A person whom a record describes; fields that it does not state are empty."""

    name: Annotated[str, StringConstraints(max_length=300), BeforeValidator(_flat)] = Field(
        description="the name as it is written; empty where none is given"
    )
    description: Annotated[str, StringConstraints(max_length=4000), BeforeValidator(_flat)] = Field(
        description="one paragraph: who this is, from the record alone"
    )
    characteristics: list[Fact] = Field(max_length=30, description="facts that are stated")
    traits: list[_Line] = Field(max_length=20, description="traits of character that are stated or plainly shown")
    speaking_style: _Line = Field(description="how this person talks; empty where nothing is said of it")
    social_goals: list[_Line] = Field(max_length=20, description="what this person wants from others")


class ReadPeople(BaseModel):
    """The people whom a record describes."""

    people: list[ReadPerson] = Field(max_length=50, description="in the record's order")


async def check_readable(records: Sequence[Record], settings: Settings, why: str) -> None:
    """Refuse descriptions that no model should read, before anything is paid for.

    Args:
        records: the descriptions.
        settings: which model reads.
        why: why no mapping fits, for the error.

    Raises:
        InputError: no language model but the offline model is set, or the model's name, key or file is wrong; a text is
            too long, or there are too many.
    """
    name = parse_model_name(model_name(settings, "", MODULE))
    if name.provider == "offline":
        what = f"{why}, and " * bool(why) + "the offline model is no language model: it cannot read descriptions"
        raise InputError(what, where=records[0].where(), remedy=_REMEDY)
    long = next((record for record in records if len(record.text) > LONGEST), None)
    if long is not None:
        what = f"the text has {len(long.text):,} characters, too many for one question to a model"
        raise InputError(what, where=long.where(), remedy=f"Split it into files of up to {LONGEST:,}.")
    if len(records) > MOST_RECORDS:
        what = f"a model would have to read {len(records):,} descriptions one by one"
        remedy = f"Write a mapping file for them (--mapping), choose some with --pick, or give up to {MOST_RECORDS}."
        raise InputError(what, where=str(records[0].file), remedy=remedy)
    await ready_model(model_name(settings, "", MODULE), settings)


async def read_all(records: Sequence[Record], settings: Settings) -> tuple[list[Draft], list[Call]]:
    """Let a model read descriptions: one draft per person, in the order of the records, and the calls.

    Raises:
        InputError: a description describes no person.
        ModelError: the model fails, answers wrongly twice, or invents a person.
    """
    tasks = [asyncio.create_task(_read(record, settings)) for record in records]
    try:
        answers = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # if one failed, the others would only cost
        await asyncio.gather(*tasks, return_exceptions=True)
    name = reader(settings)
    drafts = [_draft(record, p, name) for record, a in zip(records, answers, strict=True) for p in a.value.people]
    return drafts, [answer.call for answer in answers]


async def _read(record: Record, settings: Settings) -> Answer[ReadPeople]:
    """One description, read."""
    single = record.is_one_of_several  # a row or an entry is about one person, a file may be about several

    async def once(_: object) -> Answer[ReadPeople]:
        return await ask(
            MODULE, ReadPeople, settings=settings, agent="", module=MODULE, turn=0, record=record.text, single=single
        )

    patient = RunnableLambda(once).with_retry(
        retry_if_exception_type=(TransientModelError,), stop_after_attempt=_ATTEMPTS
    )
    try:
        answer = await patient.ainvoke(None)
    except ModelError as error:
        raise _failed(record, error.what, error.remedy, settings) from error
    people = answer.value.people
    words = set(_words(record.text))
    if not people or not all(person.name and person.description for person in people):
        what = "the model found no person with a name and a description in it"
        raise InputError(what, where=record.where(), remedy="Name the person in the text, and say who it is.")
    for person in people:
        if not set(_words(person.name)) <= words:
            what = f"the model names {quoted(person.name, SHOWN)}, who is not in it"
            raise _failed(record, what, _OTHER, settings)
    if single and len(people) > 1:
        raise _failed(record, f"the model found {len(people)} people, but one is described", _OTHER, settings)
    return answer


def _failed(record: Record, what: str, remedy: str, settings: Settings) -> ModelError:
    return ModelError(f"{record.where()}: {what}", model=reader(settings), module=MODULE, remedy=remedy)


def reader(settings: Settings) -> str:
    """The name of the model that reads, as the user wrote it."""
    return parse_model_name(model_name(settings, "", MODULE)).written


def _draft(record: Record, person: ReadPerson, model: str) -> Draft:
    """The draft of what a model found, with a note for each value that is not in the text in these words."""
    facts = {fact.name: fact.value for fact in person.characteristics if fact.name and fact.value}
    found: dict[str, Any] = {
        "description": person.description,
        "characteristics": facts,
        "traits": [trait for trait in person.traits if trait],
        "speaking_style": person.speaking_style,
        "social_goals": [goal for goal in person.social_goals if goal],
    }
    values = {"name": person.name, **{key: value for key, value in found.items() if value}}
    given: dict[str, list[str]] = {name: [value] for name, value in facts.items()}
    given |= {key: [values[key]] for key in ("description", "speaking_style") if key in values}
    given |= {key: values[key] for key in ("traits", "social_goals") if key in values}
    words = set(_words(record.text))
    told = set(_words(" ".join([person.name, *(text for texts in given.values() for text in texts)])))
    notes = [
        f"check {name}: {quoted(text, SHOWN)} is not in the text in these words"
        for name, texts in given.items()
        for text in texts
        if not _found(text, words)
    ]
    left = {
        str(key): quoted(text_of(value), SHOWN)
        for key, value in record.data.items()
        if not _found(text_of(value), told)
    }
    mapped: dict[str, tuple[str, ...]] = dict.fromkeys(("name", *given), (f"read by {model}",))
    return Draft(record, f"the model {model}", values, mapped, left, notes=tuple(notes))


def _words(text: str) -> list[str]:
    """The words of a text in lower case; its characters if a script puts no spaces between words."""
    return _WORD.findall(folded(text))


def _found(text: str, words: set[str]) -> bool:
    """Whether at least half of the longer words of a text are among these; a word's first five letters are enough."""
    wanted = _words(text)
    wanted = [word for word in wanted if len(word) > 3] or wanted
    known = {word[:5] for word in words}
    return sum(word[:5] in known for word in wanted) * 2 >= len(wanted)
