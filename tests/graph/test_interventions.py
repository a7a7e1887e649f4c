"""What people from outside do to a conversation through LangGraph alone: `update_state(…, as_node="intervene")`."""

from __future__ import annotations

from typing import Any

import pytest
from graph.test_people import ADA, BO, LI, PEOPLE, Held
from langgraph.types import Command

from persimchat.state.errors import InputError


def begun(turn: int = 1, *, people: list[dict[str, Any]] = PEOPLE, **settings: Any) -> Held:
    """A conversation that stands between two turns."""
    held = Held(people, **{"human_turns": "hand", "max_messages": 5, **settings})
    for _ in held.graph.stream(held.given, held.config, context=held.settings, stream_mode="values", durability="sync"):
        snapshot = held.graph.get_state(held.config)
        if snapshot.values.get("turn") == turn and "speak" in snapshot.next:
            break
    return held


def intervene(held: Held, *wanted: Any) -> None:
    held.graph.update_state(held.config, {"interventions": list(wanted)}, as_node="intervene")


def go_on(held: Held) -> list[dict[str, Any]]:
    held.graph.invoke(None, held.config, context=held.settings)
    return [interrupt.value for interrupt in held.interrupts()]


@pytest.mark.proof
def test_the_moderator_says_something() -> None:
    held = begun()
    intervene(held, {"do": "say", "text": "Bo, be brief."})
    go_on(held)
    second = held.said[1]
    assert (second["speaker"], second["text"], second["addressees"]) == ("Moderator", "Bo, be brief.", [BO])
    assert [u["turn"] for u in held.said] == [1, 2, 3, 4, 5]
    assert held.state["interventions"] == []
    assert max(held.calls.asked.values()) == 1
    assert any("Moderator" in asked and "Bo, be brief." in asked for asked in held.calls.asked)


@pytest.mark.proof
def test_a_whisper_reaches_its_hearer_alone() -> None:
    held = begun(max_messages=2)
    intervene(held, {"do": "say", "text": "Mention the xylophone.", "heard_by": [BO]})
    go_on(held)
    assert held.said[1]["heard_by"] == [BO]
    asked = [asked for asked in held.calls.asked if "xylophone" in asked]
    assert asked
    assert all(f"- Name: {BO}" in asked for asked in asked), "somebody else was told"


@pytest.mark.proof
def test_words_put_into_an_agents_mouth() -> None:
    held = begun()
    intervene(held, {"do": "say", "text": "I give up tea.", "speaker": ADA})
    go_on(held)
    assert (held.said[1]["speaker"], held.said[1]["text"]) == (ADA, "I give up tea.")
    assert held.state["agents"][ADA]["utterances"] == sum(u["speaker"] == ADA for u in held.said)


@pytest.mark.proof
def test_another_topic() -> None:
    held = begun()
    pinned = held.state["agents"][ADA]["pinned"]
    intervene(held, {"do": "topic", "topic": "Cats or dogs?"})
    go_on(held)
    assert held.state["topic"] == "Cats or dogs?"
    mind = held.state["agents"][ADA]
    assert mind["pinned"][0] == pinned[0]
    assert mind["pinned"][1] != pinned[1]
    assert mind["pinned"][1] in mind["alive"]
    assert mind["unsaved"] == [], "the topic was saved when the next utterance was heard"
    later = [asked for asked in held.calls.asked if "of 5 utterances made" in asked and "Cats or dogs?" in asked]
    assert later


def test_a_hand_asks_its_person() -> None:
    held = begun()
    intervene(held, {"do": "hand", "agent": LI})
    (asked,) = go_on(held)
    assert (asked["agent"], asked["turn"]) == (LI, 1)
    assert held.state["agents"][LI]["need_to_talk"] == 10


@pytest.mark.proof
def test_a_hand_lowered_again_asks_nobody() -> None:
    held = begun()
    intervene(held, {"do": "hand", "agent": LI}, {"do": "hand", "agent": LI, "raised": False})
    assert go_on(held) == []
    assert held.state["agents"][LI]["need_to_talk"] == 0


@pytest.mark.proof
@pytest.mark.parametrize("agent", [ADA, BO, LI])
def test_the_floor(agent: str) -> None:
    held = begun()
    intervene(held, {"do": "floor", "agent": agent})
    asked = go_on(held)
    if agent == LI:
        assert [question["agent"] for question in asked] == [LI]
        held.go(Command(resume="Thank you."))
    assert held.said[1]["speaker"] == agent


@pytest.mark.proof
def test_the_end() -> None:
    held = begun(2)
    intervene(held, {"do": "stop"})
    made = held.calls.asked.total()
    go_on(held)
    assert (held.state["stop_reason"], held.state["stop_source"]) == ("stopped", "moderator")
    assert held.calls.asked.total() == made
    assert len(held.said) == 2


@pytest.mark.proof
def test_several_at_once_are_carried_out_in_order() -> None:
    held = begun()
    intervene(
        held,
        {"do": "topic", "topic": "Cats or dogs?"},
        {"do": "say", "text": "One."},
        {"do": "hand", "agent": LI},
        {"do": "say", "text": "Two.", "heard_by": [ADA]},
        {"do": "floor", "agent": BO},
        {"do": "stop"},
    )
    assert go_on(held) == [], "the end goes before a raised hand"
    assert [u["speaker"] for u in held.said[1:]] == ["Moderator", "Moderator", BO]
    assert [u["text"] for u in held.said[1:3]] == ["One.", "Two."]
    assert held.state["topic"] == "Cats or dogs?"
    assert held.state["agents"][LI]["hand"] is True
    assert held.state["stop_reason"] == "stopped"


@pytest.mark.proof
def test_what_waits_is_not_lost_where_a_person_with_the_floor_passes() -> None:
    held = begun()
    intervene(held, {"do": "floor", "agent": LI}, {"do": "say", "text": "Then I will."})
    (asked,) = go_on(held)
    assert asked["agent"] == LI
    held.go(Command(resume={"pass": True}))
    assert (held.said[1]["speaker"], held.said[1]["text"]) == ("Moderator", "Then I will.")
    assert held.state["interventions"] == []
    assert max(held.calls.asked.values()) == 1, "somebody thought twice before one utterance"


@pytest.mark.proof
def test_while_a_person_is_asked_something_else_can_be_said() -> None:
    held = begun()
    intervene(held, {"do": "hand", "agent": LI})
    go_on(held)
    intervene(held, {"do": "say", "text": "One moment, please."})
    (asked,) = go_on(held)
    assert (asked["agent"], asked["turn"]) == (LI, 2)
    assert [u["text"] for u in held.said[1:]] == ["One moment, please."]
    held.go(Command(resume="At last."))
    assert held.said[2]["speaker"] == LI
    assert held.state["agents"][LI]["hand"] is False


@pytest.mark.proof
def test_what_waits_at_the_message_limit_is_kept() -> None:
    held = begun(4)
    intervene(held, {"do": "say", "text": "One."}, {"do": "say", "text": "Two."})
    go_on(held)
    assert [u["text"] for u in held.said[4:]] == ["One."]
    assert held.state["stop_reason"] == "message_limit"
    assert [waiting["text"] for waiting in held.state["interventions"]] == ["Two."]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"do": "say", "text": ""}, "no words"),
        ({"do": "say", "text": "\x1b\x00"}, "no words"),
        ({"do": "say", "text": "x" * 100_000}, "100,000 characters are too many"),
        ({"do": "say", "text": None}, "it is not text"),
        ({"do": "say", "text": "Hi", "speaker": "Eve"}, "'Eve' does not take part"),
        ({"do": "say", "text": "Hi", "heard_by": ["Eve"]}, "'Eve' does not take part"),
        ({"do": "say", "text": "Hi", "heard_by": []}, "heard_by"),
        ({"do": "say", "text": "Hi", "speaker": ADA, "heard_by": [ADA]}, "nobody but the speaker"),
        ({"do": "hand", "agent": ADA}, "only people raise a hand"),
        ({"do": "floor", "agent": "Eve\n\x1b[2J"}, "does not take part"),
        ({"do": "topic", "topic": " "}, "topic"),
        ({"do": "dance"}, "no such intervention"),
        ({}, "no such intervention"),
        ("stop", "intervention"),
        (None, "intervention"),
    ],
)
@pytest.mark.parametrize("second", [False, True])
def test_a_wrong_intervention_is_refused_and_changes_nothing(wanted: Any, words: str, second: bool) -> None:
    held = begun()
    before = held.said
    right = [{"do": "topic", "topic": "Cats?"}] if second else []
    with pytest.raises(InputError) as caught:
        intervene(held, *right, wanted)
        go_on(held)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert "\x1b" not in message
    assert len(message) < 400
    assert held.said == before


@pytest.mark.proof
def test_a_wrong_intervention_can_be_replaced() -> None:
    held = begun()
    with pytest.raises(InputError):
        intervene(held, {"do": "topic", "topic": "Cats?"}, {"do": "dance"})
        go_on(held)
    intervene(held, {"do": "say", "text": "Sorry."})
    go_on(held)
    assert held.said[1]["text"] == "Sorry."


@pytest.mark.proof
def test_without_as_node_there_is_a_readable_error() -> None:
    held = begun()
    with pytest.raises(InputError, match="update_state gives this node no settings") as caught:
        held.graph.update_state(held.config, {"interventions": [{"do": "stop"}]})
    assert 'as_node="intervene"' in caught.value.remedy


@pytest.mark.proof
async def test_asynchronously() -> None:
    held = begun()
    wanted = {"interventions": [{"do": "say", "text": "Bo, be brief."}]}
    await held.graph.aupdate_state(held.config, wanted, as_node="intervene")
    await held.graph.ainvoke(None, held.config, context=held.settings)
    assert held.said[1]["speaker"] == "Moderator"


@pytest.mark.proof
def test_a_fork_from_the_past_leaves_the_past_alone() -> None:
    held = begun()
    go_on(held)
    before = [u["text"] for u in held.said]
    history = list(held.graph.get_state_history(held.config))
    past = next(s for s in history if s.values.get("turn") == 2 and "speak" in s.next)
    forked = held.graph.update_state(
        past.config, {"interventions": [{"do": "say", "text": "Let us begin again."}]}, as_node="intervene"
    )
    output = held.graph.invoke(None, forked, context=held.settings)
    after = [m.text for m in output["messages"]]
    assert after[:3] == [*before[:2], "Let us begin again."]
    assert after[3:] != before[3:]
    last = next(s for s in history if not s.next)
    assert [m.text for m in held.graph.get_state(last.config).values["messages"]] == before


@pytest.mark.proof
def test_a_judge_thinks_once_where_a_person_passes() -> None:
    held = begun(mode="debate", judge="persona", human_turns="hand", max_messages=6)
    intervene(held, {"do": "floor", "agent": LI}, {"do": "say", "text": "Then I will."})
    go_on(held)
    held.go(Command(resume={"pass": True}))
    assert held.said[1]["speaker"] == "Moderator"
    assert max(held.calls.asked.values()) == 1
