"""Nobody in a room is given what was said in another one, also if minds hear, remember and recall; with a control."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minds_told import Minds, breakouts
from story_talks import WORD, last_of, leaks, scenario

from persimchat.graph import edges
from persimchat.graph.stories import situation
from persimchat.graph.stories.story import build_story
from persimchat.state import visibility
from persimchat.state.conversation import participants
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

STAGES: list[dict[str, Any]] = [
    {"kind": "plenary", "utterances": 1},
    {"kind": "rooms", "split": {"size": 2}, "utterances": 2, "report": True},
    {"kind": "plenary", "utterances": 3},
]


async def held(made: Scenario, told: Minds, patch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    told.install(patch)
    given = made.model_dump(by_alias=True, exclude={"settings"})
    chosen = Settings(**{**made.settings, "model": "offline", "rounds": 1, **options})
    config: Any = {"configurable": {"thread_id": "leaks"}}
    return await last_of(build_story().astream(given, config, context=chosen, stream_mode="values"))


def everything(told: Minds, state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """All that was given to somebody, or is theirs: prompts, minds with their memories, what happened."""
    yield from ((name, text) for _, name, text in told.prompts)
    yield from ((name, json.dumps(mind)) for name, mind in participants(state).items())
    for one in state["happenings"]:
        knows = participants(state) if one.get("heard_by") is None else {one["speaker"], *one["heard_by"]}
        yield from ((name, json.dumps(one)) for name in knows if name)


async def test_a_room_s_words_stay_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    state = await held(breakouts(4, STAGES), told, monkeypatch, cognition="lean")
    assert leaks(state, everything(told, state)) == []
    for name in participants(state):
        seen = {word for _, own, text in told.prompts if own == name for word in WORD.findall(text)}
        assert len(seen) >= 1 + 2 + 2, f"{name} was told too little"
        remembered = [word for mind in [state["agents"][name]] for word in WORD.findall(json.dumps(mind))]
        assert remembered, f"{name} remembers nothing"


async def test_the_test_notices_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with `is_heard` broken on purpose, the leak is found."""
    told = Minds()
    with monkeypatch.context() as broken:
        for module in (situation, edges, visibility):
            broken.setattr(module, "is_heard", lambda utterance, name: True)
        state = await held(breakouts(4, STAGES), told, monkeypatch, cognition="lean")
    assert leaks(state, everything(told, state))


ALONE = st.one_of(
    st.fixed_dictionaries({"kind": st.just("plenary"), "utterances": st.integers(1, 4)}),
    st.fixed_dictionaries(
        {
            "kind": st.just("rooms"),
            "split": st.fixed_dictionaries({"size": st.integers(2, 3)}),
            "utterances": st.integers(1, 3),
        }
    ),
    st.fixed_dictionaries({"kind": st.just("group"), "exchanges": st.just(1)}),
)
BY_TWO = st.fixed_dictionaries({"kind": st.sampled_from(["private", "confidential"]), "exchanges": st.integers(1, 2)})
COGNITION = st.sampled_from(["full", "compact", "lean"])


@pytest.mark.proof
@settings(max_examples=12)
@given(st.integers(4, 7), st.lists(ALONE, min_size=1, max_size=3), st.integers(1, 2), COGNITION, st.booleans())
async def test_no_shape_of_breakouts_leaks(
    people: int, stages: list[dict[str, Any]], rounds: int, cognition: str, filtering: bool
) -> None:
    told = Minds()
    with pytest.MonkeyPatch.context() as patch:
        options: dict[str, Any] = {"rounds": rounds, "cognition": cognition, "memory_filtering": filtering}
        state = await held(breakouts(people, stages), told, patch, **options)
    assert state["stop_reason"] == "finished"
    assert leaks(state, everything(told, state)) == []


@pytest.mark.proof
@settings(max_examples=12)
@given(st.integers(2, 3), st.integers(2, 3), st.lists(st.one_of(ALONE, BY_TWO), min_size=1, max_size=3), COGNITION)
async def test_no_story_whose_minds_hear_leaks(
    mains: int, others: int, stages: list[dict[str, Any]], cognition: str
) -> None:
    told = Minds()
    with pytest.MonkeyPatch.context() as patch:
        state = await held(scenario(mains, others, stages=stages), told, patch, cognition=cognition)
    assert state["stop_reason"] == "settled"
    assert leaks(state, everything(told, state)) == []
