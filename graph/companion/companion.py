"""Answering: the agent's words, checkpointed as soon as they are complete; their digest begins with the first one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, cast

from langchain_core.messages import AnyMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Checkpointer

from ...nodes.companion import day_planning, events
from ...nodes.companion.conversing import answer as word_answer
from ...nodes.companion.conversing import why, with_recall
from ...nodes.companion.events import Event
from ...nodes.companion.view import returned
from ...nodes.minds.remembering import remember_thoughts, save_memories
from ...state.companion import CompanionMind, Exchange, Happening, Occurrence, label_of
from ...state.companion.day import activity_at, entry_at, is_asleep, may_hear, needs_plan
from ...state.companion.events import new_ones, seen_after, unnamed
from ...state.companion.state import CompanionInput, CompanionOutput, CompanionState
from ...state.companion.trust import walks_off
from ...state.minds.mind import Step, in_step
from ...state.settings import Settings
from ..context import Context
from ..node import TRANSIENT, module_node, route
from . import digesting, ongoing
from .attending import attend, happenings_of, next_id, open_talk
from .consolidating import look_back
from .records import lock_of
from .scene import Scene, line, line_id, name_shown, without_words


async def answer(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Word the answer to what was said, or to what happened.

    Raises:
        ModelError: there is no answer; the person's words stay in the transcript, unanswered.
    """
    scene, occurrence = await Scene.of(settings), state["occurrence"]
    settings, mind, tie = scene.settings, scene.mind, scene.tie
    assert tie.talk is not None and occurrence is not None
    at, id_, own = occurrence["at"], occurrence["id"], mind["companion"]
    messages: list[AnyMessage] = list(state["messages"])
    tick = scene.tick(at)
    said = occurrence.get("text", "") if occurrence["kind"] == "message" else ""
    happened = state.get("noticed", []) if said else occurrence.get("happened", [])
    closing = bool(occurrence.get("closing"))
    step = scene.step(
        tie.talk.model_copy(update={"closing": closing}),
        messages,
        exchange=id_,
        at=at,
        tick=tick,
        activity=activity_at(own, at, tie.person),
        occurrence=occurrence,
        happened=happened,
    )
    if not said:
        step = without_words(step)
    label = label_of(mind["emotion"], own.get("label", "neutral"), settings.companion.emotion_floor)
    get_stream_writer()({"speaking": {"id": id_, "emotion": label, "trust": tie.trust}})

    def begin_digest() -> None:
        # While another person's words are digested, the mind changes, and judgements of this one would be of no use.
        busy = lock_of(scene.records.world, scene.agent.name).locked()
        if said and not state.get("pending") and _overlaps(settings) and not busy:
            work = partial(digesting.judged, scene, messages, new, tick)
            ongoing.begin(digesting.key_of(scene, id_), own.get("version", 0), work)

    new: Exchange = {
        "id": id_,
        "talk": tie.talk.id,
        "turn": tick,
        "at": at,
        "said": said,
        "utterance": "",
        "emotion": label,
        "trust": tie.trust,
        "end": bool(said) and closing,
        "appraised": False,
    }
    if happened and not said:
        new["events"] = list(happened)
    step = await with_recall(step, settings)
    words, _ = await word_answer(
        step,
        settings,
        label=label,
        message_id=line_id(id_, own=True),
        closing=closing,
        hostile_end=walks_off(tie),
        begun=begin_digest,
        sampling=_sampling(occurrence, settings),
    )
    get_stream_writer()({"why": await why(step, settings)})
    new["utterance"] = words
    n = state.get("lines", 0) + 1
    return {
        "messages": [line(words, own=True, exchange=id_, talk=tie.talk.id, at=at, n=n)],
        "lines": n,
        "pending": [*state.get("pending", []), new],
        "number": state.get("number", 0) + 1,
        "noticed": [],
        "answer": new,
    }


def _sampling(occurrence: Occurrence, settings: Settings) -> dict[str, Any]:
    """How this answer is drawn, where it is not as the settings say. A client for each seed would pile up."""
    found: dict[str, Any] = {}
    if "seed" in occurrence:
        found["seed"] = settings.seed + occurrence["seed"]
    if "temperature" in occurrence:
        found["temperature"] = occurrence["temperature"]
    return found


def _overlaps(settings: Settings) -> bool:
    """Whether the judgements begin while the words still come."""
    match settings.companion.overlap:
        case "auto":
            return settings.concurrent and settings.max_concurrency > 1
        case choice:
            return choice == "on"


# Perceiving: events around an agent, what it makes of them, and whether it speaks because of them


NOTICED: Final = 5
"""The most events perceived since the agent last spoke that its next words know of; the last ones."""


async def rate_events(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Rate and remember the events that are new to the agent; all in the world may hear of these memories."""
    scene, occurrence = await Scene.of(settings), _given(state)
    settings, retention, tie = scene.settings, settings.companion.retention, scene.tie
    found = happenings_of(occurrence)
    if not tie.introduced:  # the agent does not know the name
        found = [unnamed(one, tie.name, name_shown(tie)) for one in found]
    new = new_ones(found, scene.mind["companion"].get("seen", []), retention, scene.agent.name)
    if not new:
        return {"perceived": []}
    rated, update = await events.rate_events(scene.unheard(state, occurrence), settings, new)
    async with scene.held() as scene:
        step = in_step(scene.unheard(state, occurrence), arriving=update["arriving"])
        after = in_step(step, **await remember_thoughts(step, settings))
        after = in_step(after, **await save_memories(after, settings))
        mind = returned(scene.mind, step, after, settings.ltm_capacity)
        own, at = mind["companion"], occurrence["at"]
        now: CompanionMind = {
            **own,
            "tick": scene.tick(at),
            "last": max(own.get("last", ""), at),
            "seen": seen_after(own.get("seen", []), [one.happening for one in rated], retention),
            "since_reflection": own.get("since_reflection", 0) + sum(one.importance for one in rated),
        }
        await scene.keep(mind={**mind, "companion": now})
    perceived = [
        {"happening": one.happening.model_dump(), "sentence": one.sentence, "importance": one.importance}
        for one in rated
    ]
    noticed = [*state.get("noticed", []), *(one.sentence for one in rated)]
    return {"perceived": perceived, "noticed": noticed[-NOTICED:]}


def _given(state: CompanionState) -> Occurrence:
    return cast(Occurrence, state["occurrence"])


async def react(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Let the agent speak because of an event, if it may and wants to."""
    scene, occurrence = await Scene.of(settings), _given(state)
    settings, own, at = scene.settings, scene.mind["companion"], occurrence["at"]
    tick = own.get("tick", 0)
    least = events.least_importance(scene.tie, settings, tick=tick, at=at, asleep=is_asleep(own, at))
    perceived = [
        Event(Happening.model_validate(one["happening"]), one["sentence"], one["importance"])
        for one in state.get("perceived", [])
    ]
    if least is None or not occurrence.get("unasked", True):
        return {}
    event = events.focused(perceived, least, settings.seed, tick)
    if event is None:
        return {}
    step: Step = await with_recall(scene.unheard(state, occurrence, [event.sentence]), settings)
    reaction, _ = await events.react(step, settings, event, in_talk=scene.tie.talk is not None)
    if reaction is None:
        return {}
    async with scene.held() as scene:
        talk = open_talk(scene.tie, settings, at)
        await scene.keep(tie=scene.tie.model_copy(update={"talk": talk}))
    id_ = occurrence.get("id") or next_id(state, settings)
    return {
        "acted": {"kind": reaction.react, "about": reaction.words_about or event.sentence},
        "occurrence": {**occurrence, "id": id_, "happened": [event.sentence], "closing": False},
        "speaks": True,
    }


# Planning: the agent's day at its first occurrence, and the parts of each entry that begins; never before an answer


async def plan_day(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Make the plan of a new day, and divide the entry that has begun."""
    scene, occurrence = await Scene.of(settings), _given(state)
    settings, at, place, agent = scene.settings, occurrence["at"], scene.place, scene.agent
    if needs_plan(scene.mind["companion"], at) and day_planning.has_days(place, agent):
        home = place.home(agent)
        places = sorted(place.known_to(agent), key=lambda one: one != home)  # home first
        step = scene.unheard(state, occurrence)
        planning = partial(day_planning.plan_day, step, settings, agent, places, home)
        made, _ = await _asked_once(scene, f"day {at[:10]} with {scene.tie.person}", planning)
        # The agent may have planned its day beside another person in the meantime.
        scene = await _kept(scene, lambda own: {**own, **made} if needs_plan(own, at) else own)
    entry = entry_at(scene.mind["companion"], at)
    if entry is not None and may_hear(entry, scene.tie.person) and day_planning.worth_chunks(entry):
        dividing = partial(day_planning.chunk_entry, scene.unheard(state, occurrence), settings, entry)
        about = f"entry {scene.mind['companion']['day']} {entry['start']} {entry['activity']}"
        divided, _ = await _asked_once(scene, about, dividing)
        await _kept(scene, lambda own: {**own, "plan": [divided if one == entry else one for one in own["plan"]]})
    return {}


async def _asked_once(scene: Scene, about: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """The result of work that goes on if this step is stopped."""
    key = f"{scene.records.world}/{scene.agent.name}/{about}"
    if not ongoing.is_begun(key):
        ongoing.begin(key, 0, work)
    return await ongoing.taken(key, 0)


async def _kept(scene: Scene, change: Callable[[CompanionMind], CompanionMind]) -> Scene:
    """The scene after a change of the mind is written."""
    async with scene.held() as scene:
        await scene.keep(mind={**scene.mind, "companion": change(scene.mind["companion"])})
    return await scene.again()


# The companion's graph: attend ─▶ answer ─▶ digest ─▶ look_back, one run for each occurrence


COMPANION: Final[dict[str, Any]] = {
    "cognition": "lean",
    "ltm_capacity": 2_000,
    "weights": {"recency": 0.5, "importance": 1.0, "relevance": 3.0, "emotional": 0.5, "stm_relevance": 0.5},
}
"""The settings of companions that differ from those of conversations.

With equal weights, what was said last outweighs what is asked for: of 20 talks, no told fact was among the first 30
memories recalled; with these weights, all were among the first 10 (`persimchat companion measure`).
"""


def companion_graph(
    checkpointer: Checkpointer = None, store: BaseStore | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled companion, for `invoke`, `ainvoke`, `stream` and `astream`.

    Who talks with whom is in the settings `companion.world`, `companion.agent` and `companion.person`.

    Args:
        checkpointer: keeps the threads; without one, a talk has no transcript.
        store: keeps places, minds and ties; None: this process only. LangGraph's server gives its own.
    """
    return _builder().compile(checkpointer, store=InMemoryStore() if store is None else store, name="companion")


def studio_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled companion for LangGraph's server, which gives it checkpointer and store."""
    return _builder().compile(name="companion")


def _builder() -> StateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        CompanionState, context_schema=Context, input_schema=CompanionInput, output_schema=CompanionOutput
    )
    for node in (attend, plan_day, rate_events, react, answer, digesting.digest, look_back):
        again = TRANSIENT if node is answer else None
        builder.add_node(node.__name__, module_node(node), retry_policy=again)
    builder.add_edge(START, "attend")
    builder.add_conditional_edges("attend", route(has_attended), ["answer", "rate_events", "plan_day", "digest"])
    builder.add_conditional_edges("rate_events", route(has_perceived), ["react", "digest"])
    builder.add_conditional_edges("react", route(has_reacted), ["answer", "digest"])
    builder.add_edge("plan_day", "digest")
    builder.add_edge("answer", "digest")
    builder.add_edge("digest", "look_back")
    builder.add_edge("look_back", END)
    return builder


def has_attended(state: CompanionState) -> str:
    """Route: somebody waits for words; something happens, or time has passed; or neither."""
    if state.get("speaks"):
        return "answer"
    given = state.get("occurrence")
    kind = given["kind"] if given is not None else ""
    return {"events": "rate_events", "time": "plan_day"}.get(kind, "digest")


def has_perceived(state: CompanionState) -> str:
    """Route: something is new, or nothing is."""
    return "react" if state.get("perceived") else "digest"


def has_reacted(state: CompanionState) -> str:
    """Route: the agent speaks unasked, or does not."""
    return "answer" if state.get("speaks") else "digest"
