"""The ready mappings: invented people in the shapes of other programs' files, and AgentGroupChat's real characters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.personas.conversion.conversion import Conversion, convert
from persimchat.personas.conversion.mapping import ORDER, READY, ready
from persimchat.state.settings import Settings

Write = Callable[..., Path]

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


def converted(*files: Path, **options: Any) -> Conversion:
    return asyncio.run(convert(files, Settings(model="offline"), **options))


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
    one = only(converted(saved(SCRATCH, "scratch.json")))
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
    one = only(converted(saved(TINY)))
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
    one = only(converted(saved(data)))
    assert (one.persona.name, one.persona.description) == ("Io Wu", "Diver")


def test_old_tinytroupe(saved: Callable[..., Path]):
    one = only(converted(saved(TINY_OLD)))
    assert one.draft.by == "the mapping tinytroupe_old"
    assert one.persona.name == "Mika Lund"
    assert one.persona.traits == ["You are calm.", "You forget names."]
    assert one.persona.characteristics["interests"] == "Chess Mites"
    assert one.draft.left_out == {"_configuration.current_emotions": "'content'"}
    assert "_configuration.current_location" in one.draft.technical


def test_sotopia(saved: Callable[..., Path]):
    one = only(converted(saved(SOTOPIA)))
    assert one.draft.by == "the mapping sotopia"
    assert one.persona.name == "Tess Abebe"
    assert one.persona.description == "Tess keeps pigeons. Tess weighs every word."
    assert one.persona.characteristics["secret"] == SOTOPIA["secret"]
    assert one.persona.characteristics["moral values"] == "care, fairness"
    assert one.persona.characteristics["pronouns"] == "she/her"
    assert not one.draft.left_out
    assert set(one.draft.technical) == {"pk", "model_id"}


def test_an_age_that_sotopia_does_not_know_stays_empty(saved: Callable[..., Path]):
    one = only(converted(saved({**SOTOPIA, "age": 0})))
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
    conversion = converted(path)
    assert [one.persona.name for one in conversion.people] == ["Tess Abebe", "Ada Abebe"]
    assert conversion.skipped == ({path: 1} if kept == "dump" else {})


def test_agentgroupchat_has_names_for_ids(saved: Callable[..., Path]):
    nora = saved(GROUPCHAT, "one/C0001.json")
    saved_father = saved({**GROUPCHAT, "name": "Old Fell", "id_name": "C0000"}, "one/C0000.json")
    elsewhere = saved({**GROUPCHAT, "name": "Stranger", "id_name": "C0000"}, "two/C0000.json")
    conversion = converted(nora, saved_father, elsewhere)
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
    one = only(converted(*files, pick=["Nora"]))
    assert one.persona.description.startswith("She runs the mill of Old Fell.")


def test_an_id_that_two_people_have_is_nobodys(saved: Callable[..., Path]):
    files = [saved({**GROUPCHAT, "name": name}, f"{name}.json") for name in ("A One", "B Two")]
    data = {**GROUPCHAT, "name": "C Three", "id_name": "C0009", "background": "Knows C0001."}
    one = converted(*files, saved(data, "c.json")).people[2]
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
    one = only(converted(saved(data)))
    assert one.draft.by == "the mapping plain"
    assert one.persona.name == "A B"
    assert one.persona.description == description


def test_all_characters_of_agentgroupchat(shared: Path):
    folders = sorted((shared / "data/stories").glob("*/initial_version/characters"))
    files = [file for folder in folders for file in sorted(folder.glob("*.json"))]
    assert len(files) == 20
    conversion = converted(*files)
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
