"""The ten shipped personas: they load, they differ, and they keep to one form."""

from __future__ import annotations

import re
import unicodedata

from offenders import check_each

from persimchat.personas.catalogue import ORDER, SHIPPED, find_persona, shipped
from persimchat.personas.fragments import SHIPPED_FRAGMENTS
from persimchat.state.document import read_document
from persimchat.state.knowledge import field_levels, knowledge_level
from persimchat.state.persona import Persona

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
        assert set(persona.characteristics) == KEYS
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
