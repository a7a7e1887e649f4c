"""Scenarios from files and from code: what is resolved, how each mistake is told, and what the examples show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused, Write
from offenders import check_each

from persimchat.personas.catalogue import find_persona, shipped
from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona, Relationship, knowledge_level

GOOD = """\
topic: " Tea or coffee? "
participants:
  - Inés
  - people/bo.yaml
  - {persona: łukasz, model: offline, social_goals: [win]}
  - name: Eva Horáková
    description: Eva is here.
    social_goals: [drink tea]
relationships:
  - {from: eva, to: ines, type: Parent–child, note: by adoption of heart}
  - {from: Bo, to: Lukasz, type: close friend}
social_goals:
  Eva: [leave early]
rules: [no shouting]
settings:
  max_messages: 7
  agent_models: {eva: "openai:x"}
"""


def test_a_file_with_everything(write: Write):
    write("people/bo.yaml", "name: Bo\ndescription: Bo is here.\n")
    scenario = load_scenario(write("s.yaml", GOOD))
    assert scenario.topic == "Tea or coffee?"
    assert [p.name for p in scenario.participants] == ["Inés Quiroga", "Bo", "Łukasz Żórawski", "Eva Horáková"]
    assert scenario.participants[0] == find_persona("Inés")
    assert scenario.participants[2].social_goals == ["win"]
    assert [(r.from_, r.to, r.type) for r in scenario.relationships] == [
        ("Eva Horáková", "Inés Quiroga", "parent_child"),
        ("Bo", "Łukasz Żórawski", "close_friend"),
    ]
    assert scenario.goals_of(scenario.participants[3]) == ["drink tea", "leave early"]
    assert scenario.rules == ["no shouting"]
    assert scenario.settings == {
        "max_messages": 7,
        "agent_models": {"Eva Horáková": "openai:x", "Łukasz Żórawski": "offline"},
    }


def test_from_code_and_back():
    bo = Persona(name="Bo", description="Bo is here.")
    tie = Relationship.model_validate({"from": "Inés Quiroga", "to": "Bo", "type": "friend"})
    scenario = make_scenario(
        "Tea?", ("ines", bo, {"name": "Al", "description": "x"}), relationships=[tie], social_goals={"bo": ["win"]}
    )
    assert scenario.participants[1] is bo
    assert scenario.relationships == [tie]
    assert scenario.social_goals == {"Bo": ["win"]}
    assert scenario.settings == {}
    dumped = scenario.model_dump(by_alias=True)
    assert make_scenario(**dumped) == scenario, "a dumped scenario is one"


def test_paths_count_from_base(write: Write, tmp_path: Path):
    write("bo.yaml", "name: Bo\ndescription: Bo is here.\n")
    write("sea.yaml", "traits: [salty]\n")
    inline = {"name": "Al", "description": "x", "include": ["sea.yaml"]}
    scenario = make_scenario("Tea?", ["bo.yaml", inline], base=tmp_path)
    assert [p.name for p in scenario.participants] == ["Bo", "Al"]
    assert scenario.participants[1].traits == ["salty"]


TWO = "topic: Tea?\nparticipants: [Inés, Hà]\n"
ONE = "topic: Tea?\nparticipants:\n  - Inés\n"
TIES = TWO + "relationships:\n  - "
SET = TWO + "settings:\n  "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("topic: ''\nparticipants: [Inés, Hà]\n", [":1, field topic)", "topic is empty", "Say what"]),
        ("topic:\nparticipants: [Inés, Hà]\n", [":1, field topic)", "topic is empty"]),
        ("participants: [Inés, Hà]\n", [":1, field topic)", "topic is missing", "Say what"]),
        ("topic: [a]\nparticipants: [Inés, Hà]\n", [":1, field topic)", "valid string, not ['a']", "Give text"]),
        ("topic: Tea?\n", ["field participants)", "participants are missing", "List at least two"]),
        ("topic: Tea?\nparticipants: Inés\n", [":2, field participants)", "are not a list", "List at least two"]),
        ("topic: Tea?\nparticipants: [Inés]\n", [":2, field participants)", "two participants, not 1", "at least two"]),
        (ONE + "  - ines-quiroga\n", [":4", "participants[1]", "two participants are"]),
        (ONE + "  - Jarmil\n", [":4", "'Jarmil'", "mean 'Jarmila Dvořáčková'?"]),
        (ONE + "  - bo.yaml\n", [":4", "no persona file", "bo.yaml", "Check the path"]),
        (ONE + "  - 7\n", [":4", "not int", "Write a name"]),
        (
            ONE + "  - name: Bo\n    trait: [x]\n",
            [":5, field participants[1].trait)", "unknown field 'trait'", "Did you mean 'traits'?"],
        ),
        (ONE + "  - name: Bo\n", [":4, field participants[1].description)", "description is missing", "Give text"]),
        (ONE + "  - persona: Hà\n    modle: x\n", [":5, field participants[1].modle)", "Did you mean 'model'?"]),
        (
            ONE + "  - persona: Hà\n    model: 3\n",
            [":5, field participants[1].model)", "model is not text", "Write a name"],
        ),
        (
            ONE + "  - persona: Hà\n    social_goals: win\n",
            [":5, field participants[1].social_goals)", "valid list, not 'win'", "Give a list"],
        ),
        (TWO + "participant: [Bo]\n", [":3, field participant)", "Did you mean 'participants'?"]),
        (TWO + "rules: be nice\n", [":3, field rules)", "valid list, not 'be nice'", "Give a list"]),
        (TWO + "relationships: friends\n", [":3, field relationships)", "not a list", "Write a list"]),
        (TWO + "relationships: [friends]\n", [":3, field relationships[0])", "is a mapping", "from: …"]),
        (
            TIES + "{from: Inés, to: Bo, type: friend}\n",
            [":4, field relationships[0].to)", "no participant 'Bo'", "Choose one of: Inés Quiroga, Hà Nguyễn"],
        ),
        (
            TIES + "{from: Inés, to: Hà, type: frend}\n",
            [":4, field relationships[0].type)", "unknown relationship type 'frend'", "Did you mean 'friend'?"],
        ),
        (TIES + "{from: Inés, to: Hà}\n", [":4, field relationships[0].type)", "type is missing", "Give text"]),
        (
            TIES + "{from: Inés, to: Hà, type: friend, nte: x}\n",
            [":4, field relationships[0].nte)", "unknown field 'nte'", "Did you mean 'note'?"],
        ),
        (
            TIES + "{from: Inés, to: Inés, type: friend}\n",
            [":4, field relationships[0])", "with themselves", "Name two"],
        ),
        (
            TIES + "{from: Inés, to: Hà, type: ally}\n  - {from: Hà, to: Inés, type: rival}\n",
            [":5, field relationships[1])", "a second relationship between", "Keep one"],
        ),
        (TWO + "social_goals: [win]\n", [":3, field social_goals)", "not a mapping", "Inés Quiroga, Hà Nguyễn"]),
        (TWO + "social_goals:\n  Bo: [win]\n", [":4, field social_goals.Bo)", "no participant 'Bo'", "Choose one of"]),
        (TWO + "social_goals:\n  Hà: win\n", [":4, field social_goals.Hà", "valid list, not 'win'", "Give a list"]),
        (TWO + "social_goals:\n  Hà: [a]\n  hà: [b]\n", [":5, field social_goals.hà)", "named twice", "one name"]),
        (TWO + "settings: fast\n", [":3, field settings)", "not a mapping", "name: value"]),
        (SET + "max_messages: 0\n", [":4, field settings.max_messages)", "max_messages", "not 0", "from 1 to 100000"]),
        (SET + "weights:\n    recensy: 1\n", [":5, field settings.weights.recensy)", "Did you mean 'recency'?"]),
        (SET + "mode: debates\n", [":4, field settings.mode)", "not 'debates'", "discussion"]),
        (
            SET + "agent_models: {Bo: x}\n",
            [":4, field settings.agent_models.Bo)", "no participant 'Bo'", "Choose one of"],
        ),
        (TWO + "  - x\n", [":3:3", "not well-formed YAML", "Check indentation"]),
    ],
)
def test_mistakes_in_a_file(write: Write, refused: Refused, text: str, words: list[str]):
    path = write("s.yaml", text)
    refused(lambda: load_scenario(path), str(path), *words)


def test_mistakes_of_a_persona_file_name_that_file(write: Write, refused: Refused):
    bo = write("bo.yaml", "name: Bo\ndescription: x\nknowledge: 9\n")
    path = write("s.yaml", "topic: Tea?\nparticipants: [Inés, bo.yaml]\n")
    refused(lambda: load_scenario(path), f"{bo}:3, field knowledge)", "not 9", "from 0 to 5")


def test_ambiguous_first_name(write: Write, refused: Refused):
    people = "topic: x\nparticipants:\n  - {name: Eva Malá, description: a}\n  - {name: Eva Nová, description: a}\n"
    path = write("s.yaml", people + "social_goals: {Eva: [win]}\n")
    refused(lambda: load_scenario(path), f"{path}:5", "'Eva' may be Eva Malá or Eva Nová", "Write the full name")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"topic": "", "participants": ["Inés", "Hà"]}, ["topic is empty (field topic)", "Say what"]),
        ({"topic": "x", "participants": "Inés"}, ["participants are not a list", "List at least two"]),
        ({"topic": "x", "participants": []}, ["two participants, not 0"]),
        ({"topic": "x", "participants": ["Inés", None]}, ["field participants[1]", "not NoneType"]),
        ({"topic": "x" * 8001, "participants": ["Inés", "Hà"]}, ["field topic", "8000"]),
        ({"topic": "x", "participants": ["Inés", "Hà"], "rules": [""]}, ["field rules[0]", "at least 1 character"]),
    ],
)
def test_mistakes_in_code(refused: Refused, arguments: dict[str, Any], words: list[str]):
    refused(lambda: make_scenario(**arguments), *words)


def test_what_one_feels_the_other_may_feel_too(write):
    ties = "relationships:\n  - {from: Inés, to: Hà, type: admirer}\n  - {from: Hà, to: Inés, type: admirer}\n"
    found = load_scenario(write("both.yaml", TWO + ties)).relationships
    assert [(one.from_, one.to) for one in found] == [("Inés Quiroga", "Hà Nguyễn"), ("Hà Nguyễn", "Inés Quiroga")]
    with pytest.raises(InputError, match="a second relationship"):
        load_scenario(write("twice.yaml", TWO + ties.replace("from: Hà, to: Inés", "from: Inés, to: Hà")))


EXAMPLES = [
    path
    for path in sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
    if path.stem != "quotas"  # for `persimchat personas generate`; see test_quotas.py
]


def test_example() -> None:
    def check(path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# ") and len(lines[0]) > 20
        scenario = load_scenario(path)
        assert len(scenario.participants) >= 3
        settings = load_settings(scenario=scenario.settings, environment={})
        if scenario.guide is None:  # which gives the limit
            assert settings.max_messages == scenario.settings["max_messages"]
        assert all("," not in goal or " " in goal for p in scenario.participants for goal in p.social_goals)

    check_each(EXAMPLES, check)


def test_what_the_examples_show():
    by_name = {path.stem: load_scenario(path) for path in EXAMPLES}
    assert set(by_name) >= {"ice_cream", "adversarial", "family", "focus_group", "tavern", "debate"}
    ice = by_name["ice_cream"]
    assert [p.name for p in ice.participants] == ["Alena Nováková", "David Procházka", "Eva Horáková", "Lukáš Jelínek"]
    assert knowledge_level(ice.participants[3]) == 2
    family = by_name["family"]
    ties = [tie.seen_by("Nela Vrbová") for tie in family.relationships]
    (nela,) = [tie for tie in ties if tie and tie["to"] == "Květa Vrbová"]
    assert (nela["type"], nela["side"]) == ("grandparent_grandchild", "to")
    assert {r.type for r in by_name["adversarial"].relationships} >= {"rival", "annoyed"}
    used = {p.name for scenario in by_name.values() for p in scenario.participants} & {p.name for p in shipped()}
    assert len(used) >= 6
    guide = by_name["focus_group"].guide
    assert guide is not None
    assert guide.moderator == "Mira Solheim"
    assert guide.shown_with == 2
