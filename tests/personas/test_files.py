"""Persona files: what is read, and how each mistake is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from persimchat.personas.files import load_persona

GOOD = """\
name: "  Eva   Horáková "
description: >-
  Eva is here.
characteristics:
  age: 30
  smoker: no
  vegan: true
  born: 1995-05-05
  house: 007
  hobbies: [chess, 3, tea]
traits: [calm]
knowledge: 3
"""


def test_yaml_values_stay_as_written(write: Callable[..., Path]):
    persona = load_persona(write("eva.yaml", GOOD))
    assert persona.name == "Eva Horáková"
    assert persona.characteristics == {
        "age": "30",
        "smoker": "no",
        "vegan": "yes",
        "born": "1995-05-05",
        "house": "007",
        "hobbies": "chess, 3, tea",
    }
    assert persona.age == 30


def test_json(write: Callable[..., Path]):
    data = {"name": "Éva 😀", "description": "tab\tand / slash", "knowledge": {"overall": 3}}
    for text in (json.dumps(data), json.dumps(data, ensure_ascii=False, indent="\t")):
        persona = load_persona(write("eva.json", text))
        assert (persona.name, persona.description) == ("Éva 😀", "tab\tand / slash")


def test_bom_and_windows_line_ends(write: Callable[..., Path]):
    text = b"\xef\xbb\xbf" + b"name: Bo\r\ndescription: Bo is here.\r\n"
    assert load_persona(write("bo.yaml", text)).description == "Bo is here."


HEAD = "name: Bo\ndescription: Bo is here.\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["the file is empty", "Write"]),
        ("# only a comment\n", ["holds nothing", "Write"]),
        ("- a\n- b\n", [":1", "holds a list, not a mapping", "field: value"]),
        ("Bo", [":1", "holds a single value"]),
        (HEAD + "trait: [x]\n", [":3, field trait)", "unknown field 'trait'", "Did you mean 'traits'?"]),
        (HEAD + "knowlege: 3\n", [":3, field knowlege)", "Did you mean 'knowledge'?"]),
        (HEAD + "1: 3\n", [":3, field 1)", "unknown field '1'", "Choose one of: name"]),
        ("nmae: Bo\ndescription: x\n", [":1, field nmae)", "Did you mean 'name'?"]),
        ("description: x\n", [":1, field name)", "name is missing", "name and surname"]),
        ("name: Bo\n", [":1, field description)", "description is missing", "one paragraph"]),
        (
            "name: ''\ndescription: x\n",
            [":1, field name)", "at least 1 character, not ''", "Give text"],
        ),
        ('name: "\\u200b"\ndescription: x\n', [":1, field name)", "no visible character"]),
        (HEAD + "knowledge: 6\n", [":3, field knowledge)", "less than or equal to 5, not 6", "from 0 to 5"]),
        (HEAD + "knowledge:\n  cooking: -1\n", [":4, field knowledge.cooking)", "not -1", "from 0 to 5"]),
        (HEAD + "traits:\n  - ok\n  - {a: b}\n", [":5, field traits[1])", "valid string", "Give text"]),
        (HEAD + "traits: calm\n", [":3, field traits)", "valid list, not 'calm'", "Give a list"]),
        (HEAD + "characteristics:\n  age:\n", [":4, field characteristics.age)", "not None", "Give text"]),
        (HEAD + "characteristics:\n  a: {b: c}\n", [":4, field characteristics.a)", "valid string"]),
        (HEAD + "characteristics: [a]\n", [":3, field characteristics)", "valid dictionary", "a mapping of names"]),
        (HEAD + "name: Ben\n", [":3, field name)", "'name' is given twice", "Keep one"]),
        (HEAD + "knowledge: {a: 1, a: 2}\n", [":3, field knowledge.a)", "'a' is given twice"]),
        (HEAD + "? [a, b]\n: c\n", [":3", "a key is itself a list", "plain word"]),
        (HEAD + "traits: [a, b\n", [":4:1", "not well-formed YAML", "Check indentation"]),
        ("name: Bo\n\tdescription: x\n", [":2:1", "not well-formed YAML", "Check indentation"]),
        ("name: Bo\n---\nname: Ben\n", [":2:1", "expected a single document"]),
        (HEAD + "traits: [*nobody]\n", [":3:10", "undefined alias", "not well-formed"]),
        (HEAD + "traits: !!python/object/apply:os.getcwd []\n", [":3:9", "python/object", "not well-formed"]),
        (HEAD + "traits: &a [*a]\n", ["nested too deeply or holds too many values"]),
        ("name: B\x01o\n", [":1", "control character", "Remove it"]),
        ('name: "\\ud800"\n', [":1", "half of a Unicode character"]),
        (b"name: Bo\ndescription: \xff\xfe\n", [":2", "not UTF-8", "Save it as UTF-8"]),
    ],
)
def test_yaml_mistakes(write: Callable[..., Path], refused: Callable[..., str], text: str | bytes, words: list[str]):
    path = write("bo.yaml", text)
    refused(lambda: load_persona(path), str(path), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": "Bo",}', [":1:15", "not JSON", "Correct it"]),
        ('{"name": "Bo"\n "description": 1}', [":2:2", "not JSON", "delimiter"]),
        ("name: Bo", [":1:1", "not JSON"]),
        ('{"name": "Bo",\n "name": "Ben"}', [":2, field name)", "'name' is given twice"]),
        ('{"name": "Bo", "description": "x",\n\t"knowledge": 9}', [":2, field knowledge)", "not 9", "from 0 to 5"]),
        ('{"name": NaN}', ["NaN is not a number in JSON", "finite"]),
        ("[" * 3000 + "]" * 3000, ["nested too deeply"]),
        ("[1]", [":1", "holds a list"]),
        ("null", ["holds nothing"]),
    ],
)
def test_json_mistakes(write: Callable[..., Path], refused: Callable[..., str], text: str, words: list[str]):
    path = write("bo.json", text)
    refused(lambda: load_persona(path), str(path), *words)


def test_several_mistakes_are_counted(write: Callable[..., Path], refused: Callable[..., str]):
    path = write("bo.yaml", "name: Bo\ntraits: calm\nknowledge: 9\n")
    refused(lambda: load_persona(path), "description is missing", "and 2 more fields are wrong")


def test_files_that_cannot_be_read(write: Callable[..., Path], tmp_path: Path, refused: Callable[..., str]):
    refused(lambda: load_persona(tmp_path / "no.yaml"), str(tmp_path / "no.yaml"), "there is no such file", "Check the")
    refused(lambda: load_persona(tmp_path), str(tmp_path), "this is not a file")
    refused(lambda: load_persona("/dev/null"), "/dev/null", "this is not a file")
    refused(lambda: load_persona("a\0b.yaml"), "b.yaml", "Check")
    large = write("large.yaml", b"# " + b"x" * 1_000_000)
    refused(lambda: load_persona(large), str(large), "too large", "1,000,000 bytes")


def test_alias_bomb_is_harmless(write: Callable[..., Path], refused: Callable[..., str]):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    path = write("bomb.yaml", "\n".join(lines))
    refused(lambda: load_persona(path), str(path), "too many values", "an alias counts")
    merges = ["a0: &a0 {x: 1, y: 2}"]
    merges += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 12)]
    path = write("merges.yaml", "\n".join(merges))
    refused(lambda: load_persona(path), str(path), "too many values")
    path = write("itself.yaml", "a: &a {<<: *a}")
    refused(lambda: load_persona(path), str(path), "nested too deeply")


@pytest.mark.proof
def test_deep_nesting_is_harmless(write: Callable[..., Path], refused: Callable[..., str]):
    path = write("deep.yaml", "name: " + "[" * 20_000)
    refused(lambda: load_persona(path), str(path))
    path = write("flow.yaml", HEAD + "traits: " + "[" * 60 + "]" * 60)
    refused(lambda: load_persona(path), "nested too deeply")
