"""What is remembered of a person, as data and as Markdown; single facts changed by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from companion_worlds import Told, talked, told

from persimchat.reports.world_export import as_markdown, remembered, remembered_in
from persimchat.runs.companion.changing import edit_fact, forget_fact, pin_fact
from persimchat.runs.companion.folder import WORLD, exchanges_in, list_worlds
from persimchat.runs.companion.world import opened_world
from persimchat.state.errors import InputError

EVA: Told = ("Oda Brandvik", "Eva", ["I bake bread."])
PETR: Told = ("Oda Brandvik", "Petr", ["My sister is Mira.", "I like | pipes & <b>tags</b>."])
CORRECTED: Told = ("Oda Brandvik", "Petr", ["My sister is Mara."])


@pytest.mark.proof
async def test_an_export_has_facts_talks_trust_and_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_SERVICE_API_KEY", "sk-verysecretkey0123456789")
    secret: Told = ("Oda Brandvik", "Petr", ["The key is sk-verysecretkey0123456789."])
    world = await told(tmp_path / "lake", monkeypatch, PETR, EVA, CORRECTED, secret)
    found = remembered_in(world, "oda", "petr")
    async with opened_world(world) as opened:
        assert await remembered(await opened.companion("oda", "petr")) == found, "a world that is open says the same"
    assert (found["world"], found["agent"], found["person"]) == ("lake", "Oda Brandvik", "Petr")
    old, tags, new = found["facts"]
    assert (old["quote"], old["in_force"], old["replaced_by"]) == (PETR[2][0], False, new["statement"])
    assert new["in_force"] and new["replaced_by"] == "" and new["at"] and tags["in_force"]
    assert "The key is " in json.dumps(found) and "verysecret" not in json.dumps(found)
    assert [talk["theme"] for talk in found["talks"]][:2] == [
        "Petr told me: My sister is Mira.", "Petr told me: My sister is Mara.",
    ]  # fmt: skip
    assert [one["said"] for one in found["transcript"]][:3] == [*PETR[2], *CORRECTED[2]]
    assert len(found["trust"]) == 4 and len(found["impressions"]) == 4
    assert found["relationship"]["talks"] == 3 and "Eva" not in json.dumps(found)
    text = as_markdown(found)
    assert (
        "- ~~It is said: My sister is Mira.~~ (My sister is; " in text
        and "replaced by: It is said: My sister is Mara." in text
    )
    assert r"| Petr | I like \| pipes &amp; \<b\>tags\</b\>. |" in text
    assert "# What Oda Brandvik remembers of Petr" in text and "verysecret" not in text


@pytest.mark.proof
async def test_insights_say_on_what_they_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long: Told = ("Oda Brandvik", "Petr", [f"Boat number {n}." for n in range(6)])
    world = await told(tmp_path / "lake", monkeypatch, long)
    found = remembered_in(world, "Oda", "Petr")
    assert len(found["insights"]) == 5 and all(one["rests_on"] for one in found["insights"])
    assert "Insight 0." in as_markdown(found)


@pytest.mark.proof
async def test_exchanges_that_are_not_digested_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA)
    async with opened_world(world) as opened:
        companion = await opened.companion("Oda", "Petr")
        events = companion.say("Wait for me.")
        async for event in events:
            if event.type == "answer":
                break
        await companion.stop()
        await opened.stop()
        assert companion.pending and exchanges_in(opened.log, "Oda Brandvik", companion.person_id) == []
        copy = Path(shutil.copytree(world, tmp_path / "copy"))
    found = remembered_in(copy, "Oda", "Petr")
    assert [(one["said"], one["appraised"]) for one in found["transcript"]] == [("Wait for me.", False)]


@pytest.mark.proof
async def test_who_was_never_met_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await told(tmp_path / "lake", monkeypatch, EVA)
    for agent, person in (("Oda", "Petr"), ("Olga", "Eva")):
        with pytest.raises(InputError):
            remembered_in(world, agent, person)
    async with opened_world(world) as opened:
        with pytest.raises(InputError, match="never talked"):
            await remembered(await opened.companion("Oda", "Petr"))
        with pytest.raises(InputError, match="being worked on"):
            remembered_in(world, "Oda", "Eva")


@pytest.mark.proof
async def test_worlds_are_listed_while_they_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list_worlds(tmp_path) == ([], [])
    world = await told(tmp_path / "lake", monkeypatch, EVA, PETR)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / WORLD).write_text("{")
    async with opened_world(world):
        (one,), (problem,) = list_worlds(tmp_path)
    assert one.in_use and one.folder == world and [tie.name for _, tie in one.ties] == ["Eva", "Petr"]
    assert WORLD in problem and not list_worlds(world)[0][0].in_use


@pytest.mark.proof
async def test_facts_are_pinned_edited_and_forgotten_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await told(tmp_path / "lake", monkeypatch, PETR)
    async with opened_world(world) as opened:
        companion = await opened.companion("Oda", "Petr")
        tie = await companion.tie()
        assert tie is not None
        sister, pipes = tie.facts
        assert (await pin_fact(companion, sister.id)).facts[0].pinned
        new = (await edit_fact(companion, sister.id, "Petr's sister is Maja.", "Petr")).facts[-1]
        assert new.edited_by == "Petr" and new.pinned
        mind = await opened.mind("Oda")
        assert mind is not None and new.id in mind["alive"] and sister.id not in mind["alive"]
        known = opened.memories(mind)
        alive = [known[one].theme for one in mind["alive"]]
        assert "Petr said: My sister is Mira." not in alive and f"Petr said: {PETR[2][1]}" in [
            *alive, *([mind["stm"]["theme"]] if mind["stm"] else [])
        ]  # fmt: skip
        left = await forget_fact(companion, new.id)
        assert [fact.id for fact in left.facts] == [pipes.id]
        mind = await opened.mind("Oda")
        assert mind is not None and not {new.id, sister.id} & {*mind["alive"], *mind["pinned"]}
        await talked(opened, "Oda", "Petr", ["Good evening."])
        with pytest.raises(InputError, match="no such fact"):
            await forget_fact(companion, new.id)
        with pytest.raises(InputError, match="never talked"):
            await pin_fact(await opened.companion("Oda", "Jan"), pipes.id)


@pytest.mark.proof
async def test_a_correction_takes_percepts_and_summaries_of_the_old_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await told(tmp_path / "lake", monkeypatch, PETR, CORRECTED)
    async with opened_world(world) as opened:
        mind = await opened.mind("Oda")
        assert mind is not None
        known = opened.memories(mind)
        alive = [known[one].theme for one in mind["alive"]]
        tie = await opened.tie("Oda", "Petr")
    assert tie is not None and tie.summary == "Petr told me: My sister is Mara."
    assert not any("Mira" in theme for theme in alive)
    assert any("My sister is Mara" in theme for theme in alive)
