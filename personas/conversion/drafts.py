"""Drafts of personas from foreign records: by the mapping that fits, or as a model reads them where none does."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping as Fields
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final

from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from ...models.asking import Answer, ask
from ...models.failures import TransientModelError
from ...models.naming import parse_model_name
from ...models.registry import model_name, ready_model
from ...state.document import Location, dotted
from ...state.errors import InputError, ModelError
from ...state.minds.mind import Call
from ...state.persona import Persona
from ...state.plain_text import folded, one_line, quoted
from ...state.settings import Settings
from .loading import Form, Record, Refused, load
from .mapping import Mapping, find, place_of, ready, text_of, unused

SHOWN: Final = 60
"""The most characters of a value that the report shows."""
MOST_ENTRIES: Final = 100
"""The most entries of a list that are used."""
_LISTS: Final = ("traits", "social_goals")
_FIELDS: Final = 200
_ID: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)[\w-]+")


@dataclass(frozen=True)
class Draft:
    """The draft of a persona, not yet checked.

    Attributes:
        record: its source.
        by: the mapping or the model that read it, in words.
        values: a persona's fields, as `Persona` takes them.
        mapped: field of the persona → fields of the record, dotted, that it comes from.
        left_out: field of the record → its value, shortened.
        technical: fields of the record that say nothing about a person.
        notes: for the user, one line each.
    """

    record: Record
    by: str
    values: dict[str, Any]
    mapped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    technical: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def drafted(record: Record, mapping: Mapping) -> Draft:
    """The draft that a mapping makes from a record.

    Raises:
        InputError: name or description are empty, or the knowledge level is invalid.
    """
    values: dict[str, Any] = {}
    mapped: dict[str, tuple[str, ...]] = {}
    used: set[Location] = set()
    for (target, *inner), rule in mapping.rules.items():
        taken = rule.items(record.data) if target in _LISTS else rule.text(record.data)
        if not taken.items:
            if target in ("name", "description"):
                raise _missing(str(target), record, mapping)
            continue
        used |= taken.used
        names = tuple(dotted(at) for at in sorted(taken.used, key=str))
        mapped[str(inner[0] if inner else target)] = names
        value: Any = list(taken.items) if target in _LISTS else taken.items[0]
        if target == "knowledge" and value.strip() not in ("0", "1", "2", "3", "4", "5"):
            what, where = f"{quoted(value, SHOWN)} is not a knowledge level", record.where(", ".join(names))
            raise InputError(what, where=where, remedy="Write 0 (none) to 5 (expert).")
        if inner:
            values.setdefault(str(target), {})[inner[0]] = value
        else:
            values[str(target)] = int(value) if target == "knowledge" else value
    places = [at for path in mapping.technical if (at := place_of(record.data, path)) is not None]
    left = [(at, value, any(at[: len(one)] == one for one in places)) for at, value in unused(record.data, used)]
    left_out = {dotted(at): quoted(text_of(value), SHOWN) for at, value, technical in left if not technical}
    technical = tuple(dotted(at) for at, _, technical in left if technical)
    return Draft(record, f"the mapping {mapping.name}", values, mapped, left_out, technical, record.notes)


def _missing(target: str, record: Record, mapping: Mapping) -> InputError:
    wanted = sorted(mapping.rules[(target,)].paths())
    there = any(place_of(record.data, path) is not None for name in wanted for path in (name, *name.split("|")))
    remedy = f"The mapping {mapping.name} takes it from {quoted(', '.join(wanted), 120)[1:-1]}"
    if there:
        return InputError(f"the {target} is empty", where=record.where(), remedy=f"{remedy}. Fill it in.")
    fields = quoted(", ".join(str(key) for key in list(record.data)[:20]), _FIELDS)[1:-1]
    what = f"there is no field for the {target}"
    return InputError(what, where=record.where(), remedy=f"{remedy}; the fields are {fields}.")


def _limits() -> dict[str, int]:
    """The greatest length of each text of a persona; for a list or mapping, of an entry."""
    fields = Persona.model_json_schema()["properties"]
    inside = {
        "description": fields["description"],
        "characteristics": fields["characteristics"]["additionalProperties"],
        "traits": fields["traits"]["items"],
        "speaking_style": fields["speaking_style"]["anyOf"][0],
        "social_goals": fields["social_goals"]["items"],
    }
    return {key: int(schema["maxLength"]) for key, schema in inside.items()}


LIMITS: Final = _limits()


def shortened(draft: Draft) -> Draft:
    """The draft with texts and lists cut to a persona's limits, and a note for each cut."""
    notes: list[str] = []

    def cut(value: Any, what: str, most: int) -> Any:
        if isinstance(value, dict):
            return {name: cut(text, name, most) for name, text in value.items()}
        if isinstance(value, list):
            if len(value) > MOST_ENTRIES:
                notes.append(f"{what}: the first {MOST_ENTRIES} of {len(value):,}")
            return [cut(text, what, most) for text in value[:MOST_ENTRIES]]
        if len(value) <= most:
            return value
        kept = value[: most - 1]
        kept = (kept[: kept.rfind(" ")] if " " in kept[most // 2 :] else kept).rstrip() + "…"
        notes.append(f"{what}: shortened from {len(value):,} to {len(kept):,} characters")
        return kept

    order = ("description", "speaking_style", *_LISTS, "characteristics")
    values = {key: cut(draft.values[key], key, LIMITS[key]) for key in order if key in draft.values}
    return replace(draft, values={**draft.values, **values}, notes=(*draft.notes, *notes))


def with_names(draft: Draft, others: Sequence[tuple[Record, str]], ids: str) -> Draft:
    """The draft with names where its texts have ids.

    An id has a letter and a digit, and belongs to one record. Unknown ids of the same form stay, and are noted.

    Args:
        draft: the draft of one record.
        others: all records that are read with the same mapping, and their names; records in other folders do not
            count, because their ids mean others.
        ids: the field with each record's own id.
    """
    near = [(find(record.data, ids), name) for record, name in others if record.file.parent == draft.record.file.parent]
    known = [(text_of(found[1]), name) for found, name in near if found and name and _ID.fullmatch(text_of(found[1]))]
    if not known:
        return draft
    listed = [own for own, _ in known]
    names = {own: name for own, name in known if listed.count(own) == 1}
    forms = sorted({re.sub(r"\d", r"\\d", re.escape(own)) for own in listed})
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")
    strangers: dict[str, None] = {}

    def name_of(match: re.Match[str]) -> str:
        if match[0] not in names:
            strangers[match[0]] = None
        return names.get(match[0], match[0])

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: named(item) for key, item in value.items()}
        if isinstance(value, list):
            return [named(item) for item in value]
        return pattern.sub(name_of, value) if isinstance(value, str) else value

    values = {key: value if key == "name" else named(value) for key, value in draft.values.items()}
    note = f"named by id, and not among the files: {', '.join(strangers)}; convert the whole folder to have the names"
    return replace(draft, values=values, notes=(*draft.notes, *([note] if strangers else [])))


@dataclass(frozen=True)
class Described:
    """A description, and how to read it.

    Attributes:
        record: the description.
        mapping: the mapping that fits; None if a model must read it.
        why: if a model must read it, why no mapping fits.
        skipped: entries of the same file that describe no person, counted with its first record.
        refused: rows of the same file that cannot be read, listed with its first record.
    """

    record: Record
    mapping: Mapping | None = None
    why: str = ""
    skipped: int = 0
    refused: tuple[Refused, ...] = ()


def described(file: Path, mapping: Mapping | None, *, read: bool = False) -> list[Described]:
    """The descriptions in a file, each with the mapping that fits it.

    Args:
        file: the file.
        mapping: the mapping to use; None to choose among the ready ones.
        read: use no mapping, so that a model reads everything.

    Raises:
        InputError: the file cannot be read, or does not fit the mapping.
    """
    forms = load(file)
    first, *others = _described(forms, mapping, read=read)
    return [replace(first, refused=forms[0].refused, skipped=first.skipped + forms[0].skipped), *others]


def _described(forms: list[Form], mapping: Mapping | None, *, read: bool) -> list[Described]:
    if mapping is not None and mapping.records and not read:
        forms = [_listed(forms[0], mapping)]
    # If no mapping fits, the records are a list's entries, else the whole file.
    people = next((form for form in forms if not form.mixed), forms[0]).records
    if read:
        return [Described(record) for record in people]
    fit = _fitting(forms, [mapping] if mapping is not None else list(ready().values()))
    if fit is not None:
        return fit
    if mapping is not None:
        _refuse(people[0], mapping)
        return [Described(one, mapping) for one in people]
    return [Described(one, why=_why(people[0])) for one in people]


def _fitting(forms: list[Form], mappings: list[Mapping]) -> list[Described] | None:
    """The first mapping and form that fit all records; None if no mapping fits any record.

    If a mapping fits only some records, it is used nevertheless: its errors say what is wrong with the others.
    """
    some: list[Described] | None = None
    for mapping in mappings:
        for form in forms:
            fits = [record for record in form.records if mapping.recognises(record.data)]
            if fits and (form.mixed or len(fits) == len(form.records)):
                skipped = len(form.records) - len(fits)
                return [Described(record, mapping, skipped=0 if n else skipped) for n, record in enumerate(fits)]
            if fits and some is None:
                some = [Described(record, mapping) for record in form.records]
    return some


def _listed(form: Form, mapping: Mapping) -> Form:
    """The records in the field that the mapping names."""
    root, place = form.records[0], mapping.records
    _, entries = find(root.data, place) or ((), None)
    if len(form.records) > 1 or not isinstance(entries, list) or not all(isinstance(e, Fields) for e in entries):
        what = f"there is no list of records in the field {place}, as the mapping {mapping.name} says"
        raise InputError(what, where=str(root.file), remedy="Correct records in the mapping, or leave it out.")
    return Form(tuple(Record(root.file, f"entry {n} of {place}", data=e) for n, e in enumerate(entries, start=1)))


def _refuse(record: Record, mapping: Mapping) -> None:
    """Refuse a file that plainly does not fit a mapping.

    Raises:
        InputError: it is text without fields, or has none of the fields that the mapping needs.
    """
    if not record.data:
        what = f"this is text without fields, which the mapping {mapping.name} cannot read"
        remedy = "Leave --mapping out, and name a model that reads it (--model)."
        raise InputError(what, where=record.where(), remedy=remedy)
    lacking = [path for path in mapping.recognise if place_of(record.data, path) is None]
    if lacking or not any(find(record.data, path) for path in mapping.paths()):
        wanted = f"there is no field {lacking[0]}" if lacking else "none of its fields is there"
        what = f"this is not what the mapping {mapping.name} is for: {wanted}"
        remedy = f"The file has the fields {_fields(record)}. Correct the mapping, or leave it out."
        raise InputError(what, where=record.where(), remedy=remedy)


def _why(record: Record) -> str:
    if not record.data:
        return "this is text without fields"
    plain = ready()["plain"]
    lacking = [key for key in ("name", "description") if not plain.rules[(key,)].text(record.data).items]
    return f"there is no field for the {' and the '.join(lacking)} among {_fields(record)}"


def _fields(record: Record) -> str:
    return quoted(", ".join(str(key) for key in record.data), _FIELDS)[1:-1]


# What a model reads, because no mapping says which field is which

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
_Name = Annotated[str, StringConstraints(max_length=300), BeforeValidator(_flat)]
_Paragraph = Annotated[str, StringConstraints(max_length=4000), BeforeValidator(_flat)]


class Fact(BaseModel):
    """A characteristic that a description states."""

    name: _Line = Field(description="what it is, for example age")
    value: _Line = Field(description="its value, as the record has it")


class ReadPerson(BaseModel):
    """A person whom a record describes; fields that it does not state are empty."""

    name: _Name = Field(description="the name as it is written; empty where none is given")
    description: _Paragraph = Field(description="one paragraph: who this is, from the record alone")
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
    name = model_name(settings, "", MODULE)
    if parse_model_name(name).provider == "offline":
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
    await ready_model(name, settings)


def reader(settings: Settings) -> str:
    """The name of the model that reads, as the user wrote it."""
    return parse_model_name(model_name(settings, "", MODULE)).written


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
    found = zip(records, answers, strict=True)
    return [_read_draft(one, person, reader(settings)) for one, answer in found for person in answer.value.people], [
        answer.call for answer in answers
    ]


async def _read(record: Record, settings: Settings) -> Answer[ReadPeople]:
    """One description, read."""
    single = record.is_one_of_several  # a row or an entry is about one person, a file may be about several

    async def once(_: object) -> Answer[ReadPeople]:
        values = {"record": record.text, "single": single}
        return await ask(MODULE, ReadPeople, settings=settings, agent="", module=MODULE, turn=0, **values)

    def failed(what: str, remedy: str = _OTHER) -> ModelError:
        return ModelError(f"{record.where()}: {what}", model=reader(settings), module=MODULE, remedy=remedy)

    transient = (TransientModelError,)
    patient = RunnableLambda(once).with_retry(retry_if_exception_type=transient, stop_after_attempt=_ATTEMPTS)
    try:
        answer = await patient.ainvoke(None)
    except ModelError as error:
        raise failed(error.what, error.remedy) from error
    people = answer.value.people
    if not people or not all(person.name and person.description for person in people):
        what = "the model found no person with a name and a description in it"
        raise InputError(what, where=record.where(), remedy="Name the person in the text, and say who it is.")
    words = set(_words(record.text))
    invented = next((person.name for person in people if not set(_words(person.name)) <= words), None)
    if invented is not None:
        raise failed(f"the model names {quoted(invented, SHOWN)}, who is not in it")
    if single and len(people) > 1:
        raise failed(f"the model found {len(people)} people, but one is described")
    return answer


def _read_draft(record: Record, person: ReadPerson, model: str) -> Draft:
    """The draft of what a model found, with a note for each value that is not in the text in these words."""
    facts = {fact.name: fact.value for fact in person.characteristics if fact.name and fact.value}
    lists = {key: [text for text in getattr(person, key) if text] for key in _LISTS}
    texts = {"description": person.description, "speaking_style": person.speaking_style}
    found = {"name": person.name, "characteristics": facts, **lists, **texts}
    values = {key: value for key, value in found.items() if value}
    given = {**{name: [value] for name, value in facts.items()}, **{key: [text] for key, text in texts.items() if text}}
    given |= {key: listed for key, listed in lists.items() if listed}
    words = set(_words(record.text))
    told = set(_words(" ".join([person.name, *(text for texts in given.values() for text in texts)])))
    notes = [
        f"check {name}: {quoted(text, SHOWN)} is not in the text in these words"
        for name, texts_ in given.items()
        for text in texts_
        if not _found(text, words)
    ]
    left = {str(key): text_of(value) for key, value in record.data.items() if not _found(text_of(value), told)}
    shown = {key: quoted(text, SHOWN) for key, text in left.items()}
    mapped: dict[str, tuple[str, ...]] = dict.fromkeys(("name", *given), (f"read by {model}",))
    return Draft(record, f"the model {model}", values, mapped, shown, notes=tuple(notes))


def _words(text: str) -> list[str]:
    """The words of a text in lower case; its characters if a script puts no spaces between words."""
    return _WORD.findall(folded(text))


def _found(text: str, words: set[str]) -> bool:
    """Whether at least half of the longer words of a text are among these; a word's first five letters are enough."""
    wanted = _words(text)
    wanted = [word for word in wanted if len(word) > 3] or wanted
    known = {word[:5] for word in words}
    return sum(word[:5] in known for word in wanted) * 2 >= len(wanted)
