"""What happens around a companion in an open world: planned events, states of objects, days."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY, Scripted

from persimchat.runs.companion.budget import DayLedger
from persimchat.runs.companion.events import Acted, Answered, Event
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import opened_world
from persimchat.runs.companion.worldfile import companion_settings
from persimchat.state.companion import Happening
from persimchat.state.place import Clock, Place, Planned

SMOKE = Planned(at="11:50", change={"Stage/hut/stove": "smoking"}, importance=6)
HORN = Planned(at="12:00", say="A horn sounds.", importance=2, once=True)
FERRY_AT_TEN = FERRY.model_copy(update={"clock": Clock(mode="game", start="2025-03-03 10:00"), "events": [SMOKE, HORN]})


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    return Scripted().install(monkeypatch)


@asynccontextmanager
async def oda(folder: Path) -> AsyncIterator[Companion]:
    settings = companion_settings(FERRY_AT_TEN, environment={}, **{"companion.overlap": "off"})
    async with opened_world(folder, FERRY_AT_TEN, settings) as world:
        yield await world.companion("Oda", "Petr")


async def heard(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def tasks(model: Scripted) -> list[str]:
    return [task for task, _ in model.asked]


async def seen(companion: Companion) -> list[dict[str, Any]]:
    mind = await companion.world.mind("Oda")
    return list(mind["companion"]["seen"]) if mind else []


async def test_planned_events_happen_when_their_time_passes(tmp_path: Path, model: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        await companion.pass_time()
        assert tasks(model) == ["day_plan", "chunks"] and await seen(companion) == []
        companion.world.set_time("2025-03-03 11:55")
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking"]
        place = await companion.world.records.place()
        assert place is not None and place.places["Stage"]["hut"]["stove"] == "smoking"
        (told,) = await companion.exchanges()
        assert (told["said"], told["events"]) == ("", ["stove is smoking"])
        await heard(companion.say("What is the matter?"))
        assert "- stove: smoking" in model.prompts("companion")[-1]
        companion.world.set_time("2025-03-03 12:01")
        await companion.pass_time()
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking", "A horn sounds."]


async def test_planned_events_happen_behind_an_answer(tmp_path: Path, model: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        await heard(companion.say("Hello."))
        companion.world.set_time("2025-03-03 11:52")
        await heard(companion.say("Hello again."))
        await companion.settled()
        assert [one["object"] for one in await seen(companion)] == ["smoking"]


async def test_what_a_closed_world_missed_does_not_happen(tmp_path: Path, model: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        companion.world.set_time("2025-03-03 12:30")
    async with oda(tmp_path / "w") as companion:
        await companion.pass_time()
        assert await seen(companion) == []
        companion.world.set_time("2025-03-04 12:30")
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking", "A horn sounds."]
    async with oda(tmp_path / "w") as companion:
        await heard(companion.happen([Happening(subject="Lake:Stage:hut:stove", object="lit", importance=1)]))
        companion.world.set_time("2025-03-05 12:30")
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking", "A horn sounds.", "lit"], (
            "it smokes again, which is not new; the horn sounds once"
        )


async def test_a_client_says_what_happens(tmp_path: Path, model: Scripted) -> None:
    cold = Happening(subject="lake:stage:hut:STOVE", object="cold")
    async with oda(tmp_path / "w") as companion:
        assert await heard(companion.happen([Happening(subject="Lake:Stage:hut:stove", object="lit")])) == []
        assert model.asked == [], "it was lit before"
        events = await heard(companion.happen([cold]))
        await companion.settled()
        assert [event.kind for event in events if isinstance(event, Acted)] == ["start_talk"]
        assert [event.said for event in events if isinstance(event, Answered)] == ["", ""]
        place = await companion.world.records.place()
        assert place is not None and place.places["Stage"]["hut"]["stove"] == "cold"
        assert tasks(model) == ["events", "reacting", "companion", "day_plan", "chunks"]


async def test_each_agent_learns_of_what_has_changed(tmp_path: Path, model: Scripted) -> None:
    other = {"persona": {"name": "Tomasz Wrona", "description": "Sells tea."}, "at": "Stage/hut"}
    place = Place.model_validate({**FERRY_AT_TEN.model_dump(), "agents": [*FERRY_AT_TEN.agents, other]})
    cold = Happening(subject="Lake:Stage:hut:stove", object="cold", importance=0)
    async with opened_world(tmp_path / "w", place, companion_settings(place, environment={})) as world:
        for name in ("Oda", "Tomasz"):
            await heard((await world.companion(name, "Petr")).happen([cold]))
            mind = await world.mind(name)
            assert mind is not None and [one["object"] for one in mind["companion"]["seen"]] == ["cold"]


async def test_nobody_speaks_unasked_when_little_is_left_of_the_days_requests(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DayLedger, "may_speak_unasked", lambda *_: False)
    async with oda(tmp_path / "w") as companion:
        cold = Happening(subject="Lake:Stage:hut:stove", object="cold")
        assert await heard(companion.happen([cold])) == []
        assert len(await seen(companion)) == 1 and "reacting" not in tasks(model)


async def test_a_day_is_planned_behind_the_first_answer(tmp_path: Path, model: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        await heard(companion.say("Hello."))
        await companion.settled()
        assert tasks(model) == ["companion", "reaction", "day_plan", "chunks"]
        await heard(companion.say("What are you doing?"))
        assert "- I am doing: sell tickets, part 1" in model.prompts("companion")[-1]
        await companion.settled()
        assert tasks(model)[4:] == ["companion", "reaction"]


async def test_words_do_not_wait_for_a_plan_and_find_it_later(tmp_path: Path, model: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        for number in range(3):
            await heard(companion.say(f"Words number {number}."))
        await companion.settled()
        assert tasks(model).count("day_plan") == 1 and tasks(model).count("companion") == 3
        mind = await companion.world.mind("Oda")
        assert mind is not None and mind["companion"]["day"] == "2025-03-03"
