"""Checks a wording: the speaker's own name in front, others' words, near-repetition (specification, *Speaking*)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from persimchat.memory.utterance_vectors import utterance_vectors
from persimchat.state.mind import Step
from persimchat.state.repetition import OTHERS_WORDS_REMOVED, OWN_NAME_REMOVED, SHORT, nearness, size
from persimchat.state.settings import Settings
from persimchat.state.speech import own_words

NAMED: Final = 3
"""The most earlier utterances that a repeating speaker is told to avoid; the nearest ones."""


@dataclass(frozen=True)
class Wording:
    """An answer after its corrections.

    Attributes:
        text: the speaker's own words; empty if there are none.
        corrections: what was removed, of `state.repetition.CORRECTIONS`.
        nearness: how near it is to repeating an earlier utterance; 1 or more is a repetition.
        repeated: the earlier utterances that it nearly repeats, nearest first.
    """

    text: str
    corrections: tuple[str, ...]
    nearness: float = 0.0
    repeated: tuple[str, ...] = ()


async def checked(answer: str, mind: Step, settings: Settings) -> Wording:
    """Take the speaker's own words from an answer, and compare them with earlier utterances.

    Args:
        answer: what the model said, not empty.
        mind: the speaker, with its situation and `said`.
        settings: `repetition_*` and `embedding` count.

    Raises:
        ModelError: the embedding failed (TransientModelError if trying again may help).
    """
    situation, name = mind["situation"], mind["name"]
    last = situation["recent"][-1]["speaker"] if situation["recent"] else ""
    own = own_words(answer, name, situation["present"], last)
    removed = {OWN_NAME_REMOVED: own.own_name, OTHERS_WORDS_REMOVED: own.others and bool(own.text)}
    corrections = tuple(correction for correction, done in removed.items() if done)
    said = list(dict.fromkeys([*mind.get("said", [])[-settings.repetition_window :], *mind.get("avoid", [])]))
    if not (own.text and said and settings.repetition_check):
        return Wording(own.text, corrections)
    cosines: list[float] = []
    if size(own.text) >= SHORT:
        cosines = await utterance_vectors.similarities(settings, situation["simulation"], own.text, said, agent=name)
    near = nearness(
        own.text,
        said,
        cosines,
        overlap=settings.repetition_overlap,
        similarity=settings.repetition_similarity,
    )
    repeated = sorted((i for i, degree in enumerate(near) if degree >= 1), key=lambda i: (-near[i], -i))
    return Wording(own.text, corrections, max(near), tuple(said[i] for i in repeated[:NAMED]))
