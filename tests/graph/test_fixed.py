"""cognition=fixed: minds stay as they are before the first utterance, and nobody asks a model but the speaker."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from pydantic import ValidationError
from run_files import read_records

import persimchat
from persimchat.graph import build_conversation
from persimchat.personas.scenario import load_story, make_scenario
from persimchat.runs.control import Control
from persimchat.runs.events import MindChanged
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lind", "description": "A baker.", "social_goals": ["Sell bread."]},
    {"name": "Bo Říha", "description": "A driver."},
    {"name": "李雷", "description": "A student."},
]


def hold(scripted: Scripted, **settings: Any) -> dict[str, Any]:
    with LoopbackServer(answer=scripted) as server:
        context = Settings(model=server.model(), cognition="fixed", **settings)
        given = {"topic": "Tea?", "participants": PEOPLE}
        return build_conversation().invoke(given, context=context)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({"max_messages": 4}, {"utterance": 4}),
        ({"max_messages": 4, "planning_and_reflection": False, "closing": "on"}, {"utterance": 4}),
        ({"max_messages": 3, "pattern": "selector", "closing": "off"}, {"utterance": 3, "selector": 3}),
        ({"max_messages": 4, "mode": "debate"}, {"utterance": 4, "judge": 2, "majority": 1}),
        ({"max_messages": 2, "analysis": True}, {"utterance": 2, "analysis": 2}),
    ],
)
def test_nobody_is_asked_but_the_speaker(settings: dict[str, Any], asked: dict[str, int]) -> None:
    scripted = Scripted()
    hold(scripted, **settings)
    assert Counter(task for task, _ in scripted.asked) == asked


def test_prompts_have_nothing_that_a_mind_would_have_made() -> None:
    scripted = Scripted()
    hold(scripted, max_messages=3, closing="off")
    first, *others = scripted.prompts("utterance")
    for prompt in (first, *others):
        for tag in ("needs_and_emotions", "memories"):
            assert f"<{tag}>" not in prompt
        assert "Need to talk" not in prompt and "Who I am now" not in prompt
    assert "- My goal: Sell bread." in first and "- Name: Ada Lind" in first


def test_speakers_take_turns_unless_a_selector_names_them() -> None:
    assert Settings(cognition="fixed").pattern == "round_robin"
    assert "pattern" not in Settings(cognition="fixed").model_fields_set, "it may still be decided otherwise"
    assert Settings(cognition="fixed", pattern="selector").pattern == "selector"
    assert Settings().pattern == Settings(cognition="lean").pattern == "need_to_talk"
    assert Settings(cognition="fixed", baseline="group_chat").pattern == "need_to_talk", "baselines have no minds"
    again = Settings.model_validate(Settings(cognition="fixed").model_dump())
    assert again.pattern == "round_robin"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"pattern": "need_to_talk"}, "set pattern=round_robin or pattern=selector"),
        ({"mode": "debate", "judge": "persona"}, "set judge=sliding_window"),
        ({"listeners": 2}, "leave listeners out"),
        ({"memory_filtering": True}, "leave memory_filtering out"),
        ({"mode": "story"}, "does not go with a story"),
    ],
)
def test_what_such_minds_cannot_do_is_refused_with_a_remedy(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Settings(cognition="fixed", **settings)


def test_a_story_has_a_cognition_of_its_own() -> None:
    with pytest.raises(InputError, match="cognition=fixed does not go with a story"):
        persimchat.simulate(load_story(), cognition="fixed", model="offline")


def test_minds_are_recorded_every_turn_and_stay_the_same() -> None:
    events = persimchat.stream_events(
        "Tea or coffee?", participants=3, max_messages=3, mode="debate", cognition="fixed", model="offline"
    )
    minds = [event.record for event in events if isinstance(event, MindChanged)]
    assert [mind.turn for mind in minds] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    for mind in minds:
        assert (mind.need_to_talk, mind.openness, mind.emotion, mind.percept) == (None, None, {}, None)
        assert (mind.action, mind.plan, mind.insights, mind.short_term_memory) == ("", None, [], None)
        assert mind.long_term_memories in (2, 3)
    assert {mind.did for mind in minds} == {"", "speak"}


@pytest.mark.proof
async def test_a_replay_is_equal(tmp_path: Path) -> None:
    run = persimchat.simulate(
        "Tea or coffee?",
        participants=3,
        max_messages=5,
        mode="debate",
        cognition="fixed",
        model="offline",
        out=tmp_path,
    )
    assert run.folder is not None
    replay = Replay(Path(run.folder))
    assert [event async for event in replay.events()]
    assert replay.comparison is not None and replay.comparison.same


@pytest.mark.proof
@pytest.mark.parametrize(("first", "then"), [("fixed", "full"), ("lean", "fixed"), ("fixed", "compact")])
async def test_a_branch_may_begin_or_cease_to_think(first: str, then: str, tmp_path: Path) -> None:
    scenario = make_scenario("Tea or coffee?", PEOPLE)
    common: dict[str, Any] = {"model": "offline", "pattern": "round_robin", "max_messages": 5, "mode": "debate"}
    async for _ in run_simulation(scenario, Settings(cognition=first, **common), out=tmp_path, run="a"):
        pass
    async for _ in branch_run(tmp_path / "a", 3, changes={"cognition": then}, run="b"):
        pass
    minds = read_records(tmp_path / "b" / "minds.jsonl")
    assert [mind["turn"] for mind in minds] == [turn for turn in range(6) for _ in PEOPLE]
    shared, own = [mind for mind in minds if mind["turn"] <= 3], [mind for mind in minds if mind["turn"] > 3]
    assert shared == [mind for mind in read_records(tmp_path / "a" / "minds.jsonl") if mind["turn"] <= 3]
    asked = {call["module"] for call in read_records(tmp_path / "b" / "calls.jsonl")}
    if then == "fixed":
        assert asked == {"natural_language", "judge"}
        for mind, before in zip(own, [mind for mind in shared if mind["turn"] == 3] * 2, strict=True):
            assert (mind["emotion"], mind["need_to_talk"]) == (before["emotion"], before["need_to_talk"])
            assert (mind["percept"], mind["action"], mind["did"] in ("", "speak")) == (None, "", True)
    else:
        assert all(mind["percept"] and mind["emotion"] and mind["need_to_talk"] is not None for mind in own)
        assert asked > {"natural_language", "judge"}


@pytest.mark.proof
async def test_an_unchanged_branch_goes_on_as_the_original_did(tmp_path: Path) -> None:
    settings = Settings(model="offline", cognition="fixed", max_messages=5)
    async for _ in run_simulation(make_scenario("Tea?", PEOPLE), settings, out=tmp_path, run="a"):
        pass
    async for _ in branch_run(tmp_path / "a", 2, run="b"):
        pass
    for name in ("transcript.jsonl", "transcript.md", "minds.jsonl"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


def test_a_branch_of_a_run_by_need_names_the_remedy() -> None:
    with pytest.raises(InputError, match="pattern=round_robin"):
        persimchat.simulate("Tea?", pattern="need_to_talk", cognition="fixed", model="offline")


async def test_a_person_takes_their_turn_among_such_minds(tmp_path: Path) -> None:
    people = [*PEOPLE[:2], {"name": "Li", "human": True}]
    control, said = Control(), []
    settings = Settings(model="offline", cognition="fixed", max_messages=4, human_turns="need")
    async for event in run_simulation(make_scenario("Tea?", people), settings, control=control):
        if event.event == "asked":
            control.answer("Water, please." if event.what == "utterance" else 3)
        if event.event == "utterance":
            said.append(event.speaker)
    assert said == ["Ada Lind", "Bo Říha", "Li", "Ada Lind"]
