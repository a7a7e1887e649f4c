"""Tables whose columns have other names: what each column becomes by its name, and as the user says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.conversion.columns import LEFT_OUT, as_mapping, check_columns, guessed, table_in
from persimchat.personas.conversion.conversion import Conversion, convert
from persimchat.personas.conversion.draft import drafted
from persimchat.personas.conversion.record import Record
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

Write = Callable[..., Path]
Refused = Callable[..., str]

CZECH = """Jméno;Příjmení;Věk;Pohlaví;Město;Povolání;Vzdělání;Povaha;E-mail
Jan;Janda;44;muž;Tábor;pekař;vyučen;klidný, vtipný;jan@example.org
Věra;Hájková;31;žena;Zlín;učitelka;vysoká škola;;vera@example.org
"""


def run(*files: Path, **options: Any) -> Conversion:
    return asyncio.run(convert(files, Settings(model="offline"), **options))


@pytest.mark.parametrize("columns", [None, {}])
def test_czech_headers_are_known(write: Write, columns: dict[str, str] | None):
    jan, vera = (one.persona for one in run(write("lide.csv", CZECH), columns=columns).people)
    assert (jan.name, jan.traits, jan.age) == ("Jan Janda", ["klidný", "vtipný"], 44)
    assert vera.characteristics == {
        "age": "31", "gender": "žena", "residence": "Zlín", "occupation": "učitelka", "education": "vysoká škola",
    }  # fmt: skip
    assert jan.description == "pekař, 44 years old, lives in Tábor"


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["Name", "AGE", "bio", "shoes"], ["name", "age", "description", ""]),
        (["name", "surname"], ["first name", "last name"]),
        (["jméno", "příjmení"], ["first name", "last name"]),
        (["jméno", "věk", "č."], ["name", "age", ""]),
        (["Respondent", "speaking_style", "Sociální cíle"], ["name", "speaking style", "social goals"]),
        (["Sex", "Město", "koníčky", "popis"], ["gender", "residence", "hobbies", "description"]),
    ],
)
def test_what_a_column_becomes_by_its_name(columns: list[str], found: list[str]):
    assert list(guessed(columns).values()) == found


def test_columns_as_the_user_says(write: Write):
    path = write(
        "a.csv", "who|what,a.b,{c},mail,d,n\nEva Malá,She sings.,loud; calm,e@x,4,tea\nIvo,,quick,i@x,expert,\n"
    )
    said = {"who|what": "Name", "a.b": "description", "{c}": "social-goals", "d": "knowledge", "n": "favourite drink"}
    done = run(path, columns=said)
    (eva,) = (one.persona for one in done.people)
    assert (eva.name, eva.description, eva.social_goals) == ("Eva Malá", "She sings.", ["loud", "calm"])
    assert (eva.knowledge, eva.characteristics) == (4, {"favourite drink": "tea"})
    assert done.people[0].draft.by == "the mapping of its columns"
    assert done.people[0].draft.left_out == {"mail": "'e@x'"}
    (ivo,) = done.refused
    assert "there is no field for the description" not in ivo.error.what
    assert ivo.record.line == 3


def test_several_columns_become_one_field(write: Write):
    path = write("a.csv", "n,p,q,r\nEva,Sings.,Dances.,shy\n")
    said = {"n": "name", "p": "description", "q": "description", "r": "traits"}
    (one,) = run(path, columns=said).people
    assert (one.persona.description, one.persona.traits) == ("Sings. Dances.", ["shy"])


def test_without_a_description_the_facts_make_one(write: Write):
    (one,) = run(write("a.csv", "n,c\nEva,tea\n"), columns={"n": "name", "c": "drink"}).people
    assert one.persona.description == "drink: tea"


def test_what_is_said_of_columns_is_checked(write: Write, refused: Refused):
    path = write("a.csv", "who,bio\nEva,Sings.\n")
    refused(lambda: run(path, columns={"wh": "name"}), "no table has a column 'wh'", "--column", "'who'")
    refused(lambda: run(path, columns={"bio": "description"}), "no column is the name")
    refused(lambda: run(path, columns={"who": "name", "bio": "-"}), "no column says who the people are", "--column")
    refused(lambda: run(path, columns={"who": "memories"}), "no column becomes 'memories'", "characteristic")
    refused(lambda: run(path, columns={}, mapping="plain"), "--mapping and --column contradict")


def test_a_table_that_another_ready_mapping_knows(write: Write):
    table = table_in(write("a.csv", "first_name,last_name,public_info,decision_making_style\nA,B,c,d\n"))
    assert table is not None
    assert table.known
    assert table_in(write("a.json", "{}")) is None


NAMES = st.text(min_size=1, max_size=12)
TARGETS = st.sampled_from(["name", "description", "traits", "age", "social goals", "own", LEFT_OUT])


@given(st.dictionaries(NAMES, st.tuples(TARGETS, st.text(max_size=20)), min_size=1, max_size=6))
def test_any_names_and_values_are_taken_or_refused_with_a_reason(columns: dict[str, tuple[str, str]]):
    data = {name: value for name, (_, value) in columns.items()}
    said = {name: target for name, (target, _) in columns.items()}
    record = Record(Path("a.csv"), line=2, data=data)
    try:
        draft = drafted(record, as_mapping(said))
    except InputError as error:
        assert error.what
        assert error.remedy
        return
    left = {name for name, target in said.items() if target == LEFT_OUT}
    assert set(draft.left_out) <= left
    assert not left & {name for fields in draft.mapped.values() for name in fields}


def test_columns_of_several_tables(write: Write):
    one, two = write("a.csv", "who,bio\nEva,Sings.\n"), write("b.csv", "jméno,věk\nIvo,40\n")
    tables = [table for path in (one, two) if (table := table_in(path)) is not None]
    assert check_columns(tables, {"WHO": "name"}) == {"who": "name"}
    found = [one.persona for one in run(one, two, columns={"who": "name"}).people]
    assert [person.name for person in found] == ["Eva", "Ivo"]
