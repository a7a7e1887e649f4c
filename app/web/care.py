"""Whether somebody's words are of self-harm or violence, so that the page shows where help is.

A local list of words decides; no model is asked, and the answer neither waits for it nor changes.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

import yaml

_APOSTROPHES = str.maketrans("’ʼ`", "'''")


def needs_care(text: str) -> bool:
    """Whether one of the listed expressions stands in the text."""
    plain = unicodedata.normalize("NFC", text.casefold()).translate(_APOSTROPHES)
    return _listed().search(plain) is not None


@cache
def _listed() -> re.Pattern[str]:
    """Every expression of care.yaml: whole words; `*` stands for any ending."""
    text = files("persimchat.app.web").joinpath("care.yaml").read_text(encoding="utf-8")
    expressions = [one for language in yaml.safe_load(text).values() for one in language]
    parts = [r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in one.split()) for one in expressions]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")
