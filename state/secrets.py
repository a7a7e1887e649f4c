"""Keys that must not be shown: those that the environment has, and text that looks like one."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_NAMES: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SERVERS: Final = "API_KEY"
"""The end of the names of variables with keys of model servers: even a short value of such a variable is a key."""

_LEAST: Final = 3
"""Characters of the shortest part of a key that is hidden in errors."""
_LONG: Final = 8
"""Keys of at least so many characters are hidden everywhere, also in the middle of a word."""
_PROSE: Final = 16
"""A password that has only letters and is shorter than this may be an ordinary word."""
_SHAPES: Final = re.compile(
    r"\b(?:sk|pk|rk|xai|pplx|nvapi|csk|tvly|glpat|github_pat|xox[abp])[-_][A-Za-z0-9*._\-]{6,}"
    r"|\b(?:hf|gsk|r8|lsv2|gh[opsu])_[A-Za-z0-9*._\-]{6,}|\bkey[-_](?=[\w\-]*\d)[A-Za-z0-9*._\-]{12,}"
    r"|\bAIza[\w\-]{16,}|\bAKIA[A-Z0-9]{12,}|\beyJ[\w\-]{10,}\.[\w.\-]{10,}"
    r"|\b(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])(?=[A-Za-z]*\d)[A-Za-z0-9]{32,}\b"
)
"""How services write their keys, and long rows of capitals, small letters and digits. A checksum has no capitals."""


@dataclass(frozen=True)
class Known:
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


def known_keys() -> Known:
    """The keys of the environment as it is now."""
    return _compiled(tuple(sorted((n, v.strip()) for n, v in os.environ.items() if n.endswith(_NAMES) and v.strip())))


@lru_cache(maxsize=8)
def _compiled(variables: tuple[tuple[str, str], ...]) -> Known:
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
    return Known(_pattern(errors), _pattern(words), tuple(sorted(key for key, _ in words)), longest)


def _pattern(keys: set[tuple[str, bool]]) -> re.Pattern[str] | None:
    """A pattern for keys, longer ones first; keys with False match whole words only."""
    found = []
    for key, anywhere in sorted(keys, key=lambda pair: (-len(pair[0]), pair)):
        said = r"\s+".join(map(re.escape, key.split()))
        found.append(said if anywhere else rf"(?<![\w-]){said}(?![\w-])")
    return re.compile("|".join(found)) if found else None


def without_secrets(text: str) -> str:
    """A text for users with `…` for every known key that is no ordinary word, and for all that looks like a key."""
    known = known_keys().in_words
    return _SHAPES.sub("…", text if known is None else known.sub("…", text))
