"""What the offline model takes as a fact, word for word, and what it takes as a question about one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from persimchat.models.offline.companion.asked import Asked, asked_in
from persimchat.models.offline.companion.claims import (
    LONGEST_QUOTE,
    claims_in,
    first_person,
    in_force,
    second_person,
    sentences,
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My sister is called Mira.", {"sister": "Petr's sister is called Mira."}),
        ("my sister's name is mira", {"sister": "Petr's sister is called mira."}),
        ("My sister's called Mira", {"sister": "Petr's sister is called Mira."}),
        ("I have a dog called Kiwi!", {"dog": "Petr's dog is called Kiwi."}),
        ("We've got a cat named Tom.", {"cat": "Petr's cat is called Tom."}),
        ("I live in Brno, by the way.", {"home": "Petr lives in Brno."}),
        ("I just moved to Pilsen.", {"home": "Petr lives in Pilsen."}),
        ("I'm from Ostrava.", {"home town": "Petr is from Ostrava."}),
        ("I'm a nurse and I am 34 years old.", {"job": "Petr is a nurse.", "age": "Petr is 34 years old."}),
        ("I work as a baker in Zlín.", {"work": "Petr works as a baker in Zlín."}),
        ("I really like old maps.", {"likes": "Petr likes old maps."}),
        ("I can't stand coffee.", {"dislikes": "Petr dislikes coffee."}),
        ("My favourite colour is dark green.", {"favourite colour": "Petr's favourite colour is dark green."}),
        ("My birthday is on 3 May.", {"birthday": "Petr's birthday is on 3 May."}),
        ("I have an exam on Friday.", {"exam": "Petr's exam is on Friday."}),
        ("I have two cats.", {"cats": "Petr has two cats."}),
        ("I'm allergic to nuts.", {"allergies": "Petr is allergic to nuts."}),
        ("My best friend's dog is called Rex.", {"best friend's dog": "Petr's best friend's dog is called Rex."}),
        ("My parents live in Brno.", {"parents' home": "Petr's parents live in Brno."}),
        (
            "My sister's name is Mira and she lives in Brno. She is a doctor.",
            {
                "sister": "Petr's sister is called Mira.",
                "sister's home": "Petr's sister lives in Brno.",
                "sister's job": "Petr's sister is a doctor.",
            },
        ),
        ("Mira's husband is called Pavel.", {"Mira's husband": "Mira's husband is called Pavel."}),
        (
            "My brother Karel lives in Vienna with two dogs.",
            {
                "brother": "Petr's brother is called Karel.",
                "brother's home": "Petr's brother lives in Vienna with two dogs.",
            },
        ),
        (
            "I have a cat called Tom and a dog called Rex.",
            {"cat": "Petr's cat is called Tom.", "dog": "Petr's dog is called Rex."},
        ),
        ("What is my sister called?", {}),
        ("My sister is not called Mira.", {}),
        ("I'd like a ticket, please.", {}),
        ("I am tired and I have a question.", {}),
        ("I'm OK.", {}),
        ("My brother is an idiot.", {}),
        ("I'm Petr.", {"name": "Petr is called Petr."}),
        ("I'm Czech.", {"nationality": "Petr is Czech."}),
        ("I like it here.", {}),
        ("If my sister is called Mira, so be it.", {}),
        ("Good morning!", {}),
    ],
)
def test_facts_are_told_by_patterns(text: str, told: dict[str, str]) -> None:
    claims = claims_in(text)
    assert {claim.subject: claim.told("Petr") for claim in claims} == told
    assert all(claim.quote in text for claim in claims)


@pytest.mark.parametrize(
    "text",
    [
        "Actually her name is Mara.",
        "Actually, my sister is called Mara.",
        "No, it's Mara, not Mira.",
        "It's not Mira but Mara!",
        "No, not Mira, Mara.",
        "Sorry, I meant Mara.",
        "She isn't called Mira, she's called Mara.",
        "No, she is called Mara.",
    ],
)
def test_a_correction_takes_the_place_of_what_it_corrects(text: str) -> None:
    before = claims_in("I live in Prague. My sister is called Mira.")
    found = claims_in(text, before)
    assert [(claim.told("Petr"), claim.correction, claim.quote) for claim in found] == [
        ("Petr's sister is called Mara.", True, text)
    ]
    assert [claim.value for claim in in_force([*before, *found])] == ["in Prague", "Mara"]


def test_of_likes_several_are_true_until_one_is_taken_back() -> None:
    told = claims_in("I like maps. I like rain. I live in Brno. I live in Zlín.")
    assert [claim.value for claim in in_force(told)] == ["maps", "rain", "in Zlín"]
    assert [claim.value for claim in in_force([*told, *claims_in("Not rain but snow.", told)])][-1] == "snow"


def test_a_fact_is_said_of_somebody_to_somebody_and_by_somebody() -> None:
    assert second_person("Petr's dog limps.", "Petr") == "your dog limps."
    assert second_person("Petr also carries his boat.", "Petr") == "you also carry his boat."
    assert first_person("Petr lives in Brno, and Petr's sister in Zlín.", "Petr") == (
        "I live in Brno, and my sister in Zlín."
    )


@pytest.mark.parametrize(
    ("text", "path", "form"),
    [
        ("What is my sister called?", ("sister",), "called"),
        ("what's my sister's name", ("sister",), "called"),
        ("Do you still remember my sister's name?", ("sister",), "called"),
        ("Can you tell me what my sister's called?", ("sister",), "called"),
        ("Tell me the name of my sister.", ("sister",), "called"),
        ("What is my sister's dog called?", ("sister", "dog"), "called"),
        ("Where does my sister live?", ("sister",), "home"),
        ("How old is my sister?", ("sister",), "age"),
        ("Do you remember where I live?", (), "home"),
        ("Remind me where I live.", (), "home"),
        ("What do I do for a living?", (), "job"),
        ("Do you know how old I am?", (), "age"),
        ("What do you know about me?", (), "all"),
        ("When is my exam?", ("exam",), "any"),
        ("What did I tell you about my garden?", ("garden",), "any"),
        ("Do I have a brother?", ("brother",), "any"),
        ("Is my sister called Mira?", ("sister",), "any"),
    ],
)
def test_questions_about_what_was_told(text: str, path: tuple[str, ...], form: str) -> None:
    assert asked_in(text) == [Asked(path, form)]


@pytest.mark.parametrize("text", ["What time is it?", "How are you?", "My sister is well.", "Who are you?", "Hello!"])
def test_other_words_ask_nothing_of_what_was_told(text: str) -> None:
    assert asked_in(text) == []


def test_two_things_may_be_asked_at_once() -> None:
    assert asked_in("What are my sister and my dog called?") == [
        Asked(("sister",), "called"),
        Asked(("dog",), "called"),
    ]


NAMES = st.from_regex(r"[A-Z][a-z]{2,9}", fullmatch=True).filter(
    lambda name: not name.startswith(("Not", "Non", "Nev"))
)
THINGS = st.sampled_from(["sister", "dog", "boat", "best friend", "favourite song", "neighbour's cat", "street"])
FRAMES = st.sampled_from(
    [
        "My {x} is called {v}.",
        "my {x}'s name is {v}",
        "The name of my {x} is {v}!",
        "Hm. You know, my {x} is named {v}.",
    ]
)


@given(THINGS, NAMES, FRAMES)
def test_what_is_told_is_found_with_its_value(thing: str, name: str, frame: str) -> None:
    text = frame.format(x=thing, v=name)
    (claim,) = claims_in(text)
    assert (claim.subject, claim.value) == (thing, name)
    assert claim.quote in text
    assert asked_in(f"What is my {thing} called?") == [Asked(claim.path, "called")]


@given(st.lists(st.tuples(THINGS, NAMES), min_size=1, max_size=8))
def test_the_last_word_on_a_subject_counts(told: list[tuple[str, str]]) -> None:
    text = " ".join(f"My {thing} is called {name}." for thing, name in told)
    assert {claim.subject: claim.value for claim in in_force(claims_in(text))} == dict(told)


@given(st.text(max_size=400))
@example("my my my is is is is called called")
@example("I " * 200)
@example("My sister is" + " " * 7_900 + "x")
@example("My sister is called Mira" + " and my" * 60)
def test_any_text_is_read_and_quoted_exactly(text: str) -> None:
    for sentence in sentences(text):
        assert sentence in text
    for claim in claims_in(text):
        assert claim.quote in text and 0 < len(claim.quote) <= LONGEST_QUOTE
        assert 0 < len(claim.subject) <= 80 and claim.value and claim.told("Petr").endswith(".")
    assert asked_in(text) == asked_in(text)


@given(st.text(alphabet="my sister is called and I live in not but actually, Mira Brno's.?! \n", max_size=200))
def test_texts_of_the_patterns_own_words_are_read(text: str) -> None:
    assert all(claim.quote in text for claim in claims_in(text, claims_in("My sister is called Mira.")))
    assert isinstance(asked_in(text, [("sister",)]), list)
