"""What belongs to a person: memories with all that rests on them, names as words of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.runs.companion.belonging import (
    Person,
    memories_of,
    mentioning,
    with_what_rests_on,
    without,
    without_entries,
)
from persimchat.state.memory import Circumstance, Memory, new_memory

PETR = Person("p1", "Petr Říha")


def memory(
    number: int, *, person: str = "", heard_by: list[str] | None = None, on: list[Memory] | None = None
) -> Memory:
    about = Circumstance(at="2026", person=person) if person else None
    return new_memory(
        "Oda",
        number,
        "reflection" if on else "perception",
        f"Memory {number}.",
        [],
        3,
        [0] * 6,
        circumstance=about,
        heard_by=heard_by,
        evidence=on,
    )


@given(st.lists(st.tuples(st.sampled_from(["", "p1", "p2"]), st.lists(st.integers(0, 30), max_size=3)), max_size=25))
def test_what_rests_on_a_persons_memories_is_theirs(rows: list[tuple[str, list[int]]]) -> None:
    made: list[Memory] = []
    for number, (person, on) in enumerate(rows):
        support = [made[place] for place in on if place < len(made)]
        made.append(memory(number, person=person, on=support) if support else memory(number, person=person))
    gone = memories_of(PETR, made)
    by_id = {one.id: one for one in made}

    def is_theirs(one: Memory) -> bool:
        own = one.circumstance is not None and one.circumstance.person == "p1"
        return own or any(is_theirs(by_id[support]) for support in one.evidence)

    assert gone == {one.id for one in made if is_theirs(one)}
    assert with_what_rests_on(gone, made) == gone


def test_what_only_one_person_may_hear_is_theirs() -> None:
    alone, both = memory(1, heard_by=["p1"]), memory(2, heard_by=["p1", "p2"])
    assert memories_of(PETR, [alone, both]) == {alone.id}
    assert memories_of(PETR, [alone, both], [both.id]) == {alone.id, both.id}


@pytest.mark.parametrize("text", ["Petr Říha", "of petr  riha's boat", "PETR ŘÍHA.", "(Petr-Říha)"])
def test_a_name_is_found_as_words_of_its_own(text: str) -> None:
    assert PETR.is_named_in(text) and PETR.is_in({"a": [1, {"b": text}]})


@pytest.mark.parametrize("text", ["", "Petra Říha", "Petr", "Říha Petr", "petr_x riha"])
def test_other_words_are_not_the_name(text: str) -> None:
    assert not PETR.is_named_in(text)


def test_profiles_are_no_mentions() -> None:
    told = new_memory("Oda", 0, "event", "Petr Říha left.", [], 3, [0] * 6)
    profile = new_memory("Oda", 0, "profile", "Oda, sister of Petr Říha", [], 3, [0] * 6)
    assert mentioning(PETR, [told, profile], ()) == [told] and mentioning(PETR, [told], [told.id]) == []


def test_a_mind_loses_what_belongs_to_a_person_and_nothing_else() -> None:
    mine, other = memory(1), memory(2)
    mind = {
        "name": "Oda", "emotion": {"anger": 3}, "alive": {mine.id: 1, other.id: 2}, "pinned": [mine.id],
        "unsaved": [mine.model_dump(), other.model_dump()], "stm": mine.model_dump(), "percept": {"theme": "Petr"},
        "companion": {
            "tick": 7, "private": {mine.id: ["p1"], other.id: ["p1", "p2"]}, "digested": ["e1", "e2"],
            "plan": [{"activity": "meet Petr Říha"}, {"activity": "rest"}, {"activity": "x", "heard_by": ["p1"]}],
            "seen": [{"subject": "Petr Říha"}, {"subject": "stove"}],
        },
    }  # fmt: skip
    left = without(mind, {mine.id}, PETR, ["e1"])
    assert left == {
        "name": "Oda", "emotion": {"anger": 3}, "alive": {other.id: 2}, "pinned": [], "unsaved": [other.model_dump()],
        "stm": None, "insights": [],
        "companion": {
            "tick": 7, "private": {other.id: ["p2"]}, "digested": ["e2"], "plan": [{"activity": "rest"}],
            "seen": [{"subject": "stove"}],
        },
    }  # fmt: skip


def test_only_entries_of_people_and_keys_go_from_files() -> None:
    place = {
        "world": "petr říha",
        "people": [{"name": "PETR Říha"}, {"name": "Eva"}],
        "others": [{"name": "Petr Říha"}],
    }
    assert without_entries(place, PETR) == {**place, "people": [{"name": "Eva"}]}
    keys = {"keys": [{"person": "Petr Říha", "sha256": "0"}, {"person": "", "sha256": "1"}]}
    assert without_entries(keys, PETR) == {"keys": keys["keys"][1:]}
    world = {"settings": {"companion": {"person": "Petr Říha", "agent": "Oda"}, "seed": 1}}
    assert without_entries(world, PETR) == {"settings": {"companion": {"agent": "Oda"}, "seed": 1}}
