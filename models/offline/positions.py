"""Finds the position that words support, and its place on the line of opinions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from persimchat.models.offline.answer_form import NUMBER
from persimchat.models.offline.lexicon import word_list, word_pattern
from persimchat.models.offline.topics import Topic
from persimchat.models.offline.words import normalised

_CLAUSE_END: Final = re.compile(r"[!?;]|[.:,](?!\d)|(?<!\d)[.:,]")
_NAMED: Final = 3.0
_REFUSED: Final = -1.0
_ARGUED: Final = 2.0
"""Weights of naming a position, of refusing it, and of making one of its points."""


def anchor(index: int, positions: int) -> float:
    """The place of a position on the line: the middle of its share."""
    return (index + 0.5) / positions


def nearest(opinion: float, positions: int) -> int:
    """Index of the position whose share contains an opinion from 0 to 1."""
    return min(positions - 1, max(0, int(opinion * positions)))


@lru_cache(maxsize=8192)
def position_in(text: str, topic: Topic) -> int | None:
    """Index of the position that words support, None if it cannot be determined.

    A position counts if it is named and not refused, and if one of its points is made and not merely conceded. A
    refusal extends to the next comma: "not so sure about tea, I'd stay with coffee". A yes or no that is the whole
    text is an answer.
    """
    if topic.kind == "polar" and (whole := normalised(text).strip()) in ("yes", "no"):
        return 0 if whole == "yes" else len(topic.positions) - 1
    scores = [0.0] * len(topic.positions)
    labels = _labels(topic)
    for clause in _CLAUSE_END.split(text):
        words = f" {word_pattern('affirming').sub('', normalised(clause))} "
        dismissed = word_pattern("dismissing").search(words)
        for label, index in labels:
            at = words.find(label)
            if at >= 0:
                refused = word_list("refusals").intersection(words[:at].split()[-7:]) or dismissed
                scores[index] += _REFUSED if refused else _NAMED
                # A longer label may contain a shorter one: "more trams" is not "trams".
                words = words.replace(label, " " + "- " * len(label.split()))
        if topic.kind == "polar" and not any(scores):
            _say_yes_or_no(words, scores)
    plain = f" {normalised(text)} "
    for index, needle in _needles(topic):
        at = plain.find(needle)
        if at >= 0:
            granted = word_list("grants").intersection(plain[:at].split()[-8:])
            scores[index] += 0.0 if granted else _ARGUED
    best = max(range(len(scores)), key=lambda i: scores[i])
    return best if scores[best] > 0 else None


def _say_yes_or_no(words: str, scores: list[float]) -> None:
    """Count a bare yes or no that is an answer, not the beginning of a sentence."""
    found = word_pattern("answering").search(words)
    if found:
        scores[0 if found.group().split()[-1] == "yes" else -1] += _NAMED


def place_in(text: str, topic: Topic) -> float | None:
    """The place of words on the line of opinions, 0 to 1; None if it cannot be determined.

    Numbers that are not positions of the debate lie between those that are.
    """
    index = position_in(text, topic)
    if index is not None:
        return anchor(index, len(topic.positions))
    if topic.kind == "number" and (found := NUMBER.findall(text)):
        return _between(float(found[-1].replace(",", "")), [float(a) for a in topic.answers])
    return None


def _between(value: float, known: Sequence[float]) -> float:
    """The place of a number among others in ascending order."""
    n = len(known)
    above = next((i for i, other in enumerate(known) if value < other), n)
    if above in (0, n):
        return anchor(0 if above == 0 else n - 1, n)
    part = (value - known[above - 1]) / (known[above] - known[above - 1])
    return anchor(above - 1, n) + part / n


@lru_cache(maxsize=1024)
def told_positions(profile: str, topic: Topic) -> tuple[int, ...]:
    """Indices of the positions that a text names, by a longer word of the label or its stem."""
    words = normalised(profile).split()
    return tuple(
        index
        for index, label in enumerate(topic.positions)
        if any(word.startswith(part[:6]) for part in normalised(label).split() if len(part) > 3 for word in words)
    )


@lru_cache(maxsize=512)
def _labels(topic: Topic) -> tuple[tuple[str, int], ...]:
    """The names of the positions, normalised for comparison, the longest first."""
    called = [(label, i) for i, label in enumerate(topic.positions)]
    if topic.kind == "choice":
        called += [(answer, i) for i, answer in enumerate(topic.answers) if len(normalised(answer)) > 3]
    found = {f" {normalised(label)} ": i for label, i in reversed(called) if normalised(label)}
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=512)
def _needles(topic: Topic) -> tuple[tuple[int, str], ...]:
    return tuple((int(p.tag), normalised(p.text)) for p in topic.points if p.tag != "-" and "{" not in p.text)
