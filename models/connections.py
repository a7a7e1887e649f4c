"""HTTP clients for servers that speak the OpenAI protocol."""

from __future__ import annotations

import ssl
from typing import Any, Final

from persimchat.models.bounded_http import HEADERS, bound, bound_async
from persimchat.models.hosts import is_this_machine
from persimchat.models.naming import ModelName

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
