"""Place files: what they hold, what is refused and how, and that a place is written as it is read."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.catalogue import shipped
from persimchat.personas.place_file import MAX_BYTES, SETTINGS, load_place, place_for, place_from_text, place_text
from persimchat.state.companion.place import (
    IDLE,
    Acquainted,
    Agent,
    Clock,
    Confidence,
    Other,
    Person,
    Place,
    Planned,
    Recall,
)
from persimchat.state.errors import InputError
from persimchat.state.minds.emotion import EmotionalState
from persimchat.state.settings import Settings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "companion"
ODA = {"persona": {"name": "Oda Brandvik", "description": "Sells tickets."}}
HUT = {"Stage": {"hut": {"stove": "lit", "bench": None}, "stall": ["kettle"]}}


def text(**fields: Any) -> str:
    return yaml.safe_dump({"agents": [ODA], "places": HUT, **fields}, allow_unicode=True, sort_keys=False)


def read(**fields: Any) -> Place:
    return place_from_text(text(**fields), where="place.yaml")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_read_and_written_back_equal(path: Path) -> None:
    place = load_place(path)
    assert path.read_text(encoding="utf-8").startswith("# ")
    assert place_from_text(place_text(place), where="place.yaml") == place
    assert place.events and all(event.happenings() for event in place.events)
    Settings.model_validate(place.settings)


def test_what_the_ferry_stage_holds() -> None:
    place = load_place(EXAMPLES / "ferry.yaml")
    oda, tomasz = place.agents
    assert (oda.name, place.home(oda)) == ("Oda Brandvik", "Ferry stage/ticket hut")
    assert oda.emotion == EmotionalState(happiness=4)
    assert [fact.trust for fact in oda.confides] == [7, 9]
    assert place.places["Ferry stage"]["tea stall"] == {"kettle": IDLE, "bench": IDLE}
    assert place.places["Boat house"]["upper room"]["radio"] == "off"
    assert place.known_to(oda) == place.arenas() == place.known_to(tomasz)
    assert place.people[0].introduced and place.people[0].relationship.type == "acquaintance"
    assert [event.at for event in place.events] == ["11:50", "11:52", "12:00"]


def test_states_and_empty_parts() -> None:
    place = read(
        places={"Stage": {"hut": {"stove": 3, "bench": None}, "stall": ["kettle", 2], "pier": None}, "Sea": None}
    )
    assert place.places["Stage"] == {
        "hut": {"stove": "3", "bench": IDLE},
        "stall": {"kettle": IDLE, "2": IDLE},
        "pier": {},
    }
    assert place.arenas() == ["Stage/hut", "Stage/stall", "Stage/pier"]
    assert read(places=None).home(read(places=None).agents[0]) == ""


def test_times_and_types_are_read_as_people_write_them() -> None:
    place = read(
        events=[{"at": " 9:05", "say": "A horn."}],
        clock={"mode": "game", "start": "March 03, 2025, 11:30:00"},
        people=[{"name": "Petr", "relationship": {"type": "Mentor–mentee", "side": "to"}}],
    )
    assert place.clock.start == "2025-03-03T11:30:00"
    assert place.events[0].at == "9:05"
    assert (place.people[0].relationship.type, place.people[0].relationship.side) == ("mentor_mentee", "to")


def test_a_persona_is_written_out_named_or_a_file_below_the_folder(tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    (tmp_path / "people/bo.yaml").write_text("name: Bo Berg\ninclude: kin.yaml\n", encoding="utf-8")
    (tmp_path / "people/kin.yaml").write_text("description: Rows the boat.\n", encoding="utf-8")
    given = text(agents=[ODA, {"persona": "people/bo.yaml"}, {"persona": shipped()[0].name.split()[0]}])
    (tmp_path / "place.yaml").write_text(given, encoding="utf-8")
    place = load_place(tmp_path / "place.yaml")
    assert [agent.name for agent in place.agents] == ["Oda Brandvik", "Bo Berg", shipped()[0].name]
    assert place == place_from_text(given, where="x", folder=tmp_path)
    assert place_from_text(place_text(place), where="x") == place


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "place.json"
    path.write_text(json.dumps({"agents": [ODA], "places": HUT}), encoding="utf-8")
    assert load_place(path) == read()


def test_what_a_command_is_given_may_be_a_persona(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "oda.yaml"
    path.write_text(yaml.safe_dump(ODA["persona"]), encoding="utf-8")
    assert [agent.name for agent in place_for(str(path)).agents] == ["Oda Brandvik"]
    assert [agent.persona for agent in place_for("Ha Nguyen").agents] == [p for p in shipped() if p.name == "Hà Nguyễn"]
    assert place_for(str(EXAMPLES / "ferry.yaml")) == load_place(EXAMPLES / "ferry.yaml")
    refused(lambda: place_for("Nobody Known"), "Nobody Known", "Choose one of")
    refused(lambda: place_for(str(tmp_path / "none.yaml")), "none.yaml")
    path.write_text("name: Oda\ndescription: Rows.\nhuman: true\n", encoding="utf-8")
    refused(lambda: place_for(str(path)), "is a person")


def test_the_document_names_every_field() -> None:
    section = (EXAMPLES.parents[1] / "docs/companion.md").read_text(encoding="utf-8").split("\n## ")
    told = next(part for part in section if part.startswith("The place file"))
    parts = (Place, Agent, Recall, Person, Acquainted, Other, Planned, Clock, Confidence)
    fields = {name for part in parts for name in part.model_fields}
    assert {name for name in fields if f"`{name}`" not in told and f".{name}`" not in told} == set()


MANY = {f"arena {n}": {f"object {m}": "idle" for m in range(6)} for n in range(201)}
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"agnets": []}, "unknown field 'agnets'", "agents"),
    ({"agents": None}, "agents is missing", ""),
    ({"agents": []}, "agents", "at least 1"),
    ({"agents": [{"at": "Stage/hut"}]}, "agents[0].persona is missing", ""),
    ({"agents": ["Oda"]}, "an agent is not a mapping", "persona"),
    ({"agents": [{**ODA, "kowns": []}]}, "unknown field 'kowns'", "knows"),
    ({"agents": [{"persona": 3}]}, "a persona is a name", ""),
    ({"agents": [{"persona": {"name": "Oda"}}]}, "description is missing", ""),
    ({"agents": [ODA, ODA]}, "two agents are called 'Oda Brandvik'", "name of its own"),
    ({"agents": [ODA], "others": [{"name": "oda  brandvik"}]}, "is also called 'oda brandvik'", "others[0]"),
    ({"agents": [{"persona": {**ODA["persona"], "human": True}}]}, "is a person", "under people"),
    ({"agents": [{**ODA, "at": "Stage/hat"}]}, "there is no arena 'Stage/hat'", "Did you mean 'Stage/hut'?"),
    ({"agents": [{**ODA, "at": "Stage"}]}, "there is no arena 'Stage'", ""),
    ({"agents": [{**ODA, "knows": ["Sage"]}]}, "there is no sector or arena 'Sage'", "Did you mean 'Stage'?"),
    ({"agents": [{**ODA, "emotion": {"joy": 3}}]}, "unknown field 'joy'", "happiness"),
    ({"agents": [{**ODA, "emotion": {"anger": 11}}]}, "emotion.anger", "0 to 10"),
    ({"agents": [{**ODA, "trust": 11}]}, "trust", "0 to 10"),
    ({"agents": [{**ODA, "confides": [{"text": "x"}]}]}, "confides[0].trust is missing", ""),
    ({"agents": [{"persona": {"name": f"A{n}", "description": "x"}} for n in range(21)]}, "agents", "and at most 20"),
    ({"places": ["Stage"]}, "is not a mapping", "sector"),
    ({"places": {"Stage": "hut"}}, "is not a mapping", "arena"),
    ({"places": {"Stage": {"hut": "stove"}}}, "is not a mapping", "list of objects"),
    ({"places": {"Sta/ge": {}}}, "'Sta/ge' is no name of a place", "without colon and slash"),
    ({"places": {"Stage": {"hut": ["a:b"]}}}, "'a:b' is no name of a place", ""),
    ({"places": {"Stage": {"hut": [["a"]]}}}, "is no name of a place", "Write a text."),
    ({"places": {"Stage": {"hut": ["a", "a"]}}}, "'a' is given twice", ""),
    ({"places": {"Stage": {"hut": {}, "Hut": {}}}}, "'Hut' is given twice", "name of its own"),
    ({"places": {"Stage": {"hut": {"stove": True}}}}, "places.Stage.hut.stove", ""),
    ({"places": {"S" * 49: {}}}, "is no name of a place", "up to 48 characters"),
    ({"places": {"Stage": {n: {} for n in MANY}}}, "201 arenas", "Keep to 200."),
    ({"places": {"Stage": dict(list(MANY.items())[:200])}}, "1200 objects", "Keep to 1000."),
    ({"others": [{"name": "captain", "at": "Stage/hit"}]}, "there is no arena 'Stage/hit'", "Stage/hut"),
    ({"people": [{"name": "Petr"}, {"name": "PETR"}]}, "two persons are called 'PETR'", ""),
    ({"people": [{"name": "<>"}]}, "the person's name is empty", "people[0].name"),
    ({"people": [{"name": "Petr", "relationship": {"type": "freind"}}]}, "unknown relationship type", "mean 'friend'?"),
    ({"events": [{"say": "A horn."}]}, "events[0].at is missing", "HH:MM"),
    ({"events": [{"after": "2m", "say": "A horn."}]}, "unknown field 'after'", "at"),
    ({"events": [{"at": "25:00", "say": "A horn."}]}, "'25:00' is no time of the day", "HH:MM, for example 11:50"),
    ({"events": [{"at": "11:50"}]}, "does not say what happens", "change, say"),
    ({"events": [{"at": "11:50", "who": "the captain"}]}, "who and does belong together", "both"),
    ({"events": [{"at": "11:50", "change": {"Stage/hut/stave": "out"}}]}, "no object 'Stage/hut/stave'", "stove'?"),
    ({"events": [{"at": "11:50", "say": "x"}] * 501}, "events", "at most 500"),
    ({"clock": {"mode": "sun"}}, "clock.mode", "wall, game, steps"),
    ({"clock": {"start": "noon"}}, "'noon' is not a time", "2025-03-03 11:40"),
    ({"settings": ["model"]}, "settings are not a mapping", ""),
    ({"settings": {"utterance_word": 9}}, "unknown field 'utterance_word'", "utterance_words"),
    ({"settings": {"utterance_words": 1}}, "utterance_words", "3"),
    ({"settings": {"companion": {"talk_exchange": 3}}}, "unknown field 'talk_exchange'", "talk_exchanges"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "what", "remedy"), BAD, ids=[f"{n}" for n, _ in enumerate(BAD)])
def test_what_is_wrong_is_refused_with_place_and_remedy(
    fields: dict[str, Any], what: str, remedy: str, refused: Refused
) -> None:
    refused(lambda: read(**fields), what, remedy, "place.yaml:")


@pytest.mark.parametrize(
    "name",
    ["model", "embedding", "store", "checkpoints", "prices", "agent_models", "module_models", "pruning", "mode"]
    + ["budget_calls", "budget_tokens", "budget_usd", "local_slots", "requests_per_second", "max_messages"],
)
def test_settings_of_models_money_and_machines_are_refused(name: str, refused: Refused) -> None:
    refused(lambda: read(settings={name: 1}), f"does not set {name}", "command line", f"settings.{name}")


@pytest.mark.parametrize("name", ["world", "agent", "person", "calls_a_day"])
def test_settings_of_who_talks_are_refused(name: str, refused: Refused) -> None:
    refused(lambda: read(settings={"companion": {name: 1}}), f"does not set {name}", f"settings.companion.{name}")


def test_the_settings_that_are_allowed_exist() -> None:
    assert set(SETTINGS) <= set(Settings.model_fields)


OUTSIDE = [
    "../oda.yaml",
    "{}/oda.yaml",
    "people/../../oda.yaml",
    "link.yaml",
    "none.yaml",
    "a\0.yaml",
    "a" * 300 + "/b",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_files_above_the_folder_are_not_read(path: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "oda.yaml").write_text(yaml.safe_dump(ODA["persona"]), encoding="utf-8")
    folder = tmp_path / "folder"
    (folder / "people").mkdir(parents=True)
    (folder / "link.yaml").symlink_to(tmp_path / "oda.yaml")
    given = text(agents=[{"persona": path.format(tmp_path)}])
    refused(lambda: place_from_text(given, where="x", folder=folder), "there is no persona file", "agents[0].persona")


def test_fragments_above_the_folder_are_not_read(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "kin.yaml").write_text("description: Rows the boat.\n", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "bo.yaml").write_text("name: Bo\ninclude: ../kin.yaml\n", encoding="utf-8")
    for persona in ("bo.yaml", {"name": "Bo", "include": "../kin.yaml"}):
        given = text(agents=[{"persona": persona}])
        refused(lambda given=given: place_from_text(given, where="x", folder=folder), "there is no fragment")


def test_a_place_that_is_sent_reads_no_file(tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bo.yaml").write_text("name: Bo\ndescription: Rows.\n", encoding="utf-8")
    (tmp_path / "kin").write_text("description: Rows.\n", encoding="utf-8")
    refused(lambda: read(agents=[{"persona": "bo.yaml"}]), "cannot name files", "Write the persona out")
    refused(lambda: read(agents=[{"persona": {"name": "Bo", "include": "kin"}}]), "there is no fragment 'kin'")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, refused: Refused) -> None:
    large = text() + "# " + "x" * MAX_BYTES
    (tmp_path / "place.yaml").write_text(large, encoding="utf-8")
    refused(lambda: load_place(tmp_path / "place.yaml"), "too large", "262,144")
    refused(lambda: place_from_text(large, where="x"), "too large", "262,144")


def test_a_place_that_no_file_can_hold_is_not_written(refused: Refused) -> None:
    place = read()
    half = place.agents[0].persona.model_copy(update={"description": "\ud800"})
    broken = place.model_copy(update={"agents": [place.agents[0].model_copy(update={"persona": half})]})
    refused(lambda: place_text(broken), "surrogate")


WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20) | st.sampled_from(
    ["off", "1e3", "+.5", "12:00", "~", "<<", "null", "- a", "a: b", "# x", "'", "true", "0o7", "\x85", "=", "{}"]
)


@pytest.mark.proof
@given(WORDS, WORDS, st.dictionaries(WORDS, WORDS, max_size=3))
def test_every_text_is_written_as_it_is_read(name: str, line: str, objects: dict[str, str]) -> None:
    with suppress(InputError):
        place = read(occasion=line, places={"Stage": {name: objects}}, events=[{"at": "1:00", "say": line}])
        assert place_from_text(place_text(place), where="place.yaml") == place


KEYS = st.sampled_from(
    [
        *Place.model_fields,
        *SETTINGS,
        "persona",
        "name",
        "description",
        "include",
        "at",
        "change",
        "relationship",
        "type",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.text())
def test_any_text_is_read_or_refused(given_text: str) -> None:
    with suppress(InputError):
        place_from_text(given_text, where="place.yaml")


@pytest.mark.proof
@given(st.dictionaries(st.sampled_from(sorted(Place.model_fields)), VALUES, max_size=5), st.booleans())
def test_any_fields_are_read_or_refused(fields: dict[str, Any], with_agent: bool) -> None:
    fields = {"agents": [ODA], **fields} if with_agent else fields
    with suppress(InputError):
        place_from_text(yaml.safe_dump(fields, allow_unicode=True), where="place.yaml")
