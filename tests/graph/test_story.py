"""The course of a story: acts in their order, rooms, chat rounds, updates, the vote, and what a failure changes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from story_talks import NAMES, Telling, done, failing, hold, last_of, leaks, scenario

from persimchat.graph.stories.story import build_story
from persimchat.models.exchange import Exchange
from persimchat.nodes.people import intervene
from persimchat.personas.scenario import load_story
from persimchat.prompts.fitting import Question
from persimchat.reports.estimate import estimate
from persimchat.state.conversation import participants, utterances
from persimchat.state.errors import InputError, ModelError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

pytestmark = pytest.mark.usefixtures("quick_retries")


async def story(told: Telling, patch: pytest.MonkeyPatch, given: Any = None, **options: Any) -> dict[str, Any]:
    """The last state of a story of two main characters and another one."""
    told.install(patch)
    return await hold(given or scenario(2, 1), **options)


@pytest.mark.proof
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
    assert [(one["speaker"], one["others"], "heard_by" in one) for one in done(state, "met")] == [
        (ada, [bo], True), (bo, [ada], True), (ada, [bo], False), (bo, [ada], False)]  # fmt: skip
    tasks = Counter(task for task, _, _ in told.prompts)
    assert tasks == {
        "review": 6, "stocktaking": 8, "choice": 4, "summary": 8, "ballot": 6, "story_utterance": 14
    }  # fmt: skip
    standings = done(state, "standing")
    assert [(one["round"], one["speaker"]) for one in standings] == [(r, n) for r in (0, 1) for n in NAMES[:3]]
    assert standings[3]["closeness"] == {bo: 16, cy: 16}
    assert standings[3]["beliefs"] == [58, 8]
    assert (state["stop_reason"], state["stop_source"]) == ("settled", "story")
    assert state["outcome"]["winners"] == [bo]
    assert {one["do"] for one in state["happenings"] if one.get("heard_by") == [] and one["round"] == 2} == {
        "guess", "ballot", "closed_ballot"}  # fmt: skip


@pytest.mark.proof
async def test_a_story_without_a_vote_finishes_and_without_first_impressions_begins_as_the_file_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling()
    made = scenario(2, 1, settlement=None, first_impressions=False)
    state = await story(told, monkeypatch, made, rounds=2)
    assert (state["stop_reason"], state["outcome"]) == ("finished", None)
    assert state["stop_detail"] == "The story's 2 rounds are over, and it has no vote."
    assert [one["closeness"] for one in done(state, "standing") if one["round"] == 0] == [
        dict.fromkeys([other for other in NAMES[:3] if other != name], 10) for name in NAMES[:3]
    ]
    assert not [task for task, _, _ in told.prompts if task == "ballot"]


async def test_all_in_the_group_speak_before_anybody_hears_them(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling()
    await story(told, monkeypatch, scenario(2, 1, stages=[{"kind": "group", "exchanges": 2}]))
    prompts = [text for task, _, text in told.prompts if task == "story_utterance"]
    assert [("zyx0001q" in text, "zyx0004q" in text) for text in prompts[:6]] == [
        *([(False, False)] * 3), *([(True, False)] * 3)]  # fmt: skip


@pytest.mark.proof
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
    assert not done(state, "review", NAMES[0])


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
    assert [one["speaker"] for one in done(state, "met")] == [NAMES[1]]
    assert state["stop_reason"] == "settled"


@pytest.mark.proof
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


async def test_a_character_whose_model_fails_is_silent_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = failing(NAMES[0])
    told = Telling(stocktaking=bad, story_utterance=bad, review=bad, ballot=bad)
    state = await story(told, monkeypatch)
    assert state["stop_reason"] == "settled"
    met = done(state, "met")
    assert [one["speaker"] for one in met] == [NAMES[1], NAMES[1]], "a host that cannot take stock has no room"
    said = [one["speaker"] for one in utterances(state["messages"])]
    assert said == [NAMES[1], NAMES[1], NAMES[1], NAMES[2], NAMES[1], NAMES[2]], "a room ends where nobody answers"
    assert set(state["agents"][NAMES[0]]["story"]["closeness"].values()) == {10}
    assert [one["speaker"] for one in done(state, "ballot")] == [NAMES[1]]
    assert state["agents"][NAMES[0]]["silent"]["step"] == "ballot"


async def test_where_all_models_fail_they_are_asked_once_more_and_then_the_run_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling(story_utterance=failing(*NAMES))
    with pytest.raises(ModelError, match="no such model"):
        await story(told, monkeypatch, scenario(2, 1, stages=[{"kind": "group", "exchanges": 1}]))
    assert sum(task == "story_utterance" for task, _, _ in told.prompts) > 3, "there was no second try"


@pytest.mark.proof
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


# A branch chooses whom a host talks to: what follows, who learns of it, and what is refused


SETTINGS = Settings(mode="story", model="offline", rounds=1)
ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"
STAGES = [{"kind": "private", "exchanges": 1}, {"kind": "confidential", "exchanges": 1, "partners": "others"}]


class Told:
    """A story that the scripted model has held, and what follows when it goes on otherwise."""

    def __init__(self, graph: Any, config: Any, told: Telling) -> None:
        self.graph, self.config, self.told = graph, config, told

    async def forced(self, host: str, partner: str, *, stage: int = 0, do: str = "stocktake") -> dict[str, Any]:
        """The last state, once a partner is chosen for a host before the first act of a kind in a stage."""
        async for snapshot in self.graph.aget_state_history(self.config):
            act = snapshot.values.get("act", {})
            if snapshot.next == (do,) and (act["host"], act["stage"]) == (host, stage) and not act["room"]:
                wanted = [{"do": "choose", "host": host, "partner": partner}]
                self.told.prompts.clear()
                at = await self.graph.aupdate_state(snapshot.config, {"interventions": wanted}, as_node="intervene")
                return await last_of(self.graph.astream(None, at, context=SETTINGS, stream_mode="values"))
        raise AssertionError(f"{host} has no such act")


@pytest.fixture
async def forced_story(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Told]:
    told = Telling().install(monkeypatch)
    graph: Any = build_story(InMemorySaver())
    config = {"configurable": {"thread_id": "forcing"}}
    given = scenario(2, 1, stages=STAGES).model_dump(by_alias=True, exclude={"settings"})
    await last_of(graph.astream(given, config, context=SETTINGS, stream_mode="values"))
    yield Told(graph, config, told)


@pytest.mark.proof
async def test_a_host_talks_to_the_partner_that_was_chosen_and_plans_it_itself(forced_story: Told) -> None:
    state = await forced_story.forced(ADA, CY)
    choice = done(state, "choice", ADA)[0]
    assert (choice["choice"], choice["chosen_by"], choice["heard_by"]) == (CY, "branch", [])
    assert choice["lines"]
    assert done(state, "met", ADA)[0]["others"] == [CY]
    (asked,) = [text for task, name, text in forced_story.told.prompts if (task, name) == ("choice", ADA)][:1]
    assert "May be chosen: Cy Dahl" in asked
    assert "May be chosen: Bo Vik" not in asked
    assert "chosen_by" not in done(state, "choice", ADA)[1]
    assert "chosen_by" not in done(state, "choice", BO)[0]
    assert state["carried_out"] == [{"turn": 0, "do": "choose", "host": ADA, "partner": CY}]
    assert state["interventions"] == []
    assert state["stop_reason"] == "settled"


@pytest.mark.proof
async def test_a_host_for_whom_nobody_is_chosen_has_no_room(forced_story: Told) -> None:
    state = await forced_story.forced(ADA, "")
    first = done(state, "choice", ADA)[0]
    assert (first.get("choice", ""), first["chosen_by"]) == ("", "branch")
    assert [room["members"][0] for room in state["rooms"].values() if room["stage"] == 0] == [BO]
    assert len(done(state, "met", ADA)) == 1
    assert done(state, "stock", ADA), "it took stock all the same"


@pytest.mark.proof
async def test_nobody_is_given_what_they_did_not_hear(forced_story: Told) -> None:
    state = await forced_story.forced(ADA, CY)
    minds = ((name, json.dumps(mind)) for name, mind in participants(state).items())
    assert leaks(state, ((name, text) for _, name, text in forced_story.told.prompts)) == []
    assert leaks(state, minds) == []
    for _, name, text in forced_story.told.prompts:
        assert name in (ADA, CY) or f"talked with {CY} alone" not in text


REFUSED = {
    "a partner that the stage does not allow": ((ADA, BO, 1, "stocktake"), "may not choose Bo Vik in this stage"),
    "a host that is not about to choose": ((ADA, CY, 0, "choose"), "is not about to choose"),
}


@pytest.mark.proof
@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_chosen_is_refused(forced_story: Told, case: str) -> None:
    (host, partner, stage, do), words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        await forced_story.forced(host, partner, stage=stage, do=do)


async def test_only_stories_have_choices() -> None:
    agents: dict[str, Any] = {name: {"name": name} for name in (ADA, BO)}
    state: Any = {"turn": 0, "agents": agents, "interventions": [{"do": "choose", "host": ADA, "partner": BO}]}
    with pytest.raises(InputError, match="this is no story"):
        await intervene(state, SETTINGS)


# What a story's minds go without (`story.ablation`), seen in the requests that they make


ALL = ("planning", "thinking", "reflection", "memory")
REASONED = ("choice", "summary", "ballot")
AS_BEFORE = "647a20a2f42ad62c"
"""The digest of all prompts of a story whose answers are given; it changes with the wording of prompts alone."""


def tiny(*ablation: str, **more: Any) -> Scenario:
    """The small story, whose minds go without something."""
    given = load_story().model_dump(by_alias=True)
    return Scenario.model_validate({**given, "story": {**given["story"], "ablation": list(ablation), **more}})


class Asked:
    """The requests of a story, by task: their texts, and the schemas of their answers."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.texts: dict[str, list[str]] = {}
        self.schemas: dict[str, list[dict[str, Any]]] = {}
        judge, stream = Exchange.judge, Exchange.stream

        def keep(asked: Any) -> str:
            assert isinstance(asked, Question)
            self.texts.setdefault(asked.template, []).append(str(asked.messages[1].text))
            return asked.template

        async def judging(exchange: Exchange, asked: Any, schema: Any, **more: Any) -> Any:
            self.schemas.setdefault(keep(asked), []).append(schema.model_json_schema())
            return await judge(exchange, asked, schema, **more)

        async def streaming(exchange: Exchange, asked: Any, **more: Any) -> Any:
            keep(asked)
            return await stream(exchange, asked, **more)

        patch.setattr(Exchange, "judge", judging)
        patch.setattr(Exchange, "stream", streaming)

    @property
    def told(self) -> str:
        """All texts."""
        return "\n".join(text for texts in self.texts.values() for text in texts)

    def fields(self, task: str) -> list[list[str]]:
        """The fields of a task's answers, in their order."""
        return [list(schema["properties"]) for schema in self.schemas[task]]


async def held(story: Scenario, patch: pytest.MonkeyPatch, *, rounds: int = 1) -> tuple[Asked, dict[str, Any]]:
    """The requests and the last state of a story that the offline model holds."""
    asked = Asked(patch)
    state = await hold(story, seed=1, rounds=rounds)
    assert state["stop_reason"] == "settled"
    assert state["outcome"]["winners"]
    assert {outcome for row in state["judgements"].values() for outcome in row} == {"valid"}
    return asked, state


@pytest.mark.proof
async def test_with_nothing_left_out_minds_plan_think_reflect_and_remember(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, state = await held(tiny(), monkeypatch, rounds=2)
    assert asked.fields("stocktaking")[0] == ["summary", "next_steps"]
    assert asked.fields("choice")[0] == ["reasoning", "partner", "plan"]
    assert asked.fields("summary")[0] == ["reasoning", "theme", "keywords", "importance"]
    assert asked.fields("ballot")[0] == ["reasoning", "choice"]
    assert asked.fields("review")[0] == ["reasoning", "closeness"]
    assert asked.fields("review")[4] == ["reasoning", "closeness", "beliefs"]
    for words in ("- next_steps:", "- My next step:", "what will you bring up?", "- plan:", "- To bring up [1]:"):
        assert words in asked.told
    for task in (*REASONED, "review"):
        assert all("- reasoning: one sentence" in text for text in asked.texts[task])
    for words in ("<happened>", "what I thought:", "- What I thought after the last round:", "what I keep of my talk"):
        assert words in asked.told
    assert "- afterthought:" not in asked.told
    assert "ablation" not in state["story"]


@pytest.mark.proof
async def test_a_story_without_the_field_asks_what_it_asked_before_there_was_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling().install(monkeypatch)
    given = scenario(2, 1).model_dump(by_alias=True, exclude={"settings"})
    config: Any = {"configurable": {"thread_id": "as before"}}
    await build_story().ainvoke(given, config, context=Settings(mode="story", model="offline", rounds=2))
    asked = "\0".join(sorted("\0".join(one) for one in told.prompts))
    assert hashlib.sha256(asked.encode()).hexdigest()[:16] == AS_BEFORE


@pytest.mark.proof
async def test_without_planning_there_are_no_next_steps_and_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, state = await held(tiny("planning"), monkeypatch)
    assert set(map(tuple, asked.fields("stocktaking"))) == {("summary",)}
    assert set(map(tuple, asked.fields("choice"))) == {("reasoning", "partner")}
    for words in ("next_steps", "next step", "bring up", "- plan:"):
        assert words not in asked.told
    assert "Whom do you choose? Each of you will speak 1 time." in asked.texts["choice"][0]
    assert "- How things stand for me:" in asked.told
    assert not any(one["lines"] for do in ("stock", "choice") for one in done(state, do))
    assert all(one["text"] for do in ("stock", "choice") for one in done(state, do))


@pytest.mark.proof
async def test_without_thinking_no_answer_begins_with_its_reason_and_reviews_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, state = await held(tiny("thinking"), monkeypatch)
    assert not any("reasoning" in fields for task in asked.schemas for fields in asked.fields(task))
    assert asked.fields("choice")[0] == ["partner", "plan"]
    assert asked.fields("review")[0] == ["closeness", "afterthought"]
    assert asked.fields("review")[4] == ["closeness", "beliefs", "afterthought"]
    assert "reasoning" not in asked.told
    changes, sentence = (asked.texts["review"][4].index(words) for words in ("- beliefs:", "- afterthought:"))
    assert changes < sentence
    assert "what I thought:" in "\n".join(asked.texts["ballot"]), "the reflection stays"
    assert not any(one["text"] for do in ("choice", "guess", "ballot", "closed_ballot") for one in done(state, do))
    assert all(one["text"] for one in done(state, "review"))


@pytest.mark.proof
async def test_without_reflection_a_review_has_no_sentence_and_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, state = await held(tiny("reflection"), monkeypatch)
    assert set(map(tuple, asked.fields("review"))) == {("closeness",), ("closeness", "beliefs")}
    assert not any(re.search("- (reasoning|afterthought):", text) for text in asked.texts["review"])
    for words in ("what I thought:", "What I thought after the last round"):
        assert words not in asked.told
    assert all("reasoning" in fields for task in REASONED for fields in asked.fields(task))
    assert not any(one["text"] for one in done(state, "review"))
    assert any(any(one["closeness"].values()) for one in done(state, "review")), "but closeness changes"
    kinds = {memory["kind"] for mind in state["agents"].values() for memory in mind.get("unsaved", []) if memory}
    assert "review" not in kinds
    assert not any(mind["story"]["review"] for mind in state["agents"].values())


@pytest.mark.proof
async def test_without_memory_nobody_is_told_what_has_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, _ = await held(tiny("memory"), monkeypatch)
    for words in ("<happened>", "Happened in round", "met alone", "what I keep of my talk"):
        assert words not in asked.told
    assert "<last_utterances>" in asked.told, "the words of the room and of the last speeches are heard"
    assert all("reasoning" in fields for task in REASONED for fields in asked.fields(task))


@pytest.mark.proof
async def test_without_all_four_a_story_still_comes_to_its_vote(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, _ = await held(tiny(*ALL), monkeypatch)
    told = {task: set(map(tuple, asked.fields(task))) for task in asked.schemas}
    assert told == {
        "stocktaking": {("summary",)},
        "choice": {("partner",)},
        "summary": {("theme", "keywords", "importance")},
        "review": {("closeness",), ("closeness", "beliefs")},
        "ballot": {("choice",)},
    }
    assert not re.search("reasoning|next_steps|afterthought|<happened>|bring up", asked.told)


def test_the_field_is_written_only_where_it_says_something() -> None:
    assert "ablation" not in json.dumps(load_story().model_dump(by_alias=True))
    assert tiny("memory", "planning").model_dump(by_alias=True)["story"]["ablation"] == ["memory", "planning"]


@pytest.mark.parametrize("part", ALL)
def test_an_estimate_is_lower_in_tokens_and_the_same_in_calls(part: str) -> None:
    whole, less = (estimate(story, Settings(**story.settings, model="offline")) for story in (tiny(), tiny(part)))
    assert less.total.calls == whole.total.calls
    assert less.total.input_tokens < whole.total.input_tokens
    assert (less.total.output_tokens < whole.total.output_tokens) == (part != "memory")
