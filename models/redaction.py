"""Secrets out of texts: whatever a server or a library puts into an error, keys do not leave this room."""

from __future__ import annotations

import os
import re
from typing import Any, Final

from persimchat.state.plain_text import without_credentials

SHORT: Final = 300
"""Characters of a foreign error's text that are shown."""

_KEY_LIKE: Final = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai|key)[-_][A-Za-z0-9*._\-]{6,}"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{6,}"
    r"|(?i:api[-_ ]?key|token|secret|password)[\"']?\s*[:=]\s*[\"']?[^\s\"',}]{6,}"
)
_NAMES: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
HIDDEN: Final = "[hidden]"


def redact(text: str) -> str:
    """The text without anything that is, or looks like, a key, a token or credentials in an address."""
    for name, value in os.environ.items():
        if _NAMES.search(name) and len(value) >= 6:
            text = text.replace(value, HIDDEN)
    return without_credentials(_KEY_LIKE.sub(HIDDEN, text), f"{HIDDEN}@")


def short(text: str) -> str:
    """A foreign text on one line, without secrets, cut to `SHORT` characters."""
    line = " ".join(redact(text).split())
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
        for field in ("message", "body", "doc", "object"):
            if isinstance(value := current.__dict__.get(field), str | dict | list):
                setattr(current, field, _clean(value))
        waiting += [current.__cause__, current.__context__]


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_clean(item) for item in value)
    return value
