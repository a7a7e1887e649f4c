"""A companion's view of its mind, trust and cues: what one person tells is not there with another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.nodes.companion_view import known_hearers, returned, view
from persimchat.nodes.conversing import cues, recalling
from persimchat.nodes.trust import judge_trust, trusted
from persimchat.state.judgement import TrustChange
from persimchat.state.memory import Circumstance, Memory, new_memory
from persimchat.state.settings import Settings

STEP: Any = {}
PEOPLE = ("petr", "eva", None)
whose = st.lists(st.sampled_from(PEOPLE), max_size=12)


def memory(n: int, person: str | None) -> dict[str, Any]:
    """A memory that only one person may hear of, or everybody."""
    about = Circumstance(at="2025-03-03T08:00:00", person=person or "", exchange=str(n))
    hearers = None if person is None else [person]
    made = new_memory("Oda", n, "perception", f"Theme {n}", ["x"], 5, [0] * 6, circumstance=about, heard_by=hearers)
    return made.model_dump()


def mind(owners: list[str | None], stm: str | None | bool = False) -> Any:
    """A mind with memories of these persons, and perhaps one in short-term memory."""
    memories = [memory(n, person) for n, person in enumerate(owners)]
    alive = {one["id"]: n for n, one in enumerate(memories)}
    private = known_hearers({}, memories, alive)
    own = {"tick": 20, "private": private, "digested": []}
    kept = None if stm is False else memory(99, None if stm is None else str(stm))
    return {
        "name": "Oda",
        "alive": alive,
        "pinned": [],
        "unsaved": memories,
        "stm": kept,
        "emotion": {},
        "companion": own,
    }


@given(whose, st.sampled_from([False, *PEOPLE]))
def test_a_view_has_only_what_the_person_may_hear(owners: list[str | None], stm: Any) -> None:
    whole = mind(owners, stm)
    seen = view(whole, "petr", 100)
    every = [*seen["unsaved"], *([seen["stm"]] if seen["stm"] else [])]
    assert all(one.get("heard_by") in (None, ["petr"]) for one in every)
    expected = {one["id"] for one in whole["unsaved"] if one.get("heard_by") in (None, ["petr"])}
    assert set(seen["alive"]) == expected


@given(whose, st.sampled_from([False, *PEOPLE]), st.integers(2, 40))
def test_nothing_is_lost_on_the_way_back(owners: list[str | None], stm: Any, capacity: int) -> None:
    whole = mind(owners, stm)
    seen = view(whole, "petr", 100)
    new = memory(50, "petr")
    after = {**seen, "stm": new, "alive": {**seen["alive"], **({seen["stm"]["id"]: 21} if seen["stm"] else {})},
             "emotion": {"happiness": 5}, "role": "companion", "situation": {"turn": 1}}  # fmt: skip
    if seen["stm"]:
        after["unsaved"] = [*seen["unsaved"], seen["stm"]]
    made = returned(whole, seen, after, 100)
    ids = {*whole["alive"], *([whole["stm"]["id"]] if whole["stm"] else [])}
    assert set(made["alive"]) == ids and made["stm"] == new and made["emotion"] == {"happiness": 5}
    assert {one["id"] for one in made["unsaved"]} == ids and "situation" not in made and "role" not in made
    for one in made["unsaved"]:
        assert made["companion"]["private"].get(one["id"]) == one.get("heard_by")
    fewer = returned(whole, seen, after, capacity)
    assert len(fewer["alive"]) == min(len(ids), capacity)
    assert set(fewer["companion"]["private"]) <= set(fewer["alive"])


def test_an_insight_is_heard_by_those_who_may_hear_of_all_its_evidence() -> None:
    evidence = [Memory.model_validate(memory(n, person)) for n, person in enumerate(("petr", None, "petr"))]
    made = new_memory("Oda", 3, "reflection", "So.", ["x"], 5, [0] * 6, evidence=evidence)
    assert made.heard_by == ["petr"] and made.depth == 1
    mixed = [*evidence, Memory.model_validate(memory(4, "eva"))]
    assert new_memory("Oda", 3, "reflection", "So.", ["x"], 5, [0] * 6, evidence=mixed).heard_by == []
    group = [one.model_copy(update={"heard_by": None, "circumstance": None}) for one in evidence]
    assert "heard_by" not in new_memory("Oda", 3, "reflection", "So.", ["x"], 5, [0] * 6, evidence=group).model_dump()


def test_trust_changes_only_by_a_usable_answer() -> None:
    change = TrustChange(reasoning="So.", cause="help", change=1, wants_to_end=False)
    assert trusted(STEP, change)["trust_change"] == change.model_dump()
    assert trusted(STEP, None)["trust_change"] is None
    assert judge_trust.__doc__


@pytest.mark.parametrize(
    ("words", "happened", "expected"),
    [
        ("Hello.", [], ["Hello."]),
        ("", ["The stove smokes."], ["The stove smokes."]),
        ("", [], ["Petr", "a regular"]),
    ],
)
def test_words_and_events_direct_recall_else_the_person(words: str, happened: list[str], expected: list[str]) -> None:
    companion: Any = {"shown": "Petr", "introduced": True, "happened": happened}
    heard = {"heard": {"text": words}} if words else {}
    step: Any = {"situation": {"relationships": [{"note": "a regular"}]}, **heard}
    assert cues(step, companion) == expected


def test_the_papers_retrieval_has_three_components() -> None:
    settings = Settings(companion={"paper_retrieval": True})  # type: ignore[arg-type]
    used = recalling(settings)
    assert (used.emotional_retrieval, used.stm_retrieval) == (False, False)
    assert recalling(Settings()) == Settings()
