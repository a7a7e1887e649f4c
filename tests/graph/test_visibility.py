"""Nobody is given what they did not hear: windows of prompts, of the repetition check, of onlookers, of questions."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from persimchat.graph import edges
from persimchat.graph.situation import situation_of
from persimchat.nodes.assembling import assemble
from persimchat.state.conversation import Conversation, as_message, utterance_id
from persimchat.state.settings import Settings

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


@settings(max_examples=60)
@given(TALKS, st.integers(1, 12), st.integers(1, 30), st.integers(0, 3))
def test_windows_hold_what_their_reader_hears_and_all_of_it(
    talk: list[tuple[str, list[str] | None]], recent: int, window: int, earlier: int
) -> None:
    options = Settings(recent_utterances=recent, judge_window=window)
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
