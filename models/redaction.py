"""Removes secrets from texts of servers, models and libraries, so that no key leaves this room.

Known keys are the values of environment variables named `…KEY`, `…TOKEN`, `…SECRET` or `…PASSWORD`. In errors, text
that looks like a key is removed as well, and so are short keys and parts of keys that are separate words. In the words
of models, only known keys are removed, and none that could be an ordinary word (docs/runs.md says which).
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..state.plain_text import without_credentials
from ..state.secrets import known_keys

SHORT: Final = 300
"""The most characters of a foreign error's text that are shown."""
LOOKED_AT: Final = 20_000
"""The most characters of a foreign error's text that are read."""
HIDDEN: Final = "[hidden]"

_KEY_LIKE: Final = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai|key)[-_][A-Za-z0-9*._\-]{6,}"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{6,}"
    r"|(?i:api[-_ ]?key|token|secret|password)[\"']?\s*[:=]\s*[\"']?[^\s\"',}]{6,}"
)
_DEEPEST: Final = 24


def redact(text: str) -> str:
    """An error's text without anything that is, or looks like, a key, a token or credentials in an address."""
    known = known_keys().in_errors
    if known is not None:
        text = known.sub(HIDDEN, text)
    return without_credentials(_KEY_LIKE.sub(HIDDEN, text), f"{HIDDEN}@")


def keys_in_words() -> re.Pattern[str] | None:
    """The pattern of known keys in the words of models; None if there are none.

    Making it reads the whole environment, so call this once per answer.
    """
    return known_keys().in_words


def without_keys(text: str, keys: re.Pattern[str] | None) -> str:
    """A model's words without the known keys (`keys_in_words`); nothing else is removed."""
    return text if keys is None else keys.sub(HIDDEN, text)


class KeysInPieces:
    """Removes known keys from words that come in pieces; a possible beginning of a key waits for the next piece."""

    def __init__(self) -> None:
        self._known = known_keys()
        self._held = self._before = ""

    def take(self, piece: str) -> str:
        """The words that may be passed on after this piece."""
        known = self._known
        if known.in_words is None:
            return piece
        clean = known.in_words.sub(HIDDEN, self._before + self._held + piece)
        text = clean[len(self._before) :]
        keep = max((_begun(text, key) for key in known.begun), default=0)
        text, self._held = (text[:-keep], text[-keep:]) if keep else (text, "")
        self._before = text[-1:] or self._before
        return text

    def rest(self) -> str:
        """The words that were waiting after the last piece."""
        held, self._held = self._held, ""
        return without_keys(held, self._known.in_words)


def _begun(text: str, key: str) -> int:
    """The number of characters at the end of a text that may be the beginning of a key, or all of it."""
    tail = text[-len(key) :]
    at = tail.find(key[0])
    while at >= 0:
        if key.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(key[0], at + 1)
    return 0


def beginning(text: str, most: int = LOOKED_AT) -> str:
    """At most `most` characters of a text, without cutting a key in two: half a key would not be recognised."""
    if len(text) <= most:
        return text
    known = known_keys()
    if known.in_errors is not None:
        around = max(0, most - known.longest)
        for found in known.in_errors.finditer(text[: most + known.longest], around):
            if found.start() < most < found.end():
                most = found.start()
    return text[:most]


def short(text: str) -> str:
    """A foreign text on one line, without secrets, cut to `SHORT` characters."""
    line = " ".join(redact(beginning(text)).split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 3]}..."


def scrub(error: BaseException) -> None:
    """Remove secrets from an exception and its causes, in place.

    Servers often repeat a wrong key in their answer. The exception with that answer stays chained to PerSimChat's error
    and would appear in tracebacks.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        current.args = tuple(_clean(arg) for arg in current.args)
        for field in ("message", "body", "doc"):
            if isinstance(value := current.__dict__.get(field), str | dict | list):
                setattr(current, field, _clean(value))
        if isinstance(current, UnicodeDecodeError):
            current.object = _clean(current.object)
        waiting += [current.__cause__, current.__context__]


def _clean(value: Any, depth: int = _DEEPEST) -> Any:
    """A value without secrets, and without parts that are too deep or too long."""
    if isinstance(value, str):
        return redact(beginning(value))
    if isinstance(value, bytes):
        return redact(beginning(value.decode("latin-1"))).encode("latin-1")
    if isinstance(value, dict | list | tuple) and not depth:
        return "…"
    if isinstance(value, dict):
        return {_clean(key): _clean(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        cleaned = [_clean(item, depth - 1) for item in value]
        return cleaned if isinstance(value, list) else tuple(cleaned)
    return value
