"""Who a request's person is, and which talk it belongs to.

On loopback everybody is who they say. Elsewhere a key is a person, and only the holder of a key with `relay` may name
others.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from starlette.datastructures import Headers

from persimchat.app.web.v1.bodies import ChatRequest
from persimchat.app.web.v1.problems import NoKey, TooFast
from persimchat.runs.companion.keys import Key, Keys
from persimchat.state.companion import person_name

PERSON, FORWARDED_PERSON = "x-persimchat-person", "x-openwebui-user-name"
TALK, FORWARDED_TALK = "x-persimchat-talk", "x-openwebui-chat-id"
_LONGEST_TALK: Final = 64
_LONGEST_HEADER: Final = 1_000

A_SECOND: Final = 5
"""Messages that one client may send in a second, on average."""
BURST: Final = 10
"""Messages that one client may send at once after a pause."""
_PEERS: Final = 1_000


@dataclass(frozen=True)
class Doorkeeper:
    """Says who asks.

    Attributes:
        keys: of the world.
        local: whether the server listens on loopback only.
        person: who asks if nobody says so.
    """

    keys: Keys
    local: bool
    person: str

    def admitted(self, headers: Headers) -> Key | None:
        """The key of a request; None for one without a known key, which only loopback takes.

        Raises:
            NoKey: the key is missing or wrong, and the server listens elsewhere, too.
            InputError: the file of keys is damaged.
        """
        scheme, _, given = headers.get("authorization", "").partition(" ")
        key = self.keys.find(given.strip()) if scheme.lower() == "bearer" else None
        if key is None and not self.local:
            raise NoKey("a key of this world is needed", remedy="Make one: persimchat companion key.")
        return key

    def person_of(self, key: Key | None, headers: Headers, request: ChatRequest) -> str:
        """The person of a request.

        Args:
            key: its key (`admitted`).
            headers: its headers.
            request: its body.

        Raises:
            InputError: nothing is left of the name, or it is too long.
        """
        if key is not None and not key.relay:
            return person_name(key.person)
        named = [_text(headers, PERSON), unquote(_text(headers, FORWARDED_PERSON))]
        if key is None:
            last = next((m.name for m in reversed(request.messages) if m.role == "user"), None)
            named += [last or "", request.user or ""]
        return person_name(next(filter(str.strip, named), self.person if key is None else key.person))


def talk_of(headers: Headers) -> str:
    """The client's name for its talk; empty for the open one. Long names are replaced by their hash."""
    name = (_text(headers, TALK) or _text(headers, FORWARDED_TALK)).strip()
    if len(name) > _LONGEST_TALK or not name.isprintable():
        return hashlib.sha256(name.encode()).hexdigest()[:16]
    return name


def _text(headers: Headers, name: str) -> str:
    """A header's text, which may be UTF-8 though HTTP's is Latin-1."""
    value = headers.get(name, "")[:_LONGEST_HEADER]
    try:
        return value.encode("latin-1").decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return value


@dataclass
class Pace:
    """How many messages each client may send: a bucket of `BURST` that fills with `A_SECOND`."""

    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def check(self, peer: str, now: float | None = None) -> None:
        """Take one message from a client.

        Args:
            peer: its address.
            now: seconds of a clock that only goes forward.

        Raises:
            TooFast: it has sent too many.
        """
        at = time.monotonic() if now is None else now
        left, before = self._left.pop(peer, (float(BURST), at))
        left = min(float(BURST), left + (at - before) * A_SECOND)
        if left < 1:
            self._left[peer] = left, at
            raise TooFast(max(1, math.ceil((1 - left) / A_SECOND)))
        self._left[peer] = left - 1, at
        while len(self._left) > _PEERS:
            del self._left[next(iter(self._left))]  # the one that has been quiet for longest
