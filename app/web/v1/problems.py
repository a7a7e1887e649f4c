"""Errors of `/v1`, in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from persimchat.app.web.api.wrong_requests import wrong_in
from persimchat.state.errors import (
    BudgetExhausted,
    DayBudgetExhausted,
    InputError,
    MachineError,
    ModelError,
    PerSimChatError,
)

_WRONG: Final = "invalid_request_error"


class Unsupported(InputError):
    """The request asks for something that a companion does not do.

    Args:
        what: what is not supported.
        param: the request's field.
        remedy: what to do about it.
    """

    def __init__(self, what: str, param: str, remedy: str) -> None:
        super().__init__(what, where=param, remedy=remedy)


class NoSuchModel(InputError):
    """There is no agent of that name."""


class NoKey(InputError):
    """The request has no key, or a wrong one."""


class TooFast(InputError):
    """One client sends too many messages.

    Args:
        wait_s: seconds after which the next one is taken.
    """

    def __init__(self, wait_s: int) -> None:
        super().__init__("too many messages in a short time", remedy=f"Wait {wait_s} s.")
        self.wait_s = wait_s


def problem(message: str, kind: str = _WRONG, *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error's body.

    Args:
        message: what went wrong, and what to do.
        kind: OpenAI's type of the error.
        param: the request's field; None for none.
        code: a word for programs.
    """
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def told(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Status, body and headers that answer an error."""
    match error:
        case NoKey():
            return 401, problem(str(error), code="invalid_api_key"), {"www-authenticate": "Bearer"}
        case NoSuchModel():
            return 404, problem(str(error), param="model", code="model_not_found"), {}
        case TooFast():
            body = problem(str(error), "rate_limit_error", code="rate_limit_exceeded")
            return 429, body, {"retry-after": str(error.wait_s)}
        case DayBudgetExhausted():
            wait = datetime.fromisoformat(error.until) - datetime.now()
            body = problem(str(error), "insufficient_quota", code="insufficient_quota")
            return 429, body, {"retry-after": str(max(1, int(wait.total_seconds()) + 1))}
        case BudgetExhausted():
            return 429, problem(str(error), "insufficient_quota", code="insufficient_quota"), {}
        case InputError():
            return 400, problem(str(error), param=error.where or None), {}
        case ModelError() | MachineError():
            return 503, problem(str(error), "server_error", code="model_down"), {"retry-after": "5"}
        case PerSimChatError():
            return 500, problem(str(error), "server_error"), {}
        case _:
            return 500, problem("The server failed; its log says more.", "server_error"), {}


def answer(error: Exception) -> JSONResponse:
    """The response that answers an error."""
    status, body, headers = told(error)
    return JSONResponse(body, status_code=status, headers=headers)


def add_problems(api: FastAPI) -> None:
    """Make an application answer errors in this form."""

    async def known(_: Request, error: Exception) -> JSONResponse:
        return answer(error)

    api.add_exception_handler(PerSimChatError, known)
    api.add_exception_handler(Exception, known)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    wrong = wrong_in(error.errors(), error.body)
    return JSONResponse(problem(f"{wrong.what} ({wrong.where}).", param=wrong.field or None), status_code=400)


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse(problem(str(error.detail)), status_code=error.status_code, headers=error.headers)
