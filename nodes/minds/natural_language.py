"""Natural language: the chosen agent's model words its utterance (thesis, 4.1.1; specification, *Speaking*)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ...models.asking import Spoken, speak
from ...models.failures import is_transient
from ...models.naming import parse_model_name
from ...models.registry import model_name
from ...prompts.blocks import Block
from ...state.conversation import new_utterance
from ...state.errors import ModelError
from ...state.kinds.groups import OWN
from ...state.minds.memory import Memory
from ...state.minds.mind import Step, Utterance
from ...state.minds.pruning import Check, Pruned
from ...state.minds.speech import ASKED_AGAIN_FOR_OTHERS_WORDS, ASKED_AGAIN_FOR_REPETITION, STILL_REPEATS, UNWRAPPED
from ...state.settings import Settings
from ..stories.context import SETTLEMENT, place_of_talk, room_of, speech_blocks, talk_blocks
from .context import common_blocks, question, shown_memories
from .pruning import Prompt, pruned
from .revision import Attempt, Wording, checked, revised

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
_TRIES: Final = 2
"""How often another wording is asked for, if its request fails for a reason that may pass."""


def in_order(common: Mapping[str, Any], order: str) -> list[Block]:
    """The blocks of an utterance's prompt in the order of the setting `prompt_order`."""
    return [common[_BLOCKS[letter]] for letter in order]


Template = Literal["utterance", "group_chat", "story_utterance"] | str
"""The prompt: of an agent with a mind, of a persona without one (the group_chat baseline), of a character in a story;
or one of a package that adds a kind of conversation.
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
    prompt, record = await pruned(await prompt_of(mind, settings, template), mind, settings)
    said = await _said(prompt, mind, settings, message_id)
    if not said.taken.wording.text:
        raise ModelError(
            "no words of the speaker's own twice: the answer spoke for others",
            model=said.last.call["model"],
            agent=name,
            module=_MODULE,
            turn=situation["turn"],
            remedy="Try again, or choose a model that follows instructions better.",
        )
    correction = ""
    if record is not None and prompt.left_out and settings.pruning.checks:
        said, checks, correction = await _revised(said, prompt, mind, settings)
        record = record.model_copy(update={"checks": checks})
    spoken, wording = said.taken.spoken, said.taken.wording
    corrections = [*said.corrections, STILL_REPEATS if wording.repeated else "", correction]
    utterance = new_utterance(
        situation["turn"] + 1,
        name,
        wording.text,
        situation["present"],
        called=situation.get("called"),
        emotion=mind["emotion"],
        need_to_talk=mind["needs"],
        response_time_s=round(said.seconds, 3),
        tokens={"input": spoken.call["input_tokens"], "output": spoken.call["output_tokens"]},
        corrections=list(dict.fromkeys(filter(None, corrections))),
        heard_by=room_of(mind),
        question=mind["puts"]["number"] if "puts" in mind else None,
    )
    return Worded(utterance, replace(spoken, response_time_s=said.seconds), record)


@dataclass(frozen=True)
class _Said:
    """The words so far.

    Attributes:
        taken: the wording that is the best so far.
        last: what the model said last.
        seconds: of all requests.
        corrections: of all wordings.
        avoided: earlier words that the last request was told to avoid.
        seed: of the last request.
    """

    taken: Attempt
    last: Spoken
    seconds: float
    corrections: tuple[str, ...]
    avoided: Sequence[str]
    seed: int


async def _said(prompt: Prompt, mind: Step, settings: Settings, message_id: str) -> _Said:
    """The utterance, asked for once more if it repeats earlier ones, or has no words of the speaker's own."""
    avoided = list(mind.get("avoid", ()))
    spoken = await _spoken(prompt, mind, settings, message_id, avoided=avoided)
    wording = await _checked(spoken, mind, settings)
    first = Attempt(spoken, wording)
    if wording.text and not wording.repeated:
        return _Said(first, spoken, spoken.response_time_s, wording.corrections, avoided, settings.seed)
    asked = ASKED_AGAIN_FOR_REPETITION if wording.text else ASKED_AGAIN_FOR_OTHERS_WORDS
    corrections = (*wording.corrections, asked)
    avoided_now = [*avoided, *wording.repeated]
    second = await _spoken_again(prompt, mind, settings, spoken, wording, avoided_now)
    if second is None:
        return _Said(first, spoken, spoken.response_time_s, corrections, avoided, settings.seed)
    other = await _checked(second, mind, settings)
    better = other.text and (not wording.text or other.nearness < wording.nearness)
    return _Said(
        Attempt(second, other) if better else first,
        second,
        spoken.response_time_s + second.response_time_s,
        (*corrections, *other.corrections),
        avoided_now,
        settings.seed + 1,
    )


async def _revised(said: _Said, prompt: Prompt, mind: Step, settings: Settings) -> tuple[_Said, list[Check], str]:
    """The words that contradict least what was left out of the prompt, the record of all checks, and what was done.

    Other words come from the same prompt with another seed, of the offline model too: its opinion is what is revised.
    """
    message_id = str(said.last.message.id)

    async def again(k: int) -> Attempt | None:
        nonlocal message_id
        own = settings.model_copy(update={"seed": said.seed + k})
        for _ in range(_TRIES):
            message_id = f"{message_id}-again"
            try:
                spoken = await _spoken(prompt, mind, own, message_id, avoided=said.avoided, part=f"again:{k}")
            except ModelError as error:  # the words that there are are better than an error
                if not is_transient(error):
                    return None
            else:
                return Attempt(spoken, await _checked(spoken, mind, settings))
        return None

    found = await revised(said.taken, again, prompt.left_out, mind, settings)
    others = found.made[1:]
    revision = replace(
        said,
        taken=found.taken,
        last=found.made[-1].spoken,
        seconds=said.seconds + sum(other.spoken.response_time_s for other in others),
        corrections=(*said.corrections, *(c for other in others for c in other.wording.corrections)),
    )
    return revision, found.checks, found.correction


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
        **{own: getattr(settings, own) for own in OWN},
        **more,
    }
    ids = {number: memory.id for number, memory in enumerate(shown, start=1)}
    return Prompt(template, tuple(ordered), values, ids)


async def _checked(spoken: Spoken, mind: Step, settings: Settings) -> Wording:
    """As `checked`; that something around the words was removed is a correction, too."""
    wording = await checked(spoken.text, mind, settings)
    return replace(wording, corrections=(UNWRAPPED, *wording.corrections)) if spoken.unwrapped else wording


async def _spoken(
    prompt: Prompt, mind: Step, settings: Settings, message_id: str, *, avoided: Sequence[str] = (), **more: Any
) -> Spoken:
    asked = {**prompt.filled(mind, avoided), **more}
    return await speak(prompt.template, **question(mind, settings, _MODULE), message_id=message_id, **asked)


async def _spoken_again(
    prompt: Prompt, mind: Step, settings: Settings, first: Spoken, wording: Wording, avoided: Sequence[str]
) -> Spoken | None:
    """The second answer; None if there can be none: the first one, although it repeats, is better than an error.

    Its seed differs, if requests have a seed. With another seed, the offline model would change the agents' opinions.
    """
    message_id = f"{first.message.id}-again"
    if parse_model_name(model_name(settings, mind["name"], _MODULE)).provider != "offline":
        settings = settings.model_copy(update={"seed": settings.seed + 1})
    own = {"part": "again"}  # a question of its own
    if not wording.text:
        return await _spoken(prompt, mind, settings, message_id, spoke_for_others=True, **own)
    try:
        return await _spoken(prompt, mind, settings, message_id, avoided=avoided, **own)
    except ModelError as error:
        if is_transient(error):
            raise
        return None
