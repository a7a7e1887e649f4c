"""Texts: harmless without escape sequences and credentials, in normal forms for comparison, and names found in them.

Normal forms ignore case, diacritics, hyphens or invisible characters; letters of different scripts that look alike
(Latin a, Cyrillic а) stay different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

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
    return " ".join(_casefolded(text).split())


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
    decomposed = normalised("NFKD", _casefolded(text))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_LETTERS)


def folded(text: str) -> str:
    """Text for comparison: lower case, no diacritics, single spaces; hyphens and underscores count as spaces."""
    return " ".join(without_marks(text).replace("-", " ").replace("_", " ").split())


def _casefolded(text: str) -> str:
    """Unicode's NFKC_Casefold; a second application changes nothing."""
    if text.isascii():
        return text.casefold()
    plain = text
    for _ in range(3):  # some letters decompose only in lower case
        plain = normalised("NFKC", _IGNORED.sub("", plain).casefold())
    return _IGNORED.sub("", plain)


_AROUND_NAMES: Final = " \t\n.,:;!?\"'“”„*_`()[]"


_SUFFIXES: Final = re.compile(
    "jr|sr|i{1,3}|iv|v|ph ?d|dphil|d?r?sc|csc|dis|e?mba|md|ma|ba|[bm]sc|llm|esq|rn|dds|frcp|[om]be|kc|qc|mpa?"
)
"""What stands behind a name and a comma without being a first name: degrees and generations."""


def spoken_order(name: str) -> str:
    """A name as it is spoken: "Milan Novák" for "Novák, Milan", without degrees behind a comma ("…, Ph.D.")."""
    surname, *more = (part.strip() for part in name.split(","))
    first = [part for part in more if part and not _SUFFIXES.fullmatch(part.casefold().replace(".", ""))]
    if not surname or len(first) != 1:
        return surname if more and not first and surname else name
    return name if any(word[0].islower() for word in first[0].split()) else f"{first[0]} {surname}"


def matching(wanted: str, names: Sequence[str]) -> list[str]:
    """The names that `wanted` may mean, by the first rule that finds any.

    The rules: names written exactly so; names that look the same; names equal except for case and diacritics; names
    that contain it as one word or as several in a row (a first name, a surname).
    """
    form, key = visible_form(wanted), folded(wanted)
    if not form:
        return []
    exact = [name for name in names if name == wanted] or [name for name in names if visible_form(name) == form]
    if exact or not key:
        return exact
    exact = [name for name in names if folded(name) == key]
    return exact or [name for name in names if any(f" {key} " in f" {form} " for form in _orders(name))]


def _orders(name: str) -> set[str]:
    """A name and the name as it is spoken, for comparison."""
    return {folded(name), folded(spoken_order(name))}


def as_listed(wanted: str, names: Sequence[str]) -> str:
    """The first of `names` that looks the same as `wanted`, in its own spelling; `wanted` itself if none does."""
    if wanted in names:
        return wanted
    form = visible_form(wanted)
    return next((name for name in names if visible_form(name) == form), wanted)


def full_names(names: Sequence[str]) -> Callable[[Any], Any]:
    """A validator that turns what a model wrote for one of these names into the full name, if only one matches.

    Models write first names, other spellings, and marks around names. The validator leaves everything else unchanged.
    """

    def full(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = matching(value, names) or matching(value.strip(_AROUND_NAMES), names)  # a name may be such marks alone
        return found[0] if len(found) == 1 else value

    return full
