"""Mappings: what each rule takes and leaves, the ready ones on other programs' files, and the columns of tables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused, Write
from hypothesis import given
from hypothesis import strategies as st
from personas.test_conversion import run

from persimchat.personas.conversion.columns import LEFT_OUT, as_mapping, check_columns, guessed, table_in
from persimchat.personas.conversion.conversion import Conversion
from persimchat.personas.conversion.drafts import drafted
from persimchat.personas.conversion.loading import Record
from persimchat.personas.conversion.mapping import (
    ORDER,
    READY,
    Rule,
    find,
    find_mapping,
    is_empty,
    items_of,
    load_mapping,
    read_rule,
    ready,
    text_of,
    unused,
    value_at,
)
from persimchat.state.document import Document
from persimchat.state.errors import InputError

DATA: dict[str, Any] = {
    "first": "Ana",
    "Last-Name": "Moře",
    "a.b": "dotted",
    "job": {"title": "baker", "since": 2001, "open": True},
    "likes": ["tea", "", "fog"],
    "friends": [{"name": "Bo", "age": 3}, {"name": "Cy"}, "Di"],
    "words": "one; two;;three ",
    "nothing": "  ",
    "zero": 0,
    "template": "{first} {{ 7 * 7 }} ${job}",
}


def rule(given: Any) -> Rule:
    return read_rule(Document({"name": given}), ("name",))


@pytest.mark.parametrize(
    ("given", "text", "items"),
    [
        ("first", "Ana", ("Ana",)),
        ("FIRST", "Ana", ("Ana",)),
        ("last_name", "Moře", ("Moře",)),
        ("last name", "Moře", ("Moře",)),
        ("a.b", "dotted", ("dotted",)),
        ("job.title", "baker", ("baker",)),
        ("job.since", "2001", ("2001",)),
        ("job.open", "yes", ("yes",)),
        ("job", "title: baker; since: 2001; open: yes", ("title: baker", "since: 2001", "open: yes")),
        ("likes", "tea, fog", ("tea", "fog")),
        ("likes.2", "fog", ("fog",)),
        ("nothing|missing|first", "Ana", ("Ana",)),
        ("nothing", None, None),
        ("zero", "0", ("0",)),
        ({"field": "zero", "missing": [0, "n/a"]}, None, None),
        ({"field": "words", "split": ";"}, "one, two, three", ("one", "two", "three")),
        ({"field": "likes", "join": " and "}, "tea and fog", ("tea", "fog")),
        ({"text": "{first} {last name}"}, "Ana Moře", ("Ana Moře",)),
        ({"text": "{{{first}}}"}, "{Ana}", ("{Ana}",)),
        ({"text": "{first} {nothing}"}, None, None),
        ({"text": "{first.__class__} {job.__init__}"}, None, None),
        ({"each": "friends", "text": "{name}, {age}"}, "Bo, 3", ("Bo, 3",)),
        ({"each": "friends", "text": "{name}"}, "Bo Cy", ("Bo", "Cy")),
        ({"each": "first", "text": "{name}"}, None, None),
        ({"value": "sailor"}, "sailor", ("sailor",)),
        (["first", "nothing", "job.title"], "Ana baker", ("Ana", "baker")),
        ({"all": ["first", "likes"], "join": " / "}, "Ana / tea, fog", ("Ana", "tea", "fog")),
        ({"first": ["nothing", {"text": "{first}!"}, "job"]}, "Ana!", ("Ana!",)),
        ("template", "{first} {{ 7 * 7 }} ${job}", ("{first} {{ 7 * 7 }} ${job}",)),
        ({"text": "<{template}>"}, "<{first} {{ 7 * 7 }} ${job}>", ("<{first} {{ 7 * 7 }} ${job}>",)),
    ],
)  # fmt: skip
def test_rules(given: Any, text: str | None, items: tuple[str, ...] | None):
    assert rule(given).text(DATA).items == (() if text is None else (text,))
    assert rule(given).items(DATA).items == (items or ())


def test_a_text_does_not_say_the_same_twice():
    data = {"short": "A shrewd man.", "long": "I invest. A shrewd man.", "again": "A shrewd man."}
    taken = rule(["short", "long", "again"]).text(data)
    assert taken.items == ("I invest. A shrewd man.",)
    assert taken.used == {("short",), ("long",), ("again",)}


def test_a_rule_that_gives_nothing_used_nothing():
    assert rule({"text": "{first} {nothing}"}).text(DATA).used == frozenset()
    assert rule({"first": [{"text": "{likes} {nothing}"}, "first"]}).text(DATA).used == {("first",)}
    assert rule({"each": "friends", "text": "{age}"}).items(DATA).used == {("friends", 0, "age")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nam: a\ndescription: b", ("unknown field 'nam'", "m.yaml:1", "'name'")),
        ("name: a\ndescription: b\njob: c", ("unknown field 'job'", "m.yaml:3")),
        ("name: a", ("description is missing",)),
        ("description: a", ("name is missing",)),
        ("name: a\ndescription: 3", ("does not say where", "m.yaml:2", "field description")),
        ("name: ''\ndescription: b", ("m.yaml:1", "field name")),
        ("name: {feild: a}\ndescription: b", ("unknown field 'feild'", "'field'")),
        ("name: {field: a, text: '{b}'}\ndescription: b", ("has field and text",)),
        ("name: {join: a}\ndescription: b", ("has none",)),
        ("name: {each: a}\ndescription: b", ("text is missing", "m.yaml:1")),
        ("name: {text: a}\ndescription: b", ("no field in it", "m.yaml:1")),
        ("name: {text: '{}'}\ndescription: b", ("no field in it",)),
        ("name: {first: a}\ndescription: b", ("first is not a list",)),
        ("name: {first: [a, {}]}\ndescription: b", ("name.first[1]",)),
        ("name: {field: [a]}\ndescription: b", ("field is not text",)),
        ("name: {field: a, split: ''}\ndescription: b", ("split is not text",)),
        ("name: {field: a, missing: []}\ndescription: b", ("missing is not a list",)),
        ("name: a\ndescription: b\ncharacteristics: [age]", ("characteristics are not a mapping", "m.yaml:3")),
        ("name: a\ndescription: b\nrecognise: a", ("recognise is not a list", "m.yaml:3")),
        ("name: a\ndescription: b\nids: [a]", ("ids is not text",)),
        ("- a", ("a list, not a mapping",)),
        ("name: [", ("not well-formed YAML",)),
    ],
)  # fmt: skip
def test_mapping_files_that_are_not_right(write: Write, refused: Refused, text: str, words: tuple[str, ...]):
    path = write("m.yaml", text)
    refused(lambda: load_mapping(path), *words)


def test_mappings_are_found_by_name_and_path(write: Write, refused: Refused):
    path = write("m.yaml", "name: a\ndescription: b")
    assert find_mapping(str(path)).name == "m.yaml"
    assert find_mapping("Generative-Agents").name == "generative_agents"
    refused(lambda: find_mapping("sotopa"), "'sotopa'", "'sotopia'", "--mapping")
    refused(lambda: find_mapping("none.yaml"), "no such file")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


RECORDS = st.dictionaries(st.text(max_size=6), VALUES, max_size=5)


def leaves(value: Any, at: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """Where a record says something."""
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        return {leaf for key, item in inside for leaf in leaves(item, (*at, key))}
    return set() if is_empty(value) else {at}


@pytest.mark.proof
@given(RECORDS, st.randoms(use_true_random=False))
def test_what_is_not_used_is_left_out_and_nothing_else(data: dict[str, Any], random: Any):
    everything = sorted(leaves(data), key=repr)
    used = set(random.sample(everything, random.randint(0, len(everything))))
    left = [at for at, _ in unused(data, used)]
    covered = {leaf for leaf in everything if any(leaf[: len(at)] == at for at in left)}
    assert covered == set(everything) - used
    assert all(value == value_at(data, at) for at, value in unused(data, used))


@pytest.mark.proof
@given(RECORDS, st.text(max_size=10))
def test_any_path_finds_something_or_nothing(data: dict[str, Any], path: str):
    found = find(data, path)
    assert found is None or (found[1] == value_at(data, found[0]) and not is_empty(found[1]))


@given(VALUES)
def test_any_value_is_a_line_of_text(value: Any):
    text = text_of(value)
    assert text == " ".join(text.split())
    assert all(item == " ".join(item.split()) and item for item in items_of(value))
    assert not is_empty(value) or not text


@given(st.text(max_size=30), st.text(max_size=30))
def test_words_of_a_record_are_never_a_template(first: str, last: str):
    taken = Rule("text", words="{a} {b}").text({"a": first, "b": last})
    if taken.items:
        assert taken.items[0] == f"{text_of(first)} {text_of(last)}".strip()


def test_the_mapping_in_the_documentation(root: Path, write: Write):
    text = (root / "docs/personas.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n# survey\.yaml\n(.*?)```", text, re.DOTALL)
    mapping = load_mapping(write("survey.yaml", block))
    record = {
        "participant": "Ana Mora", "About me": "I bake.", "why I came": "For the money.", "years": "99",
        "city": "Porto", "country": "Portugal", "profession": "baker", "character": "shy, exact",
        "goal_1": "Be heard.", "id": "7",
    }  # fmt: skip
    taken = {at[-1]: rule.text(record).items for at, rule in mapping.rules.items()}
    assert taken["description"] == ("I bake. For the money.",)
    assert (taken["age"], taken["occupation"], taken["residence"]) == ((), ("baker",), ("Porto, Portugal",))
    assert mapping.rules[("traits",)].items(record).items == ("shy", "exact")
    for name in ORDER:
        assert f"| `{name}` |" in text


SCRATCH: dict[str, Any] = {
    "vision_r": 8, "att_bandwidth": 8, "retention": 8, "curr_time": "May 2, 2023, 07:10:00", "curr_tile": [4, 9],
    "daily_plan_req": "Olga Brandt opens the ferry kiosk at six.",
    "name": "Olga Brandt", "first_name": "Olga", "last_name": "Brandt", "age": 52,
    "innate": "dry, patient , watchful",
    "learned": "Olga Brandt has sold ferry tickets for thirty years.",
    "currently": "Olga Brandt is saving for a boat of her own.",
    "lifestyle": "Olga Brandt sleeps early.", "living_area": "the Harbour:kiosk:back room",
    "recency_decay": 0.995, "daily_req": ["open the kiosk", "count the till"],
    "f_daily_schedule": [["sleeping", 300], ["selling", 600]], "chat": None, "chatting_with_buffer": {},
}  # fmt: skip


TINY: dict[str, Any] = {
    "type": "TinyPerson",
    "persona": {
        "name": "Pavel Ruiz", "age": 29, "gender": "Male", "nationality": "Chilean", "residence": "Valparaíso, Chile",
        "education": "Vocational school for joinery.",
        "long_term_goals": ["To own a workshop.", "To teach."],
        "occupation": {"title": "Joiner", "organization": "Casa Verde", "description": "You build window frames."},
        "style": "Short sentences.",
        "personality": {
            "traits": ["You are exact.", "You laugh late."], "big_five": {"openness": "High.", "neuroticism": "Low."}
        },
        "preferences": {"interests": ["Wood"], "likes": ["Rain."], "dislikes": ["Glue."]},
        "skills": ["You can plane by eye."], "beliefs": ["Things should last."],
        "behaviors": {"general": ["Hums."], "routines": {"morning": ["Wakes at six.", "Feeds the cat."]}},
        "health": "Good.", "relationships": [{"name": "Rosa", "description": "your sister"}],
        "other_facts": ["You grew up by the sea."],
        "favourite_smell": "resin",
    },
}  # fmt: skip


TINY_OLD: dict[str, Any] = {
    "json_serializable_class_name": "TinyPerson",
    "_configuration": {
        "name": "Mika Lund", "age": 44, "nationality": "Danish", "country_of_residence": "Denmark",
        "occupation": "Beekeeper", "occupation_description": "You keep forty hives.",
        "routines": [{"routine": "You rise with the sun."}],
        "personality_traits": [{"trait": "You are calm."}, {"trait": "You forget names."}],
        "professional_interests": [{"interest": "Mites"}], "personal_interests": [{"interest": "Chess"}],
        "skills": [{"skill": "You can read a swarm."}],
        "relationships": [{"name": "Ida", "description": "your neighbour"}],
        "current_datetime": None, "current_location": "Aarhus", "current_emotions": "content", "current_goals": [],
    },
    "_mental_faculties": [], "name": "Mika Lund",
}  # fmt: skip


SOTOPIA: dict[str, Any] = {
    "pk": "01X", "first_name": "Tess", "last_name": "Abebe", "age": 33, "occupation": "Tram driver", "gender": "Woman",
    "gender_pronoun": "she/her", "public_info": "Tess keeps pigeons.", "big_five": "Openness: high",
    "moral_values": ["care", "fairness"], "schwartz_personal_values": ["security"],
    "personality_and_values": "Tess weighs every word.", "decision_making_style": "analytical",
    "secret": "She once drove past a stop on purpose.", "model_id": "m", "mbti": "INTJ",
}  # fmt: skip


GROUPCHAT: dict[str, Any] = {
    "name": "Nora Fell", "id_name": "C0001", "main_character": "True", "support_character": "",
    "objective": "Win over C0002.", "scratch": "I am stubborn. I run the mill of C0000.",
    "background": "She runs the mill of C0000.",
    "engine": "m", "belief": {"Sell the mill": 60, "Keep it": 40}, "judgement": {}, "relation": {},
    "portrait": "./p.jpg", "small_portrait": "./s.jpg",
}  # fmt: skip


def only(conversion: Conversion) -> Any:
    (one,) = conversion.people
    return one


@pytest.fixture
def saved(write: Write) -> Callable[..., Path]:
    return lambda data, name="a.json": write(name, json.dumps(data, ensure_ascii=False))


def test_every_mapping_is_listed_and_says_what_it_is_for():
    assert {path.stem for path in READY.iterdir()} == set(ORDER) == set(ready())
    assert all(mapping.about for mapping in ready().values())


def test_generative_agents(saved: Callable[..., Path]):
    one = only(run(saved(SCRATCH, "scratch.json")))
    assert one.draft.by == "the mapping generative_agents"
    assert one.persona.name == "Olga Brandt"
    assert one.persona.description == f"{SCRATCH['learned']} {SCRATCH['currently']}"
    assert one.persona.traits == ["dry", "patient", "watchful"]
    assert one.persona.characteristics == {
        "age": "52",
        "lifestyle": "Olga Brandt sleeps early.",
        "residence": "the Harbour:kiosk:back room",
        "daily plan": SCRATCH["daily_plan_req"],
    }
    assert set(one.draft.left_out) == {"daily_req", "f_daily_schedule"}
    assert one.draft.left_out["daily_req"] == "'open the kiosk, count the till'"
    assert {"vision_r", "curr_tile", "first_name"} <= set(one.draft.technical)
    assert one.empty == ["knowledge", "speaking_style", "social_goals"]


def test_tinytroupe(saved: Callable[..., Path]):
    one = only(run(saved(TINY)))
    assert one.draft.by == "the mapping tinytroupe"
    assert one.persona.description == "You build window frames. You grew up by the sea."
    assert one.persona.speaking_style == "Short sentences."
    assert one.persona.traits == ["You are exact.", "You laugh late."]
    known = one.persona.characteristics
    assert known["occupation"] == "Joiner, Casa Verde"
    assert known["personality"] == "openness: High. neuroticism: Low."
    assert known["relationships"] == "Rosa: your sister"
    assert known["routines"] == "morning: Wakes at six. Feeds the cat."
    assert known["long-term goals"] == "To own a workshop. To teach."
    assert one.draft.left_out == {"persona.favourite_smell": "'resin'"}
    assert one.draft.technical == ("type",)


def test_tinytroupe_as_its_save_specification_writes_it(saved: Callable[..., Path]):
    data = {
        "json_serializable_class_name": "TinyPerson",
        "persona": {"name": "Io Wu", "occupation": "Diver"},
        "name": "x",
    }
    one = only(run(saved(data)))
    assert (one.persona.name, one.persona.description) == ("Io Wu", "Diver")


def test_old_tinytroupe(saved: Callable[..., Path]):
    one = only(run(saved(TINY_OLD)))
    assert one.draft.by == "the mapping tinytroupe_old"
    assert one.persona.name == "Mika Lund"
    assert one.persona.traits == ["You are calm.", "You forget names."]
    assert one.persona.characteristics["interests"] == "Chess Mites"
    assert one.draft.left_out == {"_configuration.current_emotions": "'content'"}
    assert "_configuration.current_location" in one.draft.technical


def test_sotopia(saved: Callable[..., Path]):
    one = only(run(saved(SOTOPIA)))
    assert one.draft.by == "the mapping sotopia"
    assert one.persona.name == "Tess Abebe"
    assert one.persona.description == "Tess keeps pigeons. Tess weighs every word."
    assert one.persona.characteristics["secret"] == SOTOPIA["secret"]
    assert one.persona.characteristics["moral values"] == "care, fairness"
    assert one.persona.characteristics["pronouns"] == "she/her"
    assert not one.draft.left_out
    assert set(one.draft.technical) == {"pk", "model_id"}


def test_an_age_that_sotopia_does_not_know_stays_empty(saved: Callable[..., Path]):
    one = only(run(saved({**SOTOPIA, "age": 0})))
    assert "age" not in one.persona.characteristics
    assert one.draft.left_out == {"age": "'0'"}


@pytest.mark.parametrize("kept", ["list", "lines", "dump", "tinydb", "agents"])
def test_sotopia_in_its_containers(write: Write, kept: str):
    other = {**SOTOPIA, "first_name": "Ada"}
    strange = {"pk": "02", "codename": "party", "scenario": "Two friends", "agent_goals": ["a", "b"]}
    texts = {
        "list": json.dumps([SOTOPIA, other]),
        "lines": f"{json.dumps(SOTOPIA)}\n\n{json.dumps(other)}\n",
        "dump": json.dumps({":x.AgentProfile:1": SOTOPIA, ":x.Environment:2": strange, ":x.AgentProfile:3": other}),
        "tinydb": json.dumps({"_default": {"1": SOTOPIA, "2": other}}),
        "agents": json.dumps({"agents": [SOTOPIA, other], "made": "2024"}),
    }  # fmt: skip
    path = write("a.jsonl" if kept == "lines" else "a.json", texts[kept])
    conversion = run(path)
    assert [one.persona.name for one in conversion.people] == ["Tess Abebe", "Ada Abebe"]
    assert conversion.skipped == ({path: 1} if kept == "dump" else {})


def test_agentgroupchat_has_names_for_ids(saved: Callable[..., Path]):
    nora = saved(GROUPCHAT, "one/C0001.json")
    saved_father = saved({**GROUPCHAT, "name": "Old Fell", "id_name": "C0000"}, "one/C0000.json")
    elsewhere = saved({**GROUPCHAT, "name": "Stranger", "id_name": "C0000"}, "two/C0000.json")
    conversion = run(nora, saved_father, elsewhere)
    one = conversion.people[0]
    assert one.draft.by == "the mapping agentgroupchat"
    # "She runs …" and "I run …" differ, so both stay
    assert one.persona.description == "She runs the mill of Old Fell. I am stubborn. I run the mill of Old Fell."
    assert one.persona.social_goals == ["Win over C0002."]
    assert one.draft.notes == (
        "named by id, and not among the files: C0002; convert the whole folder to have the names",
    )
    assert one.draft.left_out == {"belief": "'Sell the mill: 60; Keep it: 40'"}
    assert "engine" in one.draft.technical
    assert "Stranger" in conversion.people[2].persona.description  # ids count in their own folder


def test_names_for_ids_also_where_only_one_is_wanted(saved: Callable[..., Path]):
    files = [saved(GROUPCHAT, "C1.json"), saved({**GROUPCHAT, "name": "Old Fell", "id_name": "C0000"}, "C0.json")]
    one = only(run(*files, pick=["Nora"]))
    assert one.persona.description.startswith("She runs the mill of Old Fell.")


def test_an_id_that_two_people_have_is_nobodys(saved: Callable[..., Path]):
    files = [saved({**GROUPCHAT, "name": name}, f"{name}.json") for name in ("A One", "B Two")]
    data = {**GROUPCHAT, "name": "C Three", "id_name": "C0009", "background": "Knows C0001."}
    one = run(*files, saved(data, "c.json")).people[2]
    assert one.persona.description.startswith("Knows C0001.")


@pytest.mark.parametrize(
    ("data", "description"),
    [
        ({"name": "A B", "bio": "Bakes."}, "Bakes."),
        ({"First Name": "A", "surname": "B", "Job": "baker", "AGE": 30}, "baker, 30 years old"),
        ({"full_name": "A B", "city": "Lima", "description": ""}, "lives in Lima"),
    ],
)  # fmt: skip
def test_usual_names_of_fields(saved: Callable[..., Path], data: dict[str, Any], description: str):
    one = only(run(saved(data)))
    assert one.draft.by == "the mapping plain"
    assert one.persona.name == "A B"
    assert one.persona.description == description


def test_all_characters_of_agentgroupchat(shared: Path):
    folders = sorted((shared / "data/stories").glob("*/initial_version/characters"))
    files = [file for folder in folders for file in sorted(folder.glob("*.json"))]
    assert len(files) == 20
    conversion = run(*files)
    assert len(conversion.people) == len(files)
    for one, file in zip(conversion.people, files, strict=True):
        data = json.loads(file.read_text(encoding="utf-8"))
        assert one.persona.name == data["name"]
        assert len(one.persona.social_goals) == 1
        assert "C000" not in f"{one.persona.description} {one.persona.social_goals}"
        assert set(one.draft.left_out) == {"belief"}
        assert not one.draft.notes
    logan = next(one.persona for one in conversion.people if one.persona.name == "Logan Roy")
    assert "three sons Roman Roy, Connor Roy, Kendall Roy and a daughter Shiv Roy" in logan.description


CZECH = """Jméno;Příjmení;Věk;Pohlaví;Město;Povolání;Vzdělání;Povaha;E-mail
Jan;Janda;44;muž;Tábor;pekař;vyučen;klidný, vtipný;jan@example.org
Věra;Hájková;31;žena;Zlín;učitelka;vysoká škola;;vera@example.org
"""


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


COLUMN_NAMES = st.text(min_size=1, max_size=12)


TARGETS = st.sampled_from(["name", "description", "traits", "age", "social goals", "own", LEFT_OUT])


@given(st.dictionaries(COLUMN_NAMES, st.tuples(TARGETS, st.text(max_size=20)), min_size=1, max_size=6))
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
