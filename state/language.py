"""The languages in which participants may speak, by their tags (BCP 47): `cs`, `de`, `pt-BR`."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

ENGLISH: Final = "en"
"""The language unless another is set; prompts say nothing of it."""
_LONGEST: Final = 35
"""Characters of a tag (RFC 5646, 4.4.1)."""


def tag_of(written: str) -> str:
    """A language's tag in its usual spelling: `cs`, `pt-BR`.

    Raises:
        ValueError: there is no such language.
    """
    if written == ENGLISH:
        return written
    from babel import Locale, UnknownLocaleError

    plain = written.strip()[:_LONGEST].replace("_", "-")
    try:
        return str(Locale.parse(plain, sep="-")).replace("_", "-")
    except (ValueError, UnknownLocaleError, TypeError):
        named = (tag for tag, name in Locale(ENGLISH).languages.items() if name.casefold() == plain.casefold())
        advice = next(named, "its tag, such as cs, de, ja or pt-BR")
        raise ValueError(f"language={plain!r} is no tag of a language; give {advice}") from None


def is_english(tag: str) -> bool:
    """Whether a tag is that of English, of whatever country."""
    return tag.partition("-")[0] == ENGLISH


@cache
def name_of(tag: str) -> str:
    """The English name of a language: "Czech", "Portuguese (Brazil)"."""
    from babel import Locale

    return str(Locale.parse(tag, sep="-").get_display_name(ENGLISH))


def told(tag: str) -> dict[str, Any]:
    """What prompts are told of the language: its name; nothing of English, which they are in."""
    return {} if tag == ENGLISH else {"language": name_of(tag)}
