"""Errors of the REST API, always in the form `{error, where, remedy}`."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from persimchat.app.web.api.models import Problem
from persimchat.app.web.api.wrong_requests import wrong_in
from persimchat.app.web.forecasts import TakesTooLong
from persimchat.app.web.results import NoExperimentError
from persimchat.app.web.shared.would_go import ClosedError
from persimchat.state.errors import InputError, MachineError, PerSimChatError

RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problem, "description": "The request cannot be read or carried out."},
    403: {"description": "Another page's request, an unknown Host, or no token.", "content": {"text/plain": {}}},
    411: {"model": Problem, "description": "The request does not state its size."},
    413: {"model": Problem, "description": "The request is too large."},
    422: {"model": Problem, "description": "The request has the wrong form."},
    507: {"model": Problem, "description": "The server's machine refuses: no free space, or no permission to write."},
}
"""Errors that every route may answer."""

NO_RUN: Final[dict[int | str, dict[str, Any]]] = {404: {"model": Problem, "description": "There is no such run."}}
NO_EXPERIMENT: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "There is no such experiment, or it has no such file."}
}
NO_STORY: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "There is no such run, or it is no story."}
}
CONFLICT: Final[dict[int | str, dict[str, Any]]] = {
    409: {"model": Problem, "description": "The state of the run does not allow this."}
}
TOO_LONG: Final[dict[int | str, dict[str, Any]]] = {
    503: {"model": Problem, "description": "The answer takes too long; others may be asking, too."}
}


class NoRunError(InputError):
    """There is no run of that name."""


class NoStoryError(InputError):
    """The run is no story."""


class NoCompanionError(InputError):
    """No world is open, or there is no such pair of agent and person in it."""


class ConflictError(InputError):
    """The state of the run does not allow this."""


def add_problems(api: FastAPI) -> None:
    """Make an application answer errors in this form."""
    api.add_exception_handler(PerSimChatError, _told)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)


def _answer(status: int, problem: Problem) -> JSONResponse:
    return JSONResponse(problem.model_dump(), status_code=status)


async def _told(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, PerSimChatError):
        raise error
    missing = isinstance(error, NoRunError | NoStoryError | NoExperimentError | NoCompanionError)
    status = 404 if missing else 409 if isinstance(error, ConflictError | ClosedError) else 400
    if isinstance(error, MachineError | TakesTooLong):
        status = 507 if isinstance(error, MachineError) else 503
    return _answer(status, Problem(error=error.what, where=error.where, remedy=error.remedy))


async def _refused(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    return _answer(error.status_code, Problem(error=str(error.detail), remedy="See /api/openapi.json for its form."))


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    wrong = wrong_in(error.errors(), error.body)
    return _answer(422, Problem(error=wrong.what, where=wrong.where, remedy="See /api/openapi.json for its form."))
