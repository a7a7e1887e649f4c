"""Draws of a survey: topics that all systems have, orders that favour nobody, ids that say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.survey.drawing import Held, draw_ids, draw_order, draw_topics

Refused = Callable[..., str]
SYSTEMS = ["minds", "turns", "script"]


def held(system: str, task: str, topic: str = "") -> Held:
    return Held(system, task, topic or task, Path(f"{system}-{task}"))


def test_only_tasks_that_all_systems_have():
    there = [held(system, task) for task in "abcde" for system in SYSTEMS if (system, task) != ("script", "c")]
    for seed in range(20):
        drawn = draw_topics(there, SYSTEMS, 4, Random(seed))
        assert {found["minds"].task for found in drawn} == set("abde")
        assert all(list(found) == sorted(SYSTEMS) for found in drawn)


def test_a_topic_comes_again_only_after_all_others():
    there = [held(system, f"{topic}{n}", topic) for topic in "xyz" for n in range(3) for system in SYSTEMS]
    for seed in range(20):
        topics = [found["minds"].topic for found in draw_topics(there, SYSTEMS, 4, Random(seed))]
        assert set(topics[:3]) == set("xyz")
        assert topics[3] in "xyz"


def test_every_topic_may_be_drawn():
    there = [held(system, task) for task in "abcdef" for system in SYSTEMS]
    times = Counter(found["minds"].task for n in range(300) for found in draw_topics(there, SYSTEMS, 2, Random(n)))
    assert set(times) == set("abcdef")
    assert max(times.values()) < 2 * min(times.values())


def test_what_cannot_be_drawn(refused: Refused):
    there = [held(system, task) for task in "ab" for system in SYSTEMS]
    refused(lambda: draw_topics(there, SYSTEMS, 3, Random(0)), "2 tasks that all systems have, not 3", "script 2")
    refused(lambda: draw_topics(there[:3], SYSTEMS, 3, Random(0)), "there is 1 task", "--topics")
    refused(lambda: draw_topics(there, SYSTEMS[:1], 1, Random(0)), "2 to 26 systems, not 1")
    refused(lambda: draw_topics([*there, there[0]], SYSTEMS, 1, Random(0)), "minds-a and minds-a", "system minds")
    apart = [held(system, "a", f"about {system}") for system in SYSTEMS]
    refused(lambda: draw_topics(apart, SYSTEMS, 1, Random(0)), "different topics", "axis")
    refused(lambda: draw_topics([], SYSTEMS, 1, Random(0)), "0 tasks")


def test_each_system_stands_in_each_place_equally_often():
    """Orders are drawn for each topic anew, without regard to other topics: over many seeds none is favoured."""
    orders = Counter(tuple(draw_order(SYSTEMS, chance)) for chance in map(Random, range(600)) for _ in range(4))
    assert len(orders) == 6
    assert all(abs(times - 400) < 80 for times in orders.values())  # four standard deviations
    for place in range(3):
        for system in SYSTEMS:
            stood = sum(times for order, times in orders.items() if order[place] == system)
            assert abs(stood - 800) < 100


@given(st.integers(0, 200), st.integers(0, 2**32))
@hypothesis_settings(max_examples=30)
def test_ids(number: int, seed: int):
    ids = draw_ids(number, Random(seed))
    assert len(set(ids)) == len(ids) == number
    assert all(len(each) == 5 and each.isalpha() and not set(each) & set("aeiou") for each in ids)
    assert draw_ids(number, Random(seed)) == ids
