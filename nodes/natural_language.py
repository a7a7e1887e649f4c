"""Natural language: the chosen agent words its utterance (thesis, 4.1.1; specification, *Speaking*)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from persimchat.models.asking import Spoken, speak
from persimchat.models.failures import is_transient
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import model_name
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.nodes.story_context import SETTLEMENT, place_of_talk, room_of, speech_blocks, talk_blocks
from persimchat.nodes.wording_check import Wording, checked
from persimchat.prompts import blocks
from persimchat.prompts.blocks import Block
from persimchat.state.errors import ModelError
from persimchat.state.mind import Step, Utterance
from persimchat.state.repetition import ASKED_AGAIN_FOR_OTHERS_WORDS, ASKED_AGAIN_FOR_REPETITION, STILL_REPEATS
from persimchat.state.settings import Settings
from persimchat.state.speech import addressees

_BLOCKS: Final = {
    "b": "basic_information",
    "n": "needs_and_emotions",
    "r": "relationships",
    "m": "memories",
    "p": "plan_and_identity",
    "e": "environment",
    "c": "last_utterances",
}
"""The blocks by the letters of the setting `prompt_order`. Their order matters for diversity (Chu et al., table 5), so
utterances keep it; all other modules begin with what stays the same. Words to avoid come after them."""

_MODULE = "natural_language"


def in_order(common: Mapping[str, Any], order: str) -> list[Block]:
    """The blocks of an utterance's prompt in the order of the setting `prompt_order`."""
    return [common[_BLOCKS[letter]] for letter in order]


Template = Literal["utterance", "group_chat", "story_utterance"]
"""The prompt: of an agent with a mind, of a persona without one (the group_chat baseline), of a character in a story.
"""


async def word_utterance(
    mind: Step, settings: Settings, message_id: str, *, template: Template = "utterance"
) -> tuple[Utterance, Spoken]:
    """Word what the agent says next; words stream as the model gives them.

    An answer that speaks only for others, or nearly repeats an earlier utterance, is asked for once more, with what to
    avoid; never more than once. Of two answers that repeat, the one that repeats less is taken.

    Args:
        mind: the chosen agent's, with its situation, all needs to talk, earlier utterances, and what to `avoid`.
        settings: of the simulation.
        message_id: the id under which the words stream; those of a second request stream under another one.
        template: the prompt.

    Returns:
        The utterance; and what the model said: the words taken, under the id with which they streamed, with the time of
        all requests.

    Raises:
        ModelError: a request failed, or the model twice had no words for the agent itself.
    """
    situation, name = mind["situation"], mind["name"]
    spoken = taken = await _spoken(template, mind, settings, message_id, avoid=mind.get("avoid", ()))
    wording = await checked(spoken.text, mind, settings)
    corrections = [*wording.corrections]
    if not wording.text or wording.repeated:
        corrections.append(ASKED_AGAIN_FOR_REPETITION if wording.text else ASKED_AGAIN_FOR_OTHERS_WORDS)
        second = await _spoken_again(template, mind, settings, spoken, wording)
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
    if (room := room_of(mind)) is not None:
        utterance["heard_by"] = room
    return utterance, replace(spoken, text=taken.text, message=taken.message)


async def _spoken(
    template: Template, mind: Step, settings: Settings, message_id: str, *, avoid: Sequence[str] = (), **more: Any
) -> Spoken:
    situation = mind["situation"]
    story = situation.get("story")
    if story is not None and template == "story_utterance":
        by_letter = speech_blocks(mind)
        shown = [by_letter[letter] for letter in settings.prompt_order]
        more["place"] = "room" if story["room"] is not None else "speech" if story["stage"] == SETTLEMENT else "group"
    else:
        common = common_blocks(mind, await shown_memories(mind, settings), knowledge=True)
        if story is not None:
            common |= talk_blocks(mind, common)
            more["place"] = place_of_talk(mind)
        shown = in_order(common, settings.prompt_order)
    return await speak(
        template,
        **question(mind, settings, _MODULE),
        blocks=[*shown, blocks.avoid(avoid)],
        message_id=message_id,
        name=mind["name"],
        debate=situation["debate"] is not None,
        closing=situation["closing"],
        register=settings.speech_register,
        words=settings.utterance_words,
        **more,
    )


async def _spoken_again(
    template: Template, mind: Step, settings: Settings, first: Spoken, wording: Wording
) -> Spoken | None:
    """The second answer; None if there can be none: the first one, although it repeats, is better than an error.

    Its seed differs, if requests have a seed. With another seed, the offline model would change the agents' opinions.
    """
    message_id = f"{first.message.id}-again"
    if parse_model_name(model_name(settings, mind["name"], _MODULE)).provider != "offline":
        settings = settings.model_copy(update={"seed": settings.seed + 1})
    if not wording.text:
        return await _spoken(template, mind, settings, message_id, spoke_for_others=True)
    try:
        return await _spoken(template, mind, settings, message_id, avoid=[*mind.get("avoid", ()), *wording.repeated])
    except ModelError as error:
        if is_transient(error):
            raise
        return None


def _both(first: Spoken, second: Spoken) -> Spoken:
    """The second of two answers to one question, with the time of both."""
    return replace(second, response_time_s=first.response_time_s + second.response_time_s)
