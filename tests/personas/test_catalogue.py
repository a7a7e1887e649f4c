"""Reading personas: what files and fragments hold and how each mistake is told, the shipped ones, and finding one."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from fixtures import Refused, Write
from offenders import check_each

from persimchat.personas.catalogue import ORDER, SHIPPED, SHIPPED_FRAGMENTS, find_persona, load_persona, shipped
from persimchat.personas.scenario import default_participants
from persimchat.state.document import read_document
from persimchat.state.persona import Persona, field_levels, knowledge_level


def test_everybody_is_found_by_name_slug_and_first_name() -> None:
    def check(slug: str, name: str) -> None:
        for wanted in (name, name.upper(), slug, name.split()[0]):
            assert find_persona(wanted).name == name

    check_each(zip(ORDER, (p.name for p in shipped()), strict=True), check)


def test_by_path_relative_to_base(write: Write):
    path = write("people/bo.yaml", "name: Bo\ndescription: Bo is here.\n")
    assert find_persona("people/bo.yaml", path.parents[1]).name == "Bo"
    assert find_persona("bo.yaml", path.parent).name == "Bo"
    assert find_persona(str(path)).name == "Bo"


def test_nobody_of_this_name(tmp_path: Path, refused: Refused):
    refused(lambda: find_persona("Zeyneb"), "no shipped persona 'Zeyneb'", "Did you mean 'Zeynep Aydoğan'?")
    refused(lambda: find_persona("Xqwv"), "Choose one of", "陳志明", "Jarmila Dvořáčková")
    refused(lambda: find_persona("", where="--participants"), "--participants")
    refused(lambda: find_persona("nobody.yaml", tmp_path), "there is no such file", str(tmp_path / "nobody.yaml"))
    refused(
        lambda: find_persona("no.yaml", tmp_path, where="s.yaml:3"), "no persona file", "s.yaml:3", "Check the path"
    )
    for path in ("a" * 300 + ".yaml", "a\0.yaml"):
        refused(lambda path=path: find_persona(path, tmp_path, where="s.yaml:3"), "no persona file", "s.yaml:3")


def test_ambiguity_lists_everybody(monkeypatch: pytest.MonkeyPatch, refused: Refused):
    jarmila = find_persona("Jarmila")
    twins = {"a": jarmila, "b": jarmila.model_copy(update={"name": "Jarmila Malá"})}
    monkeypatch.setattr("persimchat.personas.catalogue._shipped", lambda: twins)
    refused(lambda: find_persona("jarmila"), "may be Jarmila Dvořáčková or Jarmila Malá", "Write the full name")
    assert find_persona("mala").name == "Jarmila Malá"


def test_default_participants(refused: Refused):
    assert default_participants() == default_participants(4) == shipped()[:4]
    assert len(default_participants(10)) == 10
    refused(lambda: default_participants(11), "11 participants", "10 personas", "Ask for 2 to 10")
    refused(lambda: default_participants(0), "0 participants")


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


def test_yaml_values_stay_as_written(write: Write):
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


def test_json(write: Write):
    data = {"name": "Éva 😀", "description": "tab\tand / slash", "knowledge": {"overall": 3}}
    for text in (json.dumps(data), json.dumps(data, ensure_ascii=False, indent="\t")):
        persona = load_persona(write("eva.json", text))
        assert (persona.name, persona.description) == ("Éva 😀", "tab\tand / slash")


def test_bom_and_windows_line_ends(write: Write):
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
def test_yaml_mistakes(write: Write, refused: Refused, text: str | bytes, words: list[str]):
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
def test_json_mistakes(write: Write, refused: Refused, text: str, words: list[str]):
    path = write("bo.json", text)
    refused(lambda: load_persona(path), str(path), *words)


def test_several_mistakes_are_counted(write: Write, refused: Refused):
    path = write("bo.yaml", "name: Bo\ntraits: calm\nknowledge: 9\n")
    refused(lambda: load_persona(path), "description is missing", "and 2 more fields are wrong")


def test_files_that_cannot_be_read(write: Write, tmp_path: Path, refused: Refused):
    refused(lambda: load_persona(tmp_path / "no.yaml"), str(tmp_path / "no.yaml"), "there is no such file", "Check the")
    refused(lambda: load_persona(tmp_path), str(tmp_path), "this is not a file")
    refused(lambda: load_persona("/dev/null"), "/dev/null", "this is not a file")
    refused(lambda: load_persona("a\0b.yaml"), "b.yaml", "Check")
    large = write("large.yaml", b"# " + b"x" * 1_000_000)
    refused(lambda: load_persona(large), str(large), "too large", "1,000,000 bytes")


def test_alias_bomb_is_harmless(write: Write, refused: Refused):
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
def test_deep_nesting_is_harmless(write: Write, refused: Refused):
    path = write("deep.yaml", "name: " + "[" * 20_000)
    refused(lambda: load_persona(path), str(path))
    path = write("flow.yaml", HEAD + "traits: " + "[" * 60 + "]" * 60)
    refused(lambda: load_persona(path), "nested too deeply")


OWN_FIELDS = """\
name: Bo
description: Bo is here.
include: [village.yaml]
characteristics: {Age: 30, hobbies: [chess]}
traits: [calm, shy]
knowledge: {wood: 4}
"""


VILLAGE = """\
description: Somebody from the village.
characteristics: {age: 99, hobbies: bowls, residence: "Ves, Czech Republic"}
traits: [shy, proud]
knowledge: {wood: 1, cattle: 3}
speaking_style: Slowly.
social_goals: [keep the pond]
"""


def test_own_values_win_and_lists_are_joined(write: Write):
    write("village.yaml", VILLAGE)
    persona = load_persona(write("bo.yaml", OWN_FIELDS))
    assert persona.description == "Bo is here."
    assert persona.characteristics == {"Age": "30", "hobbies": "chess", "residence": "Ves, Czech Republic"}
    assert persona.traits == ["calm", "shy", "proud"]
    assert persona.knowledge == {"wood": 4, "cattle": 3}
    assert persona.speaking_style == "Slowly."
    assert persona.social_goals == ["keep the pond"]


def test_fragments_include_fragments_the_nearest_wins(write: Write):
    write("region/region.yaml", "characteristics: {residence: Vysočina, dialect: Horácko}\ntraits: [tough]\n")
    write("village.yaml", "include: region/region.yaml\ncharacteristics: {residence: Telč}\ntraits: [proud]\n")
    persona = load_persona(write("bo.yaml", OWN_FIELDS))
    assert persona.characteristics["residence"] == "Telč"
    assert persona.characteristics["dialect"] == "Horácko"
    assert persona.traits == ["calm", "shy", "proud", "tough"]


def test_shipped_fragments_by_name_and_twice_is_once(write: Write):
    once = load_persona(write("a.yaml", "name: A\ndescription: A.\ninclude: coast\n"))
    twice = load_persona(write("b.yaml", "name: A\ndescription: A.\ninclude: [coast, coast]\n"))
    assert once == twice
    assert "tide" in once.characteristics["lifestyle"]
    dashed = load_persona(write("c.yaml", "name: A\ndescription: A.\ninclude: shift-work\n"))
    assert "nights" in dashed.characteristics["lifestyle"]


def test_fragments_that_are_not_right(write: Write, refused: Refused):
    head = "name: A\ndescription: A.\n"
    missing = write("m.yaml", head + "include: [cost]\n")
    refused(lambda: load_persona(missing), f"{missing}:3, field include", "no fragment 'cost'", "Did you mean 'coast'?")
    number = write("n.yaml", head + "include: 7\n")
    refused(lambda: load_persona(number), f"{number}:3, field include", "not a list of names", "include: [name")
    for first, second in (("x", "y"), ("y", "x")):
        write(f"{first}.yaml", f"traits: [a]\ninclude: [{second}.yaml]\n")
    circle = write("c.yaml", head + "include: [x.yaml]\n")
    refused(lambda: load_persona(circle), "y.yaml:2", "in a circle", "x.yaml → y.yaml → x.yaml", "Break it")
    write("self.yaml", "include: self.yaml\n")
    itself = write("s.yaml", head + "include: self.yaml\n")
    refused(lambda: load_persona(itself), "circle: self.yaml → self.yaml")
    bad = write("bad.yaml", "traits: [a]\ntrait: [b]\n")
    user = write("u.yaml", head + "include: bad.yaml\n")
    refused(lambda: load_persona(user), f"{bad}:2, field trait", "unknown field 'trait'", "Did you mean 'traits'?")
    write("named.yaml", "name: B\n")
    named = write("v.yaml", head + "include: named.yaml\n")
    refused(lambda: load_persona(named), "named.yaml:1", "unknown field 'name'")


KEYS = {
    "age",
    "gender",
    "residence",
    "occupation",
    "education",
    "family",
    "hobbies",
    "lifestyle",
    "financial status",
}


PERSONAS = shipped()


def test_every_file_is_in_the_catalogue_and_the_order_is_fixed():
    assert sorted(ORDER) == sorted(p.stem for p in SHIPPED.iterdir())
    assert len(ORDER) == 10
    assert [find_persona(slug) for slug in ORDER] == PERSONAS
    assert shipped() is not shipped(), "a caller may change its list"
    assert shipped()[0] is PERSONAS[0], "files are read once"


def test_slugs_are_ascii_words() -> None:
    def check(slug: str) -> None:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", slug)

    check_each(ORDER, check)


def test_form() -> None:
    def check(persona: Persona) -> None:
        assert set(persona.characteristics) == KEYS and not persona.human
        assert persona.age is not None
        assert 60 <= len(persona.description.split()) <= 100
        assert 5 <= len(persona.traits) <= 7
        assert len(set(persona.traits)) == len(persona.traits)
        town, country = persona.characteristics["residence"].split(", ")
        assert town and country
        for key in ("occupation", "hobbies", "family"):
            value = persona.characteristics[key]
            assert value[0].islower() and not value.endswith("."), "these are used inside sentences"
        assert not re.match(r"(a|an|the)\s", persona.characteristics["occupation"])
        assert len(persona.characteristics["hobbies"].split(", ")) == 3
        assert persona.characteristic("AGE") == persona.characteristics["age"]

    check_each(PERSONAS, check)


def test_they_differ():
    ages = [p.age or 0 for p in PERSONAS]
    assert any(8 <= age <= 10 for age in ages)
    assert any(13 <= age <= 19 for age in ages)
    assert any(age > 75 for age in ages)
    assert len({p.characteristics["residence"].split(", ")[1] for p in PERSONAS}) >= 7
    assert len({p.characteristics["gender"] for p in PERSONAS}) >= 3
    for key in ("age", "occupation", "education", "residence"):
        assert len({p.characteristics[key] for p in PERSONAS}) == 10, key
    for first in PERSONAS:
        for second in PERSONAS:
            if first is not second:
                assert len(set(first.traits) & set(second.traits)) <= 2, "alike by a fragment at most"
    assert len({p.speaking_style for p in PERSONAS}) == 10


def test_knowledge_and_goals_are_stated_for_some():
    assert 1 <= len([p for p in PERSONAS if p.social_goals]) <= 2
    assert {knowledge_level(p) for p in PERSONAS} >= {2, 3, 4}
    assert any(field_levels(p) for p in PERSONAS)
    assert any(p.knowledge is None for p in PERSONAS)


def test_names_have_many_scripts_and_marks():
    names = " ".join(p.name for p in PERSONAS)
    assert any("CJK" in unicodedata.name(c, "") for c in names)
    assert len([p for p in PERSONAS if not p.name.isascii()]) >= 8


def test_fragments_are_used():
    included = [str(read_document(SHIPPED / f"{slug}.yaml").data.get("include", "")) for slug in ORDER]
    assert len([name for name in included if name]) >= 2
    assert {name for name in included if name} == {p.stem for p in SHIPPED_FRAGMENTS.iterdir()}
