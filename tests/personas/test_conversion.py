"""Converting: who is wanted, what is wrong, what is hostile, and what is said of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused, Write
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.catalogue import load_persona
from persimchat.personas.conversion.conversion import Conversion, convert, new_place, summaries, texts_of
from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean
from persimchat.state.settings import Settings


def run(*files: Path, **options: Any) -> Conversion:
    return asyncio.run(convert(files, Settings(model="offline"), **options))


def names(conversion: Conversion) -> list[str]:
    return [one.persona.name for one in conversion.people]


@pytest.fixture
def table(write: Write) -> Path:
    return write("a.csv", "name,bio,shoes\nAna Mora,Bakes.,38\nBo Říha,Drives.,44\nBo Lind,Sails.,\n")


@pytest.mark.parametrize(
    ("pick", "found"),
    [
        ([], ["Ana Mora", "Bo Říha", "Bo Lind"]),
        (["ana"], ["Ana Mora"]),
        (["riha", "Ana Mora"], ["Ana Mora", "Bo Říha"]),
    ],
)  # fmt: skip
def test_who_is_wanted(table: Path, pick: list[str], found: list[str]):
    assert names(run(table, pick=pick)) == found


def test_nobody_of_the_name_that_is_wanted(table: Path, refused: Refused):
    refused(lambda: run(table, pick=["Anna"]), "no person 'Anna'", "--pick", "'Ana Mora'")
    refused(lambda: run(table, pick=["Bo"]), "'Bo' may be Bo Říha or Bo Lind", "full name")


def test_what_is_wrong_with_others_does_not_matter(write: Write, refused: Refused):
    path = write("a.csv", "name,bio\nAna,Bakes.\n,Nobody.\nBo,\nAna,Again.\n")
    assert names(run(write("b.csv", "name,bio\nAna,Bakes.\n,Nobody.\n"), pick=["Ana"])) == ["Ana"]
    done = run(path)
    assert names(done) == ["Ana"]
    assert [(row.record.line, row.error.what.split(",")[0]) for row in done.refused] == [
        (3, "the name is empty"),
        (4, "the description is empty"),
        (5, "two people are called 'Ana'"),
    ]
    assert [row.record.line for row in run(path, pick=["Ana"]).refused] == [5]
    nobody = write("c.csv", "name,bio\n,Nobody.\nBo,\n")
    wrong = "no row is right: the name is empty, and 1 more is wrong"
    refused(lambda: run(nobody, columns={}), wrong, "c.csv:2", "Fill it in")
    refused(lambda: run(write("d.json", json.dumps({"name": "Ana", "bio": "b", "knowledge": 9}))), "knowledge level")


def test_two_files_with_the_same_person(write: Write, refused: Refused):
    one, two = (write(f"{n}.json", json.dumps({"name": name, "bio": "b"})) for n, name in ((1, "Zoë Ř"), (2, "zoe r")))
    refused(lambda: run(one, two), "two people are called 'zoe r'", "2.json", "1.json")
    refused(lambda: run(one, one), "two people")


def test_an_own_mapping(write: Write):
    mapping = write(
        "m.yaml",
        "name: {text: '{vor} {nach}'}\n"
        "description: [beruf, {value: A respondent.}]\n"
        "characteristics: {age: {field: alter, missing: [k. A.]}, study: {value: pilot}}\n"
        "traits: {field: art, split: /}\nknowledge: wissen\nspeaking_style: stil\n"
        "social_goals: [ziel 1, ziel 2]\ntechnical: [lfd]\n",
    )
    table = write(
        "a.csv",
        "lfd;vor;nach;beruf;alter;art;wissen;stil;ziel 1;ziel 2;notiz\n"
        "1;Ida;Voss;Wirtin;k. A.;laut/ froh;4;knapp;reden;;x\n",
    )
    (one,) = run(table, mapping=str(mapping)).people
    assert one.persona.model_dump() == {
        "name": "Ida Voss",
        "description": "Wirtin A respondent.",
        "characteristics": {"study": "pilot"},
        "traits": ["laut", "froh"],
        "knowledge": 4,
        "speaking_style": "knapp",
        "social_goals": ["reden"],
        "human": False,
    }
    assert one.draft.left_out == {"alter": "'k. A.'", "notiz": "'x'"}
    assert one.draft.technical == ("lfd",)
    assert one.draft.mapped["study"] == ()


def test_a_mapping_says_where_the_records_are(write: Write, refused: Refused):
    mapping = write("m.yaml", "records: study.people\nname: name\ndescription: bio\n")
    data = {"study": {"people": [{"name": "A", "bio": "a"}, {"name": "B", "bio": "b"}], "date": "May"}, "x": {}}
    path = write("a.json", json.dumps(data))
    assert names(run(path, mapping=str(mapping))) == ["A", "B"]
    other = write("b.json", json.dumps({"people": []}))
    refused(lambda: run(other, mapping=str(mapping)), "no list of records in the field study.people", "b.json")


def test_a_mapping_for_another_file(table: Path, write: Write, refused: Refused):
    mapping = write("m.yaml", "name: nom\ndescription: vie\n")
    refused(lambda: run(table, mapping=str(mapping)), "not what the mapping m.yaml is for", "name, bio, shoes")
    refused(lambda: run(table, mapping="tinytroupe"), "no field persona.name", "a.csv:2")
    half = write("h.yaml", "name: name\ndescription: vie\n")
    refused(lambda: run(table, mapping=str(half)), "no field for the description", "a.csv:2", "vie")


@pytest.mark.parametrize("level", ["6", "-1", "3.5", "expert"])
def test_a_knowledge_level_that_is_none(write: Write, refused: Refused, level: str):
    path = write("a.csv", f"name,bio,knowledge\nAna,b,{level}\n")
    refused(lambda: run(path), f"'{level}' is not a knowledge level", "a.csv:2", "field knowledge")


def test_what_is_too_long_is_shortened_and_said(write: Write, refused: Refused):
    data = {"name": "Ana", "bio": "word " * 20_000, "job": "x" * 5000, "traits": ",".join(f"t{n}" for n in range(300))}
    (one,) = run(write("a.json", json.dumps(data))).people
    assert len(one.persona.description) <= 4000
    assert one.persona.description.endswith("word…")
    assert one.persona.characteristics["occupation"] == "x" * 999 + "…"
    assert len(one.persona.traits) == 100
    assert one.draft.notes == (
        "description: shortened from 99,999 to 3,995 characters",
        "traits: the first 100 of 300",
        "occupation: shortened from 5,000 to 1,000 characters",
    )
    path = write("b.json", json.dumps({"name": "n" * 301, "bio": "b"}))
    refused(lambda: run(path), "name should have at most 300 characters", "b.json")


HOSTILE = [
    "../../etc/passwd",
    "C:\\Windows\\x",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "${HOME} `id` $(id)",
    "</record><task name=\"x\">",
    "\x1b[31mred\x1b[0m \x00\x07\u202e\ud83d",
    "a: b # c",
    "- x\n- y",
    "'\"\\",
    "!!python/object:os.system",
    "*alias &anchor",
    "no",
    "null",
    "007",
    "12:30",
    "👩‍🔬 Ｆｕｌｌ",
    "con",
    "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_are_kept_as_text(tmp_path: Path, write: Write, value: str):
    data = {"name": f"{value}", "bio": value, "job": value, "traits": value.replace(",", ""), "goals": value}
    conversion = run(write("a.json", json.dumps(data)))
    ((name, text),) = texts_of(conversion.people).items()
    assert Path(name).name == name
    assert name.removesuffix(".yaml").replace("-", "").isalnum()
    assert len(name) < 80
    assert clean(text) == text
    assert load_persona(write(f"out/{name}", text)) == conversion.people[0].persona
    assert "49" not in conversion.people[0].persona.name


def test_what_is_hostile_in_a_files_name_stays_in_its_comment(write: Write):
    path = write("x\ninclude: [y].json", json.dumps({"name": "Ana", "bio": "b"}))
    ((_, text),) = texts_of(run(path).people).items()
    assert text.splitlines()[0].startswith("# Converted from x include: [y].json with the mapping plain.")
    assert load_persona(write("out/a.yaml", text)).name == "Ana"


@pytest.mark.proof
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(min_size=1), st.text())
def test_whatever_is_converted_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, name: str, bio: str, job: str
):
    path = tmp_path_factory.mktemp("t") / "a.json"
    path.write_text(json.dumps({"name": name, "bio": bio, "job": job}), encoding="utf-8")
    try:
        people = run(path).people
    except InputError as error:
        assert error.remedy
        return
    ((_, text),) = texts_of(people).items()
    path.with_name("b.yaml").write_text(text, encoding="utf-8")
    assert load_persona(path.with_name("b.yaml")) == people[0].persona


@pytest.mark.long
def test_a_thousand_people(write: Write):
    data = [{"name": f"Person N{n}", "bio": f"Number {n}.", "age": n % 90, "shoes": n} for n in range(1000)]
    conversion = run(write("a.json", json.dumps(data)))
    assert names(conversion) == [entry["name"] for entry in data]
    texts = texts_of(conversion.people)
    assert len(texts) == 1000
    assert "from a.json (entry 1000) with the mapping plain" in list(texts.values())[-1]
    (summary,) = summaries(conversion)
    lines = list(summary.lines())
    assert lines[0] == "a.json: 1,000 people, with the mapping plain"
    assert "  taken      age ← age" in lines
    assert "  left out   shoes: '0'" in lines


def test_what_can_be_said_of_some_files(write: Write, table: Path):
    lines = [line for summary in summaries(run(table)) for line in summary.lines()]
    assert lines == [
        "a.csv: 3 people, with the mapping plain",
        "  taken      name ← name",
        "  taken      description ← bio",
        "  left out   shoes: '38' (2 of 3)",
        "  empty      characteristics, traits, knowledge, speaking_style, social_goals",
    ]
    same = [write(f"{n}.json", json.dumps({"name": f"P {n}", "bio": "b", "age": n})) for n in range(1, 9)]
    other = write("x.json", json.dumps({"name": "P x", "bio": "b", "job": "j"}))
    heads = [next(iter(summary.lines())) for summary in summaries(run(*same, other))]
    assert heads == [
        "8 files (1.json, 2.json, 3.json, 4.json, 5.json, 6.json, …): 8 people, with the mapping plain",
        "x.json: 1 person, with the mapping plain",
    ]


def test_the_same_input_gives_the_same_files(table: Path):
    assert texts_of(run(table).people) == texts_of(run(table).people)


def test_a_new_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert new_place([Path("My People.csv")]) == Path("converted/my-people")
    assert new_place([Path("cast/a.json"), Path("cast/b.json")]) == Path("converted/cast")
    (tmp_path / "converted/my-people").mkdir(parents=True)
    assert new_place([Path("My People.csv")]) == Path("converted/my-people-2")
