"""The offline model in stories: answers, phrases, and the bounds of its arithmetic."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from story_talks import hold

from persimchat.models.offline import story as arithmetic
from persimchat.models.offline.material import filled, generator, overlap, read
from persimchat.models.offline.story import SIZE, Held, favoured_in, phrases, speaks_for
from persimchat.personas.scenario import load_scenario, load_story
from persimchat.state.conversation import utterances


@pytest.mark.proof
async def test_a_small_story_comes_to_its_settlement_with_valid_answers_alone() -> None:
    first, again = await hold(load_story(), seed=3), await hold(load_story(), seed=3)
    assert first["stop_reason"] == "settled"
    assert first["outcome"]["winners"]
    assert {outcome for row in first["judgements"].values() for outcome in row} == {"valid"}
    assert [u["text"] for u in utterances(first["messages"])] == [u["text"] for u in utterances(again["messages"])]
    assert first["happenings"] == again["happenings"]


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", ["ferries", "museum", "thinkers", "festival"])
async def test_the_examples_come_to_their_settlement_in_words_of_their_own(name: str, root: Any) -> None:
    state = await hold(load_scenario(root / "examples" / "stories" / f"{name}.yaml"), seed=1, rounds=3)
    said = [u["text"] for u in utterances(state["messages"])]
    assert state["stop_reason"] == "settled"
    assert {outcome for row in state["judgements"].values() for outcome in row} == {"valid"}
    near = [any(overlap(text, before) >= 0.45 for before in said[:place]) for place, text in enumerate(said)]
    assert sum(near) <= 0.1 * len(said)


def test_decks_have_a_prime_number_of_phrases() -> None:
    others = {"tones": 5, "steps": 6, "topics": 10, "claims_before": 5, "report_starts": 4, "report_ends": 4}
    assert {name: len(phrases(name)) for name in read("story")} == {
        name: others.get(name, SIZE) for name in read("story")
    }


def test_words_tell_for_whom_they_are() -> None:
    names = ["Ada Lind", "Bo Vik", "Bea Vik"]
    told = {"other": "Bo", "topic": "trust", "belief": "", "who": "Bo", "a": "Bo", "b": "Bea"}
    claims = ("own_claims", "claims", "claims_before", "tones", "report_starts", "report_ends")
    silent = [name for name in read("story") if name not in claims]
    assert [p for name in silent for p in phrases(name) if favoured_in(filled(p, told), "Ada Lind", names)] == []
    assert [p for p in phrases("own_claims") if favoured_in(filled(p, told), "Ada Lind", names) != "Ada Lind"] == []
    assert [p for p in phrases("claims") if favoured_in(filled(p, told), "Ada Lind", names) != "Bo Vik"] == []
    assert favoured_in("My voice is for Bo.", "Ada Lind", names) == "Bo Vik"
    assert favoured_in("I speak for myself.", "Ada Lind", names) == "Ada Lind"
    assert favoured_in("Ada spoke for themselves, and listened to me.", "Ada Lind", names) == "Ada Lind"
    assert favoured_in("Sit down, for walls have ears.", "Ada Lind", names) == ""
    sale = Held("The mill should be sold.", "")
    assert speaks_for("Turn it as you like. The mill should be sold.", "Ada Lind", sale, names)
    assert not speaks_for("Keep the mill.", "Ada Lind", sale, names)


@given(st.integers(0, 10_000), st.lists(st.floats(0, 900), min_size=1, max_size=6), st.floats(0, 6))
def test_changes_of_beliefs_stay_within_ten(seed: int, weights: list[float], swayed: float) -> None:
    own = [place == 0 for place in range(len(weights))]
    changes = arithmetic.belief_changes(weights, own, swayed, generator(seed))
    assert len(changes) == len(weights)
    assert all(isinstance(change, int) and -10 <= change <= 10 for change in changes)


def test_a_decider_keeps_things_only_while_it_is_after_nobody() -> None:
    mains, scores = ["D", "A", "B"], {"D": 0.0, "A": 20.0, "B": 30.0}
    assert arithmetic.open_choice("D", mains, [""], scores, decides=True) == "D"
    assert arithmetic.open_choice("D", mains, ["A"], scores, decides=True) == "A"
    assert arithmetic.open_choice("D", mains, ["A", "B"], scores, decides=True) == "B"
    assert arithmetic.open_choice("A", mains, ["A", "B"], scores, decides=False) == "A"
    assert arithmetic.open_choice("C", mains, ["A"], scores, decides=False) is None
