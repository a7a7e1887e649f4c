"""Names and participants: how a name finds its owner, two that look the same, and people among the participants."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused, Write
from hypothesis import given
from hypothesis import strategies as st

from persimchat.nodes.debates.judge import judge_name
from persimchat.nodes.people import moderator_name
from persimchat.personas.catalogue import find_persona, load_persona, shipped
from persimchat.personas.conversion.mapping import load_mapping
from persimchat.personas.files import persona_text
from persimchat.personas.names import folded, full_name, matching, with_full_names
from persimchat.personas.scenario import load_scenario, make_scenario, with_people
from persimchat.state.errors import InputError
from persimchat.state.intervention import intervention
from persimchat.state.person_answer import person_answer
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

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
def test_mistakes(refused: Refused, names: list[str], words: list[str]):
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


def test_in_a_file(write: Write):
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
def test_mistakes_in_a_file(write: Write, refused: Refused, text: str, words: list[str]):
    path = write("s.yaml", text)
    refused(lambda: load_scenario(path), str(path), *words)


def test_a_person_files_say_only_of_people_that_they_are(write: Write):
    assert "human" not in persona_text(shipped()[0])
    person = Persona.model_validate({"name": "Petr", "human": True})
    text = persona_text(person)
    assert "human: true" in text
    assert load_persona(write("petr.yaml", text)) == person


def test_no_mapping_makes_people(write: Write, refused: Refused):
    path = write("m.yaml", "name: n\ndescription: d\nhuman: h\n")
    refused(lambda: load_mapping(path), "unknown field 'human'")


KNOWN = ["Eva Horáková", "Eva Malá", "Łukasz Żórawski", "陳志明", "Đỗ Thị Hà", "Ana-María Núñez"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("lukasz", ["Łukasz Żórawski"]),
        ("ŁUKASZ ŻÓRAWSKI", ["Łukasz Żórawski"]),
        ("zorawski", ["Łukasz Żórawski"]),
        ("eva", ["Eva Horáková", "Eva Malá"]),
        ("eva mala", ["Eva Malá"]),
        ("陳志明", ["陳志明"]),
        ("do thi ha", ["Đỗ Thị Hà"]),
        ("Thị Hà", ["Đỗ Thị Hà"]),
        ("ana_maria nunez", ["Ana-María Núñez"]),
        ("maria", ["Ana-María Núñez"]),
        ("lu", []),
        ("", []),
        ("  ", []),
    ],
)
def test_matching(wanted: str, found: list[str]):
    assert matching(wanted, KNOWN) == found


def test_a_whole_name_goes_before_a_part_of_another():
    assert matching("Eva", ["Eva Malá", "Eva"]) == ["Eva"]
    assert matching("Élan", ["Elan", "Élan"]) == ["Élan"], "exact spelling decides between names alike but for marks"


def test_full_name_errors():
    with pytest.raises(InputError, match=r"'eva' may be Eva Horáková or Eva Malá \(here\)\. Write the full name\."):
        full_name("eva", KNOWN, what="participant", where="here")
    with pytest.raises(InputError, match=r"no participant 'Lukas' \(here\)\. Did you mean 'Łukasz Żórawski'\?"):
        full_name("Lukas", KNOWN, what="participant", where="here")


@given(st.text(max_size=40))
def test_folding_is_settled(text: str):
    once = folded(text)
    assert folded(once) == once or folded(folded(once)) == folded(once)
    assert "  " not in once


def test_agent_models_by_full_name():
    settings = with_full_names(Settings(agent_models={"łukasz": "offline"}), KNOWN)
    assert settings.agent_models == {"Łukasz Żórawski": "offline"}
    with pytest.raises(InputError, match=r"agent_models\.Karel"):
        with_full_names(Settings(agent_models={"Karel": "offline"}), KNOWN)
    plain = Settings()
    assert with_full_names(plain, KNOWN) is plain


INES, BO = "Inés Nová", "Bo Říha"


NFD = unicodedata.normalize("NFD", INES)


TWINS = [(INES, NFD), ("Anna", "An\u200bna"), ("Anna", "\u200fAnna"), ("Anna", "Ａｎｎａ"), ("Anna", "ANNA\u00ad")]


def of(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": "Somebody."} for name in names]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_two_that_look_the_same_are_refused(one: str, other: str, refused: Refused, tmp_path: Path) -> None:
    refused(lambda: make_scenario("Tea?", of(one, BO, other)), "two participants", "participants[2]")
    refused(lambda: with_people(make_scenario("Tea?", of(one, BO)), [other, other]), "named twice")
    with pytest.raises(ValueError, match="two participants are called"):
        Scenario.model_validate({"topic": "Tea?", "participants": of(one, BO, other)})
    written = json.dumps({"topic": "Tea?", "participants": of(one, BO, other)}, indent=1)
    (tmp_path / "s.json").write_text(written, encoding="utf-8")
    refused(lambda: load_scenario(tmp_path / "s.json"), "two participants", "s.json:12")


def test_accents_tell_people_apart() -> None:
    """Ines and Inés are two; each is found by the full name as it is written."""
    scenario = make_scenario("Tea?", of("Ines", "Inés"), social_goals={"Ine\u0301s": ["To win."]})
    assert scenario.social_goals == {"Inés": ["To win."]}


def test_a_name_finds_its_owner_however_it_is_encoded() -> None:
    scenario = make_scenario(
        "Tea?",
        of(INES, BO),
        relationships=[{"from": NFD, "to": "Bo\u200b Říha", "type": "friend"}],
        social_goals={NFD: ["To win."]},
        settings={"agent_models": {NFD: "offline"}},
    )
    assert [(tie.from_, tie.to) for tie in scenario.relationships] == [(INES, BO)]
    assert list(scenario.social_goals) == list(scenario.settings["agent_models"]) == [INES]
    assert [p.human for p in with_people(scenario, [NFD]).participants] == [True, False]
    whisper: Any = intervention({"do": "say", "text": "Psst.", "speaker": BO, "heard_by": [NFD, INES]}, [INES, BO])
    assert whisper.heard_by == [INES]
    floor: Any = intervention({"do": "floor", "agent": NFD}, [INES, BO])
    assert floor.agent == INES
    assert person_answer({"text": "Psst.", "heard_by": [NFD]}, "utterance", [INES, BO]).get("heard_by") == [INES]


@pytest.mark.parametrize("name", ["Judge", "Ｊudge", "Jud\u200bge"])
def test_the_judge_has_a_name_of_its_own(name: str) -> None:
    assert judge_name([name, BO]) == "Judge of the debate"


@pytest.mark.parametrize("name", ["moderator", "Mo\u00adderator"])
def test_so_has_the_moderator(name: str) -> None:
    assert moderator_name([name, BO]) == "Moderator of the conversation"


def test_two_choices_that_look_the_same_are_refused() -> None:
    for choices in (["Tea", "T\u200bea"], ["Café", "Cafe\u0301"], ["Tea", "\u200b"]):
        with pytest.raises(ValueError, match=r"two or more different choices|no visible character"):
            Settings(mode="debate", answer_format="choice", choices=choices)


UNSEEN = "\u200b\u3164\u2800"


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"topic": UNSEEN}, "topic"),
        ({"rules": [UNSEEN]}, "rules[0]"),
        ({"social_goals": {"Bo": [UNSEEN]}}, f"social_goals.{BO}[0]"),
        ({"participants": [{"name": INES, "description": UNSEEN}, *of(BO)]}, "participants[0].description"),
        ({"participants": [{"name": UNSEEN, "description": "a"}, *of(BO)]}, "participants[0].name"),
        ({"participants": [{"name": "An\x00na", "description": "a"}, *of(BO)]}, "U+0000"),
        ({"participants": [{"name": "An\u202ena", "description": "a"}, *of(BO)]}, "participants[0].name"),
    ],
)
def test_what_nobody_sees_is_empty(more: dict[str, Any], where: str, refused: Refused) -> None:
    refused(lambda: make_scenario(**{"topic": "Tea?", "participants": of(INES, BO), **more}), where)


@pytest.mark.parametrize("words", [UNSEEN, "\ufe0f", "\u115f"])
def test_so_are_a_persons_words(words: str) -> None:
    with pytest.raises(InputError, match="no words"):
        intervention({"do": "say", "text": words}, [INES, BO])
