"""The shape of a source: which mapping fits it, which records are people, and names in place of their ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Fields
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from persimchat.personas.conversion.draft import Draft
from persimchat.personas.conversion.loading import load
from persimchat.personas.conversion.mapping import Mapping, ready
from persimchat.personas.conversion.mapping_paths import find, place_of, text_of
from persimchat.personas.conversion.record import Form, Record, Refused
from persimchat.state.errors import InputError
from persimchat.state.plain_text import quoted

_ID: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)[\w-]+")


def with_names(draft: Draft, others: Sequence[tuple[Record, str]], ids: str) -> Draft:
    """The draft with names where its texts have ids.

    An id has a letter and a digit, and belongs to one record. Unknown ids of the same form stay, and are noted.

    Args:
        draft: the draft of one record.
        others: all records that are read with the same mapping, and their names; records in other folders do not
            count, because their ids mean others.
        ids: the field with each record's own id.
    """
    known: list[tuple[str, str]] = []
    for record, name in others:
        found = find(record.data, ids) if record.file.parent == draft.record.file.parent else None
        own = text_of(found[1]) if found else ""
        if name and _ID.fullmatch(own):
            known.append((own, name))
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

    values = {
        key: value if key == "name" else _everywhere(value, lambda text: pattern.sub(name_of, text))
        for key, value in draft.values.items()
    }
    return replace(draft, values=values, notes=(*draft.notes, *_note(strangers)))


def _note(strangers: Iterable[str]) -> list[str]:
    ids = ", ".join(strangers)
    return [f"named by id, and not among the files: {ids}; convert the whole folder to have the names"] if ids else []


def _everywhere(value: Any, change: Callable[[str], str]) -> Any:
    """A value with all texts in it changed."""
    if isinstance(value, dict):
        return {key: _everywhere(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_everywhere(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


_FIELDS: Final = 200


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
    found = _described(forms, mapping, read=read)
    return [replace(found[0], refused=forms[0].refused), *found[1:]]


def _described(forms: list[Form], mapping: Mapping | None, *, read: bool) -> list[Described]:
    if read:
        return [Described(record) for record in _people(forms).records]
    if mapping is not None and mapping.records:
        forms = [_listed(forms[0], mapping)]
    fit = _fitting(forms, [mapping] if mapping is not None else list(ready().values()))
    if fit is not None:
        return fit
    record = _people(forms).records[0]
    if mapping is not None:
        _refuse(record, mapping)
        return [Described(one, mapping) for one in _people(forms).records]
    return [Described(one, why=_why(record)) for one in _people(forms).records]


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


def _people(forms: list[Form]) -> Form:
    """The records if no mapping fits: a list's entries, else the whole file."""
    return next((form for form in forms if not form.mixed), forms[0])


def _listed(form: Form, mapping: Mapping) -> Form:
    """The records in the field that the mapping names."""
    root = form.records[0]
    found = find(root.data, mapping.records)
    entries = found[1] if found else None
    if len(form.records) > 1 or not isinstance(entries, list) or not all(isinstance(e, Fields) for e in entries):
        what = f"there is no list of records in the field {mapping.records}, as the mapping {mapping.name} says"
        raise InputError(what, where=str(root.file), remedy="Correct records in the mapping, or leave it out.")
    place = mapping.records
    return Form(tuple(Record(root.file, f"entry {n} of {place}", data=e) for n, e in enumerate(entries, start=1)))


def _refuse(record: Record, mapping: Mapping) -> None:
    """Refuse a file that plainly does not fit a mapping.

    Raises:
        InputError: it is text without fields, or has none of the fields that the mapping needs.
    """
    if not record.data:
        what = f"this is text without fields, which the mapping {mapping.name} cannot read"
        raise InputError(
            what, where=record.where(), remedy="Leave --mapping out, and name a model that reads it (--model)."
        )
    lacking = [path for path in mapping.recognise if place_of(record.data, path) is None]
    if not lacking and any(find(record.data, path) for path in mapping.paths()):
        return
    wanted = f"there is no field {lacking[0]}" if lacking else "none of its fields is there"
    raise InputError(
        f"this is not what the mapping {mapping.name} is for: {wanted}",
        where=record.where(),
        remedy=f"The file has the fields {_fields(record)}. Correct the mapping, or leave it out.",
    )


def _why(record: Record) -> str:
    if not record.data:
        return "this is text without fields"
    plain = ready()["plain"]
    lacking = [key for key in ("name", "description") if not plain.rules[(key,)].text(record.data).items]
    return f"there is no field for the {' and the '.join(lacking)} among {_fields(record)}"


def _fields(record: Record) -> str:
    return quoted(", ".join(str(key) for key in record.data), _FIELDS)[1:-1]
