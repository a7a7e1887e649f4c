"""People among the participants: from --human, from a file, from code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.catalogue import find_persona, shipped
from persimchat.personas.conversion.mapping import load_mapping
from persimchat.personas.files import load_persona
from persimchat.personas.generation.generated_files import persona_text
from persimchat.personas.people import with_people
from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario

SCENARIO = make_scenario(
    "Tea?",
    ["Inés", "Łukasz", {"name": "Eva Malá", "description": "x"}, {"name": "Eva Nová", "description": "y"}],
    relationships=[{"from": "Inés", "to": "Łukasz", "type": "friend"}],
    social_goals={"Inés": ["win"]},
    settings={"max_messages": 5, "agent_models": {"Inés": "openai:x", "Łukasz": "openai:y"}},
)


def people(scenario: Scenario) -> list[str]:
    return [persona.name for persona in scenario.participants if persona.human]


@pytest.mark.parametrize("name", ["Inés Quiroga", "ines", "QUIROGA", " inés\tquiroga "])
def test_a_person_takes_a_part_over(name: str):
    changed = with_people(SCENARIO, [name])
    assert people(changed) == ["Inés Quiroga"]
    assert changed.participants[0] == find_persona("Inés").model_copy(update={"human": True}), "with the persona"
    assert changed.relationships == SCENARIO.relationships
    assert changed.social_goals == SCENARIO.social_goals
    assert changed.settings == {"max_messages": 5, "agent_models": {"Łukasz Żórawski": "openai:y"}}
    assert people(SCENARIO) == [], "the scenario given is as it was"


def test_a_person_joins():
    changed = with_people(SCENARIO, ["Petr", "李雷"])
    assert [p.name for p in changed.participants[-2:]] == people(changed) == ["Petr", "李雷"]
    assert changed.participants[:-2] == SCENARIO.participants
    assert changed.settings == SCENARIO.settings
    assert with_people(SCENARIO, []) is SCENARIO


def test_nobody_is_left_to_a_model_no_more():
    changed = with_people(SCENARIO, ["Inés", "Łukasz"])
    assert changed.settings == {"max_messages": 5}


def test_who_is_a_person_already_may_be_named():
    once = with_people(SCENARIO, ["Petr"])
    assert with_people(once, ["petr"]) == once


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["Eva"], ["'Eva' may be Eva Malá or Eva Nová", "option --human", "full name"]),
        (["Inés", "quiroga"], ["'Inés Quiroga' is named twice", "once"]),
        (["Petr", "PÉTR"], ["is named twice"]),
        (["Inés", "Łukasz", "Eva Malá", "Eva Nová"], ["all participants are people", "Leave at least one"]),
        (["Inés", "Łukasz", "Eva Malá", "Eva Nová", "Petr"], ["all participants are people"]),
        ([""], ["name", "option --human"]),
        (["\u202e \x1b[2J"], ["name", "option --human"]),
        (["\u0301"], ["name has no visible character"]),
        (["x" * 301], ["name", "300"]),
        ([f"P{i}" for i in range(97)], ["100"]),
    ],
)
def test_mistakes(refused: Callable[..., str], names: list[str], words: list[str]):
    refused(lambda: with_people(SCENARIO, names), *words)


@given(st.lists(st.text(max_size=12) | st.sampled_from(["Inés", "Eva Malá", "Nová", "Petr"]), max_size=4))
def test_whatever_the_names(names: list[str]):
    try:
        changed = with_people(SCENARIO, names)
    except InputError as error:
        assert str(error).isprintable()
        return
    assert len(people(changed)) == len(names)
    assert changed.participants[:4] == [
        p.model_copy(update={"human": p.name in people(changed)}) for p in SCENARIO.participants
    ]


def test_in_a_file(write: Callable[..., Path]):
    write("people/bo.yaml", "name: Bo\ndescription: Bo is here.\nhuman: true\n")
    text = (
        "topic: Tea?\nparticipants:\n  - Inés\n  - people/bo.yaml\n  - {name: Petr, human: true}\n"
        "  - {persona: Hà, human: yes, social_goals: [win]}\n  - {persona: Łukasz, human: false, model: offline}\n"
        "relationships:\n  - {from: Petr, to: Inés, type: parent_child}\n"
    )
    scenario = load_scenario(write("s.yaml", text))
    assert people(scenario) == ["Bo", "Petr", "Hà Nguyễn"]
    assert scenario.participants[3].description == find_persona("Hà").description
    assert scenario.participants[3].social_goals == ["win"]
    assert scenario.settings == {"agent_models": {"Łukasz Żórawski": "offline"}}


def test_in_code():
    scenario = make_scenario("Tea?", [{"name": "Petr", "human": True}, "Inés", {"persona": "Hà", "human": True}])
    assert people(scenario) == ["Petr", "Hà Nguyễn"]
    dumped = scenario.model_dump(by_alias=True)
    assert make_scenario(**dumped) == scenario, "a dumped scenario is one"


TWO = "topic: Tea?\nparticipants:\n  - Inés\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TWO + "  - {name: Petr, human: maybe}\n", [":4, field participants[1].human)", "'maybe'", "true or false"]),
        (TWO + "  - {name: Petr, human: 3}\n", [":4, field participants[1].human)", "true or false"]),
        (TWO + "  - {name: Petr, human:}\n", [":4, field participants[1].human)", "true or false"]),
        (TWO + "  - {name: Petr, human: false}\n", [":4, field participants[1].description)", "missing"]),
        (TWO + "  - {human: true}\n", [":4, field participants[1].name)", "name is missing"]),
        (TWO + "  - persona: Hà\n    human: [a]\n", [":5, field participants[1].human)", "true or false"]),
        (TWO + "  - persona: Hà\n    humen: true\n", [":5, field participants[1].humen)", "Did you mean 'human'?"]),
        (
            TWO + "  - persona: Hà\n    human: true\n    model: offline\n",
            [":6, field participants[1].model)", "Hà Nguyễn is a person, and people have no model", "Remove either"],
        ),
        (
            TWO + "  - name: Petr\n    human: true\n    model: offline\n",
            [":6, field participants[1].model)", "Petr is a person, and people have no model", "Remove either"],
        ),
        (
            TWO + "  - {name: Petr, human: true}\nsettings:\n  agent_models: {petr: offline}\n",
            [":6, field settings.agent_models.petr)", "Petr is a person, and people have no model", "Remove it"],
        ),
        (
            "topic: Tea?\nparticipants:\n  - {name: Petr, human: true}\n  - {persona: Hà, human: true}\n",
            [":2, field participants)", "all participants are people", "Leave at least one"],
        ),
    ],
)
def test_mistakes_in_a_file(write: Callable[..., Path], refused: Callable[..., str], text: str, words: list[str]):
    path = write("s.yaml", text)
    refused(lambda: load_scenario(path), str(path), *words)


def test_a_person_files_say_only_of_people_that_they_are(write: Callable[..., Path]):
    assert "human" not in persona_text(shipped()[0])
    person = Persona.model_validate({"name": "Petr", "human": True})
    text = persona_text(person)
    assert "human: true" in text
    assert load_persona(write("petr.yaml", text)) == person


def test_no_mapping_makes_people(write: Callable[..., Path], refused: Callable[..., str]):
    path = write("m.yaml", "name: n\ndescription: d\nhuman: h\n")
    refused(lambda: load_mapping(path), "unknown field 'human'")


def test_anybody_shipped_is_simulated():
    everybody: list[Any] = [*shipped()]
    assert not any(persona.human for persona in everybody)
