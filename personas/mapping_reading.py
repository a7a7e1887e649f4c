"""Reading one rule of a mapping file, with errors that name line and field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from persimchat.personas.mapping_paths import text_of, value_at
from persimchat.personas.mapping_rules import Rule, holes
from persimchat.state.document import Document, Location
from persimchat.state.errors import InputError
from persimchat.state.validation_errors import refuse_unknown

KINDS: Final = ("field", "text", "each", "value", "first", "all")
_OPTIONS: Final = ("split", "join", "missing")
_REMEDY: Final = "Write a field's name, a list of such, or one of the forms in docs/personas.md."


def read_rule(document: Document, at: Location) -> Rule:
    """The rule at a place of a mapping file.

    Raises:
        InputError: there is no valid rule; naming file, line, field and remedy.
    """
    given = value_at(document.data, at)
    where = document.where(at)
    if isinstance(given, str) and given.strip():
        return Rule("field", path=given.strip())
    if isinstance(given, list) and given:
        return Rule("all", parts=tuple(read_rule(document, (*at, n)) for n in range(len(given))))
    if not isinstance(given, Mapping):
        raise InputError("this rule does not say where the value comes from", where=where, remedy=_REMEDY)
    refuse_unknown(document, at, given, (*KINDS, *_OPTIONS))
    kinds = [kind for kind in KINDS if kind in given]
    if kinds != ["text", "each"] and len(kinds) != 1:
        what = f"a rule needs exactly one of {', '.join(KINDS)}; this one has {' and '.join(kinds) or 'none'}"
        raise InputError(what, where=where, remedy=_REMEDY)
    kind = kinds[-1]
    parts: tuple[Rule, ...] = ()
    if kind in ("first", "all"):
        if not isinstance(given[kind], list) or not given[kind]:
            raise InputError(f"{kind} is not a list", where=document.where((*at, kind)), remedy="List rules under it.")
        parts = tuple(read_rule(document, (*at, kind, n)) for n in range(len(given[kind])))
    words = {"each": "text", "text": "text", "value": "value"}.get(kind, "")
    rule = Rule(
        kind,
        path=_written(document, (*at, kind)) if kind in ("field", "each") else "",
        words=_written(document, (*at, words)) if words else "",
        parts=parts,
        split=_written(document, (*at, "split"), blank=True) if "split" in given else "",
        join=_written(document, (*at, "join"), blank=True) if "join" in given else "",
        missing=_missing(document, (*at, "missing")) if "missing" in given else (),
    )
    if words == "text" and not holes(rule.words):
        remedy = "Put a field's name in braces, or write the words as a value."
        raise InputError("the text has no field in it", where=document.where((*at, "text")), remedy=remedy)
    return rule


def _written(document: Document, at: Location, *, blank: bool = False) -> str:
    """A text of a mapping file; `blank` says whether spaces alone are allowed."""
    if at[-1] not in value_at(document.data, at[:-1]):
        raise InputError(f"{at[-1]} is missing", where=document.where(at[:-1]), remedy=_REMEDY)
    value = value_at(document.data, at)
    if not isinstance(value, str | int | float) or not str(value) or not (blank or str(value).strip()):
        raise InputError(f"{at[-1]} is not text", where=document.where(at), remedy="Write text, in quotes.")
    return str(value)


def _missing(document: Document, at: Location) -> tuple[str, ...]:
    value = value_at(document.data, at)
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(item, str | int | float) for item in values):
        raise InputError("missing is not a list of values", where=document.where(at), remedy="Write missing: [n/a, 0].")
    return tuple(text_of(item) for item in values)
