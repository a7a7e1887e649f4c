"""The session of a companion: events, order, surroundings, and that no exchange is lost or twice there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY, Scripted
from companion_worlds import kept_in

import persimchat
from persimchat.graph.companion import digesting
from persimchat.runs.companion.api import companion
from persimchat.runs.companion.events import Acted, Answered, Event, Sentence, Speaking, TalkOver, Token
from persimchat.runs.companion.folder import companion_settings
from persimchat.runs.companion.requests import DayLedger
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import opened_world
from persimchat.state.companion import Happening
from persimchat.state.companion.place import Clock, Place, Planned
from persimchat.state.errors import InputError, ModelError


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    return Scripted().install(monkeypatch)


@asynccontextmanager
async def oda(folder: Path, person: str = "Petr", place: Place = FERRY) -> AsyncIterator[Companion]:
    settings = companion_settings(place, environment={}, **{"companion.overlap": "off"})
    async with opened_world(folder, place, settings) as world:
        yield await world.companion("Oda", person)


async def heard(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def held_up(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Have digests wait until this happens."""
    Scripted().install(monkeypatch)
    release, judged = asyncio.Event(), digesting.judged

    async def slow(*given: Any) -> Any:
        await release.wait()
        return await judged(*given)

    monkeypatch.setattr(digesting, "judged", slow)
    return release


def lines(folder: Path) -> list[dict[str, Any]]:
    return kept_in(folder, "exchange")


async def test_words_come_first_then_the_answer_then_its_appraisal(tmp_path: Path, script: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        events = await heard(companion.say("Hello there."))
    assert isinstance(events[0], Speaking) and events[0].trust == 5
    tokens = [event.text for event in events if isinstance(event, Token)]
    sentences = [event for event in events if isinstance(event, Sentence)]
    first, last = [event for event in events if isinstance(event, Answered)]
    assert "".join(tokens) == first.utterance == " ".join(one.text for one in sentences)
    assert [one.last for one in sentences] == [False] * (len(sentences) - 1) + [True]
    assert (first.appraised, first.trust, last.appraised, last.trust) == (False, 5, True, 6)
    assert {event.id for event in events} == {first.id}
    (line,) = lines(tmp_path / "w")
    assert line["id"] == first.id and line["appraised"] and line["agent"] == "Oda Brandvik"


async def test_a_caller_may_stop_reading_at_the_answer(tmp_path: Path, script: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        async for event in companion.say("Hello."):
            if isinstance(event, Answered):
                break
        await companion.settled()
        assert [one["appraised"] for one in await companion.exchanges()] == [True]


@pytest.mark.proof
async def test_the_same_id_is_answered_once(tmp_path: Path, script: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        both = await asyncio.gather(heard(companion.say("Hello.", id="a")), heard(companion.say("Hello.", id="a")))
        assert both[0] == both[1]
        again = await heard(companion.say("Hello.", id="a"))
    assert again == [both[0][-1]]
    async with oda(tmp_path / "w") as companion:
        assert await heard(companion.say("Hello.", id="a")) == again
    assert len(lines(tmp_path / "w")) == len(script.prompts("companion")) == 1


@pytest.mark.parametrize("text", ["", "  \n", "\x00\x1b[2J", "x" * 8_001])
async def test_words_that_are_none_are_refused(tmp_path: Path, script: Scripted, text: str) -> None:
    async with oda(tmp_path / "w") as companion:
        with pytest.raises(InputError, match="message"):
            await heard(companion.say(text))
        assert await companion.exchanges() == [] and await companion.tie() is None
    assert not script.asked


@pytest.mark.proof
async def test_a_message_does_not_wait_for_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = held_up(monkeypatch)
    async with oda(tmp_path / "w") as companion:
        reading = asyncio.create_task(heard(companion.say("One.", id="1")))
        await asyncio.sleep(0)
        for number in ("2", "3"):
            async for event in companion.say(f"Number {number}.", id=number):
                if isinstance(event, Answered):
                    break
        assert [one["id"] for one in companion.pending] == ["1", "2", "3"] and not reading.done()
        release.set()
        await companion.settled()
        last = (await reading)[-1]
        assert isinstance(last, Answered) and last.appraised and last.id == "1"
        assert companion.pending == []
    assert [(line["id"], line["appraised"]) for line in lines(tmp_path / "w")] == [
        ("1", True),
        ("2", True),
        ("3", True),
    ]


@pytest.mark.proof
async def test_a_message_does_not_wait_for_another_persons_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = held_up(monkeypatch)
    async with opened_world(tmp_path / "w", FERRY) as world:
        pairs = [await world.companion("Oda", name) for name in ("Petr", "Eva", "Ana")]
        for pair in pairs:
            async with asyncio.timeout(60):
                async for event in pair.say(f"Hello from {pair.person}."):
                    if isinstance(event, Answered):
                        break
        assert [len(pair.pending) for pair in pairs] == [1, 1, 1]
        release.set()
        await world.settled()
        assert (mind := await world.mind("Oda")) is not None and len(mind["companion"]["digested"]) == 3
        assert [tie.trust for tie in await world.records.ties("Oda Brandvik")] == [6, 6, 6]


async def test_with_four_undigested_a_message_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held_up(monkeypatch)
    monkeypatch.setattr("persimchat.runs.companion.session.PATIENCE_S", 0.05)
    async with opened_world(tmp_path / "w", FERRY) as world:
        companion = await world.companion("Oda", "Petr")
        waited = []
        for number in range(5):
            began = asyncio.get_running_loop().time()
            async for event in companion.say(f"Number {number}."):
                if isinstance(event, Answered):
                    break
            waited.append(asyncio.get_running_loop().time() - began)
        assert waited[4] >= 0.05 and len(companion.pending) == 5
        await companion.stop()


async def test_after_a_failed_answer_the_next_message_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = [True]

    def words(_: Any) -> str:
        if failing:
            failing.pop()
            raise ModelError("it is down", model="offline")
        return "Back again."

    script = Scripted(companion=words).install(monkeypatch)
    async with oda(tmp_path / "w") as companion:
        with pytest.raises(ModelError, match="it is down"):
            await heard(companion.say("Is anybody there?"))
        events = await heard(companion.say("Hello?"))
        assert [event for event in events if isinstance(event, Answered)][-1].utterance == "Back again."
    assert "Is anybody there?" in script.prompts("companion")[-1]
    assert len(lines(tmp_path / "w")) == 1


async def test_the_end_of_a_talk_is_told_and_kept(tmp_path: Path, script: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        await heard(companion.say("Hello."))
        over = await heard(companion.end())
        assert [type(event) for event in over] == [TalkOver] and over[0].summary == "We talked."
        assert (tie := await companion.tie()) is not None and tie.talks == 1 and tie.talk is None
        assert await heard(companion.end()) == []


async def test_a_goodbye_ends_the_talk(tmp_path: Path, script: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        events = await heard(companion.say("Goodbye!"))
    assert isinstance(events[-1], TalkOver)
    assert [event.end for event in events if isinstance(event, Answered)] == [True, True]


@pytest.mark.proof
async def test_the_last_exchange_is_taken_back(tmp_path: Path, script: Scripted) -> None:
    async with oda(tmp_path / "w") as companion:
        assert not await companion.retract()
        await heard(companion.say("One.", id="1"))
        await heard(companion.say("Two.", id="2"))
        assert await companion.retract()
        assert [one["id"] for one in await companion.exchanges()] == ["1"]
        assert (tie := await companion.tie()) is not None and tie.trust == 6
    assert [line["id"] for line in lines(tmp_path / "w")] == ["1", "2"]
    assert [one["id"] for one in kept_in(tmp_path / "w", "retracted")] == ["2"]


@pytest.mark.proof
async def test_pairs_talk_at_once(tmp_path: Path, script: Scripted) -> None:
    async with opened_world(tmp_path / "w", FERRY) as world:
        people = [f"Person {n}" for n in range(8)]
        pairs = await asyncio.gather(*(world.companion("Oda", name) for name in people))
        await asyncio.gather(*(heard(pair.say(f"Hello from {pair.person}.")) for pair in pairs))
        assert [one["name"] for one in await world.people()] == people
        assert (mind := await world.mind("Oda")) is not None and len(mind["companion"]["digested"]) == 8
        for pair in pairs:
            (exchange,) = await pair.exchanges()
            assert exchange["said"] == f"Hello from {pair.person}."
    assert len(lines(tmp_path / "w")) == 8


@pytest.mark.proof
async def test_what_is_not_digested_is_digested_at_the_next_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = held_up(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        async with oda(tmp_path / "w") as companion:
            async for event in companion.say("Goodbye!", id="1"):
                if isinstance(event, Answered):
                    raise KeyboardInterrupt
    assert lines(tmp_path / "w") == []
    release.set()
    async with opened_world(tmp_path / "w") as world:
        companion = await world.companion("Oda", "Petr")
        await companion.settled()
        assert (tie := await companion.tie()) is not None and (tie.trust, tie.talks, tie.over) == (6, 1, [])
    assert [line["id"] for line in lines(tmp_path / "w")] == ["1"]


async def test_the_session_of_a_pair_is_one(tmp_path: Path, script: Scripted) -> None:
    async with opened_world(tmp_path / "w", FERRY) as world:
        assert await world.companion("Oda", "Petr") is await world.companion("brandvik", "PETR")
        with pytest.raises(InputError, match="no agent"):
            await world.companion("Otto", "Petr")
        with pytest.raises(InputError, match="name is empty"):
            await world.companion("Oda", "\x00")


@pytest.mark.proof
async def test_silence_ends_a_talk_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Scripted) -> None:
    monkeypatch.setattr("persimchat.runs.companion.world.WATCH_S", 0.01)
    settings = companion_settings(FERRY, environment={}, **{"companion.silence_minutes": 1e-6})
    async with opened_world(tmp_path / "w", FERRY, settings) as world:
        companion = await world.companion("Oda", "Petr")
        await heard(companion.say("Hello."))
        async with asyncio.timeout(60):
            while (tie := await companion.tie()) is None or tie.talks == 0:
                await asyncio.sleep(0.02)
        assert tie.talk is None and tie.summary == "We talked."


SMOKE = Planned(at="11:50", change={"Stage/hut/stove": "smoking"}, importance=6)
HORN = Planned(at="12:00", say="A horn sounds.", importance=2, once=True)
FERRY_AT_TEN = FERRY.model_copy(update={"clock": Clock(mode="game", start="2025-03-03 10:00"), "events": [SMOKE, HORN]})


def oda_at_ten(folder: Path) -> AbstractAsyncContextManager[Companion]:
    return oda(folder, place=FERRY_AT_TEN)


def tasks(script: Scripted) -> list[str]:
    return [task for task, _ in script.asked]


async def seen(companion: Companion) -> list[dict[str, Any]]:
    mind = await companion.world.mind("Oda")
    return list(mind["companion"]["seen"]) if mind else []


@pytest.mark.proof
async def test_planned_events_happen_when_their_time_passes(tmp_path: Path, script: Scripted) -> None:
    async with oda_at_ten(tmp_path / "w") as companion:
        await companion.pass_time()
        assert tasks(script) == ["day_plan", "chunks"] and await seen(companion) == []
        await companion.world.set_time("2025-03-03 11:55")
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking"]
        place = await companion.world.records.place()
        assert place is not None and place.places["Stage"]["hut"]["stove"] == "smoking"
        (told,) = await companion.exchanges()
        assert (told["said"], told["events"]) == ("", ["stove is smoking"])
        await heard(companion.say("What is the matter?"))
        assert "- stove: smoking" in script.prompts("companion")[-1]
        await companion.world.set_time("2025-03-03 12:01")
        await companion.pass_time()
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking", "A horn sounds."]


@pytest.mark.proof
async def test_planned_events_happen_behind_an_answer(tmp_path: Path, script: Scripted) -> None:
    async with oda_at_ten(tmp_path / "w") as companion:
        await heard(companion.say("Hello."))
        await companion.world.set_time("2025-03-03 11:52")
        await heard(companion.say("Hello again."))
        await companion.settled()
        assert [one["object"] for one in await seen(companion)] == ["smoking"]


@pytest.mark.proof
async def test_what_a_closed_world_missed_does_not_happen(tmp_path: Path, script: Scripted) -> None:
    async with oda_at_ten(tmp_path / "w") as companion:
        await companion.world.set_time("2025-03-03 12:30")
    async with oda_at_ten(tmp_path / "w") as companion:
        await companion.pass_time()
        assert await seen(companion) == []
        await companion.world.set_time("2025-03-04 12:30")
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking", "A horn sounds."]
    async with oda_at_ten(tmp_path / "w") as companion:
        await heard(companion.happen([Happening(subject="Lake:Stage:hut:stove", object="lit", importance=1)]))
        await companion.world.set_time("2025-03-05 12:30")
        await companion.pass_time()
        assert [one["object"] for one in await seen(companion)] == ["smoking", "A horn sounds.", "lit"], (
            "it smokes again, which is not new; the horn sounds once"
        )


async def test_a_client_says_what_happens(tmp_path: Path, script: Scripted) -> None:
    cold = Happening(subject="lake:stage:hut:STOVE", object="cold")
    async with oda_at_ten(tmp_path / "w") as companion:
        assert await heard(companion.happen([Happening(subject="Lake:Stage:hut:stove", object="lit")])) == []
        assert script.asked == [], "it was lit before"
        events = await heard(companion.happen([cold]))
        await companion.settled()
        assert [event.kind for event in events if isinstance(event, Acted)] == ["start_talk"]
        assert [event.said for event in events if isinstance(event, Answered)] == ["", ""]
        place = await companion.world.records.place()
        assert place is not None and place.places["Stage"]["hut"]["stove"] == "cold"
        assert tasks(script) == ["events", "reacting", "companion", "day_plan", "chunks"]


async def test_each_agent_learns_of_what_has_changed(tmp_path: Path, script: Scripted) -> None:
    other = {"persona": {"name": "Tomasz Wrona", "description": "Sells tea."}, "at": "Stage/hut"}
    place = Place.model_validate({**FERRY_AT_TEN.model_dump(), "agents": [*FERRY_AT_TEN.agents, other]})
    cold = Happening(subject="Lake:Stage:hut:stove", object="cold", importance=0)
    async with opened_world(tmp_path / "w", place, companion_settings(place, environment={})) as world:
        for name in ("Oda", "Tomasz"):
            await heard((await world.companion(name, "Petr")).happen([cold]))
            mind = await world.mind(name)
            assert mind is not None and [one["object"] for one in mind["companion"]["seen"]] == ["cold"]


async def test_nobody_speaks_unasked_when_little_is_left_of_the_days_requests(
    tmp_path: Path, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DayLedger, "may_speak_unasked", lambda *_: False)
    async with oda_at_ten(tmp_path / "w") as companion:
        cold = Happening(subject="Lake:Stage:hut:stove", object="cold")
        assert await heard(companion.happen([cold])) == []
        assert len(await seen(companion)) == 1 and "reacting" not in tasks(script)


async def test_a_day_is_planned_behind_the_first_answer(tmp_path: Path, script: Scripted) -> None:
    async with oda_at_ten(tmp_path / "w") as companion:
        await heard(companion.say("Hello."))
        await companion.settled()
        assert tasks(script) == ["companion", "reaction", "day_plan", "chunks"]
        await heard(companion.say("What are you doing?"))
        assert "- I am doing: sell tickets, part 1" in script.prompts("companion")[-1]
        await companion.settled()
        assert tasks(script)[4:] == ["companion", "reaction"]


async def test_words_do_not_wait_for_a_plan_and_find_it_later(tmp_path: Path, script: Scripted) -> None:
    async with oda_at_ten(tmp_path / "w") as companion:
        for number in range(3):
            await heard(companion.say(f"Words number {number}."))
        await companion.settled()
        assert tasks(script).count("day_plan") == 1 and tasks(script).count("companion") == 3
        mind = await companion.world.mind("Oda")
        assert mind is not None and mind["companion"]["day"] == "2025-03-03"


def test_the_example_of_its_docstring_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = re.search(r"```python\n(.*?)```", companion.__doc__ or "", re.DOTALL)
    assert found is not None
    exec("\n".join(line[8:] for line in found[1].splitlines()), {})
    assert "Mira" in capsys.readouterr().out


@pytest.mark.proof
def test_ordinary_code_asks_ends_and_forgets(tmp_path: Path) -> None:
    with persimchat.companion("Jarmila", person="Petr", world=tmp_path / "w", model="offline") as jarmila:
        assert jarmila.agent.startswith("Jarmila ") and jarmila.remembered() is None
        said = jarmila.say("I like tea.", id="1")
        assert said.appraised and jarmila.say("I like tea.", id="1") == said
        assert [type(event) for event in jarmila.end()] == [TalkOver]
        assert (tie := jarmila.remembered()) is not None and tie.in_force
        jarmila.forget()
        assert jarmila.remembered() is None
        assert jarmila.say("Hello.").trust == 5
    with pytest.raises(persimchat.InputError, match="settings are given twice"):
        persimchat.companion("Jarmila", world=tmp_path / "w", settings=persimchat.Settings(), model="offline")


async def test_async_code_gets_events(tmp_path: Path) -> None:
    async with await persimchat.acompanion("Jarmila", "", "Petr", world=tmp_path / "w", model="offline") as jarmila:
        events = [event async for event in jarmila.asay("My dog is called Rex.")]
        words = "".join(event.text for event in events if isinstance(event, Token))
        assert words == next(event.utterance for event in events if isinstance(event, Answered))
        assert await jarmila.aend()
        assert (tie := await jarmila.aremembered()) is not None and tie.talks == 1
