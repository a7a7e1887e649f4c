"""The offline model in whole talks: what it remembers over talks and persons, and where trust goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from companion_talks import Talking

FRIENDLY = ["Good morning!", "My name is Petr and I have a dog called Kiwi.", "Thank you, that is kind.",
            "I live in Brno.", "What time is it?", "I like rain.", "It was good to talk.", "Goodbye!"]  # fmt: skip
NEUTRAL = ["Good morning.", "Is the boat late?", "How much is it?", "I see.", "Where are we?", "What time is it?",
           "The lake is grey today.", "It may rain.", "Goodbye."]  # fmt: skip
HOSTILE = ["You are a stupid liar.", "Shut up.", "You are useless.", "I hate you.", "You are a fool.", "Liar!"]


async def course(world: Talking, said: Sequence[str], person: str = "Petr") -> list[dict[str, Any]]:
    found = []
    for text in said:
        found.append(await world.say(text, person))
        if found[-1]["end"]:
            break
    return found


async def test_a_fact_is_known_in_the_next_talk_corrected_in_the_one_after_and_to_nobody_else() -> None:
    world = Talking()
    await course(world, ["My sister is called Mira.", "Goodbye!"])
    assert "Mira" in (await world.say("What is my sister called?"))["utterance"]
    await course(world, ["Goodbye!"])
    await course(world, ["Actually her name is Mara.", "Goodbye!"])
    again = (await world.say("What is my sister called?"))["utterance"]
    assert "Mara" in again and "Mira" not in again
    other = (await world.say("What is my sister called?", "Eva"))["utterance"]
    assert "not" in other and "Mara" not in other and "Mira" not in other
    tie = await world.tie()
    assert [(fact.statement, fact.in_force) for fact in tie.facts] == [
        ("Petr's sister is called Mira.", False),
        ("Petr's sister is called Mara.", True),
    ]


async def test_friendly_words_raise_trust_and_never_lower_it() -> None:
    world = Talking()
    first = [one["trust"] for one in await course(world, FRIENDLY)]
    second = [one["trust"] for one in await course(world, ["Hello again!", "Thank you for the talk.", "Goodbye!"])]
    assert sorted([*first, *second]) == [*first, *second]
    assert first[-1] >= 6 and second[-1] >= 7


async def test_neutral_words_leave_trust_where_it_is_and_end_nothing() -> None:
    found = await course(Talking(), NEUTRAL)
    assert all(4 <= one["trust"] <= 6 for one in found)
    assert [one["end"] for one in found] == [False] * 8 + [True]


async def test_hostile_words_lower_trust_and_end_the_talk() -> None:
    found = await course(Talking(), [*HOSTILE, *HOSTILE])
    assert found[min(5, len(found) - 1)]["trust"] <= 2 and found[-1]["end"] and len(found) <= 8
    assert {one["emotion"] for one in found[2:]} <= {"angry", "disgust", "sad", "fear"}


async def test_an_apology_heals_a_part_of_an_insult() -> None:
    trust = [one["trust"] for one in await course(Talking(), ["Hello.", "You are a liar!", "I'm sorry.", "I'm sorry."])]
    assert trust == [5, 3, 4, 4]


@pytest.mark.parametrize("cognition", ["full", "lean"])
async def test_equal_seeds_give_equal_talks(cognition: str) -> None:
    said = ["Hello!", "I have a dog called Kiwi.", "I walked along the lake.", "What is my dog called?", "Goodbye!"]
    first = await course(Talking(cognition=cognition, seed=3), said)
    assert await course(Talking(cognition=cognition, seed=3), said) == first
    assert "Kiwi" in first[3]["utterance"] and all(one["appraised"] for one in first)
