"""Participants of a recorded run as they were at a turn: what a prompt tells each of themselves and the conversation.

Reading changes nothing. Checkpoints and memories in the run's folder are copied before they are opened, because merely
opening a database may change its bytes.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig

from ...graph.edges import step_of_speaker
from ...graph.kinds import graph_for
from ...graph.situation import situation_of
from ...graph.stories.agenda import story_in
from ...graph.stories.situation import for_act
from ...memory.embeddings import LEXICAL, MINILM
from ...memory.recollection import discard, memories_of, recall
from ...memory.store import held_store
from ...nodes.minds.context import common_blocks
from ...nodes.minds.natural_language import prompt_of
from ...nodes.minds.pruning import Prompt, foreseen
from ...prompts import blocks
from ...prompts.blocks import Block
from ...state.conversation import Conversation, participants
from ...state.errors import InputError, MachineError
from ...state.minds.emotion import EmotionalState
from ...state.minds.memory import PINNED, Memory
from ...state.minds.mind import Mind, Situation, Step, Utterance, in_step
from ...state.minds.pruning import Pruned, Pruning
from ...state.persona import Persona, Relationship
from ...state.scenario import Scenario
from ...state.settings import Settings
from ...state.stories.state import StoryState
from ...state.visibility import heard_by
from ..events import Uttered
from ..folder.checkpoints import CHECKPOINTS
from ..folder.checkpoints import opened as checkpoints_in
from ..folder.lock import held
from ..folder.manifest import Manifest
from ..folder.reading import Record
from ..folder.run_folder import MEMORIES
from .resources import store_of
from .resume_input import check_memories, manifest_of, no_turn, scenario_of, settings_of, states_at

_SHOWN: Final = (
    *("basic_information", "relationships", "goals", "scene", "progress", "needs_and_emotions", "plan"),
    *("short_term_memory", "memories", "last_utterances"),
)
"""The blocks of a mind, those that change least first."""
NO_MINDS: Final = "To poll the personas from their profiles alone: persimchat poll --config SCENARIO."


@dataclass(frozen=True)
class Standpoint:
    """A participant as it was at a turn.

    Attributes:
        agent: its name.
        turn: utterances so far.
        blocks: what it knows of itself and of the conversation.
    """

    agent: str
    turn: int
    blocks: tuple[Block, ...]


async def standpoints(
    record: Record, turns: Iterable[int], question: str, *, only: str | None = None
) -> list[Standpoint]:
    """Everybody at these turns but people, in order of turns and of listing.

    In a conversation of minds, each has its mind of then, and what it recalls of the memories that were alive then when
    it hears the question. In a baseline, each has its persona and what it has heard.

    Args:
        record: of the run.
        turns: numbers of utterances, from 0.
        question: what they are asked.
        only: a participant's name, to have nobody else; None for everybody.

    Raises:
        InputError: the run has no such turn, or kept no checkpoints or no memories; or somebody works on it.
        ModelError: an embedding failed.
    """
    wanted = sorted(set(turns))
    if record.manifest.settings.baseline is not None:
        found = await asyncio.to_thread(_without_minds, record, wanted)
        return [one for one in found if only in (None, one.agent)]
    folder = record.path
    try:
        manifest = await asyncio.to_thread(manifest_of, folder)
        check_memories(manifest, folder)
    except InputError as error:
        remedy = NO_MINDS if only is None else "Interview somebody in a run that keeps its states."
        raise InputError(error.what, where=error.where, remedy=remedy) from error
    if wanted:
        refuse_shared_past(manifest, wanted[0])
    async with copied(folder, manifest) as (place, settings):
        graph_config: RunnableConfig = {"configurable": {"thread_id": manifest.run}}
        async with checkpoints_in(settings.checkpoints, place) as saver:
            states = await states_at(graph_for(settings, saver), graph_config, wanted, first=True)
        found = []
        for turn, snapshot in states.items():
            state = cast(Conversation, snapshot.values)  # as the graph's channels are declared
            for mind in participants(state).values():
                if not mind.get("human") and only in (None, mind["name"]):
                    found.append(await _with_mind(state, mind, turn, settings, question))
        return found


def refuse_shared_past(manifest: Manifest, turn: int) -> None:
    """Refuse a turn of which a branch keeps no state.

    Raises:
        InputError: the run is a branch that begins later.
    """
    if manifest.branch and turn < manifest.branch.turn:
        raise InputError(
            f"the run begins after utterance {manifest.branch.turn}; it shares what was before with "
            f"{manifest.branch.of}",
            where=f"run {manifest.run}",
            remedy=f"Ask {manifest.branch.of} there, or choose turn {manifest.branch.turn} or a later one.",
        )


def profile(persona: Persona) -> Standpoint:
    """Somebody outside of any conversation."""
    return Standpoint(persona.name, 0, (blocks.basic_information(persona, knowledge=True),))


async def _with_mind(state: Conversation, mind: Mind, turn: int, settings: Settings, question: str) -> Standpoint:
    """One agent with its mind; one that has not awoken recalls nothing."""
    run, name = state["simulation"], mind["name"]
    shown = []
    if mind["emotion"] or ((settings.cognition == "fixed" or settings.ablation) and mind["alive"]):
        recalled = await recall(
            settings,
            run,
            name,
            alive=mind["alive"],
            unsaved=mind["unsaved"],
            stm=mind["stm"],
            focal_points=[question],
            emotion=mind["emotion"] or EmotionalState().model_dump(),
            turn=turn,
        )
        found = await memories_of(settings, run, name, [one["id"] for one in recalled], mind["unsaved"])
        shown = blocks.within_budget([one for one in found if one.kind not in PINNED], settings.memory_tokens)
    step = in_step(mind, situation=situation_of(state, name, settings))
    return minded(step, shown, turn)


def minded(mind: Step, shown: Sequence[Memory], turn: int) -> Standpoint:
    """Somebody with a mind.

    Args:
        mind: with its situation.
        shown: recalled memories.
        turn: utterances so far.
    """
    common = common_blocks(mind, shown, knowledge=True)
    return Standpoint(mind["name"], turn, tuple(common[tag] for tag in _SHOWN))


@asynccontextmanager
async def copied(folder: Path, manifest: Manifest) -> AsyncIterator[tuple[Path, Settings]]:
    """A place that holds copies of a run's checkpoints and memories, and the settings with which to read them."""
    settings = settings_of(manifest, {})
    async with AsyncExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="persimchat-", ignore_cleanup_errors=True)))
        await asyncio.to_thread(_copy, folder, place)
        used = settings.model_copy(update={"store": store_of(settings, place)})
        await asyncio.to_thread(stack.enter_context, held_store(used.store))
        stack.callback(discard, manifest.run)
        yield place, used


def _copy(folder: Path, place: Path) -> None:
    """Copy checkpoints and memories while nobody works on the run."""
    try:
        with held(folder):
            for path in folder.glob(f"{CHECKPOINTS}*"):
                shutil.copy2(path, place / path.name)
            if (folder / MEMORIES).is_dir():
                shutil.copytree(folder / MEMORIES, place / MEMORIES)
    except OSError as error:
        raise MachineError.caused_by(error, "the run's memories cannot be copied", str(place)) from error


def _without_minds(record: Record, turns: Sequence[int]) -> list[Standpoint]:
    """The participants of a baseline."""
    manifest, last = record.manifest, record.utterances[-1].turn if record.utterances else 0
    scenario, settings = scenario_of(manifest, record.path), settings_of(manifest, {})
    for turn in turns:
        if turn > last:
            raise no_turn(turn, manifest.run, last)
    people = [persona for persona in scenario.participants if not persona.human]
    said = [
        cast(Utterance, one.model_dump(exclude_none=True))  # a line of the transcript has an utterance's fields
        for one in record.utterances
    ]
    return [listening(persona, scenario, settings, said, turn) for turn in turns for persona in people]


def listening(
    persona: Persona, scenario: Scenario, settings: Settings, said: Sequence[Utterance], turn: int
) -> Standpoint:
    """Somebody without a mind, in a baseline.

    Args:
        persona: who it is.
        scenario: of the conversation.
        settings: of the conversation.
        said: its utterances; those after the turn are left out.
        turn: utterances so far.
    """
    name = persona.name
    ties = scenario.relationships if settings.relationships else []
    seen = (Relationship.model_validate(tie).seen_by(name) for tie in ties if name in (tie.from_, tie.to))
    debate = {"format": settings.answer_format, "choices": settings.choices}
    situation: Situation = {
        "simulation": "",
        "topic": scenario.topic,
        "turn": turn,
        "max_messages": settings.max_messages,
        "present": [other.name for other in scenario.participants],
        "rules": list(scenario.rules),
        "relationships": [tie for tie in seen if tie is not None],
        "recent": [],
        "debate": debate if settings.mode == "debate" else None,
        "closing": False,
    }
    goals = scenario.goals_of(persona) if settings.social_goals else []
    heard = blocks.last_utterances(heard_by([one for one in said if one["turn"] <= turn], name), name).items
    return Standpoint(
        name,
        turn,
        (
            blocks.basic_information(persona, knowledge=True),
            blocks.relationships(situation),
            blocks.goals({"goals": list(goals)}),
            blocks.scene(situation, name),
            blocks.progress(situation),
            Block("transcript", heard),
        ),
    )


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
