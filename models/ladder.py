"""The forms of structured answers, best first, and which of them a server accepts.

The process remembers a server's refusals, and does not ask again for what the server has refused.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Hashable, Iterable
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding, RunnableSequence
from pydantic import BaseModel

from .failures import body_of, is_final, message_of, status_of
from .naming import ModelName
from .profiles import TOKEN_LIMITS, Bounds, profile_of
from .schemas import wire_schema


class Rung(StrEnum):
    """One form of structured answer."""

    JSON_SCHEMA = "json_schema"
    TOOL_CALL = "function_calling"
    JSON_MODE = "json_mode"
    TEXT = "text"

    @property
    def needs_schema_in_prompt(self) -> bool:
        """Whether the model sees the schema only if the prompt contains it."""
        return self in (Rung.JSON_MODE, Rung.TEXT)


CLIENT_FIELDS: Final = ("seed", "stream_options", "top_p")
"""Fields that the client adds to every request (`top_p` if it is set), unless the server has refused them."""
STRICT: Final = "strict"
"""The request for strict adherence to the schema, unless the server has refused it."""

_PARTS: Final = (STRICT, *TOKEN_LIMITS, *CLIENT_FIELDS, *Bounds)
"""Parts of a request that a server may refuse although it accepts the form of answer, in order of search."""

_REFUSING: Final = frozenset({400, 404, 405, 415, 422, 500, 501})
_CLIENT_SIDE: Final = (NotImplementedError, TypeError)
_WORDS: Final[dict[str, re.Pattern[str]]] = {
    Rung.JSON_SCHEMA: re.compile(r"response_?format|json_?.?schema|structured|guided|grammar|strict|schema", re.I),
    Rung.TOOL_CALL: re.compile(r"\btools?\b|tool_?.?(choice|use|call)|functions?\b|grammar|strict|schema", re.I),
    Rung.JSON_MODE: re.compile(r"response_?format|json_?.?(object|mode)|grammar", re.I),
    "seed": re.compile(r"\bseed\b", re.I),
    "stream_options": re.compile(r"stream_options|include_usage", re.I),
    "top_p": re.compile(r"\btop_?p\b", re.I),
    STRICT: re.compile(r"\bstrict\b", re.I),
    **{limit: re.compile(rf"\b{limit}\b", re.I) for limit in TOKEN_LIMITS},
    Bounds.STRINGS: re.compile(r"\b(min|max)_?length\b|\bunsupported (json )?schema features?\b", re.I),
    Bounds.ARRAYS: re.compile(r"\b(min|max)_?items\b|\bunsupported (json )?schema features?\b", re.I),
    Bounds.NUMBERS: re.compile(
        r"['\"`‘“](exclusive)?(minimum|maximum)\b|\bpropert(y|ies):? (minimum|maximum)\b"
        r"|\bfeatures? not supported\b|\bunsupported (json )?schema features?\b",
        re.I,
    ),
}

_lock: Final = threading.Lock()
_refused: Final[dict[tuple[str, str], frozenset[str]]] = {}


def rung(name: ModelName) -> Rung:
    """The best form of answer that this model has not refused."""
    if name.provider == "offline":
        return Rung.TEXT
    known = _refused.get(name.key, frozenset())
    return next(r for r in Rung if r is Rung.TEXT or r not in known)


def refused_fields(name: ModelName) -> frozenset[str]:
    """The fields among `CLIENT_FIELDS` that this model's server has refused."""
    return _refused.get(name.key, frozenset()) & frozenset(CLIENT_FIELDS)


def token_limit(name: ModelName) -> str | None:
    """The field in which this model's server accepts a limit of answer tokens; None if it accepts none."""
    known = _refused.get(name.key, frozenset())
    return next((field for field in profile_of(name).token_limit if field not in known), None)


def bounds(name: ModelName) -> frozenset[Bounds]:
    """The bounds of a schema that this model's server accepts."""
    return profile_of(name).bounds - _refused.get(name.key, frozenset())


def sent_with(model: BaseChatModel, name: ModelName, form: Rung | None) -> frozenset[str]:
    """The parts of a request that its server may refuse, without the limit of tokens.

    Args:
        model: the client.
        name: the model.
        form: the form of the answer; None for free text.
    """
    profile = profile_of(name)
    added = {"seed": profile.seed, "stream_options": profile.stream_options and form is None}
    added["top_p"] = getattr(model, "top_p", None) is not None
    sent: set[str] = {field for field in CLIENT_FIELDS if added[field]} - refused_fields(name)
    if form is not None:
        sent.add(form)
    if form in (Rung.JSON_SCHEMA, Rung.TOOL_CALL):
        sent |= bounds(name) | ({STRICT} if _is_strict(model, name) else frozenset())
    return frozenset(sent)


def refuse(name: ModelName, what: str) -> None:
    """Remember that a model's server refuses a form of answer or a request field."""
    with _lock:
        _refused[name.key] = _refused.get(name.key, frozenset()) | {str(what)}


def forget() -> None:
    """Forget everything remembered about servers."""
    with _lock:
        _refused.clear()


def refusal(error: Exception, name: ModelName, sent: Iterable[str]) -> str | None:
    """The form or part that a server (or its client) refused with this error, or None if it refused none.

    Args:
        error: the exception of the request.
        name: the model that was asked.
        sent: the form of answer and the parts of the request that can be refused.
    """
    if is_final(error):
        return None
    status = status_of(error)
    by_client = status is None and (isinstance(error, _CLIENT_SIDE) or bool(body_of(error)))
    if not by_client and status not in _REFUSING:
        return None
    # The model's own name may contain one of the words, and a short name may be a part of one.
    text = re.sub(rf"(?<!\w){re.escape(name.model)}(?!\w)", "", message_of(error))
    refusable: list[str] = [what for what in (*_PARTS, *Rung) if what in sent and what != Rung.TEXT]
    for what in refusable:
        if _WORDS[what].search(text):
            return what
    unconditional = status == 501 or isinstance(error, NotImplementedError)
    return next((what for what in refusable if unconditional and what not in _PARTS), None)


def arguments(model: BaseChatModel, name: ModelName, form: Rung, schema: type[BaseModel]) -> dict[str, Any]:
    """The arguments that LangChain's `with_structured_output` adds to a request for this form of answer.

    Only the request is LangChain's; `answers.read` reads the answer, because it accepts more than LangChain's parsers.
    So a judgement is also one run in traces; with the parsers it would be six.

    Raises:
        NotImplementedError: the model's class has no such form.
    """
    if form is Rung.TEXT:
        return {}
    strict, taken = _is_strict(model, name), bounds(name)
    key = (name.key, form, schema, strict, taken)
    if key not in _arguments:
        _arguments[key] = _bound(model, form, wire_schema(schema, taken, profile_of(name).longest), strict=strict)
    return dict(_arguments[key])


_arguments: Final[dict[tuple[Hashable, ...], dict[str, Any]]] = {}


def _is_strict(model: BaseChatModel, name: ModelName) -> bool:
    return is_openai(model) and profile_of(name).strict and STRICT not in _refused.get(name.key, frozenset())


def _bound(model: BaseChatModel, form: Rung, schema: dict[str, Any], *, strict: bool) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if "method" in _parameters(type(model)):
        options["method"] = str(form)
    elif form is not Rung.TOOL_CALL:
        raise NotImplementedError(f"{type(model).__name__} has only tool calls")
    if strict and form is not Rung.JSON_MODE:
        options["strict"] = True
    try:
        structured = model.with_structured_output(schema, **options)
    except ValueError as error:
        raise NotImplementedError(f"{type(model).__name__} has no {form}") from error
    first = structured.first if isinstance(structured, RunnableSequence) else None
    if not isinstance(first, RunnableBinding):
        raise NotImplementedError(f"{type(model).__name__} has an unknown kind of {form}")
    request = dict(first.kwargs)
    if not strict:  # LangChain adds "strict": false
        (request.get("response_format") or {}).get("json_schema", {}).pop("strict", None)
    if is_openai(model) and "response_format" in request:
        # The same JSON on the wire. For a normal argument, the client would walk through the schema and parse the
        # answer at every request, a quarter of a request's CPU (benchmarks/turns.py).
        request["extra_body"] = {"response_format": request.pop("response_format")}
    return request


@cache
def _parameters(kind: type[BaseChatModel]) -> frozenset[str]:
    return frozenset(inspect.signature(kind.with_structured_output).parameters)


if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI


def is_openai(model: Any) -> TypeGuard[BaseChatOpenAI]:
    """Whether a model is a client of OpenAI's protocol; no model is while the library is not loaded."""
    if "langchain_openai" not in sys.modules:
        return False
    from langchain_openai.chat_models.base import BaseChatOpenAI

    return isinstance(model, BaseChatOpenAI)
