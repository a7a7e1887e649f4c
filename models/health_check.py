"""Says whether a model can be asked: before a run begins, or with a tiny request for `doctor`.

A server that refuses is told at once; one that says nothing is waited for up to `timeout_s` (`waiting`). Requests to
servers are small: no redirect is followed, at most 64 KiB are read, and link-local addresses are refused, so that a
typed address cannot be used to look around where this machine is.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urlsplit

from langchain_core.messages import HumanMessage

from ..prompts import render
from ..state.errors import InputError, ModelError
from ..state.minds.judgement import Action
from ..state.plain_text import one_line
from ..state.settings import Settings
from . import ladder
from .asking import judgement
from .connections import client_options
from .exchange import Exchange
from .failures import message_of, model_error, status_of
from .ladder import Rung
from .local.files import model_file
from .naming import OPENAI_URL, ModelName, default_model_name, may_have_own_key, parse_model_name, server_address, shown
from .registry import ready_model, speaks
from .schemas import prompt_schema
from .waiting import waiting_for

LISTING: Final = ("ollama", "openai")
"""The providers whose server lists its models, whatever its address is."""
_CONNECT_S: Final = 30.0
"""The most seconds until a server takes a connection; `timeout_s` if that is less."""
_FEW: Final = 16
"""The most tokens of the word that a model is asked for."""
_LONGER: Final = "Is the server started? If it only needs longer, raise timeout_s."
_MOST_BYTES: Final = 64 * 1024
_MOST_NAMES: Final = 500
_NAMED: Final = 5
"""How many models of a server an error names."""
_REFUSED: Final = (401, 403)
_NOT_THERE: Final = (404, 405, 501)


async def reach(name: str, settings: Settings, *, ask: bool = False) -> None:
    """Make sure that a model can be asked, as far as that shows without a question.

    Args:
        name: the model's name.
        settings: with which it would be asked; a server is waited for up to `timeout_s`.
        ask: also ask a server given by its address for one word.

    Raises:
        InputError: the name is wrong, or a key, a file or a library is missing.
        ModelError: its server cannot be reached, says nothing in time, refuses the key, does not know the model, or is
            none.
    """
    parsed = parse_model_name(name)
    server = _Server(parsed, settings)
    match parsed.provider:
        case "offline":
            speaks(parsed, settings)
        case "llamacpp":
            await asyncio.to_thread(model_file, parsed)
        case "langchain":
            await ready_model(name, settings)
        case "azure":
            await ready_model(name, settings)
            await server.exists()
        case "openai":
            await ready_model(name, settings)
            if parsed.base_url == OPENAI_URL:
                await server.knows_by_path()
            else:
                await server.serves(ask=ask)
        case "compatible" | "ollama":
            await server.serves(ask=ask)


async def reach_all(settings: Settings) -> None:
    """Make sure that all models of a run can be asked, and that the server of its embedding is there.

    Raises:
        InputError: as `reach`.
        ModelError: as `reach`; the first one by the models' names.
    """
    servers = [_told(name, settings) for name in named_models(settings)]
    if "@" in settings.embedding:
        servers.append(_there(settings.embedding, settings))
    for error in await asyncio.gather(*servers):
        if error is not None:
            raise error


def named_models(settings: Settings) -> list[str]:
    """The models of a run: the common one first, then those of agents and modules by name."""
    chosen = default_model_name(settings.model)[0]
    named = {chosen, *settings.agent_models.values(), *settings.module_models.values()}
    return sorted(named, key=lambda name: (name != chosen, name))


async def _told(name: str, settings: Settings) -> InputError | ModelError | None:
    try:
        await reach(name, settings)
    except (InputError, ModelError) as error:
        return error
    return None


async def _there(embedding: str, settings: Settings) -> InputError | ModelError | None:
    try:
        await _Server(parse_model_name(embedding), settings).exists()
    except (InputError, ModelError) as error:
        return error
    return None


async def served_models(place: str, timeout_s: float) -> list[str]:
    """The models that a server lists, in its order.

    Args:
        place: an address, as `http://localhost:8000/v1`, or one of `LISTING`, which is asked with its key.
        timeout_s: the most seconds to wait for it.

    Raises:
        InputError: the address is none, has credentials, or is link-local.
        ModelError: nothing there answers in time, or not with a list of models.
    """
    if place in LISTING:
        name = parse_model_name(f"{place}:any")
    else:
        address = server_address(place.strip(), "the address of the server")
        name = ModelName(address, "compatible", "", address)
    server = _Server(name, Settings(timeout_s=timeout_s))
    status, body = await server.request("GET", "/models")
    names = _names(body)
    if names is None:
        raise server.error(status, body)
    return names


class _Server:
    """A model's server, and small requests to it."""

    def __init__(self, name: ModelName, settings: Settings) -> None:
        self._name, self._settings, self._timeout_s = name, settings, settings.timeout_s
        self._base = (name.base_url or "").rstrip("/")

    async def exists(self) -> None:
        """Make sure that something answers HTTP."""
        await self.request("GET", "")

    async def knows_by_path(self) -> None:
        """Make sure that a server with a path for each model has this one."""
        status, body = await self.request("GET", f"/models/{quote(self._name.model, safe='')}")
        if status in (*_REFUSED, 404):
            raise self.error(status, body)

    async def serves(self, *, ask: bool) -> None:
        """Make sure that the server lists this model, or else that it answers a word."""
        status, body = await self.request("GET", "/models")
        if status in _REFUSED:
            raise self.error(status, body)
        names = _names(body)
        known = names is not None and _among(self._name, names)
        if names and not known and self._name.provider == "ollama":
            raise self._unknown(names)
        if not known or ask:
            await self._answers(names or [], status)

    async def _answers(self, names: Sequence[str], listed: int) -> None:
        """Ask for a word with the client that runs ask with: it knows what this server takes.

        Args:
            names: the models that the server lists.
            listed: the status of that list.
        """
        settings = self._settings.model_copy(update={"answer_tokens": _FEW})
        exchange = Exchange(settings, "", "natural_language", 0, self._name)
        with waiting_for(self._base):
            try:
                async with asyncio.timeout(self._timeout_s):
                    await exchange.stream([HumanMessage("Say hello.")], quietly=True)
            except TimeoutError as error:
                raise self._silent(self._timeout_s, _LONGER) from error
            except ModelError as error:
                cause = error.__cause__
                status = status_of(cause) if cause is not None else None
                about = status == 404 or (cause is not None and self._name.model in message_of(cause))
                if names and status in (400, 404, 422) and about:
                    raise self._unknown(names) from error
                if status is None and listed < 400 and not names:
                    raise self.error(listed, None) from error
                if status is None or status in (*_REFUSED, *_NOT_THERE):
                    raise ModelError(error.what, model=self._name.written, remedy=error.remedy) from error

    def _unknown(self, names: Sequence[str]) -> ModelError:
        some = ", ".join(shown(name) for name in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        load = f"ollama pull {self._name.model}" if self._name.provider == "ollama" else ""
        return ModelError(
            f"the server at {self._base} does not have the model {shown(self._name.model)}; it has {some}",
            model=self._name.written,
            remedy=one_line(f"Choose one of these, or load it there{f': {load}' if _is_plain(load) else ''}."),
        )

    def error(self, status: int, body: Any) -> ModelError:
        """The error for an answer that is not what a model's server says."""
        if status < 400:
            what = f"the server at {self._base} does not speak the protocol of language models (HTTP {status})"
            return ModelError(
                what,
                model=self._name.written,
                remedy="Check the address: an OpenAI-compatible one usually ends in /v1.",
            )
        return self._explained(_Answered(status, body))

    def _explained(self, error: Exception) -> ModelError:
        return model_error(error, self._name, timeout_s=self._timeout_s)

    async def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer; None where it is not JSON or too long.

        Raises:
            InputError: the address is link-local.
            ModelError: it could not be reached, or said nothing in time.
        """
        with waiting_for(self._base):
            try:
                async with asyncio.timeout(self._timeout_s):
                    await _refuse_link_local(self._base)
                    return await self._asked(method, path, body)
            except TimeoutError as error:
                raise self._silent(self._timeout_s, _LONGER) from error

    def _silent(self, seconds: float, remedy: str) -> ModelError:
        what = f"nothing answers at {self._base} within {seconds:g} seconds"
        return ModelError(what, model=self._name.written, remedy=remedy)

    async def _asked(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        import httpx  # takes half a second

        options = client_options(self._name, self._timeout_s) | {
            "timeout": httpx.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
        }
        client = httpx.AsyncClient(**options, follow_redirects=False, headers=_headers(self._name))
        try:
            async with client, client.stream(method, f"{self._base}{path}", json=body) as response:
                read = b""
                async for part in response.aiter_bytes():
                    read += part
                    if len(read) > _MOST_BYTES:
                        return response.status_code, None
        except httpx.ConnectTimeout as error:
            seconds = min(_CONNECT_S, self._timeout_s)
            raise self._silent(seconds, "Is the server started? Check its address, too.") from error
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise self._explained(error) from error
        with suppress(ValueError, RecursionError):
            return response.status_code, json.loads(read)
        return response.status_code, None


class _Answered(Exception):
    """An answer with an HTTP status that is an error."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code = status
        self.body = body


def _headers(name: ModelName) -> dict[str, str]:
    if name.provider == "openai":
        key = os.environ.get("OPENAI_API_KEY", "")
    else:
        own = name.provider == "compatible" and may_have_own_key(name.base_url)
        key = os.environ.get("PERSIMCHAT_API_KEY", "") if own else ""
    return {"authorization": f"Bearer {key.strip()}"} if key.strip() else {}


def _names(body: Any) -> list[str] | None:
    """The names in a server's list of models; None if it is no such list."""
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        return None
    names = [entry.get("id") for entry in listed[:_MOST_NAMES] if isinstance(entry, dict)]
    return [one_line(name) for name in names if isinstance(name, str) and name.strip()]


def _among(name: ModelName, names: Sequence[str]) -> bool:
    return name.model in names or (name.provider == "ollama" and f"{name.model}:latest" in names)


def _is_plain(text: str) -> bool:
    """Whether a command with a typed name has nothing that a shell would read."""
    return bool(text) and all(sign.isalnum() or sign in " .:/_-" for sign in text)


async def _refuse_link_local(address: str) -> None:
    """Refuse addresses of the link itself, at which clouds hand out their machines' credentials."""
    host = urlsplit(address).hostname or ""
    with suppress(OSError):  # an unknown name fails when it is asked
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        for *_, place in found:
            if ipaddress.ip_address(str(place[0]).partition("%")[0]).is_link_local:
                raise InputError(
                    f"the server at {shown(address)} has a link-local address, which is not asked",
                    remedy="Give the server's name or its address in your network.",
                )


_FORMS = {
    Rung.JSON_SCHEMA: "answers held to a JSON schema",
    Rung.TOOL_CALL: "answers as tool calls",
    Rung.JSON_MODE: "answers in JSON mode",
    Rung.TEXT: "answers as plain text, read as JSON",
}


async def check_model(name: str, settings: Settings) -> str:
    """Ask a model one tiny question.

    Returns:
        One line: the model, the form of answers that works, the seconds it took, and the command that says more.

    Raises:
        InputError: the name, key or file is wrong.
        ModelError: the model does not answer, or not usefully.
    """
    parsed = parse_model_name(name)
    if parsed.provider == "offline":
        await ready_model(name, settings)
        return f"{parsed.written}: built in, needs no server and no key"
    exchange = Exchange(settings, "", "", 0, parsed)
    started = time.perf_counter()
    with waiting_for(parsed.written):
        await judgement(exchange, render("json_answer", schema=prompt_schema(Action)), Action)
    seconds = time.perf_counter() - started
    asked = "1 request" if exchange.tally.requests == 1 else f"{exchange.tally.requests} requests"
    form = _FORMS[ladder.rung(parsed)]
    return f"{parsed.written}: {form}, {asked} in {seconds:.1f} s; is it good enough? persimchat models try MODEL"
