"""Makes text from people and models harmless: without escape sequences, invisible characters and credentials."""

from __future__ import annotations

import re
from typing import Final

_SEQUENCE: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, movements of the cursor
    # OSC, DCS …: titles, clipboard
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters; surrogates, which no encoding accepts; characters that change the direction of text, and invisible
# characters. Those that join letters or emoji stay.
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200b\u202a-\u202e\u2060-\u2069\ufeff]")
_CREDENTIALS: Final = re.compile(r"(?<=//)[^/\s]*@")


def clean(text: str) -> str:
    """The text without escape sequences and control characters; line ends are newlines, tabs are spaces."""
    if text.isprintable():
        return text
    return _UNSEEN.sub("", _LINE_END.sub("\n", _SEQUENCE.sub("", text)).replace("\t", " "))


def one_line(text: str) -> str:
    """The cleaned text on a single line."""
    return " ".join(clean(text).split())


def capitalised(text: str) -> str:
    """The text as the beginning of a sentence; one that begins with a name of code or a quotation stays."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def shortened(text: str, most: int) -> str:
    """The text in at most `most` characters with the ellipsis, cut between two words if that leaves most of it.

    Args:
        text: the text; a short one is returned unchanged.
        most: characters, 1 or more.
    """
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > most // 2 else cut).rstrip() + "…"


def without_credentials(text: str, instead: str = "") -> str:
    """The text with `instead` in place of user and password (and their @) in every address."""
    return _CREDENTIALS.sub(instead, text)


def quoted(value: object, most: int) -> str:
    """A value as an error quotes it: on one line, of at most `most` characters, without credentials in addresses."""
    text = without_credentials(repr(value), "***@")
    return text if len(text) <= most else text[: most - 1] + "…"
