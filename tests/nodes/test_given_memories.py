"""Memories that a persona has from before the conversation: read, stored, recalled, and always there in fixed minds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import read_records, run_json

import persimchat
from persimchat.memory.store import held_store
from persimchat.personas.files import load_persona
from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.runs.events import MindChanged
from persimchat.runs.reports.estimate import estimate
from persimchat.runs.run.replay import Replay
from persimchat.state.errors import InputError
from persimchat.state.memory import given_memories
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

MEMORIES: list[Any] = [
    "I burnt the bread on Monday.",
    {"text": "Bo owes me ten crowns.", "importance": 8, "keywords": ["money"]},
]
ADA = {"name": "Ada Lind", "description": "A baker.", "memories": MEMORIES}
BO = {"name": "Bo Říha", "description": "A driver."}


def scenario(ada: dict[str, Any] = ADA) -> Scenario:
    return make_scenario("Tea?", [ada, BO])


def test_texts_and_mappings_are_read_and_written() -> None:
    persona = Persona.model_validate(ADA)
    assert [(m.text, m.importance, m.keywords) for m in persona.memories] == [
        ("I burnt the bread on Monday.", 5, []),
        ("Bo owes me ten crowns.", 8, ["money"]),
    ]
    assert Persona.model_validate(persona.model_dump()) == persona
    assert "memories" not in Persona.model_validate(BO).model_dump(), "a persona without them is written as ever"
    twice = given_memories(Persona.model_validate({**ADA, "memories": ["The same.", "The same."]}))
    assert len({memory.id for memory in twice}) == 2


@pytest.mark.parametrize(
    ("memories", "field", "says"),
    [
        ("One text.", "memories", "valid list"),
        ([""], "memories[0]", "1 character"),
        (["Fine.", 3], "memories[1]", "mapping"),
        (["Fine.", {"importance": 3}], "memories[1].text", "missing"),
        ([{"text": "Fine.", "importance": 11}], "memories[0].importance", "10"),
        ([{"text": "Fine.", "importance": True}], "memories[0].importance", ""),
        ([{"text": "Fine.", "when": "May"}], "memories[0].when", "unknown field 'when'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(memories: Any, field: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "ada.json"
    file.write_text(json.dumps({**ADA, "memories": memories}), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_persona(file)
    message = str(caught.value)
    assert f"field {field}" in message and says in message and "\n" not in message


def test_a_scenario_gives_memories_to_a_persona_by_name_and_fragments_share_them(tmp_path: Path) -> None:
    (tmp_path / "village.yaml").write_text("memories: [The pond froze over.]\n")
    (tmp_path / "s.yaml").write_text(
        "topic: Tea?\nparticipants:\n  - {persona: Inés, memories: [I lost my keys.]}\n"
        "  - {name: Bo, description: A driver., include: village.yaml, memories: [I found keys.]}\n"
    )
    first, second = load_scenario(tmp_path / "s.yaml").participants
    assert [memory.text for memory in first.memories] == ["I lost my keys."]
    assert [memory.text for memory in second.memories] == ["I found keys.", "The pond froze over."]


def test_more_than_long_term_memory_has_room_for_are_refused() -> None:
    full = scenario({**ADA, "memories": [f"Day {n}." for n in range(8)]})
    assert persimchat.simulate(full, model="offline", max_messages=1, ltm_capacity=10, cognition="fixed").utterances
    for more in ({"memories": [f"Day {n}." for n in range(9)]}, {"social_goals": ["Win."]}):
        given = {**full.participants[0].model_dump(), **more}
        with pytest.raises(InputError, match=r"room for \d beside profile.*Leave 1 out, or set a greater ltm_capacity"):
            persimchat.simulate(scenario(given), model="offline", max_messages=1, ltm_capacity=10)
    crowd = scenario({**ADA, "memories": [f"Day {n}." for n in range(30)]})
    asked = {"model": "offline", "max_messages": 1, "ltm_capacity": 10, "baseline": "group_chat"}
    assert persimchat.simulate(crowd, **asked).utterances, "a baseline has no memories"


@pytest.mark.parametrize("cognition", ["fixed", "lean"])
def test_they_are_stored_and_recalled(cognition: Any, tmp_path: Path) -> None:
    run = persimchat.simulate(
        scenario(), model="offline", max_messages=2, cognition=cognition, pattern="round_robin", out=tmp_path
    )
    assert run.folder is not None
    folder = Path(run.folder)
    minds = [mind for mind in read_records(folder / "minds.jsonl") if mind["agent"] == "Ada Lind"]
    told = [(memory["kind"], memory["theme"]) for mind in minds for memory in mind.get("memories", [])]
    assert ("event", "Bo owes me ten crowns.") in told
    assert minds[0]["long_term_memories"] == 4
    ids = [memory.id for memory in given_memories(Persona.model_validate(ADA))]
    with held_store(str(folder / "memory")) as store:
        kept = store.load(folder.name, "Ada Lind", "lexical", ids)
    assert [kept[id_][0].theme for id_ in ids] == ["I burnt the bread on Monday.", "Bo owes me ten crowns."]
    assert run_json(folder)["scenario"]["participants"][0]["memories"][1]["importance"] == 8


def test_fixed_minds_have_them_in_every_prompt_in_order_within_the_budget() -> None:
    scripted = Scripted()
    with LoopbackServer(answer=scripted) as server:
        many = scenario({**ADA, "memories": [*MEMORIES, *(f"On day {n} it rained all day." for n in range(40))]})
        persimchat.simulate(
            many, model=server.model(), max_messages=3, cognition="fixed", closing="off", memory_tokens=60
        )
    assert [task for task, _ in scripted.asked] == ["utterance"] * 3
    first, bo, third = (prompt.split("<memories>")[1:] for prompt in scripted.prompts("utterance"))
    assert not bo
    for (block,) in (first, third):
        lines = block.split("</memories>")[0].strip().splitlines()
        assert lines[0] == "- [1] event, turn 0, importance 5: I burnt the bread on Monday."
        assert lines[1] == "- [2] event, turn 0, importance 8: Bo owes me ten crowns. | money"
        assert len(lines) == 3, "the budget has room for so many"


def test_the_estimate_knows_them() -> None:
    for cognition in ("fixed", "full"):
        settings = Settings(model="offline", cognition=cognition, max_messages=4)  # type: ignore[arg-type]
        assert (
            estimate(scenario(), settings).total.calls
            == estimate(make_scenario("Tea?", [{**ADA, "memories": []}, BO]), settings).total.calls
        )
        with_them, without = (
            estimate(scenario({**ADA, "memories": memories}), settings).total.input_tokens
            for memories in (MEMORIES, [])
        )
        assert with_them > without


def test_minds_do_not_carry_them_to_later_steps() -> None:
    events = persimchat.stream_events(scenario(), model="offline", max_messages=3, cognition="compact")
    last = [event.record for event in events if isinstance(event, MindChanged) and event.record.turn == 3]
    recalled = {memory.theme for mind in last for memory in mind.recalled if memory.kind == "event"}
    assert recalled == {"I burnt the bread on Monday.", "Bo owes me ten crowns."}


@pytest.mark.proof
async def test_a_replay_is_equal(tmp_path: Path) -> None:
    run = persimchat.simulate(scenario(), model="offline", max_messages=4, cognition="compact", out=tmp_path)
    assert run.folder is not None
    replay = Replay(Path(run.folder))
    assert [event async for event in replay.events()]
    assert replay.comparison is not None and replay.comparison.same
