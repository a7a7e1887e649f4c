"""Natural language: the chosen agent words its utterance (thesis, 4.1.1; specification, *Speaking*)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from persimchat.models.asking import Spoken, speak
from persimchat.models.failures import is_transient
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import model_name
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.nodes.pruning import Prompt, pruned
from persimchat.nodes.story_context import SETTLEMENT, place_of_talk, room_of, speech_blocks, talk_blocks
from persimchat.nodes.wording_check import Wording, checked
from persimchat.prompts.blocks import Block
from persimchat.state.errors import ModelError
from persimchat.state.memory import Memory
from persimchat.state.mind import Step, Utterance
from persimchat.state.pruning import Pruned
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


@dataclass(frozen=True)
class Worded:
    """An utterance, and how it was made.

    Attributes:
        utterance: the utterance.
        spoken: what the model said: the words taken, under the id with which they streamed, with the time of all
            requests.
        pruned: what the prompt lacked; None if the setting `pruning` leaves nothing out.
    """

    utterance: Utterance
    spoken: Spoken
    pruned: Pruned | None = None

    @property
    def own(self) -> dict[str, Any]:
        """What the speaker's mind keeps of it: what the prompt lacked, if anything may be left out."""
        return {} if self.pruned is None else {"pruned": self.pruned.model_dump(mode="json")}


async def word_utterance(
    mind: Step, settings: Settings, message_id: str, *, template: Template = "utterance"
) -> Worded:
    """Word what the agent says next; words stream as the model gives them.

    What the setting `pruning` leaves out of the prompt is left out of all its requests.

    An answer that speaks only for others, or nearly repeats an earlier utterance, is asked for once more, with what to
    avoid; never more than once. Of two answers that repeat, the one that repeats less is taken.

    Args:
        mind: the chosen agent's, with its situation, all needs to talk, earlier utterances, and what to `avoid`.
        settings: of the simulation.
        message_id: the id under which the words stream; those of a second request stream under another one.
        template: the prompt.

    Raises:
        ModelError: a request or a scoring failed, or the model twice had no words for the agent itself.
    """
    situation, name = mind["situation"], mind["name"]
    prompt, left_out = await pruned(await prompt_of(mind, settings, template), mind, settings)
    spoken = taken = await _spoken(prompt, mind, settings, message_id, avoided=mind.get("avoid", ()))
    wording = await checked(spoken.text, mind, settings)
    corrections = [*wording.corrections]
    if not wording.text or wording.repeated:
        corrections.append(ASKED_AGAIN_FOR_REPETITION if wording.text else ASKED_AGAIN_FOR_OTHERS_WORDS)
        second = await _spoken_again(prompt, mind, settings, spoken, wording)
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
    return Worded(utterance, replace(spoken, text=taken.text, message=taken.message), left_out)


async def prompt_of(mind: Step, settings: Settings, template: Template = "utterance") -> Prompt:
    """What the agent's next utterance is worded from, before anything is left out.

    Args:
        mind: as `word_utterance`.
        settings: of the simulation.
        template: the prompt.
    """
    situation = mind["situation"]
    story, more, shown = situation.get("story"), dict[str, Any](), list[Memory]()
    if story is not None and template == "story_utterance":
        by_letter = speech_blocks(mind)
        ordered = [by_letter[letter] for letter in settings.prompt_order]
        more["place"] = "room" if story["room"] is not None else "speech" if story["stage"] == SETTLEMENT else "group"
    else:
        shown = await shown_memories(mind, settings)
        common = common_blocks(mind, shown, knowledge=True)
        if story is not None:
            common |= talk_blocks(mind, common)
            more["place"] = place_of_talk(mind)
        ordered = in_order(common, settings.prompt_order)
    values = {
        "name": mind["name"],
        "debate": situation["debate"] is not None,
        "closing": situation["closing"],
        "register": settings.speech_register,
        "words": settings.utterance_words,
        **more,
    }
    ids = {number: memory.id for number, memory in enumerate(shown, start=1)}
    return Prompt(template, tuple(ordered), settings.prompt_order, values, ids)


async def _spoken(
    prompt: Prompt, mind: Step, settings: Settings, message_id: str, *, avoided: Sequence[str] = (), **more: Any
) -> Spoken:
    asked = {**prompt.filled(mind, avoided), **more}
    return await speak(prompt.template, **question(mind, settings, _MODULE), message_id=message_id, **asked)


async def _spoken_again(
    prompt: Prompt, mind: Step, settings: Settings, first: Spoken, wording: Wording
) -> Spoken | None:
    """The second answer; None if there can be none: the first one, although it repeats, is better than an error.

    Its seed differs, if requests have a seed. With another seed, the offline model would change the agents' opinions.
    """
    message_id = f"{first.message.id}-again"
    if parse_model_name(model_name(settings, mind["name"], _MODULE)).provider != "offline":
        settings = settings.model_copy(update={"seed": settings.seed + 1})
    if not wording.text:
        return await _spoken(prompt, mind, settings, message_id, spoke_for_others=True)
    try:
        avoided = [*mind.get("avoid", ()), *wording.repeated]
        return await _spoken(prompt, mind, settings, message_id, avoided=avoided)
    except ModelError as error:
        if is_transient(error):
            raise
        return None


def _both(first: Spoken, second: Spoken) -> Spoken:
    """The second of two answers to one question, with the time of both."""
    return replace(second, response_time_s=first.response_time_s + second.response_time_s)
