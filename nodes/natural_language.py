"""Natural language: the chosen agent words its utterance (thesis, 4.1.1; specification, *Speaking*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from persimchat.models.asking import Spoken, speak
from persimchat.models.failures import is_transient
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import model_name
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.nodes.wording_check import Wording, checked
from persimchat.prompts import blocks
from persimchat.state.conversation import add_usage
from persimchat.state.errors import ModelError
from persimchat.state.mind import Call, Mind, Utterance
from persimchat.state.repetition import ASKED_AGAIN_FOR_OTHERS_WORDS, ASKED_AGAIN_FOR_REPETITION, STILL_REPEATS
from persimchat.state.settings import Settings
from persimchat.state.speech import addressees

BLOCK_ORDER = (
    "basic_information",
    "needs_and_emotions",
    "relationships",
    "memories",
    "plan_and_identity",
    "environment",
    "last_utterances",
)
"""b n r m p e c: the order matters for diversity (Chu et al., table 5). What to avoid comes behind them."""

_MODULE = "natural_language"


async def word_utterance(mind: Mind, settings: Settings, message_id: str) -> tuple[Utterance, Spoken]:
    """Word what the agent says next; words stream as the model gives them.

    An answer that speaks for others only, or nearly repeats what was said, is asked for once more, saying what to
    avoid; never more than once. Of two that repeat, the one that repeats less is taken.

    Args:
        mind: the agent that was chosen, with its situation, everybody's needs, what was said, and what to `avoid`.
        settings: of the simulation.
        message_id: the id under which the words stream; those of a second request stream under another one.

    Returns:
        The utterance; and what the model said: the words taken, under the id with which they streamed, with time and
        accounting of all requests.

    Raises:
        ModelError: a request failed, or the model had no words of the agent's own, twice.
    """
    situation, name = mind["situation"], mind["name"]
    spoken = taken = await _spoken(mind, settings, message_id, avoid=mind.get("avoid", ()))
    wording = await checked(spoken.text, mind, settings)
    corrections = [*wording.corrections]
    if not wording.text or wording.repeated:
        corrections.append(ASKED_AGAIN_FOR_REPETITION if wording.text else ASKED_AGAIN_FOR_OTHERS_WORDS)
        second = await _spoken_again(mind, settings, spoken, wording)
        if second is not None:
            other = await checked(second.text, mind, settings)
            corrections += other.corrections
            if other.text and (not wording.text or other.nearness < wording.nearness):
                taken, wording = second, other
            spoken = _both(spoken, second)
        if wording.repeated:
            corrections.append(STILL_REPEATS)
    if not wording.text:
        raise ModelError(
            "no words of the speaker's own twice: the answer spoke for others",
            model=spoken.call["model"],
            agent=name,
            module=_MODULE,
            turn=situation["turn"],
            remedy="Try again, or choose a model that follows instructions better.",
        )
    utterance: Utterance = {
        "turn": situation["turn"] + 1,
        "speaker": name,
        "text": wording.text,
        "addressees": addressees(wording.text, name, situation["present"]),
        "emotion": mind["emotion"],
        "need_to_talk": mind["needs"],
        "response_time_s": round(spoken.response_time_s, 3),
        "tokens": {"input": taken.call["input_tokens"], "output": taken.call["output_tokens"]},
        "corrections": list(dict.fromkeys(corrections)),
    }
    return utterance, replace(spoken, text=taken.text, message=taken.message)


async def _spoken(mind: Mind, settings: Settings, message_id: str, *, avoid: Sequence[str] = (), **more: Any) -> Spoken:
    situation = mind["situation"]
    common = common_blocks(mind, await shown_memories(mind, settings), knowledge=True)
    return await speak(
        "utterance",
        **question(mind, settings, _MODULE),
        blocks=[*(common[tag] for tag in BLOCK_ORDER), blocks.avoid(avoid)],
        message_id=message_id,
        name=mind["name"],
        debate=situation["debate"] is not None,
        closing=situation["closing"],
        register=settings.speech_register,
        words=settings.utterance_words,
        **more,
    )


async def _spoken_again(mind: Mind, settings: Settings, first: Spoken, wording: Wording) -> Spoken | None:
    """The second answer; None where there can be none and the first one, which repeats, is better than an end.

    Its seed differs, where a seed goes with the request. A local file would be loaded once more, and the offline
    model's people would hold something else.
    """
    message_id = f"{first.message.id}-again"
    if parse_model_name(model_name(settings, mind["name"], _MODULE)).provider not in ("llamacpp", "offline"):
        settings = settings.model_copy(update={"seed": settings.seed + 1})
    if not wording.text:
        return await _spoken(mind, settings, message_id, spoke_for_others=True)
    try:
        return await _spoken(mind, settings, message_id, avoid=[*mind.get("avoid", ()), *wording.repeated])
    except ModelError as error:
        if is_transient(error):
            raise
        return None


def _both(first: Spoken, second: Spoken) -> Spoken:
    """Time and accounting of two answers to one question."""
    (total,) = add_usage({}, [[first.call, second.call]]).values()
    call = cast(Call, {**total, "turn": first.call["turn"]})
    return replace(second, response_time_s=first.response_time_s + second.response_time_s, call=call)
