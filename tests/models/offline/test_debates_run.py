"""Whole debates through the graph: bounded confidence decides whether the judge finds consensus."""

from __future__ import annotations

from typing import Any

import pytest

from persimchat import Persona, Result, Scenario, Settings, simulate

CITIES = ["Brno", "Lviv", "Porto"]


def person(name: str, city: str, trait: str, *goals: str) -> Persona:
    return Persona(name=name, description=f"Swears by {city}.", traits=[trait], social_goals=list(goals))


def debate(people: list[Persona], seed: int, **options: Any) -> Result:
    scenario = Scenario(topic="Which city should host the fair?", participants=people)
    chosen: dict[str, Any] = {"answer_format": "choice", "choices": CITIES, "max_messages": 30, "seed": seed, **options}
    return simulate(scenario, settings=Settings(model="offline", mode="debate", **chosen))


def near(*goals: str) -> list[Persona]:
    return [
        person("Ann Miller", "Brno", "open-minded", *goals),
        person("Bob Novak", "Lviv", "calm"),
        person("Cleo Reyes", "Lviv", "curious"),
    ]


@pytest.mark.parametrize("judge", ["sliding_window", "persona"])
@pytest.mark.proof
def test_near_positions_come_to_a_consensus_in_bounded_time(judge: str):
    results = [debate(near(), seed, judge=judge) for seed in range(3)]
    assert sum(r.stop_reason == "consensus" for r in results) >= 2
    for result in results:
        if result.stop_reason == "consensus":
            assert result.conclusion is not None and result.conclusion.answer in CITIES
            assert len(result.conclusion.supporters) == 3


@pytest.mark.proof
def test_an_adversary_is_never_declared_agreed():
    for seed in range(3):
        result = debate(near("Never agree with the others"), seed)
        assert result.stop_reason == "message_limit"
        assert result.conclusion is not None and not result.conclusion.consensus
        assert all(m.openness == 0 for m in result.minds if m.agent == "Ann Miller")
        assert not any(v.consensus for v in result.verdicts)


@pytest.mark.proof
def test_far_positions_that_nobody_leaves_stay_apart():
    people = [person("Ann Miller", "Brno", "stubborn"), person("Bob Novak", "Porto", "stubborn")]
    for seed in range(3):
        result = debate(people, seed, max_messages=20)
        assert result.stop_reason == "message_limit"
        last = {p.agent: p.position for p in result.verdicts[-1].positions}
        assert "Brno" in last["Ann Miller"] and "Porto" in last["Bob Novak"]


@pytest.mark.proof
@pytest.mark.parametrize("form", ["free", "yesno", "number"])
def test_every_form_of_answer_is_given(form: str):
    people = [person("Ann Miller", "it", "open-minded"), person("Bob Novak", "it", "open-minded")]
    for seed in range(2):
        result = debate(people, seed, answer_format=form, choices=[], max_messages=12)
        assert result.conclusion is not None and result.conclusion.answer


@pytest.mark.parametrize("baseline", ["mad", "mad_judge", "reconcile"])
def test_every_baseline_is_answered(baseline: str):
    result = debate(near(), 0, baseline=baseline, rounds=2)
    assert result.conclusion is not None and result.conclusion.answer in CITIES
    assert {u.answer for u in result.utterances} <= set(CITIES)


@pytest.mark.proof
def test_a_discussion_that_is_talked_out_closes():
    scenario = Scenario(topic="Cats or dogs?", participants=near())
    result = simulate(scenario, settings=Settings(model="offline", closing="on", max_messages=90))
    assert result.stop_reason == "closed"
    assert 12 <= len(result.utterances) < 70


@pytest.mark.proof
def test_nobody_repeats_themselves_in_a_long_debate():
    result = debate([*near("Never agree with the others")], 1, max_messages=48)
    assert sum("still_repeats" in u.corrections for u in result.utterances) <= 2
