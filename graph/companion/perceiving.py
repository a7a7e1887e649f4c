"""Perceiving: events around an agent, what it makes of them, and whether it speaks because of them (design, 1.6).

No lock is held while a model is asked, so that words to the agent never wait for what happens beside them.
"""

from __future__ import annotations

from typing import Any, Final

from persimchat.graph.companion.attending import happenings_of, next_id, open_talk
from persimchat.graph.companion.records import lock_of
from persimchat.graph.companion.scene import Scene
from persimchat.nodes import events, reacting
from persimchat.nodes.companion_view import returned
from persimchat.nodes.conversing import with_recall
from persimchat.nodes.events import Event
from persimchat.nodes.remembering import remember_thoughts
from persimchat.nodes.saving import save_memories
from persimchat.state.companion import CompanionMind, Happening
from persimchat.state.companion_state import CompanionState
from persimchat.state.day import is_asleep
from persimchat.state.happenings import new_ones, seen_after, unnamed
from persimchat.state.mind import Mind, Step, in_step
from persimchat.state.settings import Settings

NOTICED: Final = 5
"""The most events perceived since the agent last spoke that its next words know of; the last ones."""


async def rate_events(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Rate and remember the events that are new to the agent; all in the world may hear of these memories."""
    scene = await Scene.of(state, settings)
    found = [_told(one, scene) for one in happenings_of(scene.occurrence)]
    new = new_ones(found, scene.mind["companion"].get("seen", []), settings.companion.retention, scene.agent.name)
    if not new:
        return {"perceived": []}
    rated, update = await events.rate_events(scene.step(), settings, new)
    async with lock_of(scene.records.world, scene.agent.name):
        scene = await Scene.of(state, settings)
        step = in_step(scene.step(), arriving=update["arriving"])
        after = in_step(step, **await remember_thoughts(step, settings))
        after = in_step(after, **await save_memories(after, settings))
        changed = returned(scene.mind, step, after, settings.ltm_capacity)
        await scene.records.keep(scene.agent.name, mind=_noted(changed, scene, rated, settings))
    perceived = [
        {"happening": one.happening.model_dump(), "sentence": one.sentence, "importance": one.importance}
        for one in rated
    ]
    noticed = [*state.get("noticed", []), *(one.sentence for one in rated)]
    return {"perceived": perceived, "noticed": noticed[-NOTICED:]}


def _told(happening: Happening, scene: Scene) -> Happening:
    """The event as the agent perceives it, which does not know the name of a person who is not introduced."""
    return happening if scene.tie.introduced else unnamed(happening, scene.tie.name, scene.name_shown)


def _noted(mind: Mind, scene: Scene, rated: list[Event], settings: Settings) -> Mind:
    """The mind with its clock moved, and with what it has seen."""
    own = mind["companion"]
    new = [one.happening for one in rated]
    now: CompanionMind = {
        **own,
        "tick": scene.tick,
        "last": max(own.get("last", ""), scene.at),
        "seen": seen_after(own.get("seen", []), new, settings.companion.retention),
        "since_reflection": own.get("since_reflection", 0) + sum(one.importance for one in rated),
    }
    return {**mind, "companion": now}


async def react(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Let the agent speak because of an event, if it may and wants to."""
    scene = await Scene.of(state, settings)
    own, tie, tick = scene.mind["companion"], scene.tie, scene.mind["companion"].get("tick", 0)
    asleep = is_asleep(own, scene.at)
    least = reacting.least_importance(tie, settings, tick=tick, at=scene.at, asleep=asleep)
    perceived = [
        Event(Happening.model_validate(one["happening"]), one["sentence"], one["importance"])
        for one in state.get("perceived", [])
    ]
    if least is None or not scene.occurrence.get("unasked", True):
        return {}
    event = reacting.focused(perceived, least, settings.seed, tick)
    if event is None:
        return {}
    step: Step = await with_recall(scene.step(happened=[event.sentence]), settings)
    reaction, _ = await reacting.react(step, settings, event, in_talk=tie.talk is not None)
    if reaction is None:
        return {}
    async with lock_of(scene.records.world, scene.agent.name):
        scene = await Scene.of(state, settings)
        talk = open_talk(scene.tie, settings, scene.at)
        await scene.records.keep(scene.agent.name, tie=scene.tie.model_copy(update={"talk": talk}))
    return {
        "acted": {"kind": reaction.react, "about": reaction.words_about or event.sentence},
        "occurrence": {
            **scene.occurrence,
            "id": scene.occurrence.get("id") or next_id(state, settings),
            "happened": [event.sentence],
            "closing": False,
        },
        "speaks": True,
    }
