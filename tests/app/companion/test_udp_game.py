"""A game over UDP: every message, and that lost, doubled and damaged datagrams do no harm."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from documents import BLOCKS
from udp_games import UdpGame, a_game

from persimchat.app.companion_udp.server import serve_udp
from persimchat.memory.retrieval import retrieve
from persimchat.runs.companion.changing import copy_world
from persimchat.runs.companion.world import World, opened_world
from persimchat.state.companion import Tie
from persimchat.state.companion.game_messages import MESSAGES, GameMessage, Scratch, read_message
from persimchat.state.errors import InputError, ModelError

HUT = {"world": "Lake", "sector": "Ferry stage", "arena": "ticket hut"}
STALL = {"world": "Lake", "sector": "Ferry stage", "arena": "tea stall"}
ATTIC = {"world": "Lake", "sector": "Village", "arena": "attic"}
SMOKE = {
    "action_event_subject": "Lake:Ferry stage:ticket hut:stove",
    "action_event_predicate": "is",
    "action_event_object": "on fire",
    "action_event_description": "on fire",
}
EVA = {
    "name": "Eva",
    "scratch_data": {
        "first_name": "Eva",
        "last_name": "Lind",
        "age": 24,
        "innate": "chatty, impatient",
        "look": "tall, woollen hat",
        "learned": "Mends nets",
        "currently": "saving for a boat",
        "lifestyle": "up at six, in bed by ten",
        "curr_location": ATTIC,
        "living_area": ATTIC,
        "recency_w": 2,
        "recency_decay": 0.9,
        "importance_trigger_max": 40,
    },
    "spatial_data": {"Lake": {"Village": {"attic": ["bed", "lamp"]}}},
}


async def say(game: UdpGame, words: str, user: str = "Petr", persona: str = "Oda") -> dict[str, Any]:
    told = await game.ask("PROMPTMESSAGE", {"persona_name": persona, "user_name": user, "message": words})
    assert told["status"] == "Success", told
    return told["data"]


async def tie(world: World, person: str, agent: str = "Oda") -> Tie:
    found = await world.tie(agent, person)
    assert found is not None
    return found


@pytest.mark.proof
def test_the_messages_of_the_documents_are_messages() -> None:
    shown = [
        json.loads(block.text) for block in BLOCKS if (block.document, block.language) == ("docs/companion.md", "json")
    ]
    sent = [message for message in shown if message.get("type") in MESSAGES]
    assert sent
    assert all(isinstance(read_message(message), GameMessage) for message in sent)
    page = (ROOT / "docs" / "companion.md").read_text(encoding="utf-8")
    assert [kind for kind, model in MESSAGES.items() if f"| `{kind}` |" not in page or model.RESPONSE not in page] == []
    assert [field for field in Scratch.model_fields if f"`{field}`" not in page] == []


@pytest.mark.proof
async def test_every_message_is_answered_in_both_spellings(playing: Any) -> None:
    asked = [
        ("STARTMESSAGE", "StartMessage", "StartResponse", {"fork_sim_code": None, "sim_code": "ferry"}),
        (
            "PROMPTMESSAGE",
            "PromptMessage",
            "PromptResponse",
            {"persona_name": "Oda", "user_name": "Petr", "message": "Good morning!"},
        ),
        (
            "MOVEMESSAGE",
            "MoveMessage",
            "MoveResponse",
            [{"name": "Oda", "curr_location": HUT, "events": [SMOKE]}, {"name": "Tomasz Wrona", "curr_loc": STALL}],
        ),
        ("UPDATE_META_MESSAGE", "UpdateMetaMessage", "UpdateMetaResponse", {"curr_time": "March 03, 2025, 11:40:00"}),
        (
            "UPDATE_PERSONA_MESSAGE",
            "UpdatePersonaMessage",
            "UpdatePersonaResponse",
            {"name": "Oda", "scratch_data": {"age": 59}},
        ),
        ("UPDATE_USER_MESSAGE", "UpdateUserMessage", "UpdateUsersResponse", {"old_name": "Petr", "name": "Petr"}),
    ]
    async with playing() as (_, game):
        for paper, code, response, data in asked:
            for kind in (paper, code):
                told = await game.ask(kind, data, id=f"{kind} {response}")
                assert (told["type"], told["status"]) == (response, "Success"), told
        for kind, name in (("ADD_PERSONA_MESSAGE", "Eva Lind"), ("AddPersonaMessage", "Ida Lind")):
            own = {
                **EVA,
                "name": name.split()[0],
                "scratch_data": {**EVA["scratch_data"], "first_name": name.split()[0]},
            }
            assert await game.ask(kind, own) == {
                "type": "AddPersonaResponse",
                "status": "Success",
                "data": {"name": name},
            }


@pytest.mark.proof
async def test_an_answer_has_words_emotion_trust_and_end(playing: Any) -> None:
    async with playing() as (world, game):
        said = await say(game, "Good morning!")
        assert said["utt"]
        assert said["emotion"] == "neutral"
        assert said["trust_level"] == (await tie(world, "Petr")).trust
        assert said["end"] is False
        assert not (await tie(world, "Petr")).introduced
        await say(game, "I am Petr.")
        assert (await tie(world, "Petr")).introduced
        assert (await say(game, "Goodbye!"))["end"] is True


@pytest.mark.proof
async def test_prompts_of_one_pair_are_answered_in_order(playing: Any) -> None:
    words = ["My dog is called Kiwi.", "My cat is called Plum.", "Where am I?"]
    async with playing() as (world, game):
        for number, text in enumerate(words):
            game.tell("PromptMessage", {"persona_name": "Oda", "user_name": "Petr", "message": text}, id=str(number))
        assert [(await game.hear())["id"] for _ in words] == ["0", "1", "2"]
        companion = await world.companion("Oda", "Petr")
        assert [one["said"] for one in await companion.exchanges()] == words


@pytest.mark.proof
async def test_a_move_moves_and_is_perceived_once(playing: Any) -> None:
    moved = [{"name": "Oda", "curr_loc": STALL, "events": [SMOKE]}]
    async with playing() as (world, game):
        await say(game, "Good morning!")
        first = (await game.ask("MOVEMESSAGE", moved))["data"]
        again = (await game.ask("MOVEMESSAGE", moved))["data"]
        assert first["meta"] == {"curr_time": "March 03, 2025, 11:30:10"}
        assert again["meta"] == {"curr_time": "March 03, 2025, 11:30:20"}
        assert "fire" in first["persona"]["Oda"]["chat"]
        assert again["persona"]["Oda"]["chat"] == ""
        assert first["persona"]["Oda"]["plan"].count(":") >= 2
        mind = await world.mind("Oda")
        assert mind is not None
        assert mind["companion"]["at"] == "Ferry stage/tea stall"


@pytest.mark.proof
async def test_an_agent_whom_nobody_has_met_has_a_day_of_its_own(playing: Any) -> None:
    async with playing() as (_, game):
        for _ in range(100):
            told = (await game.ask("MOVEMESSAGE", [{"name": "Tomasz", "curr_loc": STALL}]))["data"]["persona"]["Tomasz"]
            assert told["chat"] == ""
            if told["plan"] != "Tomasz Wrona:is:idle":
                break
            await asyncio.sleep(0.01)
        *address, predicate, activity = told["plan"].split(":")
        assert (address[0], len(address), predicate) == ("Lake", 3, "is")
        assert activity


@pytest.mark.proof
async def test_weights_act_on_one_agent(playing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[tuple[float, float]] = []

    def spy(candidates: Any, cue: Any, weights: Any) -> Any:
        used.append((weights.recency, cue.decay))
        return retrieve(candidates, cue, weights)

    monkeypatch.setattr("persimchat.memory.recollection.retrieve", spy)
    async with playing() as (_, game):
        await game.ask(
            "UPDATE_PERSONA_MESSAGE", {"name": "Oda", "scratch_data": {"recency_w": 7, "recency_decay": 0.5}}
        )
        await say(game, "Good morning!")
        assert set(used) == {(7, 0.5)}
        used.clear()
        await say(game, "Good morning!", persona="Tomasz")
        assert used
        assert (7, 0.5) not in used


@pytest.mark.proof
async def test_moves_that_wait_are_united(playing: Any) -> None:
    async with playing() as (world, game):
        for number in range(6):
            location = STALL if number < 5 else HUT
            game.tell("MOVEMESSAGE", [{"name": "Oda", "curr_loc": location, "events": [SMOKE]}], id=str(number))
        told = [await game.hear() for _ in range(6)]
        assert {one["id"] for one in told} == set(map(str, range(6)))
        assert told[-1]["data"]["meta"]["curr_time"] == "March 03, 2025, 11:31:00"
        assert world.place.agent("Oda Brandvik").at == "Ferry stage/ticket hut"
        assert len({one["data"]["meta"]["curr_time"] for one in told}) < 6


@pytest.mark.proof
async def test_moves_that_fail_together_are_told_so_each(playing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: Any) -> Any:
        raise ModelError("the server is down", model="m", remedy="Start it.")

    async with playing() as (_, game):
        with monkeypatch.context() as patch:
            patch.setattr("persimchat.app.companion_udp.answering.Moves._told", fails)
            for number in range(4):
                game.tell("MOVEMESSAGE", [{"name": "Oda"}], id=str(number))
            assert {(await game.hear())["type"] for _ in range(4)} == {"ErrorResponse"}
        assert (await game.ask("MOVEMESSAGE", [{"name": "Oda"}], id="0"))["status"] == "Success"


@pytest.mark.proof
async def test_closing_does_not_wait_for_prompts(playing: Any) -> None:
    async with playing() as (world, _):
        async with serve_udp(world, port=0) as server, a_game(server.address) as game:
            await game.ask("STARTMESSAGE", {"sim_code": "monday"})
            for number in range(8):
                data = {"persona_name": "Oda", "user_name": "Petr", "message": f"I have seen {number} boats."}
                game.tell("PROMPTMESSAGE", data)
            await game.hear()
        assert world.now()


@pytest.mark.proof
async def test_an_open_world_is_not_copied(playing: Any, tmp_path: Path) -> None:
    async with playing():
        with pytest.raises(InputError, match="being worked on"):
            copy_world(tmp_path / "ferry", tmp_path / "copy")
    copy_world(tmp_path / "ferry", tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "ferry"]
    async with opened_world(tmp_path / "copy") as world:
        assert world.agents == ["Oda Brandvik", "Tomasz Wrona"]


@pytest.mark.proof
async def test_an_unknown_name_or_place_is_refused_with_the_nearest(playing: Any) -> None:
    async with playing() as (_, game):
        for data, words in (
            ([{"name": "Odda"}], ("Odda", "Oda Brandvik")),
            ([{"name": "Oda", "curr_loc": {**HUT, "arena": "tiket hut"}}], ("tiket hut", "'ticket hut'")),
            ([{"name": "Oda", "curr_loc": {**HUT, "world": "Graz"}}], ("Graz", "Lake")),
        ):
            refused = await game.ask("MOVEMESSAGE", data)
            assert refused["type"] == "ErrorResponse"
            assert [word for word in words if word not in refused["data"]] == []
        unchanged = await game.ask("MOVEMESSAGE", [{"name": "Oda"}])
        assert unchanged["data"]["meta"] == {"curr_time": "March 03, 2025, 11:30:10"}


@pytest.mark.proof
async def test_the_clock_is_the_games(playing: Any) -> None:
    async with playing() as (world, game):
        told = await game.ask("UPDATE_META_MESSAGE", {"curr_time": "2025-03-03 14:00", "sec_per_step": 60})
        assert told["data"] == {"curr_time": "March 03, 2025, 14:00:00"}
        moved = await game.ask("MOVEMESSAGE", [{"name": "Oda"}])
        assert moved["data"]["meta"] == {"curr_time": "March 03, 2025, 14:01:00"}
        assert world.now() == "2025-03-03T14:01:00"


@pytest.mark.proof
async def test_an_agent_is_changed_and_added_and_stays_so(playing: Any) -> None:
    async with playing() as (world, game):
        await say(game, "Good morning!")
        await game.ask(
            "UPDATE_PERSONA_MESSAGE",
            {
                "name": "Oda",
                "scratch_data": {
                    "learned": "Sells stamps",
                    "last_name": "Lind",
                    "relevance_w": 2,
                    "curr_location": STALL,
                },
            },
        )
        assert (await game.ask("ADD_PERSONA_MESSAGE", EVA))["data"] == {"name": "Eva Lind"}
        again = await game.ask("ADD_PERSONA_MESSAGE", EVA)
        assert again["type"] == "ErrorResponse"
        assert "already" in again["data"]
        long = {**EVA, "name": "Ida", "scratch_data": {"learned": "a" * 4_000, "currently": "b" * 4_000}}
        many = {**EVA, "name": "Ida", "spatial_data": {"Lake": {"S": {f"A{n}": [] for n in range(201)}}}}
        for wrong, word in ((long, "description"), (many, "arenas")):
            refused = await game.ask("ADD_PERSONA_MESSAGE", wrong)
            assert (refused["type"], word in refused["data"]) == ("ErrorResponse", True), refused
        assert (await say(game, "Good morning!", persona="Eva"))["utt"]
        mind = await world.mind("Oda")
        assert mind is not None
        assert mind["persona"]["description"] == "Sells stamps."
    async with playing() as (world, _):
        oda, eva = world.place.agent("Oda Brandvik"), world.place.agent("Eva Lind")
        assert oda.persona.description == "Sells stamps."
        assert oda.persona.characteristics == {"age": "58", "name in full": "Lind"}
        assert (oda.recall.relevance, oda.at) == (2, "Ferry stage/tea stall")
        assert eva.persona.description == "Mends nets. saving for a boat."
        assert eva.persona.traits == ["chatty", "impatient"]
        assert eva.persona.characteristics["residence"] == "attic, Village, Lake"
        assert (eva.at, eva.knows, eva.lifestyle) == ("Village/attic", ["Village/attic"], "up at six, in bed by ten")
        assert eva.recall.model_dump(exclude_none=True) == {
            "recency": 2,
            "recency_decay": 0.9,
            "reflection_trigger": 40,
        }
        assert world.place.places["Village"] == {"attic": {"bed": "idle", "lamp": "idle"}}


@pytest.mark.proof
async def test_the_new_profile_is_remembered_in_place_of_the_old_one(playing: Any) -> None:
    async with playing() as (world, game):
        await say(game, "Good morning!")
        before = await world.mind("Oda")
        await game.ask("UPDATE_PERSONA_MESSAGE", {"name": "Oda", "scratch_data": {"learned": "Sells stamps."}})
        after = await world.mind("Oda")
        assert before is not None
        assert after is not None
        gone, new = set(before["alive"]) - set(after["alive"]), set(after["alive"]) - set(before["alive"])
        assert (len(gone), len(new)) == (1, 1)
        assert gone <= set(before["pinned"])
        assert new <= set(after["pinned"])
        await say(game, "What do you do?")


@pytest.mark.proof
async def test_a_person_is_renamed_and_never_made_one_with_another(playing: Any) -> None:
    async with playing() as (world, game):
        await say(game, "My sister is called Mira.", user="Player")
        was = await tie(world, "Player")
        told = await game.ask("UPDATE_USER_MESSAGE", {"old_name": "player", "name": "Petr"})
        assert told["data"] == {"name": "Petr"}
        now = await tie(world, "Petr")
        assert (now.person, now.name, now.trust) == (was.person, "Petr", was.trust)
        assert "Mira" in (await say(game, "What is my sister called?", user="Petr"))["utt"]
        assert "Mira" not in (await say(game, "What is my sister called?", user="Player"))["utt"]
        assert (await tie(world, "Player")).person != was.person
        for data, word in (
            ({"old_name": "Player", "name": "Petr"}, "remembers another person"),
            ({"old_name": "Nobody", "name": "Somebody"}, "nobody is called"),
        ):
            refused = await game.ask("UPDATE_USER_MESSAGE", data)
            assert refused["type"] == "ErrorResponse"
            assert word in refused["data"]
        assert (await game.ask("UPDATE_USER_MESSAGE", {"old_name": "Player", "name": "Eva"}))["status"] == "Success"
        assert len({one["id"] for one in await world.people()}) == len(await world.people())


@pytest.mark.proof
async def test_start_opens_worlds_side_by_side(playing: Any, tmp_path: Path) -> None:
    async with playing() as (_, game):
        await say(game, "My sister is called Mira.")
        assert (await game.ask("STARTMESSAGE", {"sim_code": "monday"}))["status"] == "Success"
        assert "Mira" not in (await say(game, "What is my sister called?"))["utt"]
        await say(game, "My dog is called Kiwi.")
        copied = await game.ask("STARTMESSAGE", {"fork_sim_code": "monday", "sim_code": "tuesday"})
        assert copied["data"] == {"sim_code": "tuesday", "fork_sim_code": "monday"}
        assert "Kiwi" in (await say(game, "What is my dog called?"))["utt"]
        fresh = await game.ask("STARTMESSAGE", {"fork_sim_code": "sunday", "sim_code": "wednesday"})
        assert fresh["data"] == {"sim_code": "wednesday", "fork_sim_code": None}
        await game.ask("STARTMESSAGE", {"sim_code": "ferry"})
        assert "Mira" in (await say(game, "What is my sister called?"))["utt"]
        for wrong in ("../monday", "", "a" * 65, "a/b"):
            refused = await game.ask("STARTMESSAGE", {"sim_code": wrong})
            assert (refused["type"], "sim_code" in refused["data"]) == ("ErrorResponse", True)
    assert {path.name for path in tmp_path.iterdir()} == {"ferry", "monday", "tuesday", "wednesday"}


@pytest.mark.proof
async def test_a_folder_that_is_no_world_is_not_opened(playing: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine", encoding="utf-8")
    async with playing() as (_, game):
        refused = await game.ask("STARTMESSAGE", {"sim_code": "notes"})
        assert (refused["type"], refused["status"]) == ("StartResponse", "Failed")
        assert (await say(game, "Good morning!"))["utt"]
    assert [path.name for path in (tmp_path / "notes").iterdir() if path.suffix] == ["mine.txt"]
