"""Cuts a stream of text into sentences, as speech synthesis takes them."""

from __future__ import annotations

import re
from typing import Final

from ..document import table

SHORTEST: Final = 12
"""A piece with fewer characters joins the next."""
LONGEST: Final = 160
"""In a piece with more characters, a comma ends a sentence, and a quotation does not hold it together any more."""

_CLOSERS: Final = "\"'”’“»«)]」』"
_ENDS: Final = re.compile(rf"(?P<mark>[.!?…]+|[。！？]+)(?P<closed>[{re.escape(_CLOSERS)}]*)\Z")
_WIDE: Final = "。！？"
_COMMAS: Final = ",;，、；"
_QUOTES: Final = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』"}
_ABBREVIATIONS: Final = frozenset(table(__file__, "words.yaml")["abbreviations"].split())
_ORDINAL: Final = re.compile(r"\d{1,2}")
_INITIAL: Final = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_TAIL: Final = 60
"""The last characters of a piece in which its end is looked for."""


class SentenceCutter:
    """Takes text in parts of any size and gives sentences as soon as they are complete.

    The sentences are the same however the text is divided. Marks, closing quotes and a line end belong to the sentence
    before them; white space at the edges goes.
    """

    def __init__(self) -> None:
        self._text = ""
        self._at = 0  # how much of the text has been looked at
        self._comma = 0  # behind the last comma with white space after it
        self._quote = ""  # the sign that opened a quotation; empty outside

    def add(self, text: str) -> list[str]:
        """The sentences that are complete once this text is there."""
        self._text += text
        found: list[str] = []
        while self._at < len(self._text):
            cut = self._cut_before(self._at)
            if cut:
                found.append(self._taken(cut))
            sign = self._text[self._at]
            if self._quote:
                self._quote = "" if sign in _QUOTES[self._quote] else self._quote
            elif sign in _QUOTES:
                self._quote = sign
            self._at += 1
        return found

    def rest(self) -> str:
        """What is left when the text is over; empty if all of it has been given."""
        return self._taken(len(self._text))

    def _taken(self, end: int) -> str:
        piece, self._text = self._text[:end], self._text[end:]
        self._at = max(0, self._at - end)
        self._comma = max(0, self._comma - end)
        return " ".join(piece.split())

    def _cut_before(self, at: int) -> int:
        """Where the piece ends, now that the sign at this place is known; 0 if it goes on."""
        sign = self._text[at]
        before = self._text[at - 1 : at]
        if sign == "\n":
            self._quote = ""
            return at if self._long_enough(at) else 0
        if sign.isspace():
            if before and before in _COMMAS:
                self._comma = at
            return 0
        if before in _COMMAS and before in "，、；":
            self._comma = at
        wide = before in (*_WIDE, *_CLOSERS) and sign not in (*_WIDE, *_CLOSERS)
        if before and (before.isspace() or wide) and self._ends(at, sign) and self._long_enough(at):
            return at
        return self._comma if at > LONGEST and self._long_enough(self._comma) else 0

    def _long_enough(self, end: int) -> bool:
        return end >= SHORTEST and len(" ".join(self._text[: min(end, LONGEST)].split())) >= SHORTEST

    def _ends(self, at: int, sign: str) -> bool:
        """Whether a sentence ends before this place, at which a new word begins."""
        spaced = self._text[max(0, at - _TAIL) : at]
        tail = spaced.rstrip()
        found = _ENDS.search(tail)
        if found is None or (self._quote and at <= LONGEST):
            return False
        mark, closed = found["mark"], found["closed"]
        if mark[0] in _WIDE:
            return True
        if spaced == tail:
            return False
        if sign.islower() and (closed or mark.startswith(("…", ".."))):
            return False
        words = tail[: found.start()].split()
        if mark != "." or closed or not words:
            return True
        word = words[-1].lstrip("\"'“„«»(")
        return not (
            word.casefold() in _ABBREVIATIONS
            or _ORDINAL.fullmatch(word)
            or (_INITIAL.fullmatch(word) and word != "I" and word[-1].isupper())
        )
