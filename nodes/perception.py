"""Perception: what an agent understands of an utterance (thesis, 4.1.1; specification, step 1)."""

from __future__ import annotations

import re
from typing import Any, Final

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question
from persimchat.state.judgement import Percept
from persimchat.state.mind import Step, Utterance
from persimchat.state.outcomes import NEUTRAL, judged
from persimchat.state.settings import Settings

_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s|(?<=[。！？])")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_LONGEST: Final = 200
_KEYWORDS: Final = 5


async def perceive(mind: Step, settings: Settings) -> Step:
    """Draw theme, keywords and importance from the utterance just heard."""
    answer = await appraise("perception", Percept, **question(mind, settings, "perception"), **common_blocks(mind))
    return {**perceived(mind, answer.value), "outcomes": judged([answer.call])}


def perceived(mind: Step, judged: Percept | None) -> Step:
    """The percept from a judgement; after an unusable answer (None), the words themselves."""
    return {"percept": judged.model_dump() if judged is not None else as_heard(mind["heard"])}


def as_heard(heard: Utterance) -> dict[str, Any]:
    """The percept of an utterance without a model: its first sentence, its longest words, neutral importance.

    Keywords are the five longest different words of four letters or more, in the order in which they were said.
    """
    text = " ".join(heard["text"].split())
    sentence = _SENTENCE_END.split(text, maxsplit=1)[0]
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[: _LONGEST - 1].rstrip()}…"
    words = list({word.casefold(): word for word in reversed(_WORD.findall(sentence))}.values())[::-1]
    longest = sorted(words, key=len, reverse=True)[:_KEYWORDS]
    keywords = [word for word in words if word in longest]
    return {"theme": f"{heard['speaker']}: {sentence}", "keywords": keywords, "importance": NEUTRAL}
