"""A person is forgotten: by bytes, in everything that a world keeps, wherever a kill comes; and nobody else is."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY, ODA
from companion_worlds import Told, files_with, kept_in, keys_of, talked, told
from hypothesis import given
from hypothesis import strategies as st
from talks import events_of

from persimchat.runs.companion import folder as folders
from persimchat.runs.companion import forgetting
from persimchat.runs.companion.changing import rename_person
from persimchat.runs.companion.folder import WORLD, read_world, renewed, settle
from persimchat.runs.companion.forgetting import forget
from persimchat.runs.companion.personal_data import Person, memories_of, mentioning, with_what_rests_on, without
from persimchat.runs.companion.world import opened_world
from persimchat.runs.folder.checkpoint_file import Serializer
from persimchat.state.companion.place import Place
from persimchat.state.errors import InputError, MachineError
from persimchat.state.minds.memory import Circumstance, Memory, new_memory

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


@pytest.mark.proof
async def test_no_byte_of_a_forgotten_person_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR, EVA, place=TWO)
    with keys_of(world) as keys:
        keys.add("Petr Zelenka")
        keys.add("Eva")
    assert {Path(name).parts[0] for name in files_with(world, *HIS)} == {"memory", WORLD}
    done = forget(world, "petr  zelenka", None)
    assert files_with(world, *HIS) == [] and done.left == [] and done.mentions == []
    assert done.person == "Petr Zelenka" and done.agents == [ODA_NAME]
    assert done.counts["exchanges"] == 2 and done.counts["ties"] == done.counts["threads"] == 1
    assert done.counts["facts"] == 2 and done.counts["memories"] >= 5 and done.counts["keys"] == 1
    with keys_of(world) as keys:
        assert keys.people() == ["Eva"]
    assert sorted(path.name for path in world.iterdir()) == ["memory-2", "run.lock", WORLD]
    with pytest.raises(InputError, match="nobody here is called"):
        forget(world, "Petr Zelenka", None)


@pytest.mark.proof
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


@pytest.mark.proof
async def test_with_one_agent_the_others_remember(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tomasz: Told = ("Tomasz", "Petr Zelenka", ["My aunt plays the tuba."])
    world = await told(tmp_path / "lake", monkeypatch, PETR, tomasz, place=TWO)
    done = forget(world, "Petr Zelenka", "oda")
    assert files_with(world, "blue pigeons", "harbour key") == [] and done.agents == [ODA_NAME]
    assert files_with(world, "plays the tuba") and WORLD in done.left
    async with opened_world(world) as after:
        found = await after.tie("Tomasz K. Wrona", "Petr Zelenka")
        assert found is not None and len(found.facts) == 1
    forget(world, "Petr Zelenka", None)
    assert files_with(world, *HIS, "plays the tuba") == []


@pytest.mark.proof
async def test_what_others_said_of_a_person_is_listed_and_goes_if_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gossip: Told = (ODA_NAME, "Eva", ["Petr Zelenka owes me money.", "I like rain."])
    world = await told(tmp_path / "lake", monkeypatch, gossip, PETR)
    done = forget(world, "Petr Zelenka", None)
    assert (ODA_NAME, "It is said: Petr Zelenka owes me money.") in done.mentions
    assert WORLD in done.left
    async with opened_world(world) as after:
        tie = await after.tie("Oda", "Eva")
        assert tie is not None and len(tie.facts) == 2
    with pytest.raises(InputError, match="nobody here is called 'Petr Zelenka'"):
        forget(world, "Petr Zelenka", None)
    with pytest.raises(InputError, match="nobody here is called 'Nobody At All'"):
        forget(world, "Nobody At All", None, mentions=True)
    forget(world, "Petr Zelenka", None, mentions=True)
    async with opened_world(world) as after:
        tie = await after.tie("Oda", "Eva")
        assert tie is not None and [fact.quote for fact in tie.facts] == ["I like rain."] and tie.summary == ""
        assert len(await (await after.companion("Oda", "Eva")).exchanges()) == 2, "their own words are theirs"


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
async def test_what_another_could_take_back_has_nothing_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await told(tmp_path / "lake", monkeypatch, PETR)
    async with opened_world(world) as opened:
        await talked(opened, "Oda", "Petr Zelenka", ["I own blue pigeons."])
        companion = await opened.companion("Oda", "Eva")
        await events_of(companion.say("Good morning."))
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
    with closing(sqlite3.connect(world / WORLD)) as database:
        rows = database.execute("SELECT type, checkpoint FROM checkpoints").fetchall()
        rows += database.execute("SELECT type, value FROM writes").fetchall()
    return "".join(str(serializer.loads_typed(row)) for row in rows)


@pytest.mark.proof
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


@pytest.mark.proof
async def test_accounts_stay_without_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR)
    before = kept_in(world, "asked_model")
    done = forget(world, "Petr Zelenka", None)
    after = kept_in(world, "asked_model")
    assert len(after) == len(before) and sum("answer" not in row for row in after) == done.counts["calls"] > 0
    assert all(row["at"] for row in after) and any("answer" in row for row in after)


@pytest.mark.proof
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


# What belongs to a person


RIHA = Person("p1", "Petr Říha")


def memory(
    number: int, *, person: str = "", heard_by: list[str] | None = None, on: list[Memory] | None = None
) -> Memory:
    about = Circumstance(at="2026", person=person) if person else None
    return new_memory(
        "Oda",
        number,
        "reflection" if on else "perception",
        f"Memory {number}.",
        [],
        3,
        [0] * 6,
        circumstance=about,
        heard_by=heard_by,
        evidence=on,
    )


@given(st.lists(st.tuples(st.sampled_from(["", "p1", "p2"]), st.lists(st.integers(0, 30), max_size=3)), max_size=25))
def test_what_rests_on_a_persons_memories_is_theirs(rows: list[tuple[str, list[int]]]) -> None:
    made: list[Memory] = []
    for number, (person, on) in enumerate(rows):
        support = [made[place] for place in on if place < len(made)]
        made.append(memory(number, person=person, on=support) if support else memory(number, person=person))
    gone = memories_of(RIHA, made)
    by_id = {one.id: one for one in made}

    def is_theirs(one: Memory) -> bool:
        own = one.circumstance is not None and one.circumstance.person == "p1"
        return own or any(is_theirs(by_id[support]) for support in one.evidence)

    assert gone == {one.id for one in made if is_theirs(one)}
    assert with_what_rests_on(gone, made) == gone


def test_what_only_one_person_may_hear_is_theirs() -> None:
    alone, both = memory(1, heard_by=["p1"]), memory(2, heard_by=["p1", "p2"])
    assert memories_of(RIHA, [alone, both]) == {alone.id}
    assert memories_of(RIHA, [alone, both], [both.id]) == {alone.id, both.id}


@pytest.mark.parametrize("text", ["Petr Říha", "of petr  riha's boat", "PETR ŘÍHA.", "(Petr-Říha)"])
def test_a_name_is_found_as_words_of_its_own(text: str) -> None:
    assert RIHA.is_named_in(text) and RIHA.is_in({"a": [1, {"b": text}]})


@pytest.mark.parametrize("text", ["", "Petra Říha", "Petr", "Říha Petr", "petr_x riha"])
def test_other_words_are_not_the_name(text: str) -> None:
    assert not RIHA.is_named_in(text)


def test_profiles_are_no_mentions() -> None:
    told = new_memory("Oda", 0, "event", "Petr Říha left.", [], 3, [0] * 6)
    profile = new_memory("Oda", 0, "profile", "Oda, sister of Petr Říha", [], 3, [0] * 6)
    assert mentioning(RIHA, [told, profile], ()) == [told] and mentioning(RIHA, [told], [told.id]) == []


def test_a_mind_loses_what_belongs_to_a_person_and_nothing_else() -> None:
    mine, other = memory(1), memory(2)
    mind = {
        "name": "Oda", "emotion": {"anger": 3}, "alive": {mine.id: 1, other.id: 2}, "pinned": [mine.id],
        "unsaved": [mine.model_dump(), other.model_dump()], "stm": mine.model_dump(), "percept": {"theme": "Petr"},
        "companion": {
            "tick": 7, "private": {mine.id: ["p1"], other.id: ["p1", "p2"]}, "digested": ["e1", "e2"],
            "plan": [{"activity": "meet Petr Říha"}, {"activity": "rest"}, {"activity": "x", "heard_by": ["p1"]}],
            "seen": [{"subject": "Petr Říha"}, {"subject": "stove"}],
        },
    }  # fmt: skip
    left = without(mind, {mine.id}, RIHA, ["e1"])
    assert left == {
        "name": "Oda", "emotion": {"anger": 3}, "alive": {other.id: 2}, "pinned": [], "unsaved": [other.model_dump()],
        "stm": None, "insights": [],
        "companion": {
            "tick": 7, "private": {other.id: ["p2"]}, "digested": ["e2"], "plan": [{"activity": "rest"}],
            "seen": [{"subject": "stove"}],
        },
    }  # fmt: skip


# A world is written anew: all or nothing, wherever a kill comes


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def killed_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """`killed_after(n)`: the process ends before its (n+1)th move or removal of a file, and does nothing more."""

    def begin(left: int) -> None:
        done = 0

        def mortal(call: Any) -> Any:
            def counted(*given: Any, **options: Any) -> Any:
                nonlocal done
                if done >= left:
                    raise Killed
                done += 1
                return call(*given, **options)

            return counted

        for name in ("rename", "replace", "unlink", "mkdir", "chmod"):
            monkeypatch.setattr(Path, name, mortal(getattr(Path, name)))
        monkeypatch.setattr(folders.shutil, "rmtree", mortal(shutil.rmtree))

    return begin


async def test_after_a_failure_all_is_as_it_was(tmp_path: Path) -> None:
    world = tmp_path / "w"
    async with opened_world(world, FERRY):
        pass
    before = read_world(world)
    for error in (OSError(28, "No space left on device"), sqlite3.OperationalError("database or disk is full")):
        with pytest.raises(MachineError, match="cannot be written anew"), renewed(world) as (copy, memories):
            copy.execute("DELETE FROM store")
            memories.mkdir()
            raise error
        assert sorted(path.name for path in world.iterdir()) == ["memory", "run.lock", WORLD]
        assert read_world(world) == before


async def test_what_is_deleted_is_in_no_free_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "w", monkeypatch, (ODA_NAME, "Eva", ["Blue pigeons."]))
    with renewed(world) as (copy, memories):
        copy.execute("DELETE FROM store")
        for table in ("events", "checkpoints", "writes"):
            copy.execute(f"DELETE FROM {table}")
        memories.mkdir()
    assert files_with(world, "blue pigeons") == [] and read_world(world).memories == "memory-2"


@pytest.mark.proof
async def test_a_world_opens_wherever_forgetting_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_after: Callable[[int], None]
) -> None:
    with monkeypatch.context() as patch:
        world = await told(tmp_path / "lake", patch, ("Oda", "Eva", ["I bake."]), ("Oda", "Petr", ["Blue pigeons."]))
    outcomes = []
    for moment in (*range(12), *range(12, 40, 4)):
        copy = Path(shutil.copytree(world, tmp_path / str(moment)))
        for work, left in ((lambda folder: forgetting.forget(folder, "Petr", None), moment), (settle, moment % 3)):
            killed_after(left)
            with suppress(Killed):
                work(copy)
            monkeypatch.undo()
        async with opened_world(copy) as opened:
            assert await opened.tie("Oda", "Eva") is not None
            knows = await opened.tie("Oda", "Petr") is not None
        assert bool(files_with(copy, "blue pigeons")) == knows
        outcomes.append(knows)
    assert outcomes == sorted(outcomes, reverse=True) and set(outcomes) == {True, False}
