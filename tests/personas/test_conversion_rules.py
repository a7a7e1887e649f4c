"""The mapping language: what each rule takes, what it leaves, and errors in mapping files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.conversion.mapping import ORDER, find_mapping, load_mapping, read_rule
from persimchat.personas.conversion.mapping_paths import find, is_empty, items_of, text_of, unused, value_at
from persimchat.personas.conversion.mapping_rules import Rule
from persimchat.state.document import Document

Write = Callable[..., Path]
Refused = Callable[..., str]

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
