"""Facts that a person has told: kept only in the person's own words, replaced and not removed, never too many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.companion import FACTS, Fact, Tie
from persimchat.state.companion import facts as module
from persimchat.state.companion.facts import (
    DROPPED,
    Line,
    Origin,
    Taken,
    compared,
    edited,
    forgotten,
    may_be_several,
    outdated_words,
    pinned,
    subject_key,
    take,
    without_outdated,
)
from persimchat.state.companion.judgement import FoundFact
from persimchat.state.errors import InputError

HERS = [
    Line(False, "My sister is called Mira,  and I\u2019m a nurse.", "2026-11-20T10:00:00", "e1"),
    Line(True, "Mira is a fine name. I had an aunt called Mara."),
    Line(False, "Sorry, her name is Mara. I like tea and rowing."),
]


def origin(talk: str = "t1", *, shared: bool = False) -> Origin:
    return Origin("Oda Brandvik", 7, (0,) * 6, talk, "2026-11-20T11:00:00", "Lake:stage:hut", shared)


def fact(subject: str = "sister", statement: str = "Petr's sister is called Mira.", **other: object) -> FoundFact:
    given: dict[str, object] = {"about": "person", "quote": "My sister is called Mira", "importance": 5}
    return FoundFact.model_validate({"subject": subject, "statement": statement, **given, **other})


def taken(tie: Tie, *found: FoundFact, alike: float = 0.0, shown: list[str] | None = None, talk: str = "t1") -> Taken:
    known = [one.id for one in tie.in_force] if shown is None else shown
    return take(tie, found, HERS, origin(talk), shown=known, alike=lambda _, __: alike)


def statements(tie: Tie) -> list[str]:
    return [one.statement for one in tie.in_force]


PETR = Tie(person="p1", name="Petr")
MIRA = taken(PETR, fact()).tie
MARA = fact("My sister", "Petr's sister is called Mara.", quote="her name is Mara")


def test_a_fact_has_a_memory_with_its_circumstance() -> None:
    made = taken(PETR, fact())
    (kept,), (memory,) = made.tie.facts, made.memories
    assert kept.id == memory.id and memory.kind == "fact" and memory.theme == kept.statement
    assert memory.heard_by == ["p1"] and memory.keywords == ["sister"]
    assert memory.circumstance is not None and memory.circumstance.model_dump() == {
        "at": "2026-11-20T10:00:00",
        "person": "p1",
        "talk": "t1",
        "exchange": "e1",
        "place": "Lake:stage:hut",
        "quote": "My sister is called Mira",
        "subject": "sister",
    }
    shared = take(PETR, [fact()], HERS, origin(shared=True), shown=[], alike=lambda _, __: 0.0)
    assert shared.memories[0].heard_by is None


@pytest.mark.parametrize(
    "quote", ["My sister is called Mira", "MY SISTER\n is called mira, and I'm a nurse.", '"I\'m a nurse"', "a nurse…"]
)
def test_white_space_case_and_quotation_marks_of_a_quote_do_not_count(quote: str) -> None:
    assert taken(PETR, fact(quote=quote)).tie.facts


@pytest.mark.parametrize("quote", ["an aunt called Mara", "My brother", "", " ", "…", "?!", "Mira. Sorry"])
def test_what_the_person_has_not_said_is_not_kept(quote: str) -> None:
    assert taken(PETR, fact(quote=quote)) == Taken(PETR)


def test_a_correction_replaces_the_fact_on_the_same_subject() -> None:
    made = taken(MIRA, MARA)
    old, new = made.tie.facts
    assert (old.replaced_by, old.replaced_at) == (new.id, origin().at) and new.in_force
    assert made.gone == [old.id] and [memory.id for memory in made.memories] == [new.id]


@pytest.mark.parametrize("subject", ["the sister", "Petr's sister", "Petr’s SISTER", "their  Sister"])
def test_articles_and_possessives_make_no_other_subject(subject: str) -> None:
    assert subject_key(subject, ["Petr", "Oda Brandvik"]) == "sister"


def test_other_subjects_and_other_people_replace_nothing() -> None:
    assert subject_key("sister's job") == "sister's job" and subject_key("the") == "the"
    made = taken(MIRA, fact("job", "Petr is a nurse.", quote="I'm a nurse"), fact(about="other", statement="Else."))
    assert len(made.tie.in_force) == 3 and not made.gone


def test_of_a_subject_that_may_be_several_only_what_is_nearly_the_same_is_replaced() -> None:
    tea = taken(PETR, fact("likes", "Petr likes tea.", quote="I like tea")).tie
    rowing = fact("likes", "Petr likes rowing.", quote="rowing")
    assert statements(taken(tea, rowing, alike=0.89).tie) == ["Petr likes tea.", "Petr likes rowing."]
    assert statements(taken(tea, rowing, alike=0.9).tie) == ["Petr likes rowing."]
    assert compared(tea, [rowing]) == ["Petr likes tea.", "Petr likes rowing."]
    assert compared(tea, [MARA]) == [] and compared(PETR, [rowing]) == []
    assert may_be_several("best friends") and not may_be_several("sister") and not may_be_several("")


def test_numbers_name_the_facts_shown_and_no_others() -> None:
    job = taken(MIRA, fact("job", "Petr is a nurse.", quote="I'm a nurse")).tie
    first = job.facts[0].id
    made = taken(job, fact("family", "Petr has a sister Mara.", quote="her name is Mara", replaces=[1, 9]))
    assert made.gone == [first] and statements(made.tie)[0] == "Petr is a nurse."
    assert taken(job, fact("family", "Mara.", quote="Mara", replaces=[1]), shown=[]).gone == []


def test_a_number_of_a_fact_that_was_replaced_meanwhile_changes_nothing() -> None:
    shown = [MIRA.facts[0].id]
    made = taken(MIRA, MARA, fact("family", "Petr has a sister.", replaces=[1]), shown=shown)
    assert made.tie.facts[0].replaced_by == made.tie.facts[1].id and made.gone == shown


def test_what_is_known_already_is_not_kept_twice_but_may_replace() -> None:
    assert taken(MIRA, fact("her sister", "petr's sister is called mira.")) == Taken(MIRA)
    both = taken(MIRA, fact("job", "Petr is a nurse.", quote="a nurse")).tie
    made = taken(both, fact(replaces=[1, 2]))
    assert made.gone == [both.facts[1].id] and made.tie.facts[1].replaced_by == both.facts[0].id


def test_a_later_fact_of_one_talk_replaces_an_earlier_one_which_leaves_no_memory() -> None:
    made = taken(PETR, fact(), MARA)
    assert [one.in_force for one in made.tie.facts] == [False, True]
    assert [memory.theme for memory in made.memories] == [MARA.statement]


def test_a_pin_goes_over_to_the_fact_that_replaces() -> None:
    made = taken(pinned(MIRA, MIRA.facts[0].id), MARA).tie
    assert made.facts[1].pinned and not pinned(made, made.facts[1].id, pin=False).facts[1].pinned


def test_too_many_facts_drop_the_least_important_that_nobody_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FACTS", 2)
    two = taken(MIRA, fact("job", "Petr is a nurse.", quote="a nurse", importance=1)).tie
    third = fact("home", "Petr lives by the lake.", quote="rowing", importance=3)
    made = taken(two, third)
    assert [(one.subject, one.replaced_by) for one in made.tie.facts if not one.in_force] == [("job", DROPPED)]
    assert made.gone == [two.facts[1].id]
    both = pinned(pinned(two, two.facts[0].id), two.facts[1].id)
    full = taken(both, third)
    assert statements(full.tie) == statements(both) and full.memories == [] and len(full.tie.facts) == 3


def test_a_person_edits_a_fact() -> None:
    made = edited(pinned(MIRA, MIRA.facts[0].id), MIRA.facts[0].id, "Petr's  sister is Maja.\n", "Petr", origin("t9"))
    old, new = made.tie.facts
    assert (new.statement, new.edited_by, new.quote, new.talk) == ("Petr's sister is Maja.", "Petr", "", "t1")
    assert new.pinned and old.replaced_by == new.id and made.gone == [old.id] and made.memories[0].id == new.id
    with pytest.raises(InputError, match="replaced already"):
        edited(made.tie, old.id, "No.", "Petr", origin())
    with pytest.raises(InputError, match="empty"):
        edited(made.tie, new.id, " \n", "Petr", origin())
    with pytest.raises(InputError, match="no such fact"):
        pinned(made.tie, "x")


def test_a_forgotten_fact_takes_with_it_what_it_had_replaced() -> None:
    three = taken(MIRA, MARA, fact("job", "Petr is a nurse.", quote="a nurse")).tie
    left, gone = forgotten(three, three.facts[1].id)
    assert [one.subject for one in left.facts] == ["job"] and gone == [one.id for one in three.facts[:2]]
    with pytest.raises(InputError, match="no such fact"):
        forgotten(left, gone[0])


def test_names_and_numbers_that_no_longer_hold_are_known() -> None:
    corrected = taken(MIRA, MARA).tie
    old = [corrected.facts[0].id]
    assert outdated_words(corrected, old, "Oda Brandvik") == {"mira"}
    assert outdated_words(MIRA, [MIRA.facts[0].id], "Mira Brandvik") == set()
    summed = corrected.model_copy(update={"summary": "Mirabelle came.\nPetr spoke of MIRA.\nOf Mara."})
    assert without_outdated(summed, {"mira"}).summary == "Mirabelle came.\nOf Mara."
    dropped = [corrected.facts[0].model_copy(update={"replaced_by": DROPPED})]
    assert outdated_words(corrected.model_copy(update={"facts": dropped}), old, "Oda") == set()


SUBJECTS = ["sister", "job", "the job", "likes", "friends"]
QUOTES = ["My sister", "I'm a nurse", "aunt called Mara", "tea", "never said"]
FOUND = st.builds(
    fact,
    st.sampled_from(SUBJECTS),
    st.sampled_from(["Petr likes tea.", "Petr likes rowing.", "Petr is a nurse.", "Mira.", "Mara."]),
    about=st.sampled_from(["person", "agent", "other"]),
    quote=st.sampled_from(QUOTES),
    importance=st.integers(0, 10),
    replaces=st.lists(st.integers(1, 9), max_size=3),
)


@given(
    st.lists(st.lists(FOUND, max_size=5), max_size=5),
    st.sampled_from([0.0, 0.95]),
    st.lists(st.integers(0, 9), max_size=3),
    st.sampled_from([2, FACTS]),
)
def test_facts_grow_and_are_only_marked(talks: list[list[FoundFact]], alike: float, pins: list[int], most: int) -> None:
    tie = PETR
    said = " ".join(line.text for line in HERS if not line.own).replace("’", "'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FACTS", most)
        for number, found in enumerate(talks):
            for place in pins:
                if place < len(tie.in_force):
                    tie = pinned(tie, tie.in_force[place].id)
            before, result = tie, taken(tie, *found, alike=alike, talk=f"t{number}")
            tie = result.tie
            ids = [one.id for one in tie.facts]
            assert len(set(ids)) == len(ids) and ids[: len(before.facts)] == [one.id for one in before.facts]
            assert [_bare(one) for one in tie.facts[: len(before.facts)]] == [_bare(one) for one in before.facts]
            assert all(one.quote in said for one in tie.facts)
            assert all(
                one.replaced_by in {"", DROPPED, *ids} and bool(one.replaced_by) == bool(one.replaced_at)
                for one in tie.facts
            )
            assert set(result.gone) == {one.id for one in tie.facts if not one.in_force} - {
                one.id for one in before.facts if not one.in_force
            }
            assert {one.id for one in result.memories} == {one.id for one in tie.in_force} - {
                one.id for one in before.in_force
            }
            single = [(one.about, subject_key(one.subject)) for one in tie.in_force if not may_be_several(one.subject)]
            assert len(set(single)) == len(single)
            assert len(tie.in_force) <= max(most, sum(one.pinned for one in tie.in_force))
            assert all(not one.pinned for one in tie.facts if one.replaced_by == DROPPED)


def _bare(one: Fact) -> Fact:
    """A fact without what may happen to it."""
    return one.model_copy(update={"replaced_by": "", "replaced_at": ""})
