"""A person is forgotten: by bytes, in every file of a world, and nobody else is."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY, ODA
from companion_worlds import Told, files_with, talked, told

from persimchat.runs.companion.changing import rename_person
from persimchat.runs.companion.forgetting import forget
from persimchat.runs.companion.keys import add_key, read_keys
from persimchat.runs.companion.world import opened_world
from persimchat.runs.folder.checkpoint_values import Serializer
from persimchat.state.errors import InputError
from persimchat.state.place import Place

pytestmark = pytest.mark.proof

ODA_NAME = "Oda Brandvik"
TOMASZ = {"persona": {"name": "Tomasz K. Wrona", "description": "Sells tea."}, "at": "Stage/hut"}
TWO = Place.model_validate(
    {
        **FERRY.model_dump(by_alias=True),
        "agents": [ODA, TOMASZ],
        "people": [{"name": "Petr Zelenka", "relationship": {"type": "friend", "note": "Petr Zelenka comes often."}}],
    }
)
SECRETS = ["My sister keeps blue pigeons.", "The harbour key hangs behind the stove."]
PETR: Told = (ODA_NAME, "Petr Zelenka", SECRETS)
EVA: Told = (ODA_NAME, "Eva", ["I bake bread at midnight."])
HIS = ("Petr Zelenka", "petr zelenka", "blue pigeons", "harbour key")


async def test_no_byte_of_a_forgotten_person_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR, EVA, place=TWO)
    add_key(world, "Petr Zelenka")
    add_key(world, "Eva")
    (world / "events.jsonl").write_text('{"at": "2025", "text": "Petr Zelenka arrives."}\n{"text": "A horn."}\n')
    assert {Path(name).parts[0] for name in files_with(world, *HIS)} == {
        "calls.jsonl", "events.jsonl", "exchanges.jsonl", "keys.yaml", "memory", "mind.sqlite", "place.yaml",
    }  # fmt: skip
    done = forget(world, "petr  zelenka", None)
    assert files_with(world, *HIS) == [] and done.left == [] and done.mentions == []
    assert done.person == "Petr Zelenka" and done.agents == [ODA_NAME]
    assert done.counts["exchanges"] == 2 and done.counts["ties"] == done.counts["threads"] == 1
    assert done.counts["facts"] == 2 and done.counts["memories"] >= 5 and done.counts["entries in keys.yaml"] == 1
    assert [key.person for key in read_keys(world)] == ["Eva"]
    assert sorted(path.name for path in world.iterdir()) == [
        "calls.jsonl", "events.jsonl", "exchanges.jsonl", "keys.yaml", "memory", "mind.sqlite", "place.yaml",
        "run.lock", "world.json",
    ]  # fmt: skip
    with pytest.raises(InputError, match="nobody here is called"):
        forget(world, "Petr Zelenka", None)


async def test_everybody_else_is_remembered_and_the_talk_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR, place=TWO)
    async with opened_world(world) as before:
        tie = await before.tie("Oda", "Eva")
        mind = await before.mind("Oda")
        said = await (await before.companion("Oda", "Eva")).exchanges()
    forget(world, "Petr Zelenka", "Oda")
    async with opened_world(world) as after:
        assert await after.tie("Oda", "Eva") == tie and await after.tie("Oda", "Petr Zelenka") is None
        assert await (await after.companion("Oda", "Eva")).exchanges() == said
        assert [one["name"] for one in await after.people()] == ["Eva"] and after.place.people == []
        now = await after.mind("Oda")
        assert mind is not None and now is not None
        assert now["emotion"] == mind["emotion"] and len(now["alive"]) < len(mind["alive"])
        await talked(after, "Oda", "Eva", ["I bake rolls, too."])
        await talked(after, "Oda", "Petr Zelenka", ["Good morning!"])
        found = await after.tie("Oda", "Petr Zelenka")
        assert found is not None and (found.talks, len(found.facts), found.trust) == (1, 1, 6)


async def test_with_one_agent_the_others_remember(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tomasz: Told = ("Tomasz", "Petr Zelenka", ["My aunt plays the tuba."])
    world = await told(tmp_path / "lake", monkeypatch, PETR, tomasz, place=TWO)
    done = forget(world, "Petr Zelenka", "oda")
    assert files_with(world, "blue pigeons", "harbour key") == [] and done.agents == [ODA_NAME]
    assert files_with(world, "plays the tuba") and "place.yaml" in done.left
    async with opened_world(world) as after:
        found = await after.tie("Tomasz K. Wrona", "Petr Zelenka")
        assert found is not None and len(found.facts) == 1
    forget(world, "Petr Zelenka", None)
    assert files_with(world, *HIS, "plays the tuba") == []


async def test_what_others_said_of_a_person_is_listed_and_goes_if_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gossip: Told = (ODA_NAME, "Eva", ["Petr Zelenka owes me money.", "I like rain."])
    world = await told(tmp_path / "lake", monkeypatch, gossip, PETR)
    done = forget(world, "Petr Zelenka", None)
    assert (ODA_NAME, "It is said: Petr Zelenka owes me money.") in done.mentions
    assert {"exchanges.jsonl", "mind.sqlite"} <= set(done.left)
    async with opened_world(world) as after:
        tie = await after.tie("Oda", "Eva")
        assert tie is not None and len(tie.facts) == 2
        await talked(after, "Oda", "Petr Zelenka", ["Hello."])
    forget(world, "Petr Zelenka", None, mentions=True)
    async with opened_world(world) as after:
        tie = await after.tie("Oda", "Eva")
        assert tie is not None and [fact.quote for fact in tie.facts] == ["I like rain."] and tie.summary == ""
        assert len(await (await after.companion("Oda", "Eva")).exchanges()) == 2, "their own words are theirs"


async def test_insights_that_rest_on_a_persons_memories_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reflection(values: Any) -> dict[str, Any]:
        shown = values["memories"].items
        insight = {"keywords": ["thought"], "evidence": [1, 2], "importance": 5}
        heard = str(shown[0]["theme"])
        return {"insights": [insight | {"theme": f"I make of it, {n}: {heard}"} for n in range(5)]}

    long: Told = (ODA_NAME, "Petr Zelenka", [f"Blue pigeons number {n}." for n in range(6)])
    world = await told(tmp_path / "lake", monkeypatch, long, reflection=reflection)
    assert files_with(world, "I make of it")
    done = forget(world, "Petr Zelenka", None)
    assert done.counts["insights"] == 5 and files_with(world, "I make of it", "blue pigeons") == []


async def test_a_persons_promises_and_plans_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR)
    async with opened_world(world) as opened:
        tie, mind = await opened.tie("Oda", "Eva"), await opened.mind("Oda")
        assert tie is not None and mind is not None
        promised = ["I greet Petr Zelenka from Eva.", "I keep a loaf."]
        plan = [{"start": "08:00", "minutes": 60, "activity": what, "place": ""} for what in promised]
        mind["companion"]["plan"] = plan
        await opened.records.keep(ODA_NAME, mind=mind, tie=tie.model_copy(update={"promises": promised}))
    done = forget(world, "Petr Zelenka", None)
    assert done.counts["promises"] == done.counts["plan entries"] == 1
    async with opened_world(world) as opened:
        tie, mind = await opened.tie("Oda", "Eva"), await opened.mind("Oda")
        assert tie is not None and tie.promises == promised[1:]
        assert mind is not None and mind["companion"]["plan"] == plan[1:]


async def test_what_another_could_take_back_has_nothing_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await told(tmp_path / "lake", monkeypatch, PETR)
    async with opened_world(world) as opened:
        await talked(opened, "Oda", "Petr Zelenka", ["I own blue pigeons."])
        companion = await opened.companion("Oda", "Eva")
        async for _ in companion.say("Good morning."):
            pass
        await companion.settled()
    assert "pigeons" in checkpoints(world)
    forget(world, "Petr Zelenka", None)
    assert "pigeons" not in checkpoints(world) and "Good morning." in checkpoints(world)
    async with opened_world(world) as opened:
        companion = await opened.companion("Oda", "Eva")
        assert await companion.retract() and await companion.exchanges() == []


def checkpoints(world: Path) -> str:
    """All values of a world's checkpoints, read."""
    serializer = Serializer("")
    with closing(sqlite3.connect(world / "mind.sqlite")) as database:
        rows = database.execute("SELECT type, checkpoint FROM checkpoints").fetchall()
        rows += database.execute("SELECT type, value FROM writes").fetchall()
    return "".join(str(serializer.loads_typed(row)) for row in rows)


async def test_an_earlier_name_goes_with_the_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player: Told = (ODA_NAME, "Player Seven", ["I own blue pigeons."])
    other: Told = (ODA_NAME, "Player Eight", ["I own a boat."])
    world = await told(tmp_path / "lake", monkeypatch, player, other)
    async with opened_world(world) as opened:
        await rename_person(opened, "Player Seven", "Petr Zelenka")
        await rename_person(opened, "Player Eight", "Eva")
        eva = await opened.person("Eva")
    forget(world, "Petr Zelenka", None)
    assert files_with(world, *HIS, "Player Seven") == []
    async with opened_world(world) as opened:
        assert (await opened.person("Player Eight"))["id"] != eva["id"], "nobody gets the id of another"


async def test_accounts_stay_without_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR)
    before = (world / "calls.jsonl").read_text().splitlines()
    done = forget(world, "Petr Zelenka", None)
    after = [json.loads(line) for line in (world / "calls.jsonl").read_text().splitlines()]
    assert len(after) == len(before) and sum("answer" not in row for row in after) == done.counts["calls"] > 0
    assert all(row["at"] for row in after) and any("answer" in row for row in after)


async def test_a_world_in_use_and_unknown_names_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA)
    with pytest.raises(InputError, match="Eva"):
        forget(world, "Ewa", None)
    with pytest.raises(InputError, match="Oda"):
        forget(world, "Eva", "Olga")
    with pytest.raises(InputError, match="no world"):
        forget(tmp_path / "sea", "Eva", None)
    async with opened_world(world):
        with pytest.raises(InputError, match="being worked on"):
            forget(world, "Eva", None)
