"""What a story's minds go without (`story.ablation`), seen in the requests that they make."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from story_talks import Telling, last_of, scenario

from persimchat.graph.stories.story import build_story
from persimchat.models.exchange import Exchange
from persimchat.personas.scenario import load_story
from persimchat.prompts.fitting import Question
from persimchat.runs.reports.estimate import estimate
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

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
    given = story.model_dump(by_alias=True, exclude={"settings"})
    chosen = Settings(**{**story.settings, "model": "offline", "seed": 1, "rounds": rounds})
    config: Any = {"configurable": {"thread_id": "ablation"}}
    state = await last_of(build_story().astream(given, config, context=chosen, stream_mode="values"))
    assert state["stop_reason"] == "settled"
    assert state["outcome"]["winners"]
    assert {outcome for row in state["judgements"].values() for outcome in row} == {"valid"}
    return asked, state


def notes(state: dict[str, Any], do: str) -> list[dict[str, Any]]:
    return [one for one in state["happenings"] if one["do"] == do]


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


async def test_a_story_without_the_field_asks_what_it_asked_before_there_was_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Telling().install(monkeypatch)
    given = scenario(2, 1).model_dump(by_alias=True, exclude={"settings"})
    config: Any = {"configurable": {"thread_id": "as before"}}
    await build_story().ainvoke(given, config, context=Settings(mode="story", model="offline", rounds=2))
    asked = "\0".join(sorted("\0".join(one) for one in told.prompts))
    assert hashlib.sha256(asked.encode()).hexdigest()[:16] == AS_BEFORE


async def test_without_planning_there_are_no_next_steps_and_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, state = await held(tiny("planning"), monkeypatch)
    assert set(map(tuple, asked.fields("stocktaking"))) == {("summary",)}
    assert set(map(tuple, asked.fields("choice"))) == {("reasoning", "partner")}
    for words in ("next_steps", "next step", "bring up", "- plan:"):
        assert words not in asked.told
    assert "Whom do you choose? Each of you will speak 1 time." in asked.texts["choice"][0]
    assert "- How things stand for me:" in asked.told
    assert not any(one["lines"] for do in ("stock", "choice") for one in notes(state, do))
    assert all(one["text"] for do in ("stock", "choice") for one in notes(state, do))


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
    assert not any(one["text"] for do in ("choice", "guess", "ballot", "closed_ballot") for one in notes(state, do))
    assert all(one["text"] for one in notes(state, "review"))


async def test_without_reflection_a_review_has_no_sentence_and_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, state = await held(tiny("reflection"), monkeypatch)
    assert set(map(tuple, asked.fields("review"))) == {("closeness",), ("closeness", "beliefs")}
    assert not any(re.search("- (reasoning|afterthought):", text) for text in asked.texts["review"])
    for words in ("what I thought:", "What I thought after the last round"):
        assert words not in asked.told
    assert all("reasoning" in fields for task in REASONED for fields in asked.fields(task))
    assert not any(one["text"] for one in notes(state, "review"))
    assert any(any(one["closeness"].values()) for one in notes(state, "review")), "but closeness changes"
    kinds = {memory["kind"] for mind in state["agents"].values() for memory in mind.get("unsaved", []) if memory}
    assert "review" not in kinds
    assert not any(mind["story"]["review"] for mind in state["agents"].values())


async def test_without_memory_nobody_is_told_what_has_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, _ = await held(tiny("memory"), monkeypatch)
    for words in ("<happened>", "Happened in round", "met alone", "what I keep of my talk"):
        assert words not in asked.told
    assert "<last_utterances>" in asked.told, "the words of the room and of the last speeches are heard"
    assert all("reasoning" in fields for task in REASONED for fields in asked.fields(task))


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
