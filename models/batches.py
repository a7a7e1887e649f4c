"""Asks through OpenAI's Batch API: requests are collected, sent as one file, and answered within a day at half price.

A transport of the HTTP client does it, so whoever asks knows nothing of it: a request takes as long as its batch. A
file says which batch holds which request, by the digest of its body: who is interrupted and asks the same again gets
the answers of the batch that is under way. What was passed on once is not given again.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx

from ..state.errors import InputError
from ..state.settings import Settings
from .connections import TRANSPORT
from .local.files import cached
from .naming import ModelName, shown
from .redaction import short
from .usage import list_price

ENDPOINTS: Final = ("/chat/completions", "/responses")
"""What is asked in batches."""
MOST: Final = 50_000
"""The most requests of a batch (OpenAI's rule)."""
_MOST_BYTES: Final = 200_000_000
"""The largest file of a batch (OpenAI's rule)."""
LONGEST_S: Final = 26 * 3600.0
"""How long an answer may take: a day for the batch, and the time around it."""
_OVER: Final = ("completed", "expired", "cancelled", "failed")
_KEPT: Final = ("authorization", "openai-organization", "openai-project")
_PASSING: Final = (408, 409, 425, 429)
_ENDED: Final = 424
"""The HTTP status in place of an answer that a batch came to its end without; it is not asked for again at once."""
_ID: Final = re.compile(r"[\w.-]{1,200}")
_LOST_S: Final = 3600.0
"""How long a server may be away while a batch is waited for."""


def for_batches(settings: Settings, name: ModelName) -> Settings:
    """Settings with which a model is asked in batches: everything at once, with a day's patience, at half the price.

    Args:
        settings: how it is asked otherwise; a price of the user's own counts as it is.
        name: the model.

    Raises:
        InputError: its provider has no batches.
    """
    if name.provider not in ("openai", "compatible"):
        remedy = "Name a model of OpenAI, or of a server with that API: openai:NAME, NAME@https://HOST/v1."
        raise InputError(f"{shown(name.written)} cannot be asked in batches", where="--batch", remedy=remedy)
    listed = None if {name.written, name.model} & settings.prices.keys() else list_price(name)
    prices = settings.prices if listed is None else {**settings.prices, name.written: tuple(one / 2 for one in listed)}
    return settings.model_copy(
        update={
            "prices": prices,
            "concurrent": True,
            "max_concurrency": MOST,
            "requests_per_second": None,
            "timeout_s": LONGEST_S,
        }
    )


@dataclass
class Batches:
    """How requests are collected and waited for.

    Attributes:
        tell: called with a sentence when a batch has begun, and when one is found that is under way.
        path: the file that says which batch holds which request.
        quiet_s: a batch is sent when no request has come for so many seconds.
        poll_s: seconds between questions whether a batch is over.
    """

    tell: Callable[[str], object] = lambda _: None
    path: Path = field(default_factory=partial(cached, "batches.jsonl"))
    quiet_s: float = 2.0
    poll_s: float = 20.0


@contextmanager
def batched(batches: Batches) -> Iterator[None]:
    """Clients that are made meanwhile ask in batches."""
    token = TRANSPORT.set(lambda options: Transport(batches, options))
    try:
        yield
    finally:
        TRANSPORT.reset(token)


class _Refused(Exception):
    """The server's answer to a request about a batch, in place of the answers.

    Attributes:
        status: its HTTP status; 502 where the answer was no error, and of no use.
        passes: whether the same request may go well later.
        gone: whether the server does not know what was asked for.
    """

    def __init__(self, doing: str, response: httpx.Response) -> None:
        said = short(response.text)
        super().__init__(f"the server did not {doing} (HTTP {response.status_code}): {said}")
        self.status = response.status_code if response.is_error else 502
        self.passes = self.status in _PASSING or self.status >= 500
        self.gone = self.status in (404, 410)


class Transport(httpx.AsyncBaseTransport):
    """Answers questions from batches, and all other requests as usual.

    Args:
        batches: how.
        options: the arguments of the HTTP client that asks for batches.
    """

    def __init__(self, batches: Batches, options: Mapping[str, Any]) -> None:
        self._batches, self._client = batches, httpx.AsyncClient(**options)
        self._waiting: dict[str, _Asked] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked = 0
        self._known = self._read()

    async def handle_async_request(self, request: Any) -> Any:
        """The answer to one request."""
        # OpenAI's client chooses its own HTTP library, and wants an answer of the same (`connections`).
        library = sys.modules[type(request).__module__.partition(".")[0]]
        body = await request.aread()
        if not request.url.path.endswith(ENDPOINTS):
            passed = await self._client.request(
                request.method, str(request.url), headers=list(request.headers.items()), content=body
            )
            kind = {"content-type": passed.headers.get("content-type", "")}
            return library.Response(passed.status_code, content=passed.content, headers=kind, request=request)
        key, asked = self._asked_as(request, body)
        if asked is None:
            asked = self._waiting[key] = _Asked(body, request, asyncio.get_running_loop().create_future())
            self._asked += 1
            self._begin(self._collected(self._asked))
        asked.held = True
        try:
            status, answer = await asyncio.shield(asked.answer)
        finally:
            asked.held = False
        return library.Response(status, json=answer, request=request)

    def _asked_as(self, request: Any, body: bytes) -> tuple[str, _Asked | None]:
        """The key of a request, and itself if it was asked before and whoever asked has left.

        Requests that are word for word the same, each with somebody who waits for it, are several.
        """
        for number in count():
            key = sha256(f"{request.url}\0{number}\0".encode() + body).hexdigest()[:48]
            asked = self._waiting.get(key)
            if asked is None or not asked.held:
                return key, asked
        raise AssertionError

    async def aclose(self) -> None:
        """End the waiting, and close the transport beneath."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _collected(self, number: int) -> None:
        """Send what was asked once nobody has asked for a while: those of earlier batches apart, each batch once."""
        await asyncio.sleep(self._batches.quiet_s)
        if number != self._asked:
            return
        left = {key: asked for key, asked in self._waiting.items() if not asked.sent}
        earlier: dict[str, dict[str, _Asked]] = {}
        for key in [key for key in left if key in self._known]:
            earlier.setdefault(self._known.pop(key), {})[key] = left.pop(key)
        for batch, those in earlier.items():
            self._batches.tell(f"batch {batch} is under way, with {len(those):,} of these requests")
            self._begin(self._answered(those, batch))
        for part in _in_files(left):
            self._begin(self._answered(part))

    async def _answered(self, asked: dict[str, _Asked], earlier: str | None = None) -> None:
        """Wait for a batch, and pass on its answers; what an earlier one lacks is asked in a new one.

        Args:
            asked: the requests.
            earlier: the batch that has them; None if it is to be made.
        """
        for one in asked.values():
            one.sent = True
        found: dict[str, tuple[int, Any]] = {}
        otherwise, batch = (_ENDED, _error("the batch has no answer to this request")), earlier
        try:
            server = _Server(next(iter(asked.values())).request, self._client)
            if batch is None:
                batch = await server.send(asked)
                self._write({"batch": batch, "requests": list(asked)})
                told = f"batch {batch}: {len(asked):,} requests; its answers come within 24 hours"
                self._batches.tell(f"{told}. Ctrl-C ends the waiting, not the batch: the same command goes on")
            over, found = await self._outcome(server, batch)
            if earlier is not None:  # errors of that time say nothing of now
                found = {key: (status, body) for key, (status, body) in found.items() if status < 400}
            if over["status"] != "completed":
                otherwise = _ENDED, _error(f"batch {batch} ended as {over['status']}{_why(over)}")
        except (_Refused, httpx.HTTPError) as error:
            status, gone = (error.status, error.gone) if isinstance(error, _Refused) else (503, False)
            otherwise = status, _error(str(error) or type(error).__name__)
            if batch is not None and not gone:  # it goes on, so whoever asks again finds it
                self._known |= dict.fromkeys(asked, batch)
                earlier = None
        finally:
            left = {key: one for key, one in asked.items() if key not in found} if earlier is not None else {}
            for key, one in asked.items():
                if key not in left:
                    self._waiting.pop(key, None)
                    if not one.answer.done():
                        one.answer.set_result(found.get(key, otherwise))
        if found:
            self._write({"done": list(found)})
        if left:
            self._begin(self._answered(left))

    async def _outcome(self, server: _Server, batch: str) -> tuple[dict[str, Any], dict[str, tuple[int, Any]]]:
        """A batch that is over, and its answers; a server that is away or fails for a while is waited for."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        while True:
            try:
                found = await server.batch(batch)
                if found.get("status") in _OVER:
                    return found, await server.answers(found)
                since = loop.time()
            except (_Refused, httpx.TransportError) as error:
                if isinstance(error, _Refused) and not error.passes or loop.time() - since > _LOST_S:
                    raise
            await asyncio.sleep(self._batches.poll_s)

    def _read(self) -> dict[str, str]:
        """The batch of each request; a line that is damaged is passed over, and its requests are asked anew."""
        known: dict[str, str] = {}
        with suppress(OSError):
            for line in self._batches.path.read_text("utf-8", errors="replace").splitlines():
                with suppress(ValueError, TypeError, KeyError, AttributeError):
                    one = json.loads(line)
                    for key in one.get("done", ()):
                        known.pop(key, None)
                    known |= dict.fromkeys(map(str, one.get("requests", ())), str(one.get("batch")))
        return {key: batch for key, batch in known.items() if _ID.fullmatch(batch)}

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._batches.path.parent.mkdir(parents=True, exist_ok=True)
            with self._batches.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps(line)}\n")  # the last line may be half of one
        except OSError as error:
            self._batches.tell(f"{self._batches.path} cannot be written ({error.strerror}): keep this command running")


@dataclass
class _Asked:
    """A request that waits for its answer: HTTP status and JSON.

    Attributes:
        body: of the request.
        request: the request, of the client's own HTTP library.
        answer: comes with its batch.
        sent: whether it is in a batch.
        held: whether somebody waits for it.
    """

    body: bytes
    request: Any
    answer: asyncio.Future[tuple[int, Any]]
    sent: bool = False
    held: bool = False


def _in_files(asked: Mapping[str, _Asked]) -> Iterator[dict[str, _Asked]]:
    """The requests in files that a server takes: of one address each, and neither too many nor too large."""
    part: dict[str, _Asked] = {}
    size, url = 0, ""
    for key, one in sorted(asked.items(), key=lambda pair: str(pair[1].request.url)):
        other, url = url not in ("", str(one.request.url)), str(one.request.url)
        if part and (other or len(part) == MOST or size + len(one.body) > _MOST_BYTES):
            yield part
            part, size = {}, 0
        part[key] = one
        size += len(one.body) + 200
    if part:
        yield part


class _Server:
    """The Batch API of the server to which a request was to go, with the request's key."""

    def __init__(self, request: Any, client: httpx.AsyncClient) -> None:
        self._endpoint = next(one for one in ENDPOINTS if request.url.path.endswith(one))
        self._base, self._client = str(request.url).removesuffix(self._endpoint), client
        self._headers = {name: request.headers[name] for name in _KEPT if name in request.headers}

    async def send(self, asked: Mapping[str, _Asked]) -> str:
        """Make a batch of requests; gives its id."""
        url = f"/v1{self._endpoint}"
        lines = [
            b'{"custom_id": "%s", "method": "POST", "url": "%s", "body": %s}\n' % (key.encode(), url.encode(), one.body)
            for key, one in asked.items()
        ]
        file = {"file": ("persimchat.jsonl", b"".join(lines), "application/jsonl")}
        kept = await self._asked("take the file of a batch", "POST", "/files", files=file, data={"purpose": "batch"})
        given = {"input_file_id": kept["id"], "endpoint": url, "completion_window": "24h"}
        made = await self._asked("make a batch", "POST", "/batches", json=given)
        return str(made["id"])

    async def batch(self, id_: str) -> dict[str, Any]:
        """How far a batch is."""
        return await self._asked("tell how far the batch is", "GET", f"/batches/{id_}")

    async def answers(self, batch: Mapping[str, Any]) -> dict[str, tuple[int, Any]]:
        """The answers of a batch that is over, by request: HTTP status and JSON."""
        found: dict[str, tuple[int, Any]] = {}
        for name in ("output_file_id", "error_file_id"):
            if batch.get(name):
                url = f"{self._base}/files/{batch[name]}/content"
                response = await self._client.get(url, headers=self._headers)
                if not response.is_success:
                    raise _Refused("give the answers of the batch", response)
                for line in response.content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
                    found |= _read_answer(line)
        return found

    async def _asked(self, doing: str, method: str, path: str, **given: Any) -> dict[str, Any]:
        response = await self._client.request(method, f"{self._base}{path}", headers=self._headers, **given)
        with suppress(ValueError):
            said = response.json()
            if response.is_success and isinstance(said, dict) and _ID.fullmatch(str(said.get("id"))):
                return said
        raise _Refused(doing, response)


def _read_answer(line: bytes) -> dict[str, tuple[int, Any]]:
    """The answer in a line; none where it has no sense."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        one = json.loads(line)
        if response := one.get("response"):
            said = response["body"]
            return {str(one["custom_id"]): (int(response["status_code"]), said)} if isinstance(said, dict) else {}
        return {str(one["custom_id"]): (500, _error(str(one["error"]["message"])))}
    return {}


def _error(what: str) -> dict[str, Any]:
    return {"error": {"message": what, "type": "batch", "code": None, "param": None}}


def _why(batch: Mapping[str, Any]) -> str:
    """What a server says of a batch that failed."""
    with suppress(KeyError, TypeError, IndexError):
        return f": {short(str(batch['errors']['data'][0]['message']))}"
    return ""
