"""The answer to whether words contradict what was left out of their prompt: only positions on the topic are compared.

Words for another position than that of an identity or a goal contradict it; nothing else that the model says can.
"""

from __future__ import annotations

from typing import Any

from persimchat.models.offline.positions import position_in
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.topics import topic_of
from persimchat.models.offline.words import short_name


def inconsistency(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Inconsistency`: high if the words are for another position than the identity or a goal that was left out."""
    prompt.need_section(prompt.heard, "wording")
    heard = prompt.heard
    assert heard is not None
    topic = topic_of(prompt)
    draw = generator(seed, "inconsistency", prompt.topic, heard.speaker, heard.words)
    said = position_in(heard.words, topic)
    known = (position_in(text, topic) for text in (prompt.identity, *prompt.goals))
    other = next((position for position in known if position not in (None, said)), None)
    if said is None or other is None:
        return {"comment": "Nothing in the words contradicts what is known.", "score": draw.randint(1, 3)}
    comment = f"{short_name(heard.speaker)} speaks for {topic.positions[said]}, but is for {topic.positions[other]}."
    return {"comment": comment, "score": draw.randint(7, 9)}
