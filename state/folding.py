"""Text for comparing names: what differs only in case, diacritics or hyphens is the same."""

from __future__ import annotations

import unicodedata
from typing import Final

_LETTERS: Final = str.maketrans({"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
"""Letters that Unicode does not take apart into a letter and a mark."""


def without_marks(text: str) -> str:
    """Text in lower case without diacritics: Nováková and NOVAKOVA become the same."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_LETTERS)


def folded(text: str) -> str:
    """Text for comparison: lower case, no diacritics, single spaces; hyphens and underscores count as spaces."""
    return " ".join(without_marks(text).replace("-", " ").replace("_", " ").split())
