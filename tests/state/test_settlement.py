"""Counting a story's ballots: the design's examples, and what holds for all votes."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.settlement import outcome_in_words, settled

CANDIDATES: Final = ["L", "R", "C", "S", "K"]
OPEN: Final = {"L": "L", "R": "R", "C": "R", "S": "L", "K": "K"}
CLOSED: Final = {"L": "K", "R": "K", "C": "R", "S": "K", "K": "R"}


def test_closed_ballots_decide_between_equals() -> None:
    found = settled(OPEN, CLOSED, CANDIDATES, decider="L")
    assert (found["ceded"], found["appointed"], found["elected"]) == ("", "K", ["R"])
    assert found["winners"] == ["R"]
    assert found["open"] == {"L": 2, "R": 2, "K": 1}
    assert found["closed"] == {"R": 2, "K": 3}


def test_a_decider_that_cedes_ends_the_matter() -> None:
    found = settled({**OPEN, "L": "K"}, CLOSED, CANDIDATES, decider="L")
    assert (found["ceded"], found["winners"]) == ("K", ["K"])


def test_of_equals_also_in_closed_ballots_the_decider_s_own_counts_if_it_names_one_of_them() -> None:
    openly = {"L": "L", "R": "R"}
    assert settled(openly, {"L": "R", "R": "L"}, CANDIDATES, decider="L")["elected"] == ["R"]
    assert settled(openly, {"L": "K", "R": "K"}, CANDIDATES, decider="L")["elected"] == ["L", "R"], "a draw"
    assert settled(openly, {"L": "R", "R": "L"}, CANDIDATES)["elected"] == ["L", "R"], "nobody decides"


def test_abstentions_count_for_nobody() -> None:
    assert settled({"L": "", "R": ""}, {}, CANDIDATES, decider="L")["winners"] == []
    assert settled({"L": "", "R": "C"}, {"R": "S"}, CANDIDATES, decider="L")["winners"] == ["C"]


def test_a_judge_decides_alone_beside_the_count_of_the_others() -> None:
    found = settled({"A": "guilty", "B": "guilty", "J": "not guilty"}, {}, ["guilty", "not guilty"], decider="J",
                    alone=True)  # fmt: skip
    assert found["decided"] == "not guilty"
    assert found["winners"] == ["not guilty"]
    assert (found["elected"], found["open"]) == (["guilty"], {"guilty": 2})
    silent = settled({"A": "guilty", "J": ""}, {}, ["guilty", "not guilty"], decider="J", alone=True)
    assert silent["winners"] == ["guilty"]


BALLOTS: Final = st.dictionaries(st.sampled_from(CANDIDATES), st.sampled_from([*CANDIDATES, ""]))


@given(BALLOTS, BALLOTS, st.sampled_from([*CANDIDATES, ""]))
def test_who_wins_was_voted_for(openly: dict[str, str], secretly: dict[str, str], decider: str) -> None:
    found = settled(openly, secretly, CANDIDATES, decider=decider)
    assert {*found["winners"]} <= {*openly.values()} - {""}
    assert bool(found["winners"]) == any(openly.values())
    assert len(found["winners"]) == len({*found["winners"]})
    if found["ceded"]:
        assert found["winners"] == [found["ceded"]] != [decider]
    best = max(found["open"].values(), default=0)
    assert all(found["open"][name] == best for name in found["elected"])


def test_an_outcome_is_told_in_one_sentence() -> None:
    ways: dict[str, tuple[Any, Any, str, bool]] = {
        "A is elected; open ballots: A 2, B 1.": ({"A": "A", "B": "A", "C": "B"}, {}, "", False),
        "D gives way to B; open ballots: B 1.": ({"D": "B"}, {}, "D", False),
        "The vote is a draw between A and B; open ballots: A 1, B 1.": ({"A": "A", "B": "B"}, {}, "", False),
        "Nobody voted, so nobody has won.": ({}, {}, "", False),
        "J decides for B; ballots of the others: A 1.": ({"A": "A", "J": "B"}, {}, "J", True),
    }
    for sentence, (openly, closed, decider, alone) in ways.items():
        found = settled(openly, closed, ["A", "B"], decider=decider, alone=alone)
        assert outcome_in_words(found, decider) == sentence
