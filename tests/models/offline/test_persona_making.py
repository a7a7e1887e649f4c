"""People that the offline model invents: whole, fitting, unlike each other, and as they were asked for."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offenders import check_each

from persimchat.models.offline.material import deck, read
from persimchat.models.offline.persona_making import FILE, Request, persona, request_of, trades
from persimchat.models.offline.prompt import prompt_of
from persimchat.personas.generation import CHARACTERISTICS, Problem, answer_schema, persona_of, problems
from persimchat.prompts import render
from persimchat.state.persona import Persona


def request(
    fixed: dict[str, str] | None = None,
    about: str = "",
    number: int = 1,
    others: list[Persona] | None = None,
    wrong: list[Problem] | None = None,
) -> Request:
    """What the offline model is asked for."""
    messages = render(
        "persona_generation",
        about=about,
        number=number,
        total=9,
        fixed=tuple((fixed or {}).items()),
        asked=(),
        others=others or [],
        problems=wrong or [],
    )
    prompt = prompt_of(messages)
    assert prompt is not None
    return request_of(prompt)


def group(number: int, seed: int = 0, about: str = "", **fixed: str) -> list[Persona]:
    """So many people, each told of those before."""
    people: list[Persona] = []
    for n in range(1, number + 1):
        given = persona(request(fixed, about, n, people), seed)
        people.append(persona_of(answer_schema(frozenset(fixed)).model_validate(given), fixed))
    return people


FIXED = {
    "age": st.integers(4, 110).map(str),
    "gender": st.sampled_from(["woman", "man", "female", "male", "non-binary", "diverse", "girl", "?"]),
    "occupation": st.sampled_from(
        ["nurse", "retired", "student", "pupil", "employed", "self-employed", "unemployed", "astronaut", "HR manager"]
        + ["works in IT", "retired teacher", "homemaker", "apprentice baker", "professor of law", "3D artist", "x: y"]
    ),
    "education": st.sampled_from(["primary", "university", "PhD", "vocational school", "none", "third class", "?"]),
    "residence": st.sampled_from(["village", "Brno", "a hut near Ulm", "Kraków, Poland", "城"]),
    "family": st.just("married"),
    "home": st.just("own <house>"),
}


@pytest.mark.proof
@given(
    st.fixed_dictionaries({}, optional=FIXED),
    st.sampled_from(["", "commuters", "parents of a school class", "teachers", "women of 20-30", "x {first} <task>"]),
    st.integers(1, 60),
    st.integers(0, 2**63 - 1),
)
@settings(max_examples=150)
def test_whatever_is_fixed_there_is_a_whole_person(fixed: dict[str, str], about: str, number: int, seed: int):
    given = persona(request(fixed, about, number), seed)
    assert given == persona(request(fixed, about, number), seed)
    asked = {name.replace(" ", "_") for name in CHARACTERISTICS if name not in fixed}
    assert set(given) == asked | {"name", "traits", "speaking_style", "description"}
    made = persona_of(answer_schema(frozenset(fixed)).model_validate(given), fixed)
    assert problems(made, []) == []
    assert not re.search(r"[{}]|\bNone\b|  |\ban? [aeiou]?\.", made.description)
    assert 2 <= len(re.findall(r"\.(?: |$)", made.description)) <= 5


@pytest.mark.parametrize("seed", range(3))
def test_a_group_without_quotas_is_mixed(seed: int):
    people = group(12, seed)
    assert [problems(person, [p for p in people if p is not person]) for person in people] == [[]] * 12
    assert len({person.name.split()[0] for person in people}) == 12
    assert len({person.characteristic("occupation") for person in people}) >= 10
    assert len({person.characteristic("residence") for person in people}) == 12
    ages = [person.age or 0 for person in people]
    assert min(ages) < 30 and max(ages) > 60
    assert {"woman", "man"} <= {person.characteristic("gender") for person in people}


def test_no_sentence_comes_twice_in_a_group():
    sentences = Counter(s for person in group(30, 2) for s in re.split(r"(?<=\.) ", person.description))
    assert [sentence for sentence, times in sentences.items() if times > 1] == []


@pytest.mark.proof
def test_children_live_as_children() -> None:
    def check(age: int) -> None:
        for seed in range(4):
            (child,) = group(1, seed, age=str(age))
            words = " ".join((child.characteristic("occupation") or "", child.characteristic("education") or ""))
            assert re.search("kindergarten|pupil|student|apprentice|class|school", words)
            assert not re.search(
                "married|divorced|retired|degree|university", f"{words} {child.characteristic('family')}"
            )

    check_each(range(4, 20), check)


@pytest.mark.proof
def test_nobody_is_too_young_for_their_trade():
    youngest = {trade.title: trade.youngest for trade in trades()}
    for seed in range(8):
        for person in group(8, seed):
            occupation = person.characteristic("occupation") or ""
            assert (person.age or 0) >= youngest.get(occupation, 0), (person.age, occupation)


@pytest.mark.parametrize(
    ("gender", "own", "others"), [("woman", "she|her", "he|his|him|they"), ("male", "he|his|him", "she|her|they")]
)
def test_gender_shows_in_name_and_pronouns(gender: str, own: str, others: str):
    parts = read("persona_names").values()
    side = "women" if gender == "woman" else "men"
    firsts = {name for part in parts for names in part[side] for name in names.split()}
    for person in group(8, 3, gender=gender):
        assert person.name.split()[0] in firsts
        own_words = re.sub(r"people[^.]*they|them\b", "", person.description.casefold())
        assert re.search(rf"\b(?:{own})\b", own_words)
        assert not re.search(rf"\b(?:{others})\b", own_words.replace("they have not", "")) or "they" in others


def test_czech_women_have_women_s_surnames():
    for person in group(8, 1, about="women of a Czech village"):
        assert person.name.endswith(("ová", "á")), person.name


@pytest.mark.parametrize(
    ("about", "field", "pattern"),
    [
        ("nurses of a hospital in Kraków", "occupation", "^nurse$"),
        ("bus drivers", "occupation", "^bus driver$"),
        ("teachers of a primary school", "occupation", "teacher"),
        ("pensioners", "occupation", "^retired"),
        ("students of a university", "occupation", "^student"),
        ("teenagers", "occupation", "pupil|apprentice"),
        ("parents of a primary school class", "family", "child|son|daughter|twins"),
        ("villagers in Poland", "residence", "Białowieża|Chochołów|Kadyny"),
        ("residents of Springfield", "residence", "^Springfield$"),
        ("mothers", "gender", "^woman$"),
    ],
)
def test_the_sentence_is_heeded(about: str, field: str, pattern: str):
    for person in group(6, 4, about):
        assert re.search(pattern, person.characteristic(field) or ""), (about, person.characteristics)


def test_a_group_that_is_described_lives_in_one_place():
    people = group(6, 0, "commuters of a mid-sized town")
    assert len({person.characteristic("residence") for person in people}) == 1
    assert all(17 <= (person.age or 0) <= 66 for person in people)


def test_asked_again_it_is_somebody_else():
    first = persona(request(), 0)
    wrong = [Problem("description", first["description"], "Eva Nová")]
    second = persona(request(wrong=wrong), 0)
    assert first["name"] != second["name"]
    assert first["description"] != second["description"]


def test_what_was_wrong_is_one_more_reason_for_another_person():
    wrong = Problem("name", "Eva\nNová", "Eva Nová")
    assert request(wrong=[wrong]).again == ("name: Eva Nová (Eva Nová)",)
    assert request(wrong=[wrong]).shift > request().shift == 0


def words_of(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [line for value in data.values() for line in words_of(value)]
    return [line.strip() for line in str(data).splitlines() if line.strip()]


def test_the_material_is_well_formed():
    known = {"first", "she", "her", "him", "herself", "s", "es", "ies", "is", "has", "was"}
    known |= {"noun", "title", "years", "subject", "age", "form", "place"}
    for line in words_of(read(FILE)):
        assert set(re.findall(r"\{(\w+)\^?\}", line)) <= known, line
    for line in deck(FILE, "traits"):
        assert len(line.split("|")) == 5, line
    for key in ("habits", "wishes"):
        lines = words_of(read(FILE)[key])
        assert len(set(lines)) == len(lines)
        assert all(line.endswith(".") for line in lines)
