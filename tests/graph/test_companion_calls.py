"""The estimate of a companion's calls is what the graph makes with the offline model."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from companion_talks import FERRY, Talking

from persimchat.graph.companion.calls import calls
from persimchat.models.offline import OfflineChatModel
from persimchat.state.settings import Settings


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the offline model is asked, by task."""
    found: Counter[str] = Counter()
    own = OfflineChatModel.answer

    def counted(self: OfflineChatModel, messages: list[Any]) -> str:
        source = next(m.source for m in messages if getattr(m, "source", None) is not None)
        found[source.values["module_name"] if source.template == "parts" else source.template] += 1
        return own(self, messages)

    monkeypatch.setattr(OfflineChatModel, "answer", counted)
    return found


@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
async def test_talks_cost_what_is_foreseen(asked: Counter[str], cognition: str) -> None:
    world, settings = Talking(cognition=cognition), Settings(cognition=cognition)
    await world.say("My sister is called Mira.")
    assert asked == calls(settings, exchanges=1)
    await world.say("Goodbye!")
    assert asked == calls(settings, exchanges=2, ended=[2])
    for n in range(5):
        await world.say(f"I have {n + 2} dogs.")
    await world.come("end")
    await world.say("Hello.")
    for n in range(5):
        await world.say(f"I have {n + 2} cats.")
    await world.say("Goodbye!")
    assert asked == calls(settings, exchanges=14, ended=[2, 5, 7])


async def test_events_and_a_day_cost_what_is_foreseen(asked: Counter[str]) -> None:
    agent = FERRY.agents[0].model_copy(update={"lifestyle": "Up at 5, to bed at 22."})
    place = FERRY.model_copy(update={"agents": [agent]})
    world, settings = Talking(place), Settings(cognition="lean")
    stove = {"subject": "Lake:Stage:hut:stove", "object": "on fire"}
    found = await world.come("events", events=[stove])
    speaks = int(found["acted"] is not None)
    assert asked == calls(settings, batches=1, reactions=1, unasked=speaks)
    await world.come("events", events=[stove])
    assert asked == calls(settings, batches=1, reactions=1, unasked=speaks), "it is not new"
    asked.clear()
    await world.come("time")
    assert asked == calls(settings, days=1, entries=1)
