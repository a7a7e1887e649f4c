"""Errors of the REST API: always of one form, `{error, where, remedy}`."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from persimchat.app.web.api.models import Problem
from persimchat.state.errors import InputError, PerSimChatError

RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problem, "description": "What was sent cannot be read, or cannot be done."},
    403: {"description": "Another page's request, an unknown Host, or no token.", "content": {"text/plain": {}}},
    422: {"model": Problem, "description": "What was sent is not of the right form."},
}
"""What every route may answer beside its own."""

NO_RUN: Final[dict[int | str, dict[str, Any]]] = {404: {"model": Problem, "description": "There is no such run."}}
CONFLICT: Final[dict[int | str, dict[str, Any]]] = {
    409: {"model": Problem, "description": "The run is not in a state in which this can be done."}
}


class NoRunError(InputError):
    """There is no run of that name."""


class ConflictError(InputError):
    """The run is not in a state in which this can be done."""


def add_problems(api: FastAPI) -> None:
    """Let an application answer errors in that form."""
    api.add_exception_handler(PerSimChatError, _told)
    api.add_exception_handler(RequestValidationError, _invalid)


def _answer(status: int, problem: Problem) -> JSONResponse:
    return JSONResponse(problem.model_dump(), status_code=status)


async def _told(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, PerSimChatError):
        raise error
    status = 404 if isinstance(error, NoRunError) else 409 if isinstance(error, ConflictError) else 400
    return _answer(status, Problem(error=error.what, where=error.where, remedy=error.remedy))


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return _answer(422, Problem(error=str(first["msg"]), where=where, remedy="See /api/openapi.json for its form."))
