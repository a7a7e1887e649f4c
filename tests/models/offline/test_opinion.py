from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.models.offline.opinion import (
    Temper,
    initial_opinion,
    moved,
    stance,
    temper_of,
    updated,
)
from persimchat.models.offline.positions import anchor, nearest, position_in
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.topics import analyse

unit = st.floats(0, 1)
TOPIC = "Is tea better than coffee?"


@given(unit, unit)
def test_near_positions_converge_and_far_ones_do_not(mine: float, theirs: float):
    temper = Temper(confidence_bound=0.3, convergence_rate=0.25)
    after = updated(mine, theirs, temper)
    if abs(mine - theirs) <= 0.3:
        assert abs(after - theirs) == pytest.approx(0.75 * abs(mine - theirs))
    else:
        assert after == mine


def test_two_neighbours_meet_and_two_strangers_never_do():
    temper = Temper(0.3, 0.5)
    assert moved(0.4, [0.6] * 20, temper) == pytest.approx(0.6, abs=1e-3)
    assert moved(0.1, [0.9] * 20, temper) == 0.1


@given(unit, st.lists(unit, max_size=12))
def test_opinions_stay_on_the_line(mine: float, heard: list[float]):
    assert 0 <= moved(mine, heard, Temper(1.0, 0.5)) <= 1


def test_adversaries_are_never_moved():
    temper = temper_of(["open-minded"], ["Contradict whatever Bob says"])
    assert temper.adversarial
    assert moved(0.5, [0.51] * 50, temper) == 0.5


def test_temper_widens_or_narrows_the_bound():
    plain = temper_of([], [])
    assert temper_of(["stubborn"], []).confidence_bound < plain.confidence_bound
    assert temper_of(["open-minded"], []).confidence_bound > plain.confidence_bound
    assert temper_of([], ["find a compromise"]).confidence_bound > plain.confidence_bound


@given(st.integers(1, 6))
def test_every_position_is_nearest_to_its_own_anchor(n: int):
    assert [nearest(anchor(i, n), n) for i in range(n)] == list(range(n))


def test_first_opinions_differ_by_person_topic_and_seed():
    values = {initial_opinion(s, p, t) for s in (0, 1) for p in ("Eva", "Bob") for t in ("a", "b")}
    assert len(values) == 8


@pytest.mark.parametrize(
    ("words", "index"),
    [
        ("I'd go for tea.", 0),
        ("Coffee gets me up.", 1),
        ("I'm not so sure about tea, I'd stay with coffee.", 1),
        ("Anything but that.", None),
        ("You won't talk me out of coffee.", 1),
        ("With coffee we'd be back here in a year, Bob.", None),
        ("Bob, you've half talked me out of tea.", None),
        ("So don't wave coffee away too quickly.", 1),
        ("It's true that a cup is a cup; even so, I'd choose tea.", 0),
    ],
)
def test_positions_are_told_from_words(words: str, index: int | None):
    assert position_in(words, analyse(TOPIC)) == index


@pytest.mark.parametrize(
    ("description", "goals", "expected"),
    [
        ("He has ordered vanilla since he was six.", (), {"vanilla"}),
        ("Only mint chocolate chip has a star.", (), {"chocolate"}),
        ("She likes vanilla.", ("Get chocolate on the list.",), {"chocolate"}),
    ],
)
def test_people_start_from_what_their_profile_says(description: str, goals: tuple[str, ...], expected: set[str]):
    topic = analyse("What is the best ice cream flavor?")
    found = set()
    for seed in range(8):
        prompt = Prompt("utterance", "Lu", description=description, goals=goals, topic=topic.text)
        found.add(topic.positions[stance(prompt, topic, seed).mine])
    assert found == expected
