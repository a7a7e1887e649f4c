"""Servers that a set-up of somebody else names: what is said, and a key, would go there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from persimchat.app.web.setup.draft import Draft


def servers_in(draft: Draft) -> list[str]:
    """Hosts with their ports, in alphabetical order, that models, embedding, memories and checkpoints name."""
    return sorted({host for text in _texts(draft) if (host := _host(text))})


def _texts(draft: Draft) -> Iterator[str]:
    yield from (seat.model for seat in draft.seats)
    waiting: list[Any] = list(draft.settings.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, str):
            yield value


def _host(text: str) -> str:
    """The host of the address in a text such as `model@http://host:port/v1`; empty where there is none."""
    scheme, found, rest = text.partition("://")
    if not found:
        return ""
    try:
        return urlsplit(f"{scheme.rpartition('@')[2]}://{rest}").netloc.rpartition("@")[2]
    except ValueError:  # no address that anybody could be asked at
        return ""
