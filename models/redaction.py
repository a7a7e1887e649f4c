"""Secrets out of texts: whatever a server, a model or a library says, keys do not leave this room.

Known keys are the values of environment variables named `…KEY`, `…TOKEN`, `…SECRET` or `…PASSWORD`. In errors, what
looks like a key goes too, and so do short keys and parts of keys where they stand as a word of their own. What models
say is text to be kept: there only known keys go, and none that could be an ordinary word (docs/runs.md says which).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from persimchat.state.plain_text import without_credentials

SHORT: Final = 300
"""Characters of a foreign error's text that are shown."""
LOOKED_AT: Final = 20_000
"""Characters of a foreign error's text that are looked at."""
HIDDEN: Final = "[hidden]"

_KEY_LIKE: Final = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai|key)[-_][A-Za-z0-9*._\-]{6,}"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{6,}"
    r"|(?i:api[-_ ]?key|token|secret|password)[\"']?\s*[:=]\s*[\"']?[^\s\"',}]{6,}"
)
_NAMES: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SERVERS: Final = "API_KEY"
"""What the names of the keys of model servers end with: a short value of such a variable is a key all the same."""

_LEAST: Final = 3
"""Characters of the shortest part of a key that is hidden in errors."""
_LONG: Final = 8
"""Characters from which on a key is hidden wherever it stands, in the middle of a word too."""
_PROSE: Final = 16
"""A password of letters alone that is shorter than this may be a word that somebody says."""
_DEEPEST: Final = 24


@dataclass(frozen=True)
class _Known:
    """The keys of an environment, ready to be looked for.

    Attributes:
        in_errors: where any of them, or a part of one, stands in an error; None where there is no key.
        in_words: where any of them stands in what a model says; None where there is none to look for.
        begun: how those may begin that are looked for in a model's words.
        longest: characters of the longest one.
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
    """A pattern for keys, longer ones first; those that are not to be found inside a word are marked False."""
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
    """Where a known key stands in what a model says; None where there is none to look for.

    Finding it out reads the whole environment: do it once an answer.
    """
    return _known().in_words


def without_keys(text: str, keys: re.Pattern[str] | None) -> str:
    """What a model says, without the keys that are known (`keys_in_words`); nothing else is taken from it."""
    return text if keys is None else keys.sub(HIDDEN, text)


class KeysInPieces:
    """Takes known keys out of words that come in pieces; what may be the beginning of one waits for the rest of it."""

    def __init__(self) -> None:
        self._known = _known()
        self._held = self._before = ""

    def take(self, piece: str) -> str:
        """What may be passed on now that this piece has come."""
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
        """What was waiting when the last piece had come."""
        held, self._held = self._held, ""
        return without_keys(held, self._known.in_words)


def _begun(text: str, key: str) -> int:
    """Characters at the end of a text that may be the beginning of a key, or all of one."""
    tail = text[-len(key) :]
    at = tail.find(key[0])
    while at >= 0:
        if key.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(key[0], at + 1)
    return 0


def beginning(text: str, most: int = LOOKED_AT) -> str:
    """At most so many characters of a text, with no key cut in two: half a key would not be known any more."""
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
    """Take secrets out of an exception and of all that it was raised from, in place.

    Servers like to repeat a wrong key in their answer; the exception that carries it stays chained to ours and would
    be printed in tracebacks.
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
    """A value without secrets; what is nested deeper than errors are goes, and so does what is longer."""
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
