"""A group that splits into rooms and comes together: who speaks, who hears, who reports, and what a failure changes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from minds_told import Minds, breakouts
from story_talks import NAMES, done, failing, hold, scenario

from persimchat.graph.calls import calls_of_story
from persimchat.graph.routing import draw
from persimchat.nodes.assembling import unfit_minds
from persimchat.state.conversation import utterances
from persimchat.state.errors import ModelError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.stories.story import Split

pytestmark = pytest.mark.usefixtures("quick_retries")

PLENARY = {"kind": "plenary", "utterances": 3}
ROOMS: dict[str, Any] = {"kind": "rooms", "split": {"size": 2}, "utterances": 2, "report": True}
REPORTS = {"kind": "plenary", "utterances": 3}


async def held(made: Scenario, told: Minds, patch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    told.install(patch)
    return await hold(made, **{"cognition": "lean", **options})


def heard(state: dict[str, Any]) -> list[tuple[str, ...]]:
    """Who was there when each utterance was made; empty for all."""
    said = utterances(state["messages"])
    return [tuple(sorted({one["speaker"], *one["heard_by"]})) if "heard_by" in one else () for one in said]


@pytest.mark.proof
async def test_rooms_talk_in_lockstep_and_one_of_each_reports_first(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    state = await held(breakouts(5, [PLENARY, ROOMS, REPORTS]), told, monkeypatch)
    met = done(state, "met")
    rooms = [tuple(sorted([one["speaker"], *one["others"]])) for one in met]
    assert sorted(map(len, rooms)) == [2, 3], "who would be alone joins the last room"
    assert [one["room"] for one in met] == ["1.2.1", "1.2.2"]
    assert heard(state) == [(), (), (), *(rooms * 2), (), (), ()]
    said = utterances(state["messages"])
    assert [one["turn"] for one in said] == list(range(1, 11))
    assert all(said[n]["speaker"] != said[n + 2]["speaker"] for n in (3, 4)), "nobody answers themselves"
    fewest = [min(room, key=[one["speaker"] for one in said[3:7]].count) for room in rooms]
    assert [one["speaker"] for one in said[7:9]] == [
        next(name for name in sorted(room, key=NAMES.index) if name in fewest or len(room) == 2) for room in rooms
    ]
    summaries = done(state, "summary")
    assert sorted(one["speaker"] for one in summaries) == sorted(NAMES[:5])
    assert all(one["heard_by"] == [] for one in summaries)
    assert not {"standing", "review"} & {one["do"] for one in state["happenings"]}, "nobody has a part"
    assert (state["stop_reason"], state["turn"]) == ("finished", 10)


@pytest.mark.proof
async def test_a_reporter_is_reminded_of_its_own_room_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    state = await held(breakouts(4, [ROOMS, REPORTS]), told, monkeypatch)
    first = utterances(state["messages"])[4]["speaker"]
    said = [text for task, name, text in told.prompts if task == "utterance" and name == first]
    (prompt,) = (text for text in said if "you speak first for yours" in text)
    assert "what I keep of my talk with" in prompt
    assert prompt.count("what I keep of") == 1


@pytest.mark.proof
async def test_named_groups_meet_and_rounds_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bo, cy, dee = NAMES[:4]
    named = {"kind": "rooms", "split": {"groups": [["Bo", "Dee"], ["Cy", "Ada"]]}, "utterances": 1}
    state = await held(breakouts(4, [named]), Minds(), monkeypatch, rounds=2)
    assert heard(state) == [(bo, dee), (ada, cy)] * 2
    assert list(state["rooms"]) == ["1.1.1", "1.1.2", "2.1.1", "2.1.2"]


def test_the_lot_depends_on_the_seed_and_leaves_nobody_alone() -> None:
    split = Split(size=2)
    shapes = [split.rooms(NAMES[:5], draw(seed, 1, "rooms 1")) for seed in (1, 1, 2, 3, 4)]
    assert shapes[0] == shapes[1]
    assert len({str(rooms) for rooms in shapes}) > 1
    assert all(sorted(map(len, rooms)) == [2, 3] for rooms in shapes)
    assert sorted(split.sizes(5)) == [2, 3]
    assert sorted(Split(size=3).sizes(8)) == [2, 3, 3]


@pytest.mark.long
@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
async def test_calls_are_those_that_are_counted_before(cognition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scenario(2, 1, stages=[
        {"kind": "private", "exchanges": 1}, {"kind": "group", "exchanges": 1}, {"kind": "plenary", "utterances": 2}
    ])  # fmt: skip
    for story in (made, breakouts(5, [PLENARY, ROOMS, REPORTS])):
        told = Minds()
        options: dict[str, Any] = {"cognition": cognition, "memory_filtering": story is made}
        await held(story, told, monkeypatch, **options)
        assert story.story is not None
        expected = calls_of_story(story.story, Settings(mode="story", rounds=1, **options), 0.0)
        asked = Counter(task for task, _, _ in told.prompts)
        for task in ("reflection", "memory_filtering") if cognition == "lean" else ():  # only an expectation is known
            asked.pop(task, 0)
            expected.pop(task, 0)
        assert asked == expected


@pytest.mark.proof
async def test_a_lean_mind_plans_with_what_it_hears_also_in_a_story(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    await held(scenario(2, 1, stages=[{"kind": "group", "exchanges": 2}]), told, monkeypatch, cognition="lean")
    asked = Counter(task for task, _, _ in told.prompts)
    assert asked["reaction"] and not asked["planning"]


@pytest.mark.proof
async def test_in_a_story_with_minds_the_group_and_last_speeches_go_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    state = await held(scenario(2, 1, stages=[{"kind": "group", "exchanges": 2}]), told, monkeypatch, cognition="lean")
    said = utterances(state["messages"])
    assert len(said) == 6 + 3
    assert all(one["speaker"] != then["speaker"] for one, then in zip(said[:5], said[1:6], strict=True))
    assert sorted(one["speaker"] for one in said[6:]) == sorted(NAMES[:3]), "everybody has one last speech"
    prompts = [text for task, _, text in told.prompts if task == "utterance"]
    assert all(f"zyx{n:04d}q" in prompts[n] for n in range(1, 6)), "each has heard the words before"
    assert state["outcome"]["winners"]


@pytest.mark.proof
async def test_prompts_tell_no_number_of_utterances_that_one_has_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    await held(breakouts(4, [ROOMS, REPORTS]), told, monkeypatch)
    for task, _, text in told.prompts:
        assert "utterances made" not in text
        if "stage: rooms" in text and task != "summary":
            assert any(f"Heard so far: {n} utterances" in text for n in range(3)), task
            assert not any(f"turn {n}," in text for n in (3, 4)), task


@pytest.mark.proof
async def test_where_one_fails_another_speaks_and_a_room_without_words_has_no_summary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ada, bo, cy, dee = NAMES[:4]
    groups = {"kind": "rooms", "split": {"groups": [[ada, bo], [cy, dee]]}, "utterances": 2}
    state = await held(breakouts(4, [PLENARY, groups]), Minds(utterance=failing(ada, bo)), monkeypatch)
    said = utterances(state["messages"])
    assert {one["speaker"] for one in said} == {cy, dee}
    assert heard(state) == [(), (), (), (cy, dee), (cy, dee)]
    assert {one["speaker"] for one in done(state, "summary")} == {cy, dee}


@pytest.mark.proof
async def test_where_all_fail_the_run_ends_with_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for stages in ([PLENARY], [ROOMS, REPORTS]):
        with pytest.raises(ModelError, match="no such model"):
            await held(breakouts(4, stages), Minds(utterance=failing(*NAMES)), monkeypatch)


def test_rooms_of_strategists_are_refused() -> None:
    story = breakouts(4, [ROOMS, REPORTS]).story
    assert story is not None
    (refused,) = unfit_minds(story, [], Settings(mode="story"))
    assert "cognition=strategist does not judge" in refused.what
