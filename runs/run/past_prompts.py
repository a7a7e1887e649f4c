"""The prompt from which an utterance of a recorded run was worded, made again from the run's states.

It is the whole prompt, before anything is left out. Nothing is asked and nothing in the run's folder changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig

from persimchat.graph.baselines import graph_for
from persimchat.graph.edges import step_of_speaker
from persimchat.graph.stories.agenda import story_in
from persimchat.graph.stories.situation import for_act
from persimchat.memory.embeddings import LEXICAL, MINILM
from persimchat.nodes.natural_language import prompt_of
from persimchat.nodes.pruning import Prompt, foreseen
from persimchat.runs.events import Uttered
from persimchat.runs.folder.checkpoints import opened as checkpoints_in
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import Record
from persimchat.runs.run.at_turn import copied, refuse_shared_past
from persimchat.runs.run.going_on import check_memories, manifest_of, settings_of
from persimchat.runs.run.history import states_at
from persimchat.state.errors import InputError
from persimchat.state.mind import Step
from persimchat.state.pruning import Pruned, Pruning
from persimchat.state.settings import Settings
from persimchat.state.story_state import StoryState

_ACTS: Final = ("speak", "address")
"""The acts of a story in which words are made."""


@dataclass(frozen=True)
class PastPrompt:
    """What an utterance was worded from.

    Attributes:
        turn: the utterance's number.
        text: its words.
        prompt: the whole prompt.
        mind: the speaker's, as it was.
        settings: of the run.
    """

    turn: int
    text: str
    prompt: Prompt
    mind: Step
    settings: Settings


async def past_prompts(record: Record, turns: Iterable[int]) -> list[PastPrompt]:
    """The prompts of these utterances, in the order of their numbers.

    Args:
        record: of the run.
        turns: numbers of utterances, from 1.

    Raises:
        InputError: the run has no such utterance, no model worded it, or the run kept no checkpoints or no memories; or
            somebody works on it.
    """
    folder, wanted = record.path, sorted(set(turns))
    manifest = await asyncio.to_thread(manifest_of, folder)
    settings = settings_of(manifest, {})
    if settings.baseline is not None or settings.cognition == "strategist":
        raise InputError(
            "prompts are pruned of minds that hear and think only, and this conversation has none",
            where=f"run {manifest.run}",
            remedy="Choose another run.",
        )
    rows = {row.turn: row for row in record.utterances}
    for turn in wanted:
        _refuse_other_words(rows.get(turn), turn, max(rows, default=0), manifest)
    if not wanted:
        return []
    check_memories(manifest, folder)
    refuse_shared_past(manifest, wanted[0] - 1)
    config: RunnableConfig = {"configurable": {"thread_id": manifest.run}}
    found = []
    async with copied(folder, manifest) as (place, own), checkpoints_in(own.checkpoints, place) as saver:
        graph = graph_for(own, saver)
        for turn in wanted:
            row = rows[turn]
            mind = await _step(graph, config, row, own)
            found.append(PastPrompt(turn, row.text, await prompt_of(mind, own), mind, own))
    return found


async def foreseen_at(record: Record, turn: int, pruning: Pruning) -> Pruned:
    """What would be left out of the prompt of an utterance, worked out without any request.

    Args:
        record: of the run.
        turn: the utterance's number, from 1.
        pruning: how much, and by what.

    Raises:
        InputError: as `past_prompts`; the scorer cannot be used; or the embedding is a server's.
        ModelError: the scoring failed.
    """
    return await foreseen_from((await past_prompts(record, [turn]))[0], pruning)


async def foreseen_from(past: PastPrompt, pruning: Pruning) -> Pruned:
    """What would be left out of a past prompt, worked out without any request.

    Args:
        past: the prompt.
        pruning: how much, and by what.

    Raises:
        InputError: the scorer cannot be used; or the embedding is a server's.
        ModelError: the scoring failed.
    """
    if pruning.method == "embedding" and past.settings.embedding.strip() not in (LEXICAL, MINILM):
        raise InputError(
            "this would ask the embedding's server",
            where="setting pruning.method=embedding",
            remedy="Choose the method attention, length or random.",
        )
    settings = past.settings.model_copy(update={"pruning": pruning})
    return await foreseen(past.prompt, past.mind, settings)


def _refuse_other_words(row: Uttered | None, turn: int, last: int, manifest: Manifest) -> None:
    run = manifest.run
    if row is None:
        raise InputError(
            f"there is no utterance {turn}", where=f"run {run}", remedy=f"Choose one from 1 to {last}." if last else ""
        )
    if row.edited_by is not None or row.speaker in manifest.people:
        raise InputError(
            f"no model worded utterance {turn}", where=f"run {run}", remedy="Choose one in a participant's own words."
        )


async def _step(graph: Any, config: RunnableConfig, row: Uttered, settings: Settings) -> Step:
    """The speaker's mind with its input, in the state before the utterance, or before the words made with it."""
    before = row.turn - 1
    while True:
        try:
            state = (await states_at(graph, config, [before], fits=_speaking))[before].values
            break
        except InputError:
            # In a story, several utterances may be made at once, and there is no state between them.
            if settings.mode != "story" or before == 0:
                raise
            before -= 1
    if settings.mode == "story":
        story = cast(StoryState, state)
        return for_act(story, row.speaker, story_in(story), settings)
    return step_of_speaker(cast(Any, state), row.speaker, settings)


def _speaking(values: Any) -> bool:
    """Whether words come next."""
    return "act" not in values or values["act"]["do"] in _ACTS
