"""The scripted persons of a companion's measures: equal seeds give equal words, and the questions fit what was told."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from persimchat.evaluation.companion.scripts import EXCHANGES, PLANTED, make_script

SCRIPTS = given(st.integers(1, 20), st.integers(0, 10_000))


@SCRIPTS
@settings(max_examples=40, deadline=None)
def test_equal_seeds_give_equal_words_and_talks_are_as_long_as_said(talks: int, seed: int) -> None:
    script = make_script(talks, seed)
    assert script == make_script(talks, seed)
    assert len(script.talks) == talks
    assert all(len(talk) >= EXCHANGES + 1 and talk[-1] == "Goodbye!" for talk in script.talks)
    assert all(len(set(talk)) == len(talk) for talk in script.talks)


@SCRIPTS
@settings(max_examples=40, deadline=None)
def test_values_differ_and_every_fact_is_told_in_its_talk(talks: int, seed: int) -> None:
    script = make_script(talks, seed)
    values = [fact.value for fact in script.planted]
    assert len(set(values)) == len(values)
    assert all(fact.sentence in script.talks[fact.talk - 1] and fact.value in fact.sentence for fact in script.planted)
    told = [fact for fact in script.planted if not fact.old]
    assert len(told) == PLANTED * talks and len({fact.subject for fact in told}) == len(told)
    for one in values:
        assert not any(one.casefold() in other.casefold() for other in values if other != one)


@SCRIPTS
@settings(max_examples=40, deadline=None)
def test_questions_want_what_counts_in_the_end(talks: int, seed: int) -> None:
    script = make_script(talks, seed)
    last = {fact.subject: fact for fact in script.planted}
    subjects = {fact.subject for fact in script.planted}
    for asked in script.questions:
        assert all(fact.subject in asked.text for fact in asked.planted)
        assert all(last[fact.subject] == fact for fact in asked.planted)
        if asked.kind == "untold":
            assert not any(subject in asked.text for subject in subjects)
        elif asked.kind != "when":
            assert asked.wanted == tuple(fact.value for fact in asked.planted)
        if asked.kind == "corrected":
            (fact,) = asked.planted
            (old,) = (one for one in script.planted if one.subject == fact.subject and not one.old)
            assert asked.unwanted == (old.value,) == (fact.old,) and old.talk < fact.talk
    kinds = [asked.kind for asked in script.questions]
    assert kinds.count("untold") == 2 and ("corrected" in kinds) == (talks > 1)


def test_other_seeds_give_other_words() -> None:
    assert len({make_script(2, seed).talks for seed in range(20)}) == 20
