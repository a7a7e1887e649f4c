"""Removes secrets from texts of servers, models and libraries, so that no key leaves this room.

Known keys are the values of environment variables named `…KEY`, `…TOKEN`, `…SECRET` or `…PASSWORD`. In errors, text
that looks like a key is removed as well, and so are short keys and parts of keys that are separate words. In the words
of models, only known keys are removed, and none that could be an ordinary word (docs/runs.md says which).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ..state.plain_text import without_credentials

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
_NAMES: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SERVERS: Final = "API_KEY"
"""The end of the names of variables with keys of model servers: even a short value of such a variable is a key."""

_LEAST: Final = 3
"""Characters of the shortest part of a key that is hidden in errors."""
_LONG: Final = 8
"""Keys of at least so many characters are hidden everywhere, also in the middle of a word."""
_PROSE: Final = 16
"""A password that has only letters and is shorter than this may be an ordinary word."""
_DEEPEST: Final = 24


@dataclass(frozen=True)
class _Known:
    """The keys of an environment, compiled for searching.

    Attributes:
        in_errors: the pattern of keys and parts of keys in errors; None if there are none.
        in_words: the pattern of keys in the words of models; None if there are none.
        begun: the keys in `in_words`, for recognising their beginnings.
        longest: characters of the longest key.
    """

    in_errors: re.Pattern[str] | None
    in_words: re.Pattern[str] | None
    begun: tuple[str, ...]
    longest: int


def _known() -> _Known:
    return _compiled(tuple(sorted((n, v.strip()) for n, v in os.environ.items() if n.endswith(_NAMES) and v.strip())))


@lru_cache(maxsize=8)
def _compiled(variables: tuple[tuple[str, str], ...]) -> _Known:
    errors: set[tuple[str, bool]] = set()
    words: set[tuple[str, bool]] = set()
    for name, value in variables:
        servers = name.endswith(_SERVERS)
        for part in {value, *value.split()}:
            long = len(part) >= _LONG
            if long or (servers and len(part) >= _LEAST):
                errors.add((part, long))
            if long and (servers or not part.isalpha() or len(part) >= _PROSE):
                words.add((part, True))
            elif servers and len(part) >= _LEAST + 1 and part == value and not part.isalpha() and not part.isdigit():
                words.add((part, False))
    longest = max((len(value) for _, value in variables), default=0)
    return _Known(_pattern(errors), _pattern(words), tuple(sorted(key for key, _ in words)), longest)


def _pattern(keys: set[tuple[str, bool]]) -> re.Pattern[str] | None:
    """A pattern for keys, longer ones first; keys with False match whole words only."""
    found = []
    for key, anywhere in sorted(keys, key=lambda pair: (-len(pair[0]), pair)):
        said = r"\s+".join(map(re.escape, key.split()))
        found.append(said if anywhere else rf"(?<![\w-]){said}(?![\w-])")
    return re.compile("|".join(found)) if found else None


def redact(text: str) -> str:
    """An error's text without anything that is, or looks like, a key, a token or credentials in an address."""
    known = _known().in_errors
    if known is not None:
        text = known.sub(HIDDEN, text)
    return without_credentials(_KEY_LIKE.sub(HIDDEN, text), f"{HIDDEN}@")


def keys_in_words() -> re.Pattern[str] | None:
    """The pattern of known keys in the words of models; None if there are none.

    Making it reads the whole environment, so call this once per answer.
    """
    return _known().in_words


def without_keys(text: str, keys: re.Pattern[str] | None) -> str:
    """A model's words without the known keys (`keys_in_words`); nothing else is removed."""
    return text if keys is None else keys.sub(HIDDEN, text)


class KeysInPieces:
    """Removes known keys from words that come in pieces; a possible beginning of a key waits for the next piece."""

    def __init__(self) -> None:
        self._known = _known()
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
    known = _known()
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
