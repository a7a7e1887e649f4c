"""Rooms of a split group: what one keeps of the talk in a room, and tells the others of it; by what was said in it."""

from __future__ import annotations

import re
from typing import Any, Final

from persimchat.models.offline.grammar import filled
from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.positions import place_in
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.story.phrases import short
from persimchat.models.offline.topics import topic_of
from persimchat.models.offline.utterance import spoken
from persimchat.models.offline.words import content_words, count, listed

_FILE: Final = "story/breakouts"
"""The file of phrases."""
APART: Final = 23
"""Places in the decks between two rooms, whose talks take place at the same time, so that they share few phrases."""
_LONGEST_POINT: Final = 110
_LONGEST: Final = 290
_LEAST_WORDS: Final = 5
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+")


def places_ahead(prompt: Prompt) -> int:
    """How many places in all decks a room leaves to those before it; none where all are together."""
    told = prompt.story
    return APART * (told.room - 1) if told is not None and told.room else 0


def _point(prompt: Prompt, name: str) -> str:
    """What somebody said in the room that tells most: a sentence on where they stand, else the longest one.

    Questions tell nothing; empty if there is nothing else.
    """
    topic = topic_of(prompt)
    said = [sentence for one in prompt.recent if one.speaker == name for sentence in _SENTENCE_END.split(one.words)]
    fitting = [one for one in said if "?" not in one and len(one) <= _LONGEST_POINT and count(one) >= _LEAST_WORDS]
    telling = [one for one in fitting if place_in(one, topic) is not None]
    return max(telling or fitting, key=len, default="").rstrip(".!…")


def kept_of_room(prompt: Prompt) -> dict[str, Any]:
    """`Summary`: what everybody in the room said that tells most, in its words."""
    speakers = [name for name in (*prompt.present, prompt.name) if any(one.speaker == name for one in prompt.recent)]
    points = [(name, _point(prompt, name)) for name in speakers]
    told = [f"{'I' if name == prompt.name else short(name)} said: “{point}.”" for name, point in points if point]
    theme = ""
    for one in told:
        theme = f"{theme} {one}".strip() if len(theme) + len(one) < _LONGEST else theme
    words = " ".join(one.words for one in prompt.recent if one.speaker != prompt.name)
    others = listed([short(name) for name in prompt.present])
    return {
        "reasoning": f"I know better now where {others} {'stands' if len(prompt.present) == 1 else 'stand'}.",
        "theme": theme or f"I talked with {others}, and little was said.",
        "keywords": content_words(words, 4) if words else [others],
        "importance": 6,
    }


def report(prompt: Prompt, seed: int) -> str:
    """The words with which one of a room tells the others of it: who was there, and what the speaker keeps of it."""
    told = prompt.story
    kept = [one for one in told.happened if one.do == "summary"] if told is not None else []
    draw = generator(seed, "report", prompt.name)
    values = {"others": listed([short(name) for name in kept[-1].others]) if kept else "some of you"}
    start = filled(draw.choice(deck(_FILE, "starts")), values)
    end = filled(draw.choice(deck(_FILE, "ends")), values)
    return spoken([start, kept[-1].text if kept else "", end], prompt.register)
