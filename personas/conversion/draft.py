"""Applies a mapping to one foreign record: a persona, its sources, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from persimchat.personas.conversion.mapping import Mapping
from persimchat.personas.conversion.mapping_paths import place_of, text_of, unused
from persimchat.personas.conversion.record import Record
from persimchat.state.document import Document, Location, dotted
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.plain_text import quoted
from persimchat.state.validation_errors import input_error, valid_fields

SHOWN: Final = 60
"""The most characters of a value that the report shows."""
MOST_ENTRIES: Final = 100
"""The most entries of a list that are used."""
_LISTS: Final = ("traits", "social_goals")


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
    for target, rule in mapping.rules.items():
        taken = rule.items(record.data) if target[0] in _LISTS else rule.text(record.data)
        if not taken.items:
            if target[0] in ("name", "description"):
                raise _missing(str(target[0]), record, mapping)
            continue
        used |= taken.used
        mapped[str(target[-1])] = tuple(dotted(at) for at in sorted(taken.used, key=str))
        if target[0] == "characteristics":
            values.setdefault("characteristics", {})[target[1]] = taken.items[0]
        elif target[0] == "knowledge":
            values["knowledge"] = _level(taken.items[0], record, mapped["knowledge"])
        else:
            values[str(target[0])] = list(taken.items) if target[0] in _LISTS else taken.items[0]
    technical = {at for path in mapping.technical if (at := place_of(record.data, path)) is not None}
    left = list(unused(record.data, used))
    return Draft(
        record,
        f"the mapping {mapping.name}",
        values,
        mapped,
        {dotted(at): quoted(text_of(value), SHOWN) for at, value in left if not _within(at, technical)},
        tuple(dotted(at) for at, _ in left if _within(at, technical)),
    )


def shortened(draft: Draft) -> Draft:
    """The draft with texts and lists cut to a persona's limits, and a note for each cut."""
    notes: list[str] = []

    def cut(text: str, what: str, most: int) -> str:
        if len(text) <= most:
            return text
        kept = text[: most - 1]
        kept = (kept[: kept.rfind(" ")] if " " in kept[most // 2 :] else kept).rstrip() + "…"
        notes.append(f"{what}: shortened from {len(text):,} to {len(kept):,} characters")
        return kept

    values = dict(draft.values)
    for key in ("description", "speaking_style"):
        if key in values:
            values[key] = cut(values[key], key, LIMITS[key])
    for key in _LISTS:
        if len(values.get(key, [])) > MOST_ENTRIES:
            notes.append(f"{key}: the first {MOST_ENTRIES} of {len(values[key]):,}")
        if key in values:
            values[key] = [cut(text, key, LIMITS[key]) for text in values[key][:MOST_ENTRIES]]
    if "characteristics" in values:
        known = values["characteristics"].items()
        values["characteristics"] = {name: cut(text, name, LIMITS["characteristics"]) for name, text in known}
    return replace(draft, values=values, notes=(*draft.notes, *notes))


def persona_of(draft: Draft) -> Persona:
    """The draft's persona.

    Raises:
        InputError: the draft exceeds a persona's limits, for example with a name of a thousand letters.
    """
    try:
        return Persona.model_validate(draft.values)
    except ValidationError as error:
        raise input_error(error, Persona, Document(draft.values), where=draft.record.where()) from None


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


def empty_fields(values: Fields[str, Any]) -> list[str]:
    """The fields of a persona that these values leave empty."""
    return [name for name in valid_fields(Persona) if name in values and values[name] in (None, "", [], {})]


def _missing(target: str, record: Record, mapping: Mapping) -> InputError:
    wanted = sorted(mapping.rules[(target,)].paths())
    there = any(place_of(record.data, path) is not None for name in wanted for path in (name, *name.split("|")))
    what = f"the {target} is empty" if there else f"there is no field for the {target}"
    fields = ", ".join(str(key) for key in list(record.data)[:20])
    remedy = f"The mapping {mapping.name} takes it from {quoted(', '.join(wanted), 120)[1:-1]}"
    return InputError(
        what,
        where=record.where(),
        remedy=f"{remedy}. Fill it in." if there else f"{remedy}; the fields are {quoted(fields, 200)[1:-1]}.",
    )


def _level(text: str, record: Record, paths: tuple[str, ...]) -> int:
    if text.strip() in ("0", "1", "2", "3", "4", "5"):
        return int(text)
    where = record.where(", ".join(paths))
    raise InputError(
        f"{quoted(text, SHOWN)} is not a knowledge level", where=where, remedy="Write 0 (none) to 5 (expert)."
    )


def _within(at: Location, places: set[Location]) -> bool:
    return any(at[: len(place)] == place for place in places)
