"""Whether somebody's words are of self-harm or violence, so that the page shows where help is.

A local list of words decides; no model is asked, and the answer neither waits for it nor changes.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from ...state.document import table

_APOSTROPHES = str.maketrans("’ʼ`", "'''")


def speaks_of_harm(text: str) -> bool:
    """Whether one of the listed expressions stands in the text."""
    plain = unicodedata.normalize("NFC", text.casefold()).translate(_APOSTROPHES)
    return _listed().search(plain) is not None


@cache
def _listed() -> re.Pattern[str]:
    """Every expression of crisis.yaml: whole words; `*` stands for any ending."""
    expressions = [one for language in table(__file__, "crisis.yaml").values() for one in language]
    parts = [r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in one.split()) for one in expressions]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")
