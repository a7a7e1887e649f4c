"""The course of a story: acts in their order, rooms, chat rounds, updates, the vote, and what a failure changes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from story_talks import NAMES, Telling, last_of, scenario

from persimchat.graph.stories.story import build_story
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError, ModelError
from persimchat.state.settings import Settings

pytestmark = pytest.mark.usefixtures("quick_retries")


async def story(told: Telling, patch: pytest.MonkeyPatch, given: Any = None, **options: Any) -> dict[str, Any]:
    """The last state of a story of two main characters and another one."""
    told.install(patch)
    made = (given or scenario(2, 1)).model_dump(by_alias=True, exclude={"settings"})
    chosen = Settings(mode="story", model="offline", **{"rounds": 1, **options})
    config: Any = {"configurable": {"thread_id": "story"}}
    return await last_of(build_story().astream(made, config, context=chosen, stream_mode="values"))


def doings(state: dict[str, Any], do: str) -> list[dict[str, Any]]:
    return [one for one in state["happenings"] if one["do"] == do]


async def test_a_round_has_its_stages_an_update_and_after_the_last_one_the_vote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling()
    state = await story(told, monkeypatch)
    said = utterances(state["messages"])
    ada, bo, cy = NAMES[:3]
    assert [one["turn"] for one in said] == list(range(1, 15))
    assert [sorted(one.get("heard_by", ["all"])) for one in said] == [
        *([[bo], [ada], [ada], [bo]] * 2), *([["all"]] * 6)]  # fmt: skip
    assert [one["speaker"] for one in said[8:]] == [ada, bo, cy] * 2
    assert [(one["speaker"], one["others"], "heard_by" in one) for one in doings(state, "met")] == [
        (ada, [bo], True), (bo, [ada], True), (ada, [bo], False), (bo, [ada], False)]  # fmt: skip
    tasks = Counter(task for task, _, _ in told.prompts)
    assert tasks == {
        "review": 6, "stocktaking": 8, "choice": 4, "summary": 8, "ballot": 6, "story_utterance": 14
    }  # fmt: skip
    standings = doings(state, "standing")
    assert [(one["round"], one["speaker"]) for one in standings] == [(r, n) for r in (0, 1) for n in NAMES[:3]]
    assert standings[3]["closeness"] == {bo: 16, cy: 16}
    assert standings[3]["beliefs"] == [58, 8]
    assert (state["stop_reason"], state["stop_source"]) == ("settled", "story")
    assert state["outcome"]["winners"] == [bo]
    assert {one["do"] for one in state["happenings"] if one.get("heard_by") == [] and one["round"] == 2} == {
        "guess", "ballot", "closed_ballot"}  # fmt: skip


async def test_a_story_without_a_vote_finishes_and_without_first_impressions_begins_as_the_file_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling()
    made = scenario(2, 1, settlement=None, first_impressions=False)
    state = await story(told, monkeypatch, made, rounds=2)
    assert (state["stop_reason"], state["outcome"]) == ("finished", None)
    assert state["stop_detail"] == "The story's 2 rounds are over, and it has no vote."
    assert [one["closeness"] for one in doings(state, "standing") if one["round"] == 0] == [
        dict.fromkeys([other for other in NAMES[:3] if other != name], 10) for name in NAMES[:3]
    ]
    assert not [task for task, _, _ in told.prompts if task == "ballot"]


async def test_all_in_the_group_speak_before_anybody_hears_them(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling()
    await story(told, monkeypatch, scenario(2, 1, stages=[{"kind": "group", "exchanges": 2}]))
    prompts = [text for task, _, text in told.prompts if task == "story_utterance"]
    assert [("zyx0001q" in text, "zyx0004q" in text) for text in prompts[:6]] == [
        *([(False, False)] * 3), *([(True, False)] * 3)]  # fmt: skip


async def test_an_answer_outside_the_bound_is_asked_for_once_more_and_then_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unbounded(name: str, values: Any) -> Any:
        near = {item["to"]: 25 for item in values["closeness"].items if item.kind == "closeness"}
        own = {str(item["number"]): 0 for item in values["beliefs"].items}
        made = {"reasoning": "Much.", "closeness": near, **({"beliefs": own} if own else {})}
        return made if name == NAMES[0] else None

    told = Telling(review=unbounded)
    state = await story(told, monkeypatch)
    assert sum(task == "review" and name == NAMES[0] for task, name, _ in told.prompts) == 4
    own = state["agents"][NAMES[0]]["story"]
    assert set(own["closeness"].values()) == {10}
    assert state["agents"][NAMES[0]].get("silent") is None, "the character is not silent"
    assert state["judgements"]["review|offline"]["failed"] == 2
    assert not [one for one in doings(state, "review") if one["speaker"] == NAMES[0]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"reasoning": "So.", "partner": "Nobody Real", "plan": ["a"]},
        {"reasoning": "So.", "partner": NAMES[0], "plan": ["a"]},
        "I would rather not say.",
    ],
)
async def test_a_host_without_a_usable_choice_passes(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling(choice=lambda name, _: wrong if name == NAMES[0] else None)
    state = await story(told, monkeypatch, scenario(2, 1, stages=[{"kind": "private"}]))
    assert [one["speaker"] for one in doings(state, "met")] == [NAMES[1]]
    assert state["stop_reason"] == "settled"


async def test_signed_texts_are_whole_numbers_and_words_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(name: str, values: Any) -> Any:
        near = {item["to"].split()[0]: "+5" for item in values["closeness"].items if item.kind == "closeness"}
        unit = "+5 points" if name == NAMES[1] else "-3"
        own = {str(item["number"]): unit for item in values["beliefs"].items}
        return {"reasoning": "So.", "closeness": near, **({"beliefs": own} if own else {})}

    state = await story(Telling(review=signed), monkeypatch)
    agents = state["agents"]
    assert set(agents[NAMES[0]]["story"]["closeness"].values()) == {20}
    assert [belief["score"] for belief in agents[NAMES[0]]["story"]["beliefs"]] == [57, 7]
    assert set(agents[NAMES[1]]["story"]["closeness"].values()) == {15}, "only the first impression fitted"


def failing(*names: str) -> Any:
    """An answer that is an error of the model for these characters."""

    def answer(name: str, _: Any) -> Any:
        if name in names:
            raise ModelError("no such model", model="offline", agent=name)

    return answer


async def test_a_character_whose_model_fails_is_silent_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = failing(NAMES[0])
    told = Telling(stocktaking=bad, story_utterance=bad, review=bad, ballot=bad)
    state = await story(told, monkeypatch)
    assert state["stop_reason"] == "settled"
    met = doings(state, "met")
    assert [one["speaker"] for one in met] == [NAMES[1], NAMES[1]], "a host that cannot take stock has no room"
    said = [one["speaker"] for one in utterances(state["messages"])]
    assert said == [NAMES[1], NAMES[1], NAMES[1], NAMES[2], NAMES[1], NAMES[2]], "a room ends where nobody answers"
    assert set(state["agents"][NAMES[0]]["story"]["closeness"].values()) == {10}
    assert [one["speaker"] for one in doings(state, "ballot")] == [NAMES[1]]
    assert state["agents"][NAMES[0]]["silent"]["step"] == "ballot"


async def test_where_all_models_fail_they_are_asked_once_more_and_then_the_run_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling(story_utterance=failing(*NAMES))
    with pytest.raises(ModelError, match="no such model"):
        await story(told, monkeypatch, scenario(2, 1, stages=[{"kind": "group", "exchanges": 1}]))
    assert sum(task == "story_utterance" for task, _, _ in told.prompts) > 3, "there was no second try"


async def test_the_small_story_is_held_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling().install(monkeypatch)
    chosen: Any = Settings(mode="story", model="offline", rounds=1)
    config: Any = {"configurable": {"thread_id": "small"}}
    found = await build_story().ainvoke({}, config, context=chosen)
    assert found["turn"] == 3 * 2 + 3 * 2 + 4 + 4
    assert len(told.prompts) == 67
    assert found["outcome"]["winners"]


async def test_a_bad_section_of_an_input_is_refused() -> None:
    people = [{"name": name, "description": "Somebody."} for name in NAMES[:2]]
    given: Any = {"topic": "Tea?", "participants": people, "story": {"characters": {"Zoe": {}}}}
    with pytest.raises(InputError, match="no participant 'Zoe'"):
        await build_story().ainvoke(given, context=Settings(mode="story", model="offline"))
