"""Reads the bodies of requests: well-formed JSON in UTF-8; all else is refused with an error of the API."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from persimchat.state.errors import InputError

MOST_VALUES: Final = 50_000
MOST_LEVELS: Final = 50
_LONGEST_NUMBER: Final = 40
"""Digits of a number; no setting is longer."""

_HALF: Final = re.compile("[\ud800-\udfff]")
_WHERE: Final = "body"


class JsonRoute(APIRoute):
    """A route whose body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's handler, which reads the body first."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            kind = request.headers.get("content-type", "json")
            if self.body_field is not None and "json" in kind and (body := await request.body()):
                request._json = read_json(body)  # what `request.json()` gives from now on
            return await handle(request)

        return handler


def read_json(body: bytes) -> Any:
    """The value of a body.

    Raises:
        InputError: it is not UTF-8, not JSON, nested too deeply or too large, gives a name twice, or holds an invalid
            number or character.
    """
    try:
        data = json.loads(
            body.decode(),
            object_pairs_hook=_each_once,
            parse_constant=_no_number,
            parse_int=_whole,
            parse_float=_number,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", where=_WHERE, remedy="Send JSON in UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"{_WHERE}, line {error.lineno}, column {error.colno}"
        raise InputError(f"this is not JSON: {error.msg}", where=where, remedy="Send JSON in UTF-8.") from None
    except RecursionError:
        raise _too_much() from None
    _survey(data)
    return data


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{name[:60]!r} is given twice", where=_WHERE, remedy="Keep one of the two.")
        found[name] = value
    return found


def _no_number(name: str) -> Any:
    raise InputError(f"{name} is not a number", where=_WHERE, remedy="Send a number, or null.")


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise InputError(f"a number of {len(digits)} digits", where=_WHERE, remedy="Send a shorter one.")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits[:_LONGEST_NUMBER])


def _survey(data: Any) -> None:
    """Refuse data that is too large or too deep, or has half a Unicode character."""
    waiting, count = [(data, 1)], 0
    while waiting:
        value, level = waiting.pop()
        count += 1
        if count > MOST_VALUES or level > MOST_LEVELS:
            raise _too_much()
        if isinstance(value, str) and _HALF.search(value):
            raise InputError("half of a Unicode character", where=_WHERE, remedy="Send the character itself.")
        if isinstance(value, dict):
            waiting += [(part, level + 1) for pair in value.items() for part in pair]
        elif isinstance(value, list):
            waiting += [(part, level + 1) for part in value]


def _too_much() -> InputError:
    return InputError(
        "the data is nested too deeply or holds too many values",
        where=_WHERE,
        remedy=f"Keep to {MOST_LEVELS} levels and {MOST_VALUES:,} values.",
    )
