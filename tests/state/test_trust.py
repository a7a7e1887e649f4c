"""Trust: one step up at most, at most three in a talk, and lower after hostility until the talk ends."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.companion import HOSTILE, Cause, Talk, Tie
from persimchat.state.trust import MOST_IN_A_TALK, appraised, bounds, start_of, walks_off, words_at

CAUSES: tuple[Cause, ...] = get_args(Cause)
TRUST = st.integers(0, 10)
JUDGEMENTS = st.lists(st.tuples(st.sampled_from(CAUSES), st.integers(-9, 9)), max_size=20)
HOSTILITY = st.sampled_from(sorted(HOSTILE))


def tie(trust: int) -> Tie:
    talk = Talk(id="t", number=1, begun="2025-03-03T11:40:00", last="2025-03-03T11:40:00", trust=trust)
    return Tie(person="p", name="Petr", trust=trust, talk=talk)


def course(trust: int, judgements: list[tuple[Cause, int]]) -> list[Tie]:
    """The ties before and after each judgement of one talk."""
    found = [tie(trust)]
    for cause, change in judgements:
        found.append(appraised(found[-1], cause, change, wants_to_end=False))
    return found


def next_talk(before: Tie) -> Tie:
    """The tie when the next talk begins."""
    return before.model_copy(update={"talk": tie(before.trust).talk})


@given(TRUST, JUDGEMENTS)
def test_trust_stays_in_bounds_and_moves_by_one_up_and_three_down_at_most(
    trust: int, judgements: list[tuple[Cause, int]]
) -> None:
    for before, after in pairwise(course(trust, judgements)):
        assert 0 <= after.trust <= 10
        assert -3 <= after.trust - before.trust <= 1


@given(TRUST, JUDGEMENTS)
def test_trust_rises_by_at_most_three_in_a_talk(trust: int, judgements: list[tuple[Cause, int]]) -> None:
    assert max(after.trust for after in course(trust, judgements)) <= trust + MOST_IN_A_TALK


@given(TRUST, JUDGEMENTS, HOSTILITY, st.integers(-9, 9), JUDGEMENTS)
def test_after_hostility_trust_stays_below_its_former_level_until_the_talk_ends(
    trust: int, judgements: list[tuple[Cause, int]], cause: Cause, change: int, later: list[tuple[Cause, int]]
) -> None:
    before = course(trust, judgements)[-1]
    after = appraised(before, cause, change, wants_to_end=False)
    for judged in later:
        assert after.trust <= max(0, before.trust - 1)
        after = appraised(after, *judged, wants_to_end=False)
    assert after.trust <= max(0, before.trust - 1)


@given(TRUST, HOSTILITY)
def test_the_next_talk_begins_without_the_bound(trust: int, cause: Cause) -> None:
    insulted = appraised(tie(trust), cause, -1, wants_to_end=False)
    kind = [("kindness", 1)] * 5
    here, there = insulted, next_talk(insulted)
    for judged in kind:
        here = appraised(here, judged[0], judged[1], wants_to_end=False)
        there = appraised(there, judged[0], judged[1], wants_to_end=False)
    assert here.trust == max(0, trust - 1)
    assert there.trust == min(10, insulted.trust + MOST_IN_A_TALK)


@given(TRUST, JUDGEMENTS)
def test_a_change_of_0_without_hostility_changes_nothing(trust: int, judgements: list[tuple[Cause, int]]) -> None:
    before = course(trust, judgements)[-1]
    assert appraised(before, "none", 0, wants_to_end=False).trust == before.trust


@given(TRUST, st.sampled_from(CAUSES), st.integers(-3, 1), st.booleans())
def test_the_wish_to_end_stays_until_the_talk_is_over(trust: int, cause: Cause, change: int, wants: bool) -> None:
    first = appraised(tie(trust), cause, change, wants)
    second = appraised(first, "none", 0, wants_to_end=False)
    assert first.talk is not None and second.talk is not None
    assert first.talk.closing == second.talk.closing == wants


@given(TRUST, st.sampled_from(CAUSES), st.integers(-3, 1))
def test_it_walks_off_only_after_hostile_words_without_trust(trust: int, cause: Cause, change: int) -> None:
    after = appraised(tie(trust), cause, change, wants_to_end=False)
    assert walks_off(after) == (cause in HOSTILE and after.trust <= 1)
    assert not walks_off(appraised(after, "none", 0, wants_to_end=False))


def test_without_an_open_talk_nothing_changes() -> None:
    before = tie(5).model_copy(update={"talk": None})
    assert appraised(before, "insult", -3, wants_to_end=True) == before
    assert not walks_off(before)


def test_starts_and_bounds() -> None:
    assert [start_of(kind) for kind in ("acquaintance", "friend", "siblings", "rival", "enemy")] == [5, 7, 7, 3, 1]
    manners = [bounds(trust).manner for trust in range(11)]
    expected = ["curt"] * 2 + ["guarded"] * 2 + ["polite"] * 3 + ["warm"] * 2 + ["open"] * 2
    assert manners == expected
    assert [bounds(trust).begins for trust in (1, 3, 4, 6, 7, 10)] == ["never"] * 2 + ["reason"] * 2 + ["freely"] * 2


@given(TRUST, TRUST, st.integers(1, 1000))
def test_less_trust_never_means_more_words(one: int, other: int, words: int) -> None:
    less, more = sorted((one, other))
    assert 1 <= words_at(less, words) <= words_at(more, words) <= words
    assert words_at(0, words) <= 10
