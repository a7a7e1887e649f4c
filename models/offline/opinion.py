"""What somebody holds, and how hearing others moves it: bounded confidence.

Positions on a topic lie on a line from 0 to 1. Everybody starts at a point of their own; hearing somebody else's
position draws them towards it, but only where it is nearer than their *confidence bound*, by the *convergence rate*
times the distance. So neighbours come together and strangers stay apart.

Sources: G. Deffuant, D. Neau, F. Amblard, G. Weisbuch (2000), Mixing beliefs among interacting agents, Advances in
Complex Systems 3; R. Hegselmann, U. Krause (2002), Opinion dynamics and bounded confidence: models, analysis and
simulation, JASSS 5(3). Here one listener at a time is updated by one speaker at a time, as in the former.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from persimchat.models.offline.lexicon import word_list, word_pattern
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.sections import Prompt
from persimchat.models.offline.topics import Topic, analyse
from persimchat.models.offline.words import normalised


@dataclass(frozen=True)
class Temper:
    """How far and how fast somebody is moved.

    Attributes:
        confidence_bound: greatest distance at which others are listened to, 0 (nobody) to 1 (everybody).
        convergence_rate: part of the distance that is given way, 0 to 0.5.
        adversarial: whether their goals are against the others; then they are never moved.
    """

    confidence_bound: float = 0.4
    convergence_rate: float = 0.25
    adversarial: bool = False


def temper_of(traits: Iterable[str], goals: Iterable[str]) -> Temper:
    """Temper from traits and social goals: the stubborn listen to few, the open to many, adversaries to nobody."""
    character, aims = " ".join(traits), " ".join(goals)
    if word_pattern("adversarial").search(aims):
        return Temper(0.0, 0.0, adversarial=True)
    bound, rate = 0.4, 0.25
    if word_pattern("stubborn").search(character):
        bound, rate = bound - 0.22, rate - 0.1
    if word_pattern("open_minded").search(character):
        bound, rate = bound + 0.2, rate + 0.1
    if word_pattern("cooperative").search(aims):
        bound, rate = bound + 0.2, rate + 0.1
    return Temper(min(1.0, bound), min(0.5, rate))


def anchor(index: int, positions: int) -> float:
    """Where a position lies on the line: the middle of its share."""
    return (index + 0.5) / positions


def nearest(opinion: float, positions: int) -> int:
    """Index of the position that an opinion from 0 to 1 falls to."""
    return min(positions - 1, max(0, int(opinion * positions)))


def updated(opinion: float, heard: float, temper: Temper) -> float:
    """The opinion after hearing another's, both 0 to 1 (Deffuant et al. 2000, equation 1, for the listener alone)."""
    if abs(heard - opinion) > temper.confidence_bound:
        return opinion
    return opinion + temper.convergence_rate * (heard - opinion)


def moved(opinion: float, heard: Iterable[float], temper: Temper) -> float:
    """The opinion after hearing others one after the other."""
    for value in heard:
        opinion = updated(opinion, value, temper)
    return opinion


def initial_opinion(seed: int, name: str, topic: str) -> float:
    """What somebody holds before anything is said, 0 to 1."""
    return generator(seed, "opinion", name, topic).random()


@lru_cache(maxsize=1024)
def told_positions(profile: str, topic: str) -> tuple[int, ...]:
    """Indices of the positions that a text names: a longer word of the label stands there, or its stem."""
    words = normalised(profile).split()
    return tuple(
        index
        for index, label in enumerate(analyse(topic).positions)
        if any(word.startswith(part[:6]) for part in normalised(label).split() if len(part) > 3 for word in words)
    )


def starting_opinion(prompt: Prompt, topic: Topic, seed: int) -> float:
    """Where somebody starts: at one of the positions that their goals or else their description name, or anywhere.

    Goals and descriptions that name every position, or none, say nothing.
    """
    anywhere = initial_opinion(seed, prompt.name, topic.text)
    for profile in (" ".join(prompt.goals), prompt.description):
        told = told_positions(profile, topic.text)
        if 0 < len(told) < len(topic.positions):
            return anchor(told[int(anywhere * len(told))], len(topic.positions))
    return anywhere


@lru_cache(maxsize=4096)
def position_in(text: str, topic: str) -> int | None:
    """Index of the position that words speak for, None where none can be told.

    A position counts where it is named and not refused, and where a point of its own is made and not merely granted.
    """
    analysed = analyse(topic)
    plain = f" {normalised(text)} "
    scores = [0.0] * len(analysed.positions)
    labels = [f" {normalised(label)} " for label in analysed.positions]
    # A refusal holds as far as the next comma: "not so sure about tea, I'd stay with coffee".
    for clause in re.split(r"[.!?;:,]", text):
        words = f" {word_pattern('affirming').sub('', normalised(clause))} "
        dismissed = word_pattern("dismissing").search(words)
        for index, label in enumerate(labels):
            at = words.find(label)
            if at >= 0:
                refused = word_list("refusals").intersection(words[:at].split()[-7:]) or dismissed
                scores[index] += -1.0 if refused else 3.0
    for tag, needle in _needles(topic):
        at = plain.find(needle)
        if at >= 0:
            granted = word_list("grants").intersection(plain[:at].split()[-8:])
            scores[tag] += 0.0 if granted else 2.0
    best = max(range(len(scores)), key=lambda i: scores[i])
    return best if scores[best] > 0 else None


@lru_cache(maxsize=512)
def _needles(topic: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(p.tag), normalised(p.text)) for p in analyse(topic).points if p.tag != "-" and "{" not in p.text)


@dataclass(frozen=True)
class Stance:
    """What somebody holds on the topic now.

    Attributes:
        opinion: 0 to 1.
        mine: index of their position.
        before: index of their position before the last utterance that they heard.
        temper: how far and how fast they are moved.
    """

    opinion: float
    mine: int
    before: int
    temper: Temper


def heard_positions(prompt: Prompt, topic: Topic) -> list[float]:
    """Where others stood, in the order in which they said it: remembered percepts first, then the last utterances."""
    oldest = prompt.turn - len(prompt.recent)
    values: list[float] = []
    for memory in sorted((m for m in prompt.memories if m.kind == "perception"), key=lambda m: m.turn):
        if memory.turn <= oldest and prompt.name not in memory.theme[: len(prompt.name) + 8]:
            values += _anchors(memory.theme, topic)
    for speaker, text in prompt.recent:
        if speaker != prompt.name:
            values += _anchors(text, topic)
    if not prompt.recent and prompt.heard and not prompt.heard.own:
        values += _anchors(prompt.heard.words, topic)
    return values


def _anchors(text: str, topic: Topic) -> list[float]:
    index = position_in(text, topic.text)
    return [] if index is None else [anchor(index, len(topic.positions))]


def stance(prompt: Prompt, topic: Topic, seed: int) -> Stance:
    """What the person of a prompt holds, from who they are, the topic, the seed and what they heard."""
    temper = temper_of(prompt.traits, prompt.goals)
    start = starting_opinion(prompt, topic, seed)
    values = heard_positions(prompt, topic)
    n = len(topic.positions)
    opinion = moved(start, values, temper)
    return Stance(opinion, nearest(opinion, n), nearest(moved(start, values[:-1], temper), n), temper)
