"""Planning: the agent's day at its first occurrence, and the parts of each entry that begins; never before an answer.

No lock is held while a model is asked.
"""

from __future__ import annotations

from typing import Any

from persimchat.graph.companion.records import lock_of
from persimchat.graph.companion.scene import Scene
from persimchat.nodes import day_planning
from persimchat.state.companion import CompanionMind
from persimchat.state.companion_state import CompanionState
from persimchat.state.day import entry_at, needs_plan
from persimchat.state.settings import Settings


async def plan_day(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Make the plan of a new day, and divide the entry that has begun."""
    scene = await Scene.of(state, settings)
    if needs_plan(scene.mind["companion"], scene.at):
        place, agent = scene.place, scene.agent
        made, _ = await day_planning.plan_day(scene.step(), settings, agent, place.known_to(agent), place.home(agent))
        scene = await _kept(state, settings, made)
    own = scene.mind["companion"]
    entry = entry_at(own, scene.at)
    if entry is not None and day_planning.worth_chunks(entry):
        divided, _ = await day_planning.chunk_entry(scene.step(), settings, entry)
        plan = [divided if one == entry else one for one in own["plan"]]
        await _kept(state, settings, {"plan": plan})
    return {}


async def _kept(state: CompanionState, settings: Settings, changes: CompanionMind) -> Scene:
    """The scene after these changes of the mind are written."""
    async with lock_of(settings.companion.world, (await Scene.of(state, settings)).agent.name):
        scene = await Scene.of(state, settings)
        own: CompanionMind = {**scene.mind["companion"], **changes}
        await scene.records.keep(scene.agent.name, mind={**scene.mind, "companion": own})
    return await Scene.of(state, settings)
