"""Arithmetic on utterances: whom they address, and a speaker's own name in front."""

from __future__ import annotations

import re

from persimchat.state.folding import folded


def addressees(text: str, speaker: str, present: list[str]) -> list[str]:
    """The participants whom an utterance speaks to by name, in order of listing; empty means everybody.

    A name counts as a whole word, in full or as the first name where no two participants share it, whatever its case
    and diacritics. Names written without spaces between words (李雷) count wherever they stand.

    Args:
        text: the utterance.
        speaker: who said it; never among the addressees.
        present: names of all participants.
    """
    words = folded(text)
    firsts = [folded(name).split()[0] for name in present]
    found = []
    for name, first in zip(present, firsts, strict=True):
        forms = [folded(name)] + ([first] if firsts.count(first) == 1 else [])
        if name != speaker and any(_mentions(words, form) for form in forms):
            found.append(name)
    return found


def _mentions(text: str, name: str) -> bool:
    if any(character >= "\u2e80" for character in name):  # scripts that put no spaces between words
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def without_own_name(text: str, speaker: str) -> str:
    """The utterance without its speaker's name in front ("Eva: …", "**Eva Horáková:** …") and quotes around it all."""
    names = "|".join(re.escape(n) for n in dict.fromkeys((speaker, speaker.split()[0])))
    cleaned = re.sub(rf"^\s*[*_\[]*(?:{names})[*_\]]*\s*[:：][*_]*\s*", "", text, count=1, flags=re.IGNORECASE).strip()
    if len(cleaned) > 2 and cleaned[0] in '"“„«' and cleaned[-1] in '"”“»' and cleaned[1:-1].count('"') == 0:
        cleaned = cleaned[1:-1].strip()
    return cleaned or text.strip()
