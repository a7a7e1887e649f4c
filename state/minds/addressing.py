"""Whom words address: first names, titles, and first names that are words as well ("it will work", "Will, come")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ..document import table
from ..plain_text import folded, normalised, spoken_order

_TABLE: Final = table(__file__, "names.yaml")
_TITLES: Final = frozenset(map(folded, _TABLE["titles"].split()))
_NO_NAMES: Final = _TITLES | frozenset(_TABLE["articles"].split())
_WORDS: Final = frozenset(map(folded, _TABLE["words"].split()))
_MONTHS: Final = frozenset(_TABLE["months"].split())
_BEFORE_MONTHS: Final = frozenset(map(folded, _TABLE["before_months"].split()))
_AROUND: Final = " .,;:!?\"'“”„«»()[]*_`"
_SHORT: Final = 2
"""First names of so few letters (So, My, Jo) are taken for words."""


def first_name(name: str) -> str:
    """The first name in a full name: "Eva" of "Dr. Eva Horáková", "Milan" of "Novák, Milan"."""
    parts = spoken_order(name).split()
    named = (
        part for part in parts if not (part[:1].isalpha() and part.endswith(".")) and folded(part) not in _NO_NAMES
    )
    return (next(named, "") or next(iter(parts), "")).strip(_AROUND)


def addressees(
    text: str, speaker: str, present: Sequence[str], called: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """The participants that an utterance addresses by name, in order of listing; empty means the whole group.

    A name counts as a whole word: in full, with title and surname, or as a first name or form that only one participant
    has, regardless of case and diacritics. A first name that is a word as well (Will, Hope, My) counts only where it
    stands as a name: with a capital inside a sentence, or set off by a comma; that of a month (May) not where it is one
    ("in May", "May 5"). In scripts without spaces between words (李雷), a name counts wherever it stands.

    Args:
        text: the utterance.
        speaker: who said it; never among the addressees.
        present: names of all participants.
        called: other forms of participants' names (`Persona.called`).
    """
    short = {name: {folded(form) for form in (first_name(name), *(called or {}).get(name, ()))} for name in present}
    lasts = {name: folded(spoken_order(name).split()[-1]) if name.split() else "" for name in present}
    shared, surnames = [form for forms in short.values() for form in forms], list(lasts.values())
    words, written = folded(text), normalised("NFKC", text)
    titled = {folded(last) for title, last in _TITLE_AND_LAST.findall(written) if folded(title) in _TITLES}
    found = []
    for name in present:
        whole = {folded(name), folded(spoken_order(name))} - short[name]
        own = [form for form in short[name] if shared.count(form) == 1 or not whole]
        named = any(mentions(words, form) for form in whole)
        named = named or any(mentions(words, form) and _as_name(form, written) for form in own)
        if name != speaker and (named or (lasts[name] in titled and surnames.count(lasts[name]) == 1)):
            found.append(name)
    return found


def mentions(text: str, name: str) -> bool:
    """Whether a folded text has a folded name as a whole word."""
    if any(character >= "\u2e80" for character in name):  # scripts that put no spaces between words
        return name in text
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


_BEGINS: Final = re.compile(r"(?:^|[.!?…:;\n])[\s\"'“”„«»*_(\[>@#—–-]*$")
"""The end of what stands before the first word of a sentence."""
_TITLED: Final = re.compile(r"([^\W\d_]+)\.?\s+$")
_TITLE_AND_LAST: Final = re.compile(r"(?<!\w)([^\W\d_]+)\.?\s+(?=([^\W\d_a-z][\w'’-]*))")


def _as_name(form: str, text: str) -> bool:
    """Whether a form that is a word as well stands somewhere as a name; other forms always do."""
    if form not in _WORDS and (len(form) > _SHORT or not form.isascii()):
        return True
    for word in re.finditer(r"(?<!\w)[^\W_]+(?!\w|['’](?!s))", text):
        if folded(word[0]) != form:
            continue
        before, after = text[max(0, word.start() - 40) : word.start()], text[word.end() : word.end() + 40].lstrip("*_")
        title = _TITLED.search(before)
        begins = _BEGINS.search(before) is not None and not (title and folded(title[1]) in _TITLES)
        capital = word[0][:1].isupper() and word[0][1:] == word[0][1:].lower() and word[0] != "I"
        if form in _MONTHS and (after.lstrip()[:1].isdigit() or (title and folded(title[1]) in _BEFORE_MONTHS)):
            continue
        set_off = before.rstrip().endswith(",") and after.lstrip()[:1] in ("!", "?")
        if (capital and not begins) or (begins and after[:1] in (",", "!", ":")) or set_off:
            return True
    return False
