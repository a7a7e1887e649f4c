"""LangChain's clients of OpenAI's protocol, which pass on only those parts of an answer that the protocol defines.

Loading this module takes most of a second, so import it only where a client is made.

LangChain fails with various exceptions on counts that are not numbers, malformed tool calls and unknown roles. These
clients remove such parts first, so that a good answer is not lost, and little reaches LangChain's merging of a stream's
pieces, which takes quadratic time.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from typing import Any, Final

import openai
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from .answers import THINKING

# LangChain lets pydantic serialise the pieces of a stream. Pydantic would print values of wrong types, which may be
# secrets, on standard error.
warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)

_Paths = tuple[tuple[str, ...], ...]
_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
_DETAILS: Final = ("prompt_tokens_details", "completion_tokens_details")
_ABOUT: Final = ("id", "model", "system_fingerprint", "service_tier")
_BESIDES: Final = ("refusal", THINKING)
"""What a message has besides its text and calls, and LangChain would drop."""
_THINKING_FIELDS: Final = (THINKING, "reasoning", "thinking")
_THINKING_PART: Final = re.compile(r"think|reason|analysis", re.IGNORECASE)
_SAYING: Final = ("message", "detail", "code", "type", "prompt_filter_results")


class _Typed:
    """What both clients have in common: the filter of answers.

    Attributes:
        cached: paths in an answer to the number of prompt tokens from the server's cache (`profiles.Profile.cached`).
    """

    cached: _Paths

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        if isinstance(response, openai.BaseModel):
            response = _dumped(response)
        shown = _whole(response, self.cached) if isinstance(response, dict) else response
        result: ChatResult = super()._create_chat_result(shown, generation_info)  # type: ignore[misc]
        for generation, choice in zip(result.generations, shown["choices"], strict=True):
            generation.message.additional_kwargs |= _besides(choice["message"])
        return result

    def _get_request_payload(self, input_: Any, *, stop: list[str] | None = None, **given: Any) -> dict[str, Any]:
        """The same request on the wire, without the client's checks of messages, an eighth of a request's CPU."""
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **given)  # type: ignore[misc]
        if "messages" in payload:
            payload["extra_body"] = {**(payload.get("extra_body") or {}), "messages": payload["messages"]}
            payload["messages"] = ()
        return payload

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made: ChatGenerationChunk | None = super()._convert_chunk_to_generation_chunk(  # type: ignore[misc]
            piece := _piece(chunk, self.cached), default_chunk_class, base_generation_info
        )
        if made is not None and piece["choices"]:
            made.message.additional_kwargs |= _besides(piece["choices"][0]["delta"])
        return made


class Chat(_Typed, ChatOpenAI):
    """A client of OpenAI, or of a server that speaks its protocol."""

    cached: _Paths = ()


class AzureChat(_Typed, AzureChatOpenAI):
    """A client of Azure."""

    cached: _Paths = ()


def _dumped(response: openai.BaseModel) -> dict[str, Any]:
    try:
        return response.model_dump(exclude={"choices": {"__all__": {"message": {"parsed"}}}}, warnings=False)
    except ValueError as error:  # pydantic's error for a value that is nested too deeply
        raise RecursionError(str(error)) from error


def _whole(response: dict[str, Any], cached: _Paths) -> dict[str, Any]:
    """A whole answer; one that is an error, or has no choices, is left to LangChain, which raises what it says."""
    choices = response.get("choices")
    if response.get("error"):
        return response
    if not isinstance(choices, list) or not choices:
        return {**response, "error": _said_instead(response)}
    choice = choices[0]
    said = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(said, dict):
        if not isinstance(choice, dict) or not _str(choice.get("finish_reason")):
            raise ValueError("the answer holds no message")
        said = {}  # the reason says why
    made = {"message": _message(said), "finish_reason": _str(choice.get("finish_reason"))}
    return {**_about(response), "choices": [made], "usage": _usage(response, cached)}


def _piece(chunk: dict[str, Any], cached: _Paths) -> dict[str, Any]:
    """A piece of a stream, without tool calls: only free text is streamed."""
    choices = chunk.get("choices")
    if choices is None and (instead := _said_instead(chunk)):
        raise ValueError(instead)
    choice = choices[0] if isinstance(choices, list) and choices else None
    made = []
    if isinstance(choice, dict):
        said = next((part for name in ("delta", "message") if isinstance(part := choice.get(name), dict)), {})
        delta = {name: value for name, value in _message(said).items() if name != "tool_calls"}
        made = [{"delta": delta, "finish_reason": _str(choice.get("finish_reason"))}]
    return {**_about(chunk), "choices": made, "usage": _usage(chunk, cached)}


def _said_instead(response: Mapping[str, Any]) -> dict[str, Any]:
    """What a server says in place of an answer."""
    return {name: response[name] for name in _SAYING if response.get(name)}


def _message(said: Mapping[str, Any]) -> dict[str, Any]:
    """A message, or a piece of one: its text, calls, refusal and thinking, under one name whatever the server's is."""
    content, thinking = said.get("content"), next(filter(None, (_str(said.get(name)) for name in _THINKING_FIELDS)), "")
    message: dict[str, Any] = {"role": "assistant", "content": _content(content), "refusal": _str(said.get("refusal"))}
    if thought := thinking or _thoughts(content):
        message[THINKING] = thought
    calls = said.get("tool_calls")
    called = [call for call in map(_call, calls) if call] if isinstance(calls, list) else []
    return message | ({"tool_calls": called} if called else {})


def _besides(message: Mapping[str, Any]) -> dict[str, str]:
    return {name: message[name] for name in _BESIDES if message.get(name)}


def _content(content: Any) -> str:
    """A message's text; some servers send a list of parts, or the requested object itself."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_text(part) for part in content if not _is_thinking(part))
    return json.dumps(content, ensure_ascii=False) if isinstance(content, dict) else ""


def _thoughts(content: Any) -> str:
    """The thinking among a message's parts."""
    parts = [part for part in content if _is_thinking(part)] if isinstance(content, list) else []
    return "".join(_text(part) or _content(part.get("thinking")) for part in parts)


def _is_thinking(part: Any) -> bool:
    return isinstance(part, dict) and bool(_THINKING_PART.search(str(part.get("type"))[:40]))


def _text(part: Any) -> str:
    return _str(part.get("text") if isinstance(part, dict) else part) or ""


def _call(call: Any) -> dict[str, Any] | None:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return None
    given = function.get("arguments")
    arguments = given if isinstance(given, str) else json.dumps(given)
    named = {"name": _str(function.get("name")) or "", "arguments": arguments}
    return {"id": _str(call.get("id")), "type": "function", "function": named}


def _about(response: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name in _ABOUT if isinstance(value := response.get(name), str)}


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _usage(response: Mapping[str, Any], cached: _Paths) -> dict[str, Any] | None:
    """The counts of tokens that are whole numbers from 0; `models/usage.py` decides whether to believe them.

    The number of cached tokens moves to the place where OpenAI reports it.
    """
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    counts: dict[str, Any] = {name: usage[name] for name in _COUNTS if _is_count(usage.get(name))}
    for name in _DETAILS:
        if isinstance(details := usage.get(name), dict):
            counts[name] = {key: value for key, value in details.items() if _is_count(value)}
    if (told := next(filter(_is_count, (_at(response, path) for path in cached)), None)) is not None:
        counts["prompt_tokens_details"] = {**counts.get("prompt_tokens_details", {}), "cached_tokens": told}
    return counts or None


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
