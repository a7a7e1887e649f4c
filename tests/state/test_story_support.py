"""A story's arithmetic: the design's hand-made numbers, and what holds for all stories."""

from __future__ import annotations

import random
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.stories.story import Story
from persimchat.state.stories.support import (
    camps,
    in_order,
    influence,
    moved,
    outcome_in_words,
    settled,
    strongest,
    supported,
)

FAMILY = ("Founder", "Ann", "Ben", "Cat", "Dee")
OTHERS = ("Rival", "Lawyer")


def story(**more: Any) -> Story:
    mains = {name: {"main": True} for name in FAMILY}
    return Story.model_validate({"characters": {**mains, **{name: {} for name in OTHERS}}, **more})


def belief(score: int, favours: str = "nobody") -> dict[str, Any]:
    return {"text": f"{favours} {score}", "score": score, "for": favours}


def test_three_changes_of_25_would_take_10_to_85_but_of_10_to_40() -> None:
    value = 10
    for _ in range(3):
        value = moved(value, 10)
    assert value == 40
    assert (moved(95, 10), moved(3, -10)) == (100, 0)


@given(st.integers(0, 100), st.lists(st.integers(-10, 10), max_size=20))
def test_a_value_stays_from_0_to_100_and_moves_by_no_more_than_the_change(value: int, changes: list[int]) -> None:
    for change in changes:
        after = moved(value, change)
        assert 0 <= after <= 100
        assert abs(after - value) <= abs(change)
        value = after


def test_all_of_the_strongest_beliefs_count() -> None:
    assert strongest([]) == []
    assert strongest([belief(10), belief(60), belief(60)]) == [1, 2]


def test_others_support_whom_they_are_closest_to_from_20_on() -> None:
    made = story()
    assert supported(made, "Lawyer", [], {"Ann": 19, "Ben": 3}, "") == ""
    assert supported(made, "Lawyer", [], {"Ann": 20, "Ben": 20}, "") == "Ann"
    assert supported(made, "Lawyer", [], {"Ann": 20, "Ben": 20}, "Ben") == "Ben"
    assert supported(made, "Lawyer", [], {"Ann": 20, "Ben": 21}, "Ann") == "Ben"
    assert supported(made, "Lawyer", [], {"Rival": 90, "Ben": 25}, "") == "Ben", "never a bystander"


def test_a_neutral_character_supports_nobody() -> None:
    made = Story.model_validate({"characters": {"Ann": {"main": True}, "Ben": {"main": True}, "J": {"neutral": True}}})
    assert supported(made, "J", [], {"Ann": 100, "Ben": 0}, "") == ""


def test_a_main_character_supports_another_only_by_its_strictly_strongest_belief() -> None:
    made = story()
    assert supported(made, "Ann", [belief(60, "Ann"), belief(10, "Ben")], {"Ben": 100}, "") == ""
    assert supported(made, "Ann", [belief(60, "Ann"), belief(61, "Ben")], {}, "") == "Ben"
    assert supported(made, "Ann", [belief(60, "Ann"), belief(60, "Ben")], {}, "") == ""
    assert supported(made, "Ann", [belief(60, "Ann"), belief(61, "Rival")], {}, "") == "", "a bystander"
    assert supported(made, "Ann", [], {"Ben": 100}, "") == ""


RESOURCES = [
    {"name": "Company", "owner": "Founder", "influence": 30},
    {"name": "Bank", "owner": "Rival", "influence": 20},
    {"name": "Office", "owner": "Lawyer", "influence": 10},
]


def test_a_rival_whom_20_and_10_support_draws_lots_with_a_founder_of_30() -> None:
    made = story(resources=RESOURCES)
    owners = {resource.name: resource.owner for resource in made.resources}
    alone = dict.fromkeys((*FAMILY, *OTHERS), "")
    weights = influence(made.resources, owners, alone)
    assert [weights[name] for name in (*FAMILY, *OTHERS)] == [30, 0, 0, 0, 0, 20, 10]
    for seed in range(10):
        assert in_order(FAMILY, weights, random.Random(seed))[0] == "Founder"
    backed = influence(made.resources, owners, {**alone, "Rival": "Ben", "Lawyer": "Ben"})
    assert backed["Ben"] == backed["Founder"] == 30
    first = {tuple(in_order(FAMILY, backed, random.Random(seed))[:2]) for seed in range(30)}
    assert first == {("Founder", "Ben"), ("Ben", "Founder")}


def test_all_resources_of_an_owner_count_and_none_without_an_owner() -> None:
    made = story(resources=[*RESOURCES, {"name": "Yacht", "owner": "Rival", "influence": 5}, {"name": "Hill"}])
    owners = {resource.name: resource.owner for resource in made.resources}
    assert influence(made.resources, owners, dict.fromkeys((*FAMILY, *OTHERS), ""))["Rival"] == 25


@given(st.lists(st.integers(0, 40), min_size=5, max_size=5), st.integers(0, 2**31))
def test_everybody_acts_once_and_nobody_before_a_weightier_one(weights: list[int], seed: int) -> None:
    known = dict(zip(FAMILY, weights, strict=True))
    order = in_order(FAMILY, known, random.Random(seed))
    assert sorted(order) == sorted(FAMILY)
    assert [known[name] for name in order] == sorted(weights, reverse=True)
    assert order == in_order(FAMILY, known, random.Random(seed))


def test_camps_are_declared_or_follow_support() -> None:
    supports = {**dict.fromkeys((*FAMILY, *OTHERS), ""), "Rival": "Ben", "Cat": "Ann"}
    found = camps(story(), supports)
    assert (found["Ben"], found["Rival"], found["Cat"], found["Lawyer"]) == ("Ben", "Ben", "Ann", "")
    declared = Story.model_validate(
        {"characters": {"A": {"main": True, "camp": "defence"}, "B": {"main": True, "camp": "charge"}, "C": {}}}
    )
    assert camps(declared, {"A": "", "B": "A", "C": "B"}) == {"A": "defence", "B": "charge", "C": ""}


# Counting a story's ballots: the design's examples, and what holds for all votes


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
