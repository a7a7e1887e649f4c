"""Answering: the agent's words, checkpointed as soon as they are complete; their digest begins with the first one."""

from __future__ import annotations

from functools import partial
from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.config import get_stream_writer

from persimchat.graph.companion import ongoing
from persimchat.graph.companion.attending import pair_in
from persimchat.graph.companion.digesting import Digestion, key_of
from persimchat.graph.companion.lines import line, line_id
from persimchat.graph.companion.records import lock_of
from persimchat.graph.companion.scene import without_words
from persimchat.graph.companion.situation import step_of
from persimchat.nodes.conversing import answer as word_answer
from persimchat.nodes.conversing import why, with_recall
from persimchat.state.clock import moved
from persimchat.state.companion import Exchange, Occurrence
from persimchat.state.companion_state import CompanionState
from persimchat.state.day import activity_at
from persimchat.state.expression import label_of
from persimchat.state.settings import Settings
from persimchat.state.trust import walks_off


async def answer(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Word the answer to what was said, or to what happened.

    Raises:
        ModelError: there is no answer; the person's words stay in the transcript, unanswered.
    """
    pair = await pair_in(settings)
    records, place, agent = pair.records, pair.place, pair.agent
    settings = agent.recall.settings(settings)
    mind, tie = await records.pair(agent.name, pair.person)
    occurrence = state["occurrence"]
    assert mind is not None and tie is not None and tie.talk is not None and occurrence is not None
    at, id_ = occurrence["at"], occurrence["id"]
    messages: list[AnyMessage] = list(state["messages"])
    own = mind["companion"]
    tick = moved(own.get("tick", 0), own.get("last", at), at) + 1
    said = occurrence.get("text", "") if occurrence["kind"] == "message" else ""
    happened = state.get("noticed", []) if said else occurrence.get("happened", [])
    closing = bool(occurrence.get("closing"))
    talk = tie.talk.model_copy(update={"closing": closing})
    step = step_of(
        place, agent, mind, tie, talk, messages, settings,
        exchange=id_, at=at, tick=tick, activity=activity_at(own, at, tie.person), occurrence=occurrence,
        happened=happened,
    )  # fmt: skip
    if not said:
        step = without_words(step)
    label = label_of(mind["emotion"], own.get("label", "neutral"), settings.companion.emotion_floor)
    get_stream_writer()({"speaking": {"id": id_, "emotion": label, "trust": tie.trust}})
    digestion = Digestion(place, agent, settings)

    def begin_digest() -> None:
        # While another person's words are digested, the mind changes, and judgements of this one would be of no use.
        busy = lock_of(records.world, agent.name).locked()
        if said and not state.get("pending") and _overlaps(settings) and not busy:
            work = partial(digestion.judged, mind, tie, messages, new, tick)
            ongoing.begin(key_of(settings, agent.name, id_), own.get("version", 0), work)

    hostile_end = walks_off(tie)
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
        hostile_end=hostile_end,
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
