"""Nobody in a story is given what they did not hear; and the test of it notices when they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from story_talks import WORD, Telling, last_of, leaks, scenario

from persimchat.graph.stories import situation
from persimchat.graph.stories.story import build_story
from persimchat.state import visibility
from persimchat.state.conversation import participants
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


async def held(story: Scenario, told: Telling, patch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    """The last state of a story that the scripted model has held."""
    told.install(patch)
    given = story.model_dump(by_alias=True, exclude={"settings"})
    made = Settings(mode="story", model="offline", **{"rounds": 1, **options})
    config: Any = {"configurable": {"thread_id": "leaks"}}
    return await last_of(build_story().astream(given, config, context=made, stream_mode="values"))


def everything(told: Telling, state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """All that was given to somebody, or is theirs: prompts, minds, what happened."""
    yield from ((name, text) for _, name, text in told.prompts)
    yield from ((name, json.dumps(mind)) for name, mind in participants(state).items())
    for one in state["happenings"]:
        knows = participants(state) if one.get("heard_by") is None else {one["speaker"], *one["heard_by"]}
        yield from ((name, json.dumps(one)) for name in knows if name)


async def test_nobody_is_given_what_they_did_not_hear(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling()
    state = await held(scenario(2, 1), told, monkeypatch)
    assert leaks(state, everything(told, state)) == []
    for name in participants(state):
        seen = {word for _, own, text in told.prompts if own == name for word in WORD.findall(text)}
        assert seen, f"{name} was told nothing"


async def test_the_test_notices_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with `is_heard` broken on purpose, the leak is found."""
    told = Telling()
    with monkeypatch.context() as broken:
        for module in (situation, visibility):
            broken.setattr(module, "is_heard", lambda utterance, name: True)
        broken.setattr(situation, "is_public", lambda utterance: True)
        state = await held(scenario(2, 1), told, monkeypatch)
    assert leaks(state, everything(told, state))


SHAPES = st.tuples(
    st.integers(2, 4),
    st.integers(0, 3),
    st.lists(
        st.fixed_dictionaries(
            {
                "kind": st.sampled_from(["private", "confidential", "group"]),
                "exchanges": st.integers(1, 2),
                "partners": st.sampled_from(["anyone", "anyone", "other_camp"]),
            }
        ),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 3),
    st.booleans(),
)


@pytest.mark.proof
@settings(max_examples=25)
@given(SHAPES)
async def test_no_shape_of_story_leaks(shape: tuple[int, int, list[dict[str, Any]], int, bool]) -> None:
    mains, others, stages, rounds, impressions = shape
    told = Telling()
    with pytest.MonkeyPatch.context() as patch:
        made = scenario(mains, others, stages=stages, first_impressions=impressions)
        state = await held(made, told, patch, rounds=rounds)
    assert state["stop_reason"] == "settled"
    assert leaks(state, everything(told, state)) == []
