"""JSON of runs and experiments: read, checked by its model, and written, with errors that name the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from ...state.errors import InputError
from ...state.plain_text import clean, quoted

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

DAMAGED: Final = "The file is damaged; take it from a backup, or run the conversation again."
_MOST_SHOWN: Final = 60


def parsed(data: bytes, where: str) -> Any:
    """Parse JSON.

    Args:
        data: the bytes.
        where: the file, for the error.

    Raises:
        InputError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError("this is not JSON", where=where, remedy=DAMAGED) from error


def checked(kind: type[Model], value: Any, where: str) -> Model:
    """A recorded value, validated.

    Args:
        kind: its type.
        value: as parsed from JSON.
        where: file and line, for the error.

    Raises:
        InputError: it is invalid; the error names file, line and field.
    """
    return fitting(kind.model_validate, value, where)


def fitting(validate: Callable[[Any], T], value: Any, where: str) -> T:
    """`fitting` with any validator of pydantic."""
    try:
        return validate(value)
    except RecursionError as error:
        raise InputError("this is nested too deeply", where=where, remedy=DAMAGED) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = clean(".".join(str(part) for part in first["loc"]))
        given = "" if first["type"] == "missing" else f": {quoted(first['input'], _MOST_SHOWN)}"
        raise InputError(
            f"{first['msg'][:1].lower()}{first['msg'][1:]}{given}",
            where=f"{where}, field {field}" if field else where,
            remedy=DAMAGED,
        ) from error


def as_text(value: Any) -> str:
    """JSON on one line, which any file and database can keep: signs that cannot be encoded are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text
