"""Natural language: the chosen agent words its utterance (thesis, 4.1.1; specification, *Speaking*)."""

from __future__ import annotations

from persimchat.models.asking import Spoken, speak
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.mind import Mind, Utterance
from persimchat.state.settings import Settings
from persimchat.state.speech import addressees, without_own_name

BLOCK_ORDER = (
    "basic_information",
    "needs_and_emotions",
    "relationships",
    "memories",
    "plan_and_identity",
    "environment",
    "last_utterances",
)
"""b n r m p e c: the order matters for diversity (Chu et al., table 5)."""


async def word_utterance(mind: Mind, settings: Settings, message_id: str) -> tuple[Utterance, Spoken]:
    """Word what the agent says next; words stream as the model gives them.

    Args:
        mind: the agent that was chosen, with its situation and everybody's needs.
        settings: of the simulation.
        message_id: the id under which the words stream.

    Returns:
        The utterance, and what the model said with its accounting.
    """
    situation, name = mind["situation"], mind["name"]
    common = common_blocks(mind, await shown_memories(mind, settings), knowledge=True)
    spoken = await speak(
        "utterance",
        **question(mind, settings, "natural_language"),
        blocks=[common[tag] for tag in BLOCK_ORDER],
        message_id=message_id,
        name=name,
        debate=situation["debate"] is not None,
        closing=situation["closing"],
        register=settings.speech_register,
        words=settings.utterance_words,
    )
    text = without_own_name(spoken.text, name)
    utterance: Utterance = {
        "turn": situation["turn"] + 1,
        "speaker": name,
        "text": text,
        "addressees": addressees(text, name, situation["present"]),
        "emotion": mind["emotion"],
        "need_to_talk": mind["needs"],
        "response_time_s": round(spoken.response_time_s, 3),
        "tokens": {"input": spoken.call["input_tokens"], "output": spoken.call["output_tokens"]},
        "corrections": [],
    }
    return utterance, spoken
