"""Interprets a failed request: whether to try again, or which error with which remedy to raise.

Libraries raise many kinds of exceptions. This module distinguishes them by HTTP status, by the error code in the body,
and by the kind of network failure, never by the class of one provider's exception alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from ..state.errors import ModelError
from .naming import KEY_HOSTS, ModelName, may_have_own_key
from .redaction import beginning, scrub, short

_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_QUOTA: Final = re.compile(r"insufficient_quota|exceeded your current quota|billing_hard_limit|credit balance", re.I)
_PASSING: Final = re.compile(
    r"retry ?(?:in|after|delay)\D{0,20}(\d{1,6}(?:\.\d{1,9})?)\s*(m?s|sec\w*|m|min\w*)?\b|per ?(?:minute|second)", re.I
)
"""A limit that passes, with the seconds until then where they are told; one a day does not."""
_DAILY: Final = re.compile(r"per ?(?:day|month)|\bdaily\b|\bmonthly\b|free.tier.*per.?day", re.I)
_TOLD: Final = 4_000
"""The most characters of a server's error that are searched."""
_CONTEXT: Final = re.compile(
    r"context_length_exceeded|maximum context length|context (window|length|size)|prompt is too long"
    r"|input (length|tokens) exceeds?|too many tokens",
    re.I,
)
_FILTERED: Final = re.compile(r"content[_ ]?(filter|policy|management)|responsible ?ai|safety system", re.I)
_CUT: Final = re.compile(r"incomplete (chunked )?read|peer closed connection|without sending complete", re.I)
_NETWORK: Final = re.compile(
    r"(Connect|Read|Write|Pool|RemoteProtocol|LocalProtocol|Network|Transport|APIConnection|ClosedResource)\w*Error$"
    r"|IncompleteRead|EndOfStream"
)
_TIMEOUT: Final = re.compile(r"(Timeout|TimedOut)")
_NUMBER: Final = re.compile(r"\[(Errno|WinError) -?[0-9]+\] ?")


class TransientModelError(ModelError):
    """A request failed for a reason that may pass: the server was busy, unreachable, too slow, or cut off."""


FILTERED: Final = "the server's content filter stopped it"


class FilteredError(ModelError):
    """The server's content filter refused a request."""


class TooMuch(Exception):
    """A server sent more bytes than the limit of an answer.

    Attributes:
        received: bytes received until then.
    """

    def __init__(self, received: int) -> None:
        super().__init__(f"more than {received:,} bytes")
        self.received = received


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help; for LangGraph's `RetryPolicy(retry_on=is_transient)`."""
    if isinstance(error, ModelError):
        return isinstance(error, TransientModelError)
    if not isinstance(error, Exception) or is_final(error):
        return False
    status = status_of(error)
    return status in _AGAIN if status is not None else _is_network(error) or _is_cut(error)


def is_final(error: Exception) -> bool:
    """Whether the text names a reason that neither another try nor another form of request can remove."""
    text = message_of(error)
    return _is_used_up(error) or any(pattern.search(text) for pattern in (_CONTEXT, _FILTERED))


def _is_used_up(error: BaseException) -> bool:
    """Whether a quota is used up that does not fill again soon; one a minute does."""
    told = _all_told(error)
    return bool(_QUOTA.search(told)) and (_PASSING.search(told) is None or _DAILY.search(told) is not None)


def _all_told(error: BaseException) -> str:
    """What an error says, and the beginning of the answer that it is about."""
    return f"{message_of(error)} {_response_text(error)[:_TOLD]}"


def _is_filtered(error: Exception) -> bool:
    """Whether a content filter is the reason, by the order in which `_explained` looks for reasons."""
    text = message_of(error)
    return bool(_FILTERED.search(text)) and not (_is_used_up(error) or _CONTEXT.search(text))


def is_too_long(error: Exception) -> bool:
    """Whether a server refused a prompt because it does not fit the model's context."""
    return status_of(error) in (None, 400, 413, 422, 500) and bool(_CONTEXT.search(message_of(error)))


def model_error(
    error: Exception, name: ModelName, *, agent: str = "", module: str = "", turn: int | None = None, timeout_s: float
) -> ModelError:
    """The error that a user sees for a failed request; raise it `from` the original.

    Secrets are removed from the original in place, because it stays chained and appears in tracebacks.
    """
    if isinstance(error, ModelError):
        return error
    scrub(error)
    what, remedy, again = _explained(error, name, timeout_s)
    kind = FilteredError if _is_filtered(error) else TransientModelError if again else ModelError
    return kind(what, model=name.written, agent=agent, module=module, turn=turn, remedy=remedy)


def _explained(error: Exception, name: ModelName, timeout_s: float) -> tuple[str, str, bool]:
    """What happened, what to do, and whether another try may help."""
    text, status = message_of(error), status_of(error)
    said = short(text)
    at = f" at {name.base_url}" if name.base_url else ""
    if _is_used_up(error):
        return f"the quota is used up: {said}", "Add credit to the account, or choose another model.", False
    if _CONTEXT.search(text):
        return (
            f"the prompt does not fit the model's context: {said}",
            "Lower memory_tokens or recent_utterances, or choose a model with a larger context.",
            False,
        )
    if _FILTERED.search(text):
        return f"{FILTERED}: {said}", "Change the topic or personas, or the model.", False
    if status in (401, 403):
        return f"the server{at} does not accept the key (HTTP {status}): {said}", _key_remedy(name), False
    if status == 404:
        return (
            f"the server{at} does not know the model (HTTP 404): {said}",
            "Check the model's name and the address (an OpenAI-compatible one usually ends in /v1); a local server "
            "must have the model loaded.",
            False,
        )
    if status == 429:
        return f"the server{at} is busy (HTTP 429): {said}", "Lower max_concurrency or set requests_per_second.", True
    if status is not None:
        again = status in _AGAIN
        remedy = "Try again later." if again else "Check the settings of the model against what its server offers."
        return f"the server{at} answered HTTP {status}: {said}", remedy, again
    causes = chain(error)
    if any(isinstance(cause, TooMuch) for cause in causes):
        return f"the server{at} sent too much for an answer", "Check the address, and the model behind it.", False
    if is_timeout(error):
        return f"no answer within {timeout_s:g} seconds", "Raise timeout_s, or use a faster model.", True
    if _is_cut(error):
        return "the connection was cut in the middle of the answer", "Try again; see the server's log.", True
    if _is_network(error):
        return *_unreached(causes[-1], text, at), True
    if _has_error_body(error):
        return f"the server{at} reported an error: {said}", "Try again later; see the server's log.", True
    kind = type(error).__name__
    if name.provider == "offline":
        return f"the offline model failed ({kind}: {said})", "This is a fault of PerSimChat; please report it.", False
    return (
        f"the server{at} sent no answer in the protocol expected ({kind}: {said})",
        "Check the address: an OpenAI-compatible one usually ends in /v1.",
        False,
    )


def _unreached(cause: BaseException, text: str, at: str) -> tuple[str, str]:
    """What happened and what to do where the network failed.

    Args:
        cause: the first exception of the chain.
        text: what the last one said.
        at: where the server is, as " at URL"; may be empty.
    """
    tries = cause.exceptions if isinstance(cause, BaseExceptionGroup) else (cause,)
    if at and all(isinstance(one, ConnectionRefusedError) for one in tries):
        return f"nothing listens{at}", "Is the server started? Check its address, too."
    if at and isinstance(cause, socket.gaierror):
        return f"there is no machine of that name{at}", "Check the address, and the network."
    why = short(_NUMBER.sub("", str(cause)) or text)
    return f"cannot reach the server{at} ({why})", "Check that the server runs, and check its address."


def message_of(error: BaseException) -> str:
    """The beginning of an exception's message: the server's message if there is a body, else its own text."""
    body = body_of(error)
    if body:
        inner = body.get("error", body)
        if isinstance(inner, dict):
            parts = [inner.get(k) for k in ("message", "code", "type", "param", "detail")]
            return beginning(" ".join(_said(part) for part in parts if part)) or _said(inner)
        return _said(inner)
    text = beginning(str(error)) or type(error).__name__
    return f"{text}: {said}" if (said := beginning(_response_text(error))) and said not in text else text


def _said(value: Any) -> str:
    """The text of a part of a server's error, which may be any value."""
    try:
        return beginning(str(value))
    except RecursionError:
        return "an error nested too deeply to be shown"


def status_of(error: BaseException) -> int | None:
    """The HTTP status of a failure, or None: of the response, or a code in the body of a response that looks fine."""
    response = getattr(error, "response", None)
    for value in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(value, int) and value >= 400:
            return value
    inner = body_of(error).get("error", body_of(error))
    code = inner.get("code") if isinstance(inner, dict) else None
    number = int(code) if isinstance(code, int | str) and re.fullmatch(r"[45][0-9]{2}", str(code)[:4]) else 0
    return number or None


def body_of(error: BaseException) -> dict[str, Any]:
    """The JSON body that an exception carries, or an empty dict."""
    body = getattr(error, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], dict):  # as Google's servers send it
        body = body[0]
    if isinstance(body, dict):
        return body
    # LangChain raises the body of an answer that is an error with HTTP 200 as a ValueError's only argument.
    if isinstance(error, ValueError) and len(error.args) == 1 and isinstance(error.args[0], dict):
        return error.args[0]
    try:
        parsed = json.loads(_response_text(error))
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) and ("error" in parsed or "detail" in parsed) else {}


def _response_text(error: BaseException) -> str:
    """The text of the response that an exception carries; empty if there is none, or it was not read."""
    try:
        text = getattr(getattr(error, "response", None), "text", "")
    except RuntimeError:  # the body of a stream that was not read
        return ""
    return text if isinstance(text, str) else ""


def _has_error_body(error: Exception) -> bool:
    return bool(body_of(error)) or type(error).__name__ == "APIError"


def chain(error: BaseException) -> list[BaseException]:
    """An exception and its causes, one after the other."""
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found


def is_timeout(error: Exception) -> bool:
    """Whether a request exceeded its time limit."""
    return isinstance(error, TimeoutError | asyncio.TimeoutError) or bool(_TIMEOUT.search(type(error).__name__))


def is_hung_up(error: Exception) -> bool:
    """Whether the server's side ended the connection, as one that crashes does."""
    return not is_timeout(error) and (_is_cut(error) or _is_network(error))


def _is_network(error: Exception) -> bool:
    if is_timeout(error) or isinstance(error, ConnectionError):
        return True
    return any(_NETWORK.search(kind.__name__) for kind in type(error).__mro__)


def _is_cut(error: Exception) -> bool:
    """Whether an answer broke off, by the connection's error, by its last character, or by its last event."""
    causes = chain(error)
    if any(isinstance(cause, TooMuch) for cause in causes):
        return False
    if _is_network(error) and _CUT.search(" ".join([message_of(error), *map(_said, causes)])):
        return True
    for cause in causes:
        if isinstance(cause, UnicodeDecodeError) and cause.reason == "unexpected end of data":
            return True
        if isinstance(cause, json.JSONDecodeError) and cause.doc.strip():
            return cause.msg.startswith("Unterminated") or cause.pos >= len(cause.doc.rstrip())
    return False


def retry_after_s(error: BaseException) -> float | None:
    """The seconds, 0 or more, that a server's refusal asks the client to wait (Retry-After); None if it names none.

    The server gives seconds, or a date, which counts from the date of its answer, else from this machine's clock.
    """
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if headers is not None else None
    if headers is None or not isinstance(value, str):
        return _pause_in_words(error) if status_of(error) == 429 else None
    if re.fullmatch(r"[0-9]{1,18}(\.[0-9]{0,9})?", value.strip()):
        return float(value)
    at, said = _date(value), _date(headers.get("date"))
    return max(0.0, (at - (said or datetime.now(UTC))).total_seconds()) if at else None


def _pause_in_words(error: BaseException) -> float | None:
    """The seconds to wait that a refusal's text names ("Please retry in 4.8s", "retryDelay": "4s")."""
    found = _PASSING.search(_all_told(error))
    if found is None or found[1] is None or _is_used_up(error):
        return None
    unit = (found[2] or "s").lower()
    return float(found[1]) * (0.001 if unit == "ms" else 60.0 if unit.startswith("m") else 1.0)


def _date(value: Any) -> datetime | None:
    try:
        found = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _key_remedy(name: ModelName) -> str:
    match name.provider:
        case "openai":
            return "Set OPENAI_API_KEY to a valid key."
        case "azure":
            return "Set AZURE_OPENAI_API_KEY to the key of this endpoint."
        case "compatible" if os.environ.get("PERSIMCHAT_API_KEY") and not may_have_own_key(name.base_url):
            return f"Name its host in {KEY_HOSTS}, so that it gets the key in PERSIMCHAT_API_KEY."
        case "compatible" | "ollama":
            return "Set PERSIMCHAT_API_KEY to the key of this server (OPENAI_API_KEY is not sent to other servers)."
        case _:
            return "Set the provider's key in the environment."
