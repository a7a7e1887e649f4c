"""When a question of a guide is due, who speaks between two, and when the guide is done."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from persimchat.graph.ending import ending
from persimchat.graph.guiding import (
    as_seen,
    course_of,
    is_done,
    limit_of,
    positions_due,
    question_due,
    resting,
    with_limit,
)
from persimchat.state.conversation import as_message
from persimchat.state.poll import Guide
from persimchat.state.settings import Settings

EVA, BO, CY, DI = "Eva Kos", "Bo Vik", "Cy Orr", "Di Lam"
OTHERS = (BO, CY, DI)
SETTINGS = Settings()


def guide(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = questions or ({"ask": "First?", "turns": 2}, {"ask": "Second?"})
    return Guide.model_validate({"moderator": EVA, "questions": list(asked), **more}).model_dump(mode="json")


def state(*said: tuple[str, int | None] | str, needs: int | tuple[int, ...] = 8, **more: Any) -> Any:
    """A conversation: who spoke, each with the number of the question that it put; and the others' needs to talk."""
    lines = [(one, None) if isinstance(one, str) else one for one in said]
    levels = (needs,) * len(OTHERS) if isinstance(needs, int) else needs
    agents: dict[str, Any] = {EVA: {"name": EVA, "last_spoke": 0, "need_to_talk": 9}}
    agents |= {name: {"name": name, "need_to_talk": n} for name, n in zip(OTHERS, levels, strict=True)}
    messages = []
    for turn, (speaker, question) in enumerate(lines, start=1):
        utterance: Any = {"turn": turn, "speaker": speaker, "text": f"Words {turn}.", "addressees": []}
        if question is not None:
            utterance["question"] = question
        messages.append(as_message(utterance, str(turn)))
    found = {"guide": guide(), "agents": agents, "messages": messages, "turn": len(lines), "carried_out": []}
    return {**found, "closing": "", **more}


def test_the_first_question_opens_the_talk() -> None:
    assert question_due(state(), SETTINGS) == 1


def test_a_question_has_its_turns() -> None:
    assert question_due(state((EVA, 1), BO), SETTINGS) is None
    assert question_due(state((EVA, 1), BO, CY), SETTINGS) == 2
    assert question_due(state((EVA, 1), BO, EVA), SETTINGS) is None, "the moderator's words are no answers"
    assert question_due(state((EVA, 1), BO, "Moderator"), SETTINGS) is None, "nor are those of one who leads"


def test_without_turns_the_talk_must_slow() -> None:
    two = ((EVA, 1), BO, CY, (EVA, 2))
    assert not is_done(state(*two, BO, CY, DI, needs=(8, 1, 1)), SETTINGS), "somebody wants to say more"
    assert is_done(state(*two, BO, CY, DI, needs=5), SETTINGS), "all have answered, and nobody is eager"
    assert not is_done(state(*two, BO, CY, needs=5), SETTINGS), "one has not answered"
    assert is_done(state(*two, BO, CY, needs=2), SETTINGS), "half have answered, and nobody has anything to say"
    assert not is_done(state(*two, BO, needs=2), SETTINGS)
    assert is_done(state(*two, BO, CY, BO, CY, BO, CY, needs=10), SETTINGS), "it always goes on"


def test_minds_without_a_need_to_talk_answer_once_each() -> None:
    quiet = state((EVA, 1), BO, CY, (EVA, 2), BO, CY)
    for name in OTHERS:
        del quiet["agents"][name]["need_to_talk"]
    assert not is_done(quiet, SETTINGS)
    heard = state((EVA, 1), BO, CY, (EVA, 2), BO, CY, DI)
    for name in OTHERS:
        del heard["agents"][name]["need_to_talk"]
    assert is_done(heard, SETTINGS)


def test_the_guide_ends_the_conversation_for_its_own_reason() -> None:
    over = state((EVA, 1), BO, CY, (EVA, 2), BO, CY, DI, needs=0)
    found = ending(over, SETTINGS)
    assert found == ("guide", "guide", "All 2 questions of the guide were put and talked about.")
    cut = ending(state((EVA, 1), BO), Settings(max_messages=2))
    assert cut is not None
    assert cut.reason == "message_limit", "a limit is a limit"


def test_the_moderator_rests_between_two_questions() -> None:
    assert resting(state((EVA, 1), BO)) == {EVA}
    asked = state((EVA, 1), BO)
    asked["messages"][-1].additional_kwargs["utterance"]["addressees"] = [EVA]
    assert resting(asked) == frozenset(), "unless asked by name"
    again = state((EVA, 1), BO, EVA, CY)
    again["messages"][-1].additional_kwargs["utterance"]["addressees"] = [EVA]
    assert resting(again) == {EVA}, "and only once"


def test_a_person_who_moderates_speaks_when_they_want_to() -> None:
    talk = state((EVA, 1), BO)
    talk["agents"][EVA] |= {"human": True, "need_to_talk": 0}
    assert resting(talk) == {EVA}
    talk["agents"][EVA]["need_to_talk"] = 10
    assert resting(talk) == frozenset()


def test_a_person_who_passes_lets_the_others_talk_on() -> None:
    talk = state((EVA, 1), BO, CY)
    talk["agents"][EVA] |= {"human": True, "passed": 4}
    assert question_due(talk, SETTINGS) is None
    later = state((EVA, 1), BO, CY, DI, BO)
    later["agents"][EVA] |= {"human": True, "passed": 4}
    assert question_due(later, SETTINGS) is None
    most = state((EVA, 1), BO, CY, DI, BO, CY)
    most["agents"][EVA] |= {"human": True, "passed": 4}
    assert question_due(most, SETTINGS) == 2


def test_the_guide_gives_the_limit_where_the_settings_give_none() -> None:
    assert limit_of(state(), Settings()) == Guide.model_validate(guide()).most_said(4) == (1 + 2 + 1) + (1 + 6 + 1)
    assert limit_of(state(), Settings(max_messages=5)) == 5
    assert with_limit(Settings(), Guide.model_validate(guide()), 4).max_messages == 12
    assert with_limit(Settings(max_messages=7), Guide.model_validate(guide()), 4).max_messages == 7
    assert with_limit(Settings(), None, 4).max_messages == Settings().max_messages


def test_what_is_shown_stays() -> None:
    seen = {"title": "The box", "text": "Two euros."}
    first = guide({"ask": "First?"}, {"ask": "Second?", "show": True}, {"ask": "Third?"}, stimulus=seen)
    shown = [as_seen(state((EVA, number), guide=first)) for number in (1, 2, 3)]
    assert ["stimulus" in (one or {}) for one in shown] == [False, True, True]
    always = as_seen(state(guide=guide(stimulus=seen)))
    assert always is not None
    assert always["stimulus"] == seen
    assert always["number"] == 0


def test_people_are_asked_where_they_stand_before_and_after() -> None:
    stand = {"ask": "Would you use it?"}
    begin = state(guide=guide(positions=[stand]))
    begin["agents"][DI]["human"] = begin["agents"][EVA]["human"] = True
    due = positions_due(begin, over=False)
    assert list(due) == [DI], "the moderator takes no position, and agents are polled afterwards"
    assert (due[DI][0]["ask"], due[DI][0]["when"]) == ("Would you use it?", "before")
    told = {"agent": DI, "poll": due[DI][0]["poll"], "when": "before", "what": "position"}
    assert positions_due({**begin, "carried_out": [told]}, over=False) == {}
    later = {**state((EVA, 1), guide=begin["guide"]), "agents": begin["agents"]}
    assert positions_due(later, over=False) == {}
    assert positions_due({**later, "carried_out": [told]}, over=True)[DI][0]["when"] == "after"


@settings(max_examples=40)
@given(
    turns=st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=6),
    needs=st.lists(st.integers(0, 10), min_size=3, max_size=3),
    speakers=st.lists(st.sampled_from(OTHERS), min_size=60, max_size=60),
)
def test_every_guide_comes_to_its_end(turns: list[int | None], needs: list[int], speakers: list[str]) -> None:
    asked = guide(*({"ask": f"Q{n}?", "turns": n_turns} for n, n_turns in enumerate(turns)))
    said: list[Any] = []
    others = iter(speakers)
    while not is_done(now := state(*said, needs=tuple(needs), guide=asked), SETTINGS):
        number = question_due(now, SETTINGS)
        said.append((EVA, number) if number is not None else next(others))
    assert [number for one in said if isinstance(one, tuple) for number in one[1:]] == list(range(1, len(turns) + 1))
    assert len(said) <= Guide.model_validate(asked).length(4)
    course = course_of(now)
    assert course is not None
    assert course.next is None
