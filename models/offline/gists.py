"""What an utterance brought up, as a phrase by which others can refer to it."""

from __future__ import annotations

import re
from functools import lru_cache

from persimchat.models.offline.lexicon import read, word_list
from persimchat.models.offline.topics import analyse
from persimchat.models.offline.words import normalised


@lru_cache(maxsize=4096)
def gist_of(text: str, topic: str) -> str:
    """A noun phrase for what an utterance brought up, known from the phrase material; "" where it has none.

    Words of people and other models are not in the material: then a noun after an article, if one is easy to tell.
    """
    plain = f" {normalised(text)} "
    for needle, gist in _gists(topic):
        if needle in plain:
            return gist
    found = re.search(
        r"\b(the|a|an|my|our) ([a-z]{4,14})(?=[,.;:!?]| (?:of|in|on|at|is|are|was|were|and|that|which|to|with|for)\b)",
        text,
    )
    return f"the {found.group(2)}" if found and found.group(2) not in word_list("not_nouns") else ""


@lru_cache(maxsize=256)
def _gists(topic: str) -> tuple[tuple[str, str], ...]:
    pairs = [(p.text, p.gist) for p in analyse(topic).points if p.gist and "{" not in p.text]
    return tuple((f" {normalised(text)} ", gist) for text, gist in pairs) + _life_gists()


@lru_cache(maxsize=1)
def _life_gists() -> tuple[tuple[str, str], ...]:
    life = read("life")
    blocks = [e["lines"] for k in ("occupations", "hobbies", "family") for e in life[k].values()]
    blocks += [life[k] for k in ("anybody", "teen", "old", "young", "any_occupation", "any_occupation_retired")]
    pairs = [line.partition("|")[::2] for block in blocks for line in block.splitlines() if "|" in line]
    return tuple((f" {normalised(s)} ", g.strip()) for s, g in pairs if "{" not in s)
