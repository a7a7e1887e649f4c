"""Generating personas: what is asked, refused and kept, and quotas that are dealt out exactly."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused, Write
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback.answering import Fault
from loopback.scripted import in_turn, prompt_of
from loopback.server import LoopbackServer
from pydantic import ValidationError

from persimchat.models.ladder import Rung, rung
from persimchat.models.naming import parse_model_name
from persimchat.personas.catalogue import load_persona, shipped
from persimchat.personas.files import file_names, new_folder, persona_text, write_all
from persimchat.personas.generation import (
    CHARACTERISTICS,
    TIMES,
    Generated,
    answer_schema,
    check_request,
    generate,
    overlap,
    persona_of,
    problems,
    similarity,
)
from persimchat.personas.quotas import Ages, Cell, Quotas, ages_in, counts, load_quotas, persons
from persimchat.state.errors import ModelError
from persimchat.state.persona import Persona
from persimchat.state.plain_text import is_visible
from persimchat.state.settings import Settings

LIVES = (
    "keeps eleven umbrellas behind the door, none of them bought, and lends them to people who forgot theirs at work",
    "taught the choir to breathe and now cannot get them to stop, which everybody in the valley has to listen to",
    "walks home along the canal each evening counting herons, then writes the number upon the wall of the kitchen",
    "mends radios for a living, though hardly anybody owns one, and refuses to touch any telephone made of glass",
    "was once in a lift with a minister for five hours; they played cards, and the minister still owes nine crowns",
)


NAMES = ("Ann Miller", "Ben Novák", "Cleo Marsh", "Dan Ruiz", "Eve Olsen")


TEMPERS = (["calm", "dry", "exact"], ["loud", "kind", "late"], ["shy", "proud", "quick"], ["wry", "slow", "firm"])


def answer(n: int, **changed: Any) -> dict[str, Any]:
    """The n-th of some answers that are unlike each other."""
    return {
        "name": NAMES[n % len(NAMES)],
        "age": 30 + n,
        "gender": "unsaid",
        **{key: f"{key} of {n}" for key in ("residence", "occupation", "education", "family", "hobbies")},
        "lifestyle": "up early",
        "financial_status": "enough",
        "traits": TEMPERS[n % len(TEMPERS)],
        "speaking_style": "Short sentences with a pause.",
        "description": f"{NAMES[n % len(NAMES)].split()[0]} {LIVES[n % len(LIVES)]}.",
        **changed,
    }


async def made(server: LoopbackServer, number: int, **more: Any) -> list[Generated]:
    return await generate(number, Settings(model=server.model()), **more)


def prompts(server: LoopbackServer) -> list[str]:
    return [prompt_of(body) for body in server.bodies()]


async def test_each_is_told_of_those_before_it():
    with LoopbackServer(answer=in_turn(*(answer(n) for n in range(3)))) as server:
        told: list[str] = []
        people = await made(server, 3, about="a <task> of walkers", made=lambda persona: told.append(persona.name))
    first, second, third = prompts(server)
    assert "<others>" not in first
    assert "- The group: a ‹task> of walkers" in first
    assert "- Person: 1 of 3" in first
    assert "- Ann Miller: 30, unsaid, occupation of 0; calm, dry, exact" in second
    assert "- Ben Novák: 31, unsaid, occupation of 1; loud, kind, late" in third
    assert told == [generated.persona.name for generated in people] == ["Ann Miller", "Ben Novák", "Cleo Marsh"]
    assert people[0].persona.characteristics["financial status"] == "enough"
    assert [call["module"] for call in people[1].calls] == ["persona_generation"]


async def test_the_answer_has_no_room_for_what_is_fixed(write: Write):
    """A model that answers with another gender and age all the same does not change them."""
    quotas = load_quotas(write("q.yaml", "quotas: {age: {70: 1}, gender: {woman: 1}, home: {boat: 1}}"))
    with LoopbackServer(answer=in_turn(answer(0, gender="man", age=9))) as server:
        (generated,) = await made(server, 1, quotas=quotas)
    asked = server.bodies()[0]["response_format"]["json_schema"]["schema"]["properties"]
    assert not {"age", "gender", "home"} & set(asked)
    assert "occupation" in asked
    assert generated.persona.characteristics["age"] == "70"
    assert generated.persona.characteristics["gender"] == "woman"
    assert generated.persona.characteristics["home"] == "boat"
    assert list(generated.persona.characteristics)[:2] == ["age", "gender"]
    assert set(generated.fixed) == {"age", "gender", "home"}
    assert "- Fixed: home: boat" in prompts(server)[0]


async def test_quotas_come_out_exactly(write: Write):
    quotas = load_quotas(write("q.yaml", "quotas: {gender: {a: 2/5, b: 3/5}, age: {20-29: 1/5, 60+: 4/5}}"))
    with LoopbackServer(answer=in_turn(*(answer(n) | {"traits": [*TEMPERS[0], str(n)]} for n in range(5)))) as server:
        people = [generated.persona for generated in await made(server, 5, quotas=quotas)]
    assert sorted(str(person.characteristic("gender")) for person in people) == ["a", "a", "b", "b", "b"]
    ages = sorted(int(str(person.characteristic("age"))) for person in people)
    assert ages[0] < 30 and ages[1] >= 60


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "ann MILLER"}, "ann MILLER is the name of somebody made before"),
        ({"traits": ["Exact", "dry", "calm"]}, "These are the traits of Ann Miller"),
        ({"description": f"Ben {LIVES[0]}. Ben sings."}, "too much like that of Ann Miller"),
        ({"description": "Ben is 44 and " + LIVES[1]}, "said 44 years; this person's age is 31"),
        ({"gender": "man", "description": "She " + LIVES[1]}, 'said "she"; this person\'s gender is man'),
    ],
)
async def test_asked_again_saying_what_is_to_differ(wrong: dict[str, Any], said: str):
    with LoopbackServer(answer=in_turn(answer(0), answer(1, **wrong), answer(1))) as server:
        people = await made(server, 2)
    assert said in prompts(server)[2]
    assert "<avoid>" not in prompts(server)[1]
    assert people[1].persona.name == "Ben Novák"
    assert len(people[1].calls) == 2


async def test_the_same_person_again_and_again_is_an_error():
    with LoopbackServer(answer=lambda _: answer(0)) as server, pytest.raises(ModelError) as caught:
        await made(server, 2)
    assert len(server.requests) == 1 + TIMES
    assert str(caught.value).startswith(f"persona 2 of 2 was unusable {TIMES} times: it is called 'Ann Miller'")
    assert "persona_generation" in str(caught.value)
    assert "another seed" in caught.value.remedy


async def test_an_invalid_answer_is_asked_for_once_more():
    with LoopbackServer(answer=in_turn(answer(0, traits=["one"]), answer(0))) as server:
        (generated,) = await made(server, 1)
    assert "traits" in server.requests[1].text
    assert generated.calls[0]["calls"] == 2


async def test_two_invalid_answers_are_an_error():
    with LoopbackServer(answer=lambda _: answer(0, name="X")) as server:
        twice = "wrong answer twice: name: .*give name and surname"
        with pytest.raises(ModelError, match=twice):
            await made(server, 2)
    assert len(server.requests) == 2


@pytest.mark.proof
async def test_a_server_that_is_busy_for_a_moment_is_asked_again():
    with LoopbackServer(answer=in_turn(Fault(503), answer(0))) as server:
        assert len(await made(server, 1)) == 1


async def test_every_form_of_answer_is_understood():
    refuses = {"json_schema", "tools", "json_object"}
    with LoopbackServer(answer=lambda _: f"Here: {answer_text()}", refuses=refuses) as server:
        await made(server, 1)
        assert rung(parse_model_name(server.model())) is Rung.TEXT


def answer_text() -> str:
    return json.dumps(answer(0, hobbies=["tea", "maps"]))


@pytest.mark.parametrize("number", [0, -1, 101])
def test_a_number_that_cannot_be_made(number: int, refused: Refused):
    refused(lambda: check_request(number, ""), f"{number} personas", "1 to 100")


def test_a_sentence_without_end(refused: Refused):
    refused(lambda: check_request(2, "x" * 1001), "1,001 characters", "--about")


@pytest.mark.parametrize(
    "name", ["Eva Horáková", "Seán O’Brien", "Adébáyọ̀ Ọládélé", "प्रिया शर्मा", "陳志明", "J. R. Smith-Jones"]
)
def test_names_of_all_scripts(name: str):
    assert answer_schema(frozenset()).model_validate(answer(0, name=name)).model_dump()["name"] == name


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "Eva"},
        {"name": "Eva: Nová"},
        {"name": "Eva 2 Nová"},
        {"name": "Eva\u202eNová <x>"},
        {"age": 3},
        {"traits": ["calm", "Calm", "dry"]},
        {"traits": ["calm"] * 6},
        {"description": "Too short."},
        {"residence": " \u200b "},
    ],
)
def test_what_no_answer_may_hold(changed: dict[str, Any]):
    with pytest.raises(ValidationError):
        answer_schema(frozenset()).model_validate(answer(0, **changed))


def test_the_schema_asks_for_everything_else():
    fixed = frozenset({"age", "occupation", "home"})
    asked = set(answer_schema(fixed).model_fields) - {"name", "traits", "speaking_style", "description"}
    assert asked == {name.replace(" ", "_") for name in CHARACTERISTICS} - {"age", "occupation"}
    persona = persona_of(answer_schema(fixed).model_validate(answer(0)), {"age": "70", "occupation": "x", "home": "y"})
    assert (persona.age, persona.characteristic("occupation"), persona.characteristic("home")) == (70, "x", "y")


def test_the_shipped_personas_are_unlike_each_other():
    """The thresholds let through what people find different."""
    people = shipped()
    assert [problems(person, [p for p in people if p is not person]) for person in people] == [[]] * len(people)


def test_likeness_is_measured_from_none_to_all():
    assert overlap(LIVES[0], LIVES[1]) == 0
    assert overlap(LIVES[0], LIVES[0]) == pytest.approx(1)
    assert similarity(LIVES[0], LIVES[0]) == pytest.approx(1)
    assert similarity(LIVES[0], LIVES[1]) < 0.7
    assert overlap("two words", "two words") == 0


def test_only_plain_contradictions_count():
    """Ages and pronouns of other people in a description are no contradiction."""
    text = "Eva is a nurse. At 19 he left her, her 9-year-old son with him. She sings to him."
    persona = Persona(name="Eva Nová", description=text, characteristics={"age": 34, "gender": "woman"})
    assert problems(persona, []) == []
    wrong = persona.model_copy(update={"description": "Eva, 43, sings. He laughs."})
    assert [problem.kind for problem in problems(wrong, [])] == ["age", "gender"]


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=120).filter(is_visible)


@given(TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_files_read_back_as_they_were_written(
    description: str, style: str, characteristics: dict[str, str], notes: list[str]
):
    persona = Persona(
        name="Eva Nová",
        description=description,
        characteristics={"age": "34", **characteristics},
        traits=["calm"],
        speaking_style=style,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "eva.yaml"
        path.write_text(persona_text(persona, notes), encoding="utf-8")
        assert load_persona(path) == persona


def test_files_look_like_the_shipped_ones():
    text = persona_text(shipped()[0], ["first\nsecond"])
    assert text.startswith("# first second\nname: Jarmila Dvořáčková\ndescription: >-\n  Jarmila worked")
    assert "\n  age: 78\n" in text
    assert "\ntraits:\n  - stubborn\n" in text
    assert "social_goals" not in text


def test_file_names_are_safe_and_different():
    names = ["Eva Horáková", "陳志明", "../../etc/passwd", "eva horakova", "x" * 200 + " y"]
    found = file_names(names)
    assert found[:4] == ["eva-horakova.yaml", "persona-2.yaml", "etc-passwd.yaml", "eva-horakova-2.yaml"]
    assert len(found[4]) < 70


def test_all_files_or_none(tmp_path: Path, refused: Refused):
    (tmp_path / "b.yaml").write_text("mine", encoding="utf-8")
    refused(lambda: write_all(tmp_path, {"a.yaml": "x", "b.yaml": "y"}), "b.yaml", str(tmp_path), "--out")
    assert [path.name for path in tmp_path.iterdir()] == ["b.yaml"]
    assert (tmp_path / "b.yaml").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_was_not_filled_goes_again(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "one/two"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_stays(tmp_path: Path, refused: Refused):
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path):
        raise KeyboardInterrupt
    assert tmp_path.is_dir()
    (tmp_path / "x").touch()
    refused(lambda: new_folder(tmp_path).__enter__(), "not empty", str(tmp_path), "--out")
    refused(lambda: new_folder(tmp_path / "x").__enter__(), "file in the way", "--out")


EXAMPLE = Path(__file__).resolve().parents[2] / "examples/quotas.yaml"


@st.composite
def whole_shares(draw: st.DrawFn) -> list[Fraction]:
    """Shares that sum to one, zero ones among them."""
    weights = draw(st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@given(whole_shares(), st.integers(1, 200), st.integers(0, 2**32))
def test_counts_are_exact(shares: list[Fraction], number: int, seed: int):
    found = counts(shares, number, random.Random(seed))
    assert sum(found) == number
    assert all(abs(count - share * number) < 1 for count, share in zip(found, shares, strict=True))
    assert found == counts(shares, number, random.Random(seed))


@given(whole_shares(), whole_shares(), st.integers(1, 100), st.integers(0, 1000))
@settings(max_examples=60)
def test_every_division_is_exact_at_once(first: list[Fraction], second: list[Fraction], number: int, seed: int):
    quotas = Quotas(
        {
            "colour": tuple(Cell(share, {"colour": str(n)}) for n, share in enumerate(first)),
            "cells": tuple(
                Cell(share, {"work": str(n)}, Ages(10 * n + 10, 10 * n + 19)) for n, share in enumerate(second)
            ),
        }
    )
    people = persons(quotas, number, seed)
    assert people == persons(quotas, number, seed)
    for key, shares in (("colour", first), ("work", second)):
        found = Counter(int(person[key]) for person in people)
        assert all(abs(found[n] - share * number) < 1 for n, share in enumerate(shares))
    assert all(int(person["age"]) // 10 - 1 == int(person["work"]) for person in people)


def test_ties_fall_by_the_seed():
    half = [Fraction(1, 2), Fraction(1, 2)]
    assert {tuple(counts(half, 1, random.Random(seed))) for seed in range(20)} == {(1, 0), (0, 1)}


def test_divisions_are_not_tied_to_each_other():
    """Listed in the same order, the first values must not all come to the same people."""
    halves = Fraction(1, 2)
    quotas = Quotas({key: (Cell(halves, {key: "a"}), Cell(halves, {key: "b"})) for key in ("one", "two")})
    both = Counter((person["one"], person["two"]) for seed in range(20) for person in persons(quotas, 10, seed))
    assert set(both) == {("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")}
    assert min(both.values()) > 25


def test_ages_are_drawn_within_their_band():
    drawn = ages_in("18-22", "").drawn(12, random.Random(1))
    assert set(drawn) == {18, 19, 20, 21, 22}
    assert len(set(drawn[:5])) == 5  # nobody is as old as another before every age was drawn
    assert (ages_in("34", ""), ages_in("65+", ""), ages_in("7 – 9", "")) == (Ages(34, 34), Ages(65, 95), Ages(7, 9))
    assert ages_in("100+", "") == Ages(100, 100)


def test_what_is_left_open_is_not_fixed(write: Write):
    quotas = load_quotas(write("q.yaml", "quotas:\n  Gender: {woman: 1/3, any: 2/3}\n  age: {30: 50%, ANY: 0.5}\n"))
    people = persons(quotas, 6, 0)
    assert Counter("gender" in person for person in people) == {True: 2, False: 4}
    assert Counter(person.get("age") for person in people) == {"30": 3, None: 3}


def test_without_quotas_nothing_is_fixed():
    assert persons(None, 3, 0) == [{}, {}, {}]


def test_cells_keep_together_what_belongs_together(write: Write):
    text = """
cells:
  - {share: 1/4, age: 18-20, occupation: student}
  - {share: 3/4, age: 40, occupation: any}
"""
    people = persons(load_quotas(write("q.yaml", text)), 8, 3)
    students = [person for person in people if person.get("occupation") == "student"]
    assert len(students) == 2
    assert all(18 <= int(person["age"]) <= 20 for person in students)
    assert [person for person in people if "occupation" not in person] == [{"age": "40"}] * 6


@pytest.mark.parametrize("written", ["0.5", "50%", "1/2", "'0.5'", "2/4", "50.0 %"])
def test_shares_may_be_written_in_three_ways(written: str, write: Write):
    (cells,) = load_quotas(write("q.yaml", f"quotas: {{gender: {{a: {written}, b: 1/2}}}}")).divisions.values()
    assert [cell.share for cell in cells] == [Fraction(1, 2)] * 2


def test_thirds_are_thirds(write: Write):
    assert load_quotas(write("q.yaml", "quotas: {gender: {a: 1/3, b: 1/3, c: 1/3}}"))


WRONG_QUOTAS = {
    "more than one": ("quotas:\n  gender:\n    woman: 0.7\n    man: 0.6\n", ":2", "sum to 1.3, more than", "Take 0.3"),
    "less than one": ("quotas:\n  age:\n    30: 0.5\n    40: 0.25\n", ":2", "sum to 0.75, less than", "any: 0.25"),
    "ninths": ("quotas: {gender: {a: 1/9, b: 8/9, c: 1/9}}", "gender", "10/9", "Take 1/9"),
    "cells": ("cells:\n- {share: 0.4, age: 30}\n", ":1", "the cells sum to 0.4", "Add 0.6"),
    "negative": ("quotas:\n  gender:\n    woman: -0.5\n    man: 1.5\n", ":3", "not -0.5", "0.25"),
    "percent": ("quotas: {gender: {a: 50, b: 50}}", "gender.a", "not 50", "25%"),
    "word": ("quotas: {gender: {a: half}}", "gender.a", "not 'half'", "1/4"),
    "truth": ("quotas: {gender: {a: true}}", "gender.a", "not True", "1/4"),
    "by zero": ("quotas: {gender: {a: 1/0}}", "gender.a", "'1/0'", "1/4"),
    "endless": ("quotas: {gender: {a: 1e999999999}}", "gender.a", "number from 0 to 1", "1/4"),
    "nothing": ("# only a comment\n", "q.yaml", "holds nothing", "Write"),
    "empty": ("quotas: {}\n", "quotas", "empty", "gender"),
    "no shares": ("quotas: {gender: woman}\n", "quotas.gender", "no shares", "gender: {"),
    "list": ("quotas: [gender]\n", "quotas", "not a mapping", "Write"),
    "field": ("quota: {gender: {a: 1}}\n", "quota", "unknown field 'quota'", "'quotas'"),
    "no YAML": ("quotas: [a\n", "q.yaml:2", "not well-formed YAML", "Check"),
    "overlap": ("quotas:\n  age:\n    18-30: 1/2\n    30-40: 1/2\n", ":4", "overlap", "18-29"),
    "backwards": ("quotas: {age: {40-30: 1}}", "age.40-30", "younger age must come first", "18-29"),
    "baby": ("quotas: {age: {2: 1}}", "age.2", "from 4 to 110", "18-29"),
    "age": ("quotas: {age: {old: 1}}", "age.old", "'old' is not an age", "65+"),
    "twice": ("quotas: {gender: {Woman: 1/2, woman: 1/2}}", "gender.woman", "given twice", "Add up"),
    "name twice": ("quotas: {gender: {a: 1}, Gender: {b: 1}}", "Gender", "given twice", "Keep one"),
    "both": ("quotas: {gender: {a: 1}}\ncells: [{share: 1, Gender: b}]", "cells[0].Gender", "as well", "one place"),
    "name": ("quotas: {name: {Bo: 1}}", "quotas.name", "not a characteristic", "occupation"),
    "no share": ("cells: [{age: 30}]", "cells[0]", "no share", "share: 1/2"),
    "bare share": ("cells: [{share: 1}]", "cells[0]", "no characteristic", "share: 1/2"),
    "value": ("cells: [{share: 1, age: [3]}]", "cells[0].age", "no usable value", "any"),
}


@pytest.mark.parametrize("name", WRONG_QUOTAS)
def test_one_line_with_place_and_remedy(name: str, write: Write, refused: Refused):
    text, *words = WRONG_QUOTAS[name]
    path = write("q.yaml", text)
    refused(lambda: load_quotas(path), str(path), *words)


def test_the_example_holds():
    people = persons(load_quotas(EXAMPLE), 20, 0)
    assert Counter(person["gender"] for person in people) == {"woman": 10, "man": 10}
    assert Counter(person.get("occupation") for person in people) == {"student": 4, "retired": 4, None: 12}
    assert all(int(person["age"]) < 25 for person in people if person.get("occupation") == "student")
