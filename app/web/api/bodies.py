"""What a request may hold and how it is refused: well-formed JSON in UTF-8, and errors as `{error, where, remedy}`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute, APIRouter
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ....state.errors import InputError, MachineError, PerSimChatError
from ....state.plain_text import quoted
from ....state.secrets import without_secrets
from ..background import TakesTooLong
from ..shared.runs import ClosedError
from ..watching import NoExperimentError

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
MOST_VALUES: Final = 50_000
MOST_LEVELS: Final = 50
_LONGEST_NUMBER: Final = 40
"""Digits of a number; no setting is longer."""
_HALF: Final = re.compile("[\ud800-\udfff]")


class Problem(BaseModel):
    """What was wrong."""

    error: str = Field(description="what went wrong")
    where: str = Field(default="", description="the place: field, run, agent, model")
    remedy: str = Field(default="", description="what to do about it")


class MissingError(InputError):
    """There is nothing of that name."""


class ConflictError(InputError):
    """The state of the run does not allow this."""


_STATUSES: Final[Mapping[type[PerSimChatError], int]] = {
    MissingError: 404,
    NoExperimentError: 404,
    ConflictError: 409,
    ClosedError: 409,
    TakesTooLong: 503,
    MachineError: 507,
    PerSimChatError: 400,
}
"""The status that tells of an error: that of the first class that it is of."""

Answers = dict[int | str, dict[str, Any]]
"""What a route may answer beside what it returns, for the description of the API."""


def refusing(status: int, description: str) -> Answers:
    """A route may refuse a request with this status."""
    return {status: {"model": Problem, "description": description}}


def giving(*kinds: str, **schema: str) -> Answers:
    """A route gives a file of one of these media types."""
    return {200: {"content": {kind: {"schema": {"type": "string", **schema}} for kind in kinds}}}


NO_RUN: Final = refusing(404, "There is no such run.")
CONFLICT: Final = refusing(409, "The state of the run does not allow this.")
TOO_LONG: Final = refusing(503, "The answer takes too long; others may be asking, too.")
HTML: Final = giving("text/html")


def router(prefix: str, tag: str, *answers: Answers) -> APIRouter:
    """Routes whose bodies are read by `read_json`, with the errors that every route may answer, and further ones."""
    every: tuple[Answers, ...] = (
        refusing(400, "The request cannot be read or carried out."),
        {403: {"description": "Another page's request, an unknown Host, or no token.", "content": {"text/plain": {}}}},
        refusing(413, "The request is too large."),
        refusing(422, "The request has the wrong form."),
        refusing(507, "The server's machine refuses: no free space, or no permission to write."),
    )
    responses = {status: told for one in (*every, *answers) for status, told in one.items()}
    return APIRouter(route_class=JsonRoute, prefix=prefix, tags=[tag], responses=responses)


def add_problems(api: FastAPI) -> None:
    """Make an application answer errors in this form."""
    form = "See /api/openapi.json for its form."

    @api.exception_handler(PerSimChatError)
    async def told(_: Request, error: PerSimChatError) -> JSONResponse:
        status = next(status for kind, status in _STATUSES.items() if isinstance(error, kind))
        return problem(status, error.what, error.where, error.remedy)

    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        wrong = wrong_in(error.errors(), error.body)
        return problem(422, wrong.what, wrong.where, form)

    @api.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), "", form)


def problem(status: int, error: str, where: str = "", remedy: str = "", **headers: str) -> JSONResponse:
    """The answer that tells of an error."""
    told = Problem(error=error, where=where, remedy=remedy)
    return JSONResponse(told.model_dump(), status_code=status, headers=headers)


# Reading a body


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
        raise InputError(f"byte {error.start} is not UTF-8", where="body", remedy="Send JSON in UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"body, line {error.lineno}, column {error.colno}"
        raise InputError(f"this is not JSON: {error.msg}", where=where, remedy="Send JSON in UTF-8.") from None
    except RecursionError:
        raise _too_much() from None
    _survey(data)
    return data


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{name[:60]!r} is given twice", where="body", remedy="Keep one of the two.")
        found[name] = value
    return found


def _no_number(name: str) -> Any:
    raise InputError(f"{name} is not a number", where="body", remedy="Send a number, or null.")


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise InputError(f"a number of {len(digits)} digits", where="body", remedy="Send a shorter one.")
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
            raise InputError("half of a Unicode character", where="body", remedy="Send the character itself.")
        if isinstance(value, dict):
            waiting += [(part, level + 1) for pair in value.items() for part in pair]
        elif isinstance(value, list):
            waiting += [(part, level + 1) for part in value]


def _too_much() -> InputError:
    return InputError(
        "the data is nested too deeply or holds too many values",
        where="body",
        remedy=f"Keep to {MOST_LEVELS} levels and {MOST_VALUES:,} values.",
    )


# Words for what is wrong with a request: the field, what it should be, and what it is


_SHOWN: Final = 60
"""The most characters of a wrong value that are shown."""

_KINDS: Final[Mapping[str, str]] = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object with fields",
    "model": "an object with fields",
}
"""What is expected, by the beginning of the type of pydantic's error."""

_WORDED: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "greater_than_equal": lambda limits: f"{limits['ge']:g} or more",
    "greater_than": lambda limits: f"more than {limits['gt']:g}",
    "less_than_equal": lambda limits: f"{limits['le']:g} or less",
    "less_than": lambda limits: f"less than {limits['lt']:g}",
    "finite_number": lambda _: "a finite number",
    "literal_error": lambda limits: str(limits["expected"]),
    "union_tag_invalid": lambda limits: f"one of {limits['expected_tags']}",
}
"""What is expected of a value, by the type of pydantic's error."""


class Wrong(NamedTuple):
    """What is wrong with a request.

    Attributes:
        part: of the request: "body", "query" or "path".
        field: in it, as a path; empty for all of it.
        what: is wrong, with the name of the field.
    """

    part: str
    field: str
    what: str

    @property
    def where(self) -> str:
        """The place."""
        return f"{self.part}.{self.field}" if self.field else self.part


def wrong_in(errors: Sequence[Any], body: Any) -> Wrong:
    """The most telling of pydantic's errors in words.

    Args:
        errors: at least one.
        body: of the request; None if it has none.
    """
    errors = [_of_member(one) for one in errors]
    first = max(errors, key=lambda one: len(one["loc"]))  # the member of a union that came furthest
    part, field = str(first["loc"][0]), _field(first, body)
    here = [one for one in errors if _field(one, body) == field]  # of a union, each member has an error
    return Wrong(part, field, _what(field or ("the body" if part == "body" else part), first, here))


def _of_member(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error; that of a union which a field selects from is one of that field."""
    given = dict(error)
    if error["type"] in ("union_tag_not_found", "union_tag_invalid"):
        given["loc"] = (*error["loc"], error["ctx"]["discriminator"].strip("'"))
        given["input"] = error["ctx"].get("tag")
        given["type"] = "missing" if error["type"] == "union_tag_not_found" else error["type"]
    return given


def _what(name: str, error: Mapping[str, Any], here: Iterable[Mapping[str, Any]]) -> str:
    kind, limits = str(error["type"]), error.get("ctx", {})
    if isinstance(error["input"], bytes):  # a body that was not read, because its type is another
        return f"{name} should be JSON, with Content-Type: application/json"
    things = "characters" if kind.startswith("string") else "items"
    match kind:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            return f"there is no field {name}"
        case "value_error":
            return str(error["msg"]).removeprefix("Value error, ").rstrip(".")
        case "string_too_short" | "too_short" if limits["min_length"] == 1:
            return f"{name} is empty"
        case "string_too_short" | "too_short":
            return f"{name} has fewer than {limits['min_length']} {things}"
        case "string_too_long" | "too_long":
            return f"{name} has more than {limits['max_length']:,} {things}"
    wanted = " or ".join(dict.fromkeys(filter(None, map(_expected, (error, *here)))))
    return f"{name} should be {wanted}, not {_shown(error['input'])}" if wanted else f"{name}: {error['msg']}"


def _expected(error: Mapping[str, Any]) -> str:
    """What a value should be; empty if there are no words for it."""
    kind = str(error["type"])
    worded = _WORDED.get(kind)
    return worded(error.get("ctx", {})) if worded is not None else _KINDS.get(kind.split("_", 1)[0], "")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return without_secrets(quoted(value, _SHOWN))


def _field(error: Mapping[str, Any], body: Any) -> str:
    """The field that is wrong or missing, without the names of a union's members."""
    part, *location = error["loc"]
    if part != "body":
        return ".".join(map(str, location))
    found, inside = [], body
    for place, key in enumerate(location, start=1):
        listed = isinstance(inside, list) and isinstance(key, int) and key < len(inside)
        if listed or (isinstance(inside, Mapping) and key in inside):
            inside = inside[key]
        elif not (error["type"] == "missing" and place == len(location)):
            continue
        found.append(str(key))
    return ".".join(found)
