"""Tempers: people differ in what they feel, and in what is made of them by what they hear."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.models.offline.feeling import disposition_of, feeling
from persimchat.models.offline.prompt import Heard, Prompt, Relation
from persimchat.state.emotion import EMOTIONS
from persimchat.state.persona import Persona

CALM = dict.fromkeys(EMOTIONS, 1)
TOPIC = "Tea or coffee?"


def person(*traits: str, name: str = "Eva", description: str = "A nurse.") -> Prompt:
    """Somebody who has come to talk of tea and coffee, and is for tea."""
    return Prompt(
        "emotion",
        name=name,
        description=description,
        traits=traits,
        goals=("I am for tea",),
        topic=TOPIC,
        present=("Bo", "Cleo"),
        turn=3,
        limit=20,
        emotions=CALM,
    )


def felt(who: Prompt, words: str, *, to_me: bool = True, valence: int = 0) -> dict[str, float]:
    """The mean change of every emotion after words of Bo's, over many seeds."""
    relations = (Relation("Bo", "", valence, ""),) if valence else ()
    heard = Heard("Bo", own=False, to_me=to_me, addressees="Eva", emotion={}, words=words)
    changes: Counter[str] = Counter()
    for seed in range(60):
        state, reasoning = feeling(replace(who, heard=heard, relations=relations), seed)
        assert reasoning.endswith(".")
        changes.update({emotion: level - CALM[emotion] for emotion, level in state.items()})
    return {emotion: changes[emotion] / 60 for emotion in EMOTIONS}


AGAINST = "You're wrong, Eva. I'm for coffee, and nothing speaks for tea."


@pytest.mark.parametrize(
    ("trait", "emotion"),
    [("hot-tempered", "anger"), ("anxious", "fear"), ("curious", "surprise"), ("melancholic", "sadness")],
)
def test_contradiction_makes_everybody_feel_in_their_own_way(trait: str, emotion: str):
    others = [felt(person(other), AGAINST)[emotion] for other in ("calm", "cheerful", "playful")]
    assert felt(person(trait), AGAINST)[emotion] > max(others) + 0.5


def test_support_makes_happy_and_contradiction_does_not():
    supported, contradicted = felt(person(), "I agree, Eva: I'm for tea."), felt(person(), AGAINST)
    assert supported["happiness"] > contradicted["happiness"] + 1
    assert supported["anger"] < contradicted["anger"]


def test_a_friends_contradiction_hurts_and_a_rivals_angers():
    friend, rival = felt(person(), AGAINST, valence=1), felt(person(), AGAINST, valence=-1)
    assert friend["sadness"] > rival["sadness"]
    assert rival["anger"] > friend["anger"]


@pytest.mark.parametrize(
    ("words", "emotions"),
    [
        ("My dog died last night.", {"sadness"}),
        ("There is a monster behind you!", {"fear"}),
        ("Suddenly it rained frogs.", {"surprise"}),
        ("That is a pathetic, stupid thing to say.", {"anger", "sadness", "disgust"}),
        ("Thank you, that was kind of you.", {"happiness"}),
    ],
)
def test_what_is_said_counts_whatever_is_held(words: str, emotions: set[str]):
    plain = felt(person(), "It is half past three.")
    risen = {emotion for emotion, level in felt(person(), words).items() if level > plain[emotion] + 0.25}
    assert risen and risen <= emotions


@given(
    st.lists(st.sampled_from(["calm", "hot-headed", "shy", "witty", "kind", "x"]), unique=True), st.text(max_size=40)
)
def test_a_temper_follows_from_the_profile(traits: list[str], description: str):
    temper = disposition_of(person(*traits, description=description))
    assert temper == disposition_of(person(*traits, description=description))
    assert {*temper.rest} == {*temper.takes} == {*EMOTIONS}
    assert all(0 <= level < 6 for level in temper.rest.values())
    assert 0 < sum(temper.takes.values()) < 6


def test_those_of_whom_nothing_is_known_differ():
    leads = Counter(max((t := disposition_of(person(name=f"P{n}")).rest), key=lambda e: t[e]) for n in range(60))
    assert len(leads) >= 4
    assert leads["happiness"] < 45


@pytest.mark.proof
def test_among_the_shipped_not_everybody_is_happy(talk: Any, shipped: list[Persona]):
    strongest: dict[str, Counter[str]] = {persona.name: Counter() for persona in shipped}
    for seed, topic in enumerate((TOPIC, "Should our town close its centre to cars?")):
        for people in (shipped[:5], shipped[5:]):
            conversation = talk(people, topic, limit=12, seed=seed)
            for _ in range(12):
                conversation.step()
                for name, mind in conversation.minds.items():
                    strongest[name][max(EMOTIONS, key=lambda e, felt=mind["emotion"]: felt[e])] += 1
    total = sum(strongest.values(), Counter[str]())
    assert 0.3 < total["happiness"] / total.total() < 0.75, total
    assert len([e for e, times in total.items() if times > 0.03 * total.total()]) >= 4, total
    lead = {name.split()[0]: counts.most_common(1)[0][0] for name, counts in strongest.items()}
    assert (lead["Íñigo"], lead["Rowan"], lead["João"]) == ("fear", "happiness", "happiness"), lead
    assert strongest["Zeynep Aydoğan"]["anger"] > strongest["João Conceição"]["anger"]
