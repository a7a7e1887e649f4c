"""Finds the gist of an utterance: a phrase by which others can refer to it."""

from __future__ import annotations

import re
from functools import lru_cache

from persimchat.models.offline.grammar import skeleton
from persimchat.models.offline.lexicon import read, word_list
from persimchat.models.offline.topics import Topic
from persimchat.models.offline.words import normalised


@lru_cache(maxsize=4096)
def gist_of(text: str, topic: Topic) -> str:
    """A noun phrase for the content of an utterance, from the phrase material; "" if there is none.

    Words of people and other models are not in the material: then the phrase is a noun after an article, if any.
    """
    known = known_gist(text, topic)
    if known:
        return known
    found = re.search(
        r"\b(the|a|an|my|our) ([a-z]{4,14})(?=[,.;:!?]| (?:of|in|on|at|is|are|was|were|and|that|which|to|with|for)\b)",
        text,
    )
    if found is None or found.group(2) in word_list("not_nouns") or found.group(2) in _position_words(topic):
        return ""
    return f"the {found.group(2)}"


@lru_cache(maxsize=256)
def _position_words(topic: Topic) -> frozenset[str]:
    """Words of the positions: they do not count as new content."""
    return frozenset(word for label in topic.positions for word in normalised(label).split())


@lru_cache(maxsize=4096)
def known_gist(text: str, topic: Topic) -> str:
    """As `gist_of`, but only for words in the phrase material; "" for all others."""
    plain = f" {normalised(text)} "
    return next((gist for needle, gist in _gists(topic) if needle in plain), "")


@lru_cache(maxsize=256)
def _gists(topic: Topic) -> tuple[tuple[str, str], ...]:
    # A point with slots is recognised by its longest stretch between them, if that is long enough.
    pairs = [(p.text if "{" not in p.text else skeleton(p.text), p.gist) for p in topic.points if p.gist]
    found = [(f" {normalised(text)} ", gist) for text, gist in pairs if len(text.split()) > 2]
    return (*found, *_life_gists())


@lru_cache(maxsize=1)
def _life_gists() -> tuple[tuple[str, str], ...]:
    life = read("life")
    blocks = [e["lines"] for k in ("occupations", "hobbies", "family") for e in life[k].values()]
    blocks += [life[k] for k in ("anybody", "teen", "old", "young", "any_occupation", "any_occupation_retired")]
    pairs = [line.partition("|")[::2] for block in blocks for line in block.splitlines() if "|" in line]
    return tuple((f" {normalised(s)} ", g.strip()) for s, g in pairs if "{" not in s)
