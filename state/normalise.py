"""Normal forms for comparing texts, which ignore case, diacritics, hyphens or invisible characters.

Letters of different scripts that look alike (Latin a, Cyrillic а) stay different.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

_LETTERS: Final = str.maketrans({"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
"""Letters that Unicode does not decompose into a letter and a mark."""

_IGNORED: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point: soft hyphens, joiners, variation selectors, tags, marks of direction, …"""

_UNCLEAR: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except white space, halves of characters, and characters that change the direction of text."""

_PIECE: Final = 500
"""The length of the pieces in which a text is normalised."""

_BLANK: Final = "\u2800"
"""A Braille cell without dots: an invisible symbol."""


def visible_form(text: str) -> str:
    """The visible form of a text: texts with the same form look the same.

    The form ignores width, style and case of letters, the encoding of accents, invisible characters, and the kind and
    number of spaces. It keeps accents and punctuation.
    """
    return " ".join(_plain(text).split())


def is_visible(text: str) -> bool:
    """Whether a text has a visible character: neither a space nor a combining mark nor an ignored character."""
    return any(
        c.isprintable() and c != _BLANK and unicodedata.category(c)[0] not in "MZ" for c in _IGNORED.sub("", text)
    )


def seen(text: str) -> str:
    """A validator that returns a text with a visible character.

    Raises:
        ValueError: the text is empty, or has only invisible characters.
    """
    if not is_visible(text):
        raise ValueError("there is no visible character in it. Write at least one letter, digit or sign.")
    return text


def name_as_written(text: str) -> str:
    """A validator that puts a name on one line, with single spaces, otherwise as it was written.

    Raises:
        ValueError: the name has no visible character, or has a control character or one that changes the direction.
    """
    name = " ".join(text.split())
    unclear = _UNCLEAR.search(name)
    if unclear is not None:
        sign = f"U+{ord(unclear.group()):04X}"
        raise ValueError(f"name holds the control character {sign}. Write it without.")
    if not is_visible(name):
        raise ValueError("name has no visible character")
    return name


def normalised(form: Literal["NFKC", "NFKD"], text: str) -> str:
    """A text in one of Unicode's normal forms, made in pieces, because a long row of marks takes quadratic time."""
    return "".join(unicodedata.normalize(form, text[i : i + _PIECE]) for i in range(0, len(text), _PIECE))


def without_marks(text: str) -> str:
    """Text in lower case without diacritics: Nováková and NOVAKOVA become the same."""
    decomposed = normalised("NFKD", _plain(text))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_LETTERS)


def folded(text: str) -> str:
    """Text for comparison: lower case, no diacritics, single spaces; hyphens and underscores count as spaces."""
    return " ".join(without_marks(text).replace("-", " ").replace("_", " ").split())


def _plain(text: str) -> str:
    """Unicode's NFKC_Casefold; a second application changes nothing."""
    if text.isascii():
        return text.casefold()
    plain = text
    for _ in range(3):  # some letters decompose only in lower case
        plain = normalised("NFKC", _IGNORED.sub("", plain).casefold())
    return _IGNORED.sub("", plain)
