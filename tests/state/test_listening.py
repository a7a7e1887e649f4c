"""Who listens, and what silence does: the arithmetic of the setting `listeners`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.emotion import EMOTIONS
from persimchat.state.listening import (
    Concern,
    Listening,
    faded,
    importance_unasked,
    most_concerned,
    need_unasked,
    noticed,
    was_asked,
)

NEAR = st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0])
CONCERNS = st.lists(st.tuples(st.booleans(), NEAR, st.integers(0, 3)), max_size=12).map(
    lambda rows: [Concern(f"p{place}", *row) for place, row in enumerate(rows)]
)
LEVELS = st.fixed_dictionaries({name: st.integers(0, 10) for name in EMOTIONS})


@given(CONCERNS, st.integers(1, 15))
def test_nobody_who_is_asked_is_concerned_less_than_somebody_who_is_not(concerns: list[Concern], count: int) -> None:
    asked = most_concerned(concerns, count)
    assert len(asked) == min(count, len(concerns))
    assert asked == [concern.name for concern in concerns if concern.name in asked]
    order = {concern.name: place for place, concern in enumerate(concerns)}

    def rank(concern: Concern) -> tuple[bool, float, int, int]:
        return (not concern.named, -concern.nearness, concern.asked, order[concern.name])

    chosen = [rank(concern) for concern in concerns if concern.name in asked]
    left = [rank(concern) for concern in concerns if concern.name not in asked]
    assert not chosen or not left or max(chosen) < min(left)


def test_who_is_named_goes_before_who_is_near_and_who_was_asked_longest_ago_before_who_is_listed_first() -> None:
    named = [Concern("a", False, 1.0, 0), Concern("b", True, -1.0, 9)]
    assert most_concerned(named, 1) == ["b"]
    equal = [Concern("a", False, 0.5, 3), Concern("b", False, 0.5, 2), Concern("c", False, 0.5, 2)]
    assert most_concerned(equal, 1) == ["b"]
    assert most_concerned(equal, 2) == ["b", "c"]


@given(CONCERNS, st.integers(1, 5))
def test_in_a_talk_that_concerns_all_alike_everybody_is_asked_in_turn(concerns: list[Concern], count: int) -> None:
    asked = dict.fromkeys((concern.name for concern in concerns), 0)
    rounds = -(-len(asked) // count)
    for turn in range(1, rounds + 1):
        for name in most_concerned([Concern(name, False, 0.5, last) for name, last in asked.items()], count):
            asked[name] = turn
    assert all(asked.values())


@given(st.lists(st.booleans(), max_size=30), LEVELS)
def test_what_a_mind_keeps_of_its_listening(history: list[bool], emotion: dict[str, int]) -> None:
    listening: Listening | None = None
    for turn, asked in enumerate(history, start=1):
        now = emotion if turn == 1 else dict.fromkeys(EMOTIONS, turn % 11)
        listening = noticed(listening, turn, now, asked=asked)
        assert was_asked({"listening": listening}, turn) is asked
        assert was_asked({"listening": listening}, turn + 1) is None
        assert listening["temper"] == emotion
        assert listening["missed"] == next((n for n, a in enumerate(history[:turn][::-1]) if a), turn)
    assert was_asked({}, 1) is None and was_asked({"listening": listening}, 0) is None


@given(st.integers(0, 10), st.integers(2, 100), st.integers(1, 100))
def test_nobody_is_silent_for_ever(need: int, agents: int, listeners: int) -> None:
    period = max(1, round(agents / listeners))
    course = [need]
    for missed in range(1, 10 * period + 1):
        course.append(need_unasked(course[-1], missed, agents, listeners))
    assert all(0 <= now - before <= 1 for before, now in zip(course, course[1:], strict=False))
    assert course[period] == min(10, need + 1)
    assert course[-1] == 10


@given(LEVELS, LEVELS)
def test_feelings_fade_to_the_temper_and_stay_there(emotion: dict[str, int], temper: dict[str, int]) -> None:
    now = emotion
    for _ in range(10):
        before, now = now, faded(now, temper)
        for name in EMOTIONS:
            assert abs(now[name] - before[name]) == min(1, abs(temper[name] - before[name]))
            assert abs(now[name] - temper[name]) <= abs(before[name] - temper[name])
    assert now == temper


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_what_is_nearer_is_no_less_important(one: float, other: float) -> None:
    least, most = sorted([one, other])
    assert 5 <= importance_unasked(least) <= importance_unasked(most) <= 10
