"""The folder of a companion's world: made, opened again, refused; its clock, its day's requests, its size."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY, Scripted
from companion_worlds import files_with, kept_in, keys_of
from talks import events_of

from persimchat.memory.store import MemoryStore
from persimchat.runs.companion.changing import rename_person
from persimchat.runs.companion.events import KINDS
from persimchat.runs.companion.folder import WORLD, companion_settings, opened_file, read_world
from persimchat.runs.companion.keys import find_key, remove_keys, rename_keys
from persimchat.runs.companion.reembedding import cost_of
from persimchat.runs.companion.requests import made_on
from persimchat.runs.companion.world import opened_world
from persimchat.runs.log import Log
from persimchat.state.companion.place import Clock, Place
from persimchat.state.errors import DayBudgetExhausted, InputError


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    return Scripted().install(monkeypatch)


def requests_on(folder: Path, day: str) -> int:
    with Log(folder / WORLD, KINDS, read_only=True) as log:
        return made_on(log, day)


async def check_refused(match: str, *place: Any, **options: Any) -> None:
    """A world cannot be opened, for this reason."""
    with pytest.raises(InputError, match=match) as refused:
        async with opened_world(*place, **options):
            pass
    assert refused.value.exit_code == 2


async def talk(folder: Path, *words: str, **settings: object) -> None:
    async with opened_world(folder, FERRY, companion_settings(FERRY, environment={}, **settings)) as world:
        companion = await world.companion("Oda", "Petr")
        for text in words:
            await events_of(companion.say(text))


async def test_a_world_is_made_of_a_place_and_opened_without_it(tmp_path: Path) -> None:
    folder = tmp_path / "My world!"
    async with opened_world(folder, FERRY) as world:
        assert (world.name, world.agents, world.settings.cognition) == ("My-world", ["Oda Brandvik"], "lean")
        assert world.settings.ltm_capacity == 2_000
    async with opened_world(folder) as world:
        assert world.place == FERRY and world.settings.store == str(folder / "memory")


async def test_settings_of_the_last_opening_count_until_others_are_given(tmp_path: Path) -> None:
    async with opened_world(tmp_path / "w", FERRY, companion_settings(FERRY, environment={}, utterance_words=40)):
        pass
    async with opened_world(tmp_path / "w") as world:
        assert world.settings.utterance_words == 40
    kept = read_world(tmp_path / "w").settings
    assert companion_settings(FERRY, kept, environment={}, utterance_words=20).utterance_words == 20


async def test_what_is_no_world_is_refused(tmp_path: Path) -> None:
    await check_refused("no world in this folder", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("Dear all")
    await check_refused("not empty, and holds no world", tmp_path / "other", FERRY)


@pytest.mark.proof
async def test_one_process_works_on_a_world(tmp_path: Path) -> None:
    async with opened_world(tmp_path / "w", FERRY):
        await check_refused("the world is being worked on by this process", tmp_path / "w")
        (tmp_path / "w" / "served.txt").write_text("http://127.0.0.1:8080")
        await check_refused("Talk there: http://127.0.0.1:8080", tmp_path / "w")


async def test_a_newer_world_is_refused(tmp_path: Path) -> None:
    async with opened_world(tmp_path / "w", FERRY):
        pass
    with closing(sqlite3.connect(tmp_path / "w" / WORLD)) as database:
        database.execute("PRAGMA user_version = 99")
    await check_refused("format 99", tmp_path / "w")


@pytest.mark.parametrize("wrong", [{"cognition": "fixed", "pattern": "round_robin"}, {"pruning": {"lambda": 0.5}}])
def test_settings_that_do_not_go_with_a_companion_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="does not go with a companion"):
        companion_settings(FERRY, environment={}, **wrong)


async def test_the_clock_is_kept(tmp_path: Path) -> None:
    place = FERRY.model_copy(update={"clock": Clock(mode="game", start="2025-03-03 08:00")})
    async with opened_world(tmp_path / "w", place) as world:
        assert world.now() == "2025-03-03T08:00:00"
        await world.advance(90)
    async with opened_world(tmp_path / "w") as world:
        assert world.now() == "2025-03-03T08:01:30"
        await world.set_time("March 03, 2025, 11:40:00")
        assert world.now() == "2025-03-03T11:40:00"
        with pytest.raises(InputError, match="not a time"):
            await world.set_time("soon")


async def test_a_wall_clock_may_be_ahead(tmp_path: Path) -> None:
    async with opened_world(tmp_path / "w", FERRY) as world:
        await world.advance(3_600)
    async with opened_world(tmp_path / "w") as world:
        ahead = datetime.fromisoformat(world.now()) - datetime.now()
        assert 3_590 <= ahead.total_seconds() <= 3_600


async def test_steps_move_at_every_occurrence(tmp_path: Path) -> None:
    place = FERRY.model_copy(update={"clock": Clock(mode="steps", start="2025-03-03 08:00")})
    async with opened_world(tmp_path / "w", place) as world:
        companion = await world.companion("Oda", "Petr")
        await events_of(companion.say("Hello."))
        assert world.now() == "2025-03-03T08:00:30"
        assert (await companion.exchanges())[0]["at"] == "2025-03-03T08:00:30"


@pytest.mark.proof
async def test_a_days_requests_are_limited_across_openings(tmp_path: Path, script: Scripted) -> None:
    await talk(tmp_path / "w", "One.", "Two.")
    today = datetime.now().date().isoformat()
    made = requests_on(tmp_path / "w", today)
    assert made == len(script.asked) >= 4
    with pytest.raises(DayBudgetExhausted, match=rf"the {made} requests .* used up until \d{{4}}-\d\d-\d\d 00:00"):
        await talk(tmp_path / "w", "Three.", **{"companion.calls_a_day": made})
    assert len(script.asked) == made
    assert requests_on(tmp_path / "w", "2020-01-01") == 0


async def test_a_digest_beyond_the_days_requests_waits(tmp_path: Path) -> None:
    given = {"companion.calls_a_day": 1, "companion.overlap": "off"}
    await talk(tmp_path / "w", "One.", **given)
    assert kept_in(tmp_path / "w", "exchange") == []
    async with opened_world(tmp_path / "w", None, companion_settings(FERRY, environment={})) as world:
        companion = await world.companion("Oda", "Petr")
        await companion.settled()
        assert [one["appraised"] for one in await companion.exchanges()] == [True]


async def test_calls_say_when_and_for_whom(tmp_path: Path) -> None:
    await talk(tmp_path / "w", "One.")
    rows = kept_in(tmp_path / "w", "asked_model")
    assert len({row["person"] for row in rows}) == 1 and all(datetime.fromisoformat(row["at"]) for row in rows)


async def test_another_embedding_is_refused_and_then_embeds_all_again(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    await talk(folder, "My sister is called Mira.")
    with pytest.raises(InputError, match="kept with the embedding lexical, not minilm.*--reembed"):
        await talk(folder, embedding="minilm")
    cost = cost_of(folder, read_world(folder), companion_settings(FERRY, environment={}, embedding="minilm"))
    assert cost.memories >= 1 and cost.agents == 1 and cost.usd == 0.0 and "memories of 1 agent," in str(cost)


@pytest.mark.proof
async def test_memories_are_embedded_again_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    folder = tmp_path / "w"
    await talk(folder, "My sister is called Mira.", "Goodbye.")
    failing = [True]

    async def embed(settings: object, texts: list[str], *, agent: str = "") -> object:
        if failing:
            raise InputError("no such model")
        return np.full((len(texts), 3), 3**-0.5, dtype=np.float32)

    monkeypatch.setattr("persimchat.runs.companion.reembedding.embed", embed)
    changed = companion_settings(FERRY, environment={}, embedding="other@http://127.0.0.1:1/v1")
    await check_refused("no such model", folder, None, changed, reembedding=True)
    assert read_world(folder).embedding == "lexical"
    before = MemoryStore(str(folder / "memory"))
    ids = before.ids("w", "Oda Brandvik")
    before.close()
    failing.clear()
    async with opened_world(folder, None, changed, reembedding=True):
        pass
    assert read_world(folder).embedding == changed.embedding
    after = MemoryStore(str(folder / "memory-2"))
    found = after.load("w", "Oda Brandvik", changed.embedding, ids)
    after.close()
    assert ids and len(found) == len(ids) and all(len(vector) == 3 for _, vector in found.values())


async def test_a_person_gets_a_name_that_is_known_to_nobody(tmp_path: Path, script: Scripted) -> None:
    doctor = Place.model_validate(
        {"world": "Lake", "agents": [{"persona": {"name": "Dr. No", "description": "Waits."}}]}
    )
    async with opened_world(tmp_path / "w", doctor) as world:
        companion = await world.companion("Dr. No", "Petr")
        await events_of(companion.say("Good morning."))
        await companion.settled()
        await world.records.person("Eva")
        assert await rename_person(world, "Petr", "Eva") == "Eva"
        assert (tie := await world.tie("Dr. No", "Eva")) is not None and tie.person == companion.person_id


async def test_keys_are_kept_as_hashes(tmp_path: Path) -> None:
    async with opened_world(tmp_path / "w", FERRY) as world:
        with keys_of(tmp_path / "w") as keys:  # as from another process
            petr, shop = keys.add("Petr"), keys.add("Kitchen", relay=True)
        assert petr != shop and petr.startswith("psc-") and files_with(tmp_path, petr, shop) == []
        assert (tmp_path / "w" / WORLD).stat().st_mode & 0o777 == 0o600
        own = (world.store, world.name)
        found = find_key(*own, petr)
        assert found is not None and (found.person, found.relay) == ("Petr", False)
        assert find_key(*own, "") is find_key(*own, "psc-guess") is None
        rename_keys(*own, "PETR", "Peter")
        assert (named := find_key(*own, petr)) is not None and named.person == "Peter"
        assert (remove_keys(*own, "peter "), remove_keys(*own, "Peter")) == (1, 0)
        assert find_key(*own, petr) is None and find_key(*own, shop) is not None


@pytest.mark.long
@pytest.mark.proof
async def test_an_exchange_adds_twenty_kilobytes_at_most(tmp_path: Path) -> None:
    def size() -> int:
        return sum(path.stat().st_size for path in (tmp_path / "w").rglob("*") if path.is_file())

    words = "I have thought about what you said of the boats, and I should like to hear more of it. " * 3
    await talk(tmp_path / "w", *[words] * 30)
    first = size()
    await talk(tmp_path / "w", *[words] * 60)
    assert (size() - first) / 60 <= 20_000


@pytest.mark.parametrize("part", ["threads", "store"])
def test_a_world_is_closed_after_what_a_stopped_step_still_writes(part: str, tmp_path: Path) -> None:
    """SQLite crashes the process where a connection is closed under a thread that writes."""
    inside, released, failed = threading.Event(), threading.Event(), []

    def write() -> None:
        with kept.threads.cursor() if part == "threads" else kept.store._cursor() as cursor:
            inside.set()
            released.wait(60)
            try:
                cursor.execute("SELECT 1").fetchall()
            except sqlite3.Error as error:
                failed.append(error)

    with opened_file(tmp_path / "world.sqlite") as kept:
        writing = threading.Thread(target=write)
        writing.start()
        assert inside.wait(60)
        threading.Timer(0.1, released.set).start()
    assert released.is_set()
    writing.join(60)
    assert not failed
