"""Fragments are merged under a persona's own words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from persimchat.personas.files import load_persona

OWN = """\
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


def test_own_values_win_and_lists_are_joined(write: Callable[..., Path]):
    write("village.yaml", VILLAGE)
    persona = load_persona(write("bo.yaml", OWN))
    assert persona.description == "Bo is here."
    assert persona.characteristics == {"Age": "30", "hobbies": "chess", "residence": "Ves, Czech Republic"}
    assert persona.traits == ["calm", "shy", "proud"]
    assert persona.knowledge == {"wood": 4, "cattle": 3}
    assert persona.speaking_style == "Slowly."
    assert persona.social_goals == ["keep the pond"]


def test_fragments_include_fragments_the_nearest_wins(write: Callable[..., Path]):
    write("region/region.yaml", "characteristics: {residence: Vysočina, dialect: Horácko}\ntraits: [tough]\n")
    write("village.yaml", "include: region/region.yaml\ncharacteristics: {residence: Telč}\ntraits: [proud]\n")
    persona = load_persona(write("bo.yaml", OWN))
    assert persona.characteristics["residence"] == "Telč"
    assert persona.characteristics["dialect"] == "Horácko"
    assert persona.traits == ["calm", "shy", "proud", "tough"]


def test_shipped_fragments_by_name_and_twice_is_once(write: Callable[..., Path]):
    once = load_persona(write("a.yaml", "name: A\ndescription: A.\ninclude: coast\n"))
    twice = load_persona(write("b.yaml", "name: A\ndescription: A.\ninclude: [coast, coast]\n"))
    assert once == twice
    assert "tide" in once.characteristics["lifestyle"]
    dashed = load_persona(write("c.yaml", "name: A\ndescription: A.\ninclude: shift-work\n"))
    assert "nights" in dashed.characteristics["lifestyle"]


def test_errors(write: Callable[..., Path], refused: Callable[..., str]):
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
