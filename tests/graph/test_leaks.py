"""Nobody in a story is given what they did not hear; and the test of it notices when they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from minds_told import Minds, breakouts
from story_talks import WORD, Telling, hold, leaks, scenario

from persimchat.graph import edges
from persimchat.graph.situation import situation_of
from persimchat.graph.stories import situation
from persimchat.nodes.assembling import assemble
from persimchat.state import visibility
from persimchat.state.conversation import Conversation, as_message, participants, utterance_id
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


async def held(story: Scenario, told: Telling, patch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    """The last state of a story that the scripted model has held."""
    told.install(patch)
    return await hold(story, **options)


def everything(told: Telling, state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """All that was given to somebody, or is theirs: prompts, minds with their memories, what happened."""
    yield from ((name, text) for _, name, text in told.prompts)
    yield from ((name, json.dumps(mind)) for name, mind in participants(state).items())
    for one in state["happenings"]:
        knows = participants(state) if one.get("heard_by") is None else {one["speaker"], *one["heard_by"]}
        yield from ((name, json.dumps(one)) for name in knows if name)


@pytest.mark.proof
async def test_nobody_is_given_what_they_did_not_hear(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling()
    state = await held(scenario(2, 1), told, monkeypatch)
    assert leaks(state, everything(told, state)) == []
    for name in participants(state):
        seen = {word for _, own, text in told.prompts if own == name for word in WORD.findall(text)}
        assert seen, f"{name} was told nothing"


@pytest.mark.proof
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


@pytest.mark.long
@pytest.mark.proof
@settings(max_examples=settings.default.max_examples // 3)
@given(SHAPES)
async def test_no_shape_of_story_leaks(shape: tuple[int, int, list[dict[str, Any]], int, bool]) -> None:
    mains, others, stages, rounds, impressions = shape
    told = Telling()
    with pytest.MonkeyPatch.context() as patch:
        made = scenario(mains, others, stages=stages, first_impressions=impressions)
        state = await held(made, told, patch, rounds=rounds)
    assert state["stop_reason"] == "settled"
    assert leaks(state, everything(told, state)) == []


# Nobody in a room is given what was said in another one, also if minds hear, remember and recall; with a control


STAGES: list[dict[str, Any]] = [
    {"kind": "plenary", "utterances": 1},
    {"kind": "rooms", "split": {"size": 2}, "utterances": 2, "report": True},
    {"kind": "plenary", "utterances": 3},
]


@pytest.mark.proof
async def test_a_room_s_words_stay_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Minds()
    state = await held(breakouts(4, STAGES), told, monkeypatch, cognition="lean")
    assert leaks(state, everything(told, state)) == []
    for name in participants(state):
        seen = {word for _, own, text in told.prompts if own == name for word in WORD.findall(text)}
        assert len(seen) >= 1 + 2 + 2, f"{name} was told too little"
        remembered = [word for mind in [state["agents"][name]] for word in WORD.findall(json.dumps(mind))]
        assert remembered, f"{name} remembers nothing"


@pytest.mark.proof
async def test_the_test_notices_a_leak_of_breakout_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
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
@settings(max_examples=settings.default.max_examples // 6)
@given(st.integers(5, 7), st.lists(ALONE, min_size=1, max_size=3), st.integers(1, 2), COGNITION, st.booleans())
async def test_no_shape_of_breakouts_leaks(
    people: int, stages: list[dict[str, Any]], rounds: int, cognition: str, filtering: bool
) -> None:
    told = Minds()
    with pytest.MonkeyPatch.context() as patch:
        options: dict[str, Any] = {"rounds": rounds, "cognition": cognition, "memory_filtering": filtering}
        state = await held(breakouts(people, stages), told, patch, **options)
    assert state["stop_reason"] == "finished"
    assert leaks(state, everything(told, state)) == []


@pytest.mark.long
@pytest.mark.proof
@settings(max_examples=settings.default.max_examples // 6)
@given(st.integers(2, 3), st.integers(3, 3), st.lists(st.one_of(ALONE, BY_TWO), min_size=1, max_size=3), COGNITION)
async def test_no_story_whose_minds_hear_leaks(
    mains: int, others: int, stages: list[dict[str, Any]], cognition: str
) -> None:
    told = Minds()
    with pytest.MonkeyPatch.context() as patch:
        state = await held(scenario(mains, others, stages=stages), told, patch, cognition=cognition)
    assert state["stop_reason"] == "settled"
    assert leaks(state, everything(told, state)) == []


# Nobody is given what they did not hear: windows of prompts, of the repetition check, of onlookers, of questions


NAMES = ["Ada Lind", "Bo Říha", "Cy Dahl"]
LI = "李雷"
EVERYBODY = [*NAMES, LI]
MODERATOR = "Moderator"


def said(turn: int, speaker: str, heard_by: list[str] | None) -> dict[str, Any]:
    utterance = {
        "turn": turn,
        "speaker": speaker,
        "text": f"These are the words of number {turn}.",
        "addressees": [],
        "emotion": {},
        "need_to_talk": {},
        "response_time_s": 0.0,
        "tokens": {"input": 0, "output": 0},
        "corrections": [],
    }
    return utterance if heard_by is None else {**utterance, "heard_by": heard_by}


HEARERS = st.none() | st.lists(st.sampled_from(EVERYBODY), min_size=1, unique=True)
TALKS = st.lists(st.tuples(st.sampled_from([*EVERYBODY, MODERATOR]), HEARERS), min_size=1, max_size=25)


def conversation(talk: list[tuple[str, list[str] | None]], options: Settings, earlier: int) -> Conversation:
    people = [{"name": name, "description": "Somebody."} for name in NAMES] + [{"name": LI, "human": True}]
    state: Any = {"topic": "Tea?", "participants": people, "simulation": "test"}
    state |= {**assemble(state, options, "thread"), "usage": {}}
    agents = state["agents"][1]
    for mind in agents.values():
        mind["action"], mind["emotion"] = "plan" if not mind.get("human") else "", {}
        mind.setdefault("need_to_talk", 0)
    utterances = [said(turn, speaker, heard_by) for turn, (speaker, heard_by) in enumerate(talk, start=1)]
    messages = [as_message(u, utterance_id("test", u["turn"])) for u in utterances]  # type: ignore[arg-type]
    before = [as_message(said(n, "Old Speaker", None), f"old{n}") for n in range(1, earlier)]  # type: ignore[arg-type]
    topic = [HumanMessage("Tea?")] if earlier else []
    return {
        **state,
        "agents": agents,
        "messages": [*before, *topic, *messages],
        "turn": len(talk),
        "interventions": [],
        "scores": [],
    }


def hears(name: str, speaker: str, heard_by: list[str] | None) -> bool:
    """Whether somebody hears an utterance; onlookers have no name."""
    return heard_by is None or (name != "" and (name == speaker or name in heard_by))


def turns_heard(talk: list[tuple[str, list[str] | None]], name: str, count: int) -> list[int]:
    heard = [turn for turn, (speaker, heard_by) in enumerate(talk, start=1) if hears(name, speaker, heard_by)]
    return heard[max(0, len(heard) - count) :]


@pytest.mark.proof
@settings(max_examples=60)
@given(TALKS, st.integers(1, 12), st.integers(1, 30), st.integers(0, 3))
def test_windows_hold_what_their_reader_hears_and_all_of_it(
    talk: list[tuple[str, list[str] | None]], recent: int, window: int, earlier: int
) -> None:
    options = Settings(mode="debate", recent_utterances=recent, judge_window=window)
    state = conversation(talk, options, earlier)
    for name in ("", *EVERYBODY):
        for given_window, count in ((None, recent), (window, window)):
            shown = situation_of(state, name, options, window=given_window)["recent"]
            assert [u["turn"] for u in shown] == turns_heard(talk, name, count)


def sends(talk: list[tuple[str, list[str] | None]], step: Any, **options: Any) -> list[Any]:
    """What an edge of the graph gives to the nodes that come next."""
    made = Settings(**{"analysis": True, "human_turns": "need", "recent_utterances": 4, **options})
    state = conversation(talk, made, 0)
    before = edges.current_settings
    edges.current_settings = lambda: made
    try:
        found = step(state)
    finally:
        edges.current_settings = before
    return found if isinstance(found, list) else []


@pytest.mark.proof
@settings(max_examples=60)
@given(TALKS)
def test_an_utterance_is_handed_to_its_hearers_alone(talk: list[tuple[str, list[str] | None]]) -> None:
    speaker, heard_by = talk[-1]
    found = sends(talk, edges.after_publishing, mode="debate", judge="persona")
    hearing = [send.arg["name"] for send in found if send.node == "hear"]
    judge = ["Judge"] if heard_by is None else []
    assert hearing == [name for name in NAMES if hears(name, speaker, heard_by)] + judge
    assert any(send.node == "analyse" for send in found) == (heard_by is None)
    asked = [send.arg["name"] for send in found if send.node == "person_appraises"]
    assert asked == ([LI] if hears(LI, speaker, heard_by) else []), "being asked tells that something was said"
    for send in found:
        name = send.arg.get("name", "")
        reader = name if name in EVERYBODY else ""
        assert [u["turn"] for u in send.arg["situation"]["recent"]] == turns_heard(talk, reader, 4)


@pytest.mark.proof
@settings(max_examples=60)
@given(TALKS, st.sampled_from(NAMES), st.integers(1, 20))
def test_the_repetition_check_compares_with_what_the_speaker_heard(
    talk: list[tuple[str, list[str] | None]], speaker: str, window: int
) -> None:
    def floor(state: Conversation) -> Any:
        return edges.next_step({**state, "interventions": [{"do": "floor", "agent": speaker}]})

    found = sends(talk, floor, repetition_window=window)
    (spoken,) = [send.arg for send in found if send.node == "speak"]
    heard = turns_heard(talk, speaker, window)
    assert spoken["said"] == [f"These are the words of number {turn}." for turn in heard]
    for send in found:
        reader = send.arg["name"]
        assert [u["turn"] for u in send.arg["situation"]["recent"]] == turns_heard(talk, reader, 4)
