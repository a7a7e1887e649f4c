"""Limits how many bytes of a server's answer are read, after decompression.

OpenAI's client chooses its own HTTP library: httpx, or a successor with another name.
"""

from __future__ import annotations

import re
import ssl
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from functools import cache
from types import ModuleType
from typing import Any, Final

from .failures import TooMuch
from .naming import ModelName, is_this_machine

STREAM: Final = 32_000_000
"""The most bytes read of a streamed answer; each piece of a few characters takes some 250 bytes."""
WHOLE: Final = 8_000_000
"""The most bytes read of any other answer: 64 embeddings of 4,096 dimensions take six million."""
EVENT: Final = 2_000_000
"""The most bytes read of one event of a stream: some servers send the whole answer in one event."""
FAILED: Final = 200_000
"""The most bytes read of a server's error."""
_ENDS: Final = (b"\n\n", b"\r\r", b"\r\n\r\n")
_STREAMED: Final = re.compile(rb'"stream": ?true')
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")
HEADERS: Final = {"accept-encoding": "identity"}
"""The header of requests that asks for uncompressed answers; compressed ones are read all the same."""


def bound(response: Any) -> None:
    """Limit the reading of an answer to the bound of its kind; for an HTTP client's `event_hooks`."""
    response.stream = _kinds(_library(response))[0](response.stream, _Reading(response))


async def bound_async(response: Any) -> None:
    """The same for an asynchronous client."""
    response.stream = _kinds(_library(response))[1](response.stream, _Reading(response))


def _library(response: Any) -> ModuleType:
    return sys.modules[type(response).__module__.partition(".")[0]]


@cache
def _kinds(library: Any) -> tuple[Any, Any]:
    """The two classes of streams below as subclasses of the library's own."""
    return (
        type("BoundedStream", (_Stream, library.SyncByteStream), {}),
        type("BoundedAsyncStream", (_AsyncStream, library.AsyncByteStream), {}),
    )


class _Reading:
    """The reading of one answer: decompresses it and enforces its bound."""

    def __init__(self, response: Any) -> None:
        self._wrong = _library(response).DecodingError
        self._failed = response.status_code >= 400
        self._streamed = not self._failed and "event-stream" in response.headers.get("content-type", "")
        self._left = FAILED if self._failed else STREAM if self._streamed else WHOLE
        self._all = self._left
        self._waiting: list[bytes] = []
        self._event = 0
        asked = b"" if self._failed else response.request.content
        self._begins = bool(_STREAMED.search(asked))  # it must be looked at whether a stream comes
        self._whole = False
        self._packed: Any = None
        self.over = False
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding in ("gzip", "deflate", "x-gzip"):
            del response.headers["content-encoding"]
            self._packed = zlib.decompressobj(32 + zlib.MAX_WBITS)
        elif encoding not in ("", "identity"):
            raise self._wrong(f"the answer is packed with {encoding[:20]!r}, which was not asked for")

    def part(self, data: bytes) -> bytes:
        """The bytes to pass on after a part of the answer has arrived.

        Raises:
            TooMuch: the answer exceeds a bound; a server's error is cut at the bound instead.
            DecodingError: (the library's) the answer is not compressed as its header says.
        """
        if self._packed is not None:
            try:
                data = self._packed.decompress(data, self._left + 1)
            except zlib.error as error:
                raise self._wrong(f"the answer is not packed as it says: {error}") from error
        self._left -= len(data)
        if self._left < 0 and self._failed:
            self.over = True
            return data[: self._left]
        if self._left < 0:
            raise TooMuch(self._all)
        if self._begins and (begun := data.lstrip()):
            self._begins, self._whole = False, begun.startswith(b"{")
        if self._whole:
            self._waiting.append(data)
            return b""
        return self._events(data) if self._streamed else data

    def _events(self, data: bytes) -> bytes:
        """Whole events of a stream only, because the client copies an incomplete event anew with every part."""
        tail = self._waiting[-1][-3:] if self._waiting else b""
        self._waiting.append(data)
        if not any(end in tail + data for end in _ENDS):
            self._event += len(data)
            if self._event > EVENT:
                raise TooMuch(self._all - self._left)
            return b""
        self._event = 0
        return self.rest()

    def rest(self) -> bytes:
        """The bytes that were waiting for the end of their event.

        The JSON that a server sends which does not stream, or has an error to tell, is a stream of one event.
        """
        whole, self._waiting = b"".join(self._waiting), []
        return b"data: " + whole.translate(_ONE_LINE) + b"\n\n" if self._whole and whole else whole


class _Stream:
    def __init__(self, inner: Any, reading: _Reading) -> None:
        self._inner, self._reading = inner, reading

    def __iter__(self) -> Iterator[bytes]:
        for data in self._inner:
            yield self._reading.part(data)
            if self._reading.over:
                return
        yield self._reading.rest()

    def close(self) -> None:
        self._inner.close()


class _AsyncStream:
    def __init__(self, inner: Any, reading: _Reading) -> None:
        self._inner, self._reading = inner, reading

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._inner:
            if passed := self._reading.part(data):
                yield passed
            if self._reading.over:
                return
        yield self._reading.rest()

    async def aclose(self) -> None:
        await self._inner.aclose()


# HTTP clients for servers that speak the OpenAI protocol


_OWNED: Final = ("openai-organization", "openai-project")
_TELLTALE: Final = "x-stainless-"
_NEEDED: Final = "x-stainless-raw-response"
"""The client reads this header of its own request when the answer comes."""


def clients(name: ModelName, timeout_s: float) -> dict[str, Any]:
    """Synchronous and asynchronous HTTP client for one model in one event loop, as constructor arguments.

    Requests to this machine do not go through a proxy named in the environment. Servers other than OpenAI's get
    neither the account headers that its client takes from the environment, nor those that describe the machine. The
    length of answers is limited.
    """
    options = client_options(name, timeout_s)
    import openai  # takes most of a second

    own = name.provider in ("openai", "azure")
    hooks: dict[str, list[Any]] = {"request": [] if own else [_strip], "response": [bound]}
    async_hooks: dict[str, list[Any]] = {"request": [] if own else [_strip_async], "response": [bound_async]}
    return {
        "http_client": openai.DefaultHttpxClient(**options, headers=HEADERS, event_hooks=hooks),
        "http_async_client": openai.DefaultAsyncHttpxClient(**options, headers=HEADERS, event_hooks=async_hooks),
    }


def client_options(name: ModelName, timeout_s: float) -> dict[str, Any]:
    """The arguments of every HTTP client for a model's server."""
    options: dict[str, Any] = {"timeout": timeout_s, "trust_env": not is_this_machine(name.base_url)}
    if name.base_url and name.base_url.lower().startswith("http:"):
        # Loading the certificate store takes longer than a whole local request. This context knows no authority, so
        # a redirect to https would fail instead of going unchecked.
        options["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return options


def _strip(request: Any) -> None:
    for header in [h.lower() for h in request.headers]:
        if header in _OWNED or (header.startswith(_TELLTALE) and header != _NEEDED):
            del request.headers[header]


async def _strip_async(request: Any) -> None:
    _strip(request)
