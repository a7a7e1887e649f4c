"""Conversing: a companion words its answer, one streamed request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ...memory.recollection import memories_of
from ...models.asking import Spoken, speak
from ...prompts import companion_blocks
from ...state.companion import CompanionSituation, Label
from ...state.companion.trust import words_at
from ...state.minds.memory import PINNED
from ...state.minds.mind import Step
from ...state.minds.speech import own_words
from ...state.plain_text import clean
from ...state.settings import RetrievalWeights, Settings
from ..minds.context import common_blocks, question, shown_memories
from ..minds.remembering import recall_for

_ORDER: Final = (
    "basic_information",
    "place",
    "relationships",
    "facts",
    "last_utterances",
    "memories",
    "now",
    "events",
    "heard",
)
"""The order of the blocks: what stays the same comes first, so that a server's cache keeps it."""

NO_WORDS: Final = "…"
"""Stands for an answer that has only control characters."""


def recalling(settings: Settings) -> Settings:
    """The settings with which a companion recalls: with `paper_retrieval` by the paper's three components alone."""
    if not settings.companion.paper_retrieval:
        return settings
    equal = {"emotional_retrieval": False, "stm_retrieval": False, "weights": RetrievalWeights()}
    return settings.model_copy(update=equal)


def cues(mind: Step, companion: CompanionSituation) -> list[str]:
    """What directs recall: the words or events; without them the person, and how the agent stands to them.

    Name and note beside the words would call every memory of the person, and what the words are about would come after
    them: recall of a told fact among the first ten fell from 1.0 to 0.25 (evaluation/companion, two talks).
    """
    words = mind["heard"]["text"] if mind.get("heard") else ""
    found = [words] if words else companion["happened"]
    relationships = mind["situation"]["relationships"]
    note = relationships[0]["note"] if relationships else ""
    return found or [one for one in (companion["shown"] if companion["introduced"] else "", note) if one]


async def with_recall(mind: Step, settings: Settings) -> Step:
    """The mind with what the talk calls to mind; no model is asked."""
    companion = mind["situation"]["companion"]
    asked: Step = {**mind, "focal_points": cues(mind, companion)}
    return {**asked, **await recall_for(asked, recalling(settings))}


async def why(mind: Step, settings: Settings) -> dict[str, Any]:
    """What the answer rests on: the facts in its prompt, and what was recalled, best first, with its scores.

    `shown` says of each memory whether it fits the prompt.
    """
    recalled, simulation = mind.get("recalled", []), mind["situation"]["simulation"]
    found = await memories_of(settings, simulation, mind["name"], [one["id"] for one in recalled], mind["unsaved"])
    shown = {memory.id for memory in await shown_memories(mind, settings)}
    told = [
        {**scores, "kind": memory.kind, "theme": memory.theme, "shown": memory.id in shown}
        for scores, memory in zip(recalled, found, strict=True)
        if memory.kind not in PINNED
    ]
    facts = [{key: fact[key] for key in ("id", "statement")} for fact in mind["situation"]["companion"]["facts"]]
    return {"facts": facts, "recalled": told}


async def answer(
    mind: Step,
    settings: Settings,
    *,
    label: Label,
    message_id: str,
    closing: bool = False,
    hostile_end: bool = False,
    begun: Callable[[], None] | None = None,
    sampling: Mapping[str, Any] | None = None,
) -> tuple[str, Spoken]:
    """The agent's words, which stream as the model gives them, and what the model said.

    Args:
        mind: with what was recalled (`with_recall`), and with the talk as its situation.
        settings: of the companion.
        label: the agent's emotion in one word.
        message_id: under which the words stream.
        closing: whether the agent takes leave.
        hostile_end: whether it walks off.
        begun: called at the first piece of the answer.
        sampling: `seed` and `temperature` of this answer, in place of the settings'.

    Raises:
        ModelError: the request failed, or there were no words.
    """
    situation, name = mind["situation"], mind["name"]
    companion = situation["companion"]
    shown = await shown_memories(mind, settings)
    known = {fact["id"] for fact in companion["facts"]}  # a fact shown as such need not be shown as a memory, too
    common = common_blocks(mind, [memory for memory in shown if memory.id not in known], knowledge=True)
    common |= {"place": common["scene"], "now": companion_blocks.now(companion, label)}
    spoken = await speak(
        "companion",
        **question(mind, settings, "natural_language"),
        message_id=message_id,
        part=companion["exchange"],
        begun=begun,
        sampling=sampling,
        blocks=[common[tag] for tag in _ORDER],
        name=name,
        closing=closing,
        hostile_end=hostile_end,
        unasked=not mind.get("heard"),
        words=words_at(companion["trust"], settings.utterance_words),
        register=settings.speech_register,
        candour=companion["candour"],
    )
    own = own_words(spoken.text, name, situation["present"], companion["shown"]).text
    return clean(own or spoken.text).strip() or NO_WORDS, spoken
