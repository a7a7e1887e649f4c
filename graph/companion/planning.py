"""Planning: the agent's day at its first occurrence, and the parts of each entry that begins; never before an answer.

No lock is held while a model is asked. Words to the agent stop this step, but not what it has asked: the next
occurrence takes the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from persimchat.graph.companion import ongoing
from persimchat.graph.companion.records import lock_of
from persimchat.graph.companion.scene import Scene
from persimchat.nodes import day_planning
from persimchat.state.companion import CompanionMind
from persimchat.state.companion_state import CompanionState
from persimchat.state.day import entry_at, may_hear, needs_plan
from persimchat.state.settings import Settings


async def plan_day(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Make the plan of a new day, and divide the entry that has begun."""
    scene = await Scene.of(state, settings)
    at = scene.at
    place, agent = scene.place, scene.agent
    if needs_plan(scene.mind["companion"], at) and day_planning.has_days(place, agent):
        home = place.home(agent)
        places = sorted(place.known_to(agent), key=lambda one: one != home)  # home first
        planning = partial(day_planning.plan_day, scene.step(), settings, agent, places, home)
        made, _ = await _asked_once(scene, f"day {at[:10]} with {scene.tie.person}", planning)
        # The agent may have planned its day beside another person in the meantime.
        scene = await _kept(state, settings, lambda own: {**own, **made} if needs_plan(own, at) else own)
    entry = entry_at(scene.mind["companion"], at)
    if entry is not None and may_hear(entry, scene.tie.person) and day_planning.worth_chunks(entry):
        dividing = partial(day_planning.chunk_entry, scene.step(), settings, entry)
        about = f"entry {scene.mind['companion']['day']} {entry['start']} {entry['activity']}"
        divided, _ = await _asked_once(scene, about, dividing)
        await _kept(
            state, settings, lambda own: {**own, "plan": [divided if one == entry else one for one in own["plan"]]}
        )
    return {}


async def _asked_once(scene: Scene, about: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """The result of work that goes on if this step is stopped."""
    key = f"{scene.records.world}/{scene.agent.name}/{about}"
    if not ongoing.is_begun(key):
        ongoing.begin(key, 0, work)
    return await ongoing.taken(key, 0)


async def _kept(state: CompanionState, settings: Settings, change: Callable[[CompanionMind], CompanionMind]) -> Scene:
    """The scene after a change of the mind is written."""
    scene = await Scene.of(state, settings)
    async with lock_of(scene.records.world, scene.agent.name):
        scene = await Scene.of(state, settings)
        own = change(scene.mind["companion"])
        await scene.records.keep(scene.agent.name, mind={**scene.mind, "companion": own})
    return await Scene.of(state, settings)
