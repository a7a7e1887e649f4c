"""Names in place of ids: descriptions of one group that name each other by id ("C0001 is his son")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from persimchat.personas.conversion_draft import Draft
from persimchat.personas.loading_record import Record
from persimchat.personas.mapping_paths import find, text_of

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
