"""From a command line to scenario and settings: what goes before what."""

from __future__ import annotations

from pathlib import Path

import pytest

from persimchat.app.commands.request import scenario_of, settings_of
from persimchat.app.commands.wanted import Wanted
from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import DEFAULT_NUMBER, make_scenario
from persimchat.state.errors import InputError

SCENARIO = """
topic: Do we sell the orchard?
participants:
  - Jarmila
  - name: Jan Dvořák
    description: A surveyor.
  - {persona: Rowan, model: offline}
relationships: [{from: Jan, to: Jarmila, type: friend}, {from: Rowan, to: Jan, type: rival}]
social_goals: {Jan: [Wait.], Rowan: [Sell.]}
rules: [Nobody interrupts.]
settings: {max_messages: 7, seed: 3}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "orchard.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_the_first_shipped_personas_talk_unless_told_otherwise():
    scenario, notes = scenario_of(Wanted("Tea?"))
    assert [p.name for p in scenario.participants] == [p.name for p in shipped()[:DEFAULT_NUMBER]]
    assert len(scenario_of(Wanted("Tea?", number=6))[0].participants) == 6
    assert notes == []


def test_names_first_names_and_files(tmp_path: Path):
    path = tmp_path / "me.yaml"
    path.write_text("name: Me\ndescription: Just me.\n", encoding="utf-8")
    scenario, _ = scenario_of(Wanted("Tea?", participants=f" Rowan Ó Dálaigh, ines ,{path}"))
    assert [p.name for p in scenario.participants] == ["Rowan Ó Dálaigh", "Inés Quiroga", "Me"]


def test_a_topic_goes_before_the_file_s(config: Path):
    scenario, notes = scenario_of(Wanted("Another matter", config))
    assert scenario.topic == "Another matter"
    assert len(scenario.relationships) == 2
    assert scenario.goals_of(scenario.participants[1]) == ["Wait."]
    assert scenario.rules == ["Nobody interrupts."]
    assert notes == []


def test_participants_go_before_the_file_s_and_say_what_is_lost(config: Path):
    scenario, notes = scenario_of(Wanted(scenario=config, participants="jan,Jarmila"))
    assert [p.name for p in scenario.participants] == ["Jan Dvořák", "Jarmila Dvořáčková"]
    assert [r.type for r in scenario.relationships] == ["friend"]
    assert scenario.social_goals == {"Jan Dvořák": ["Wait."]}
    assert scenario.settings["max_messages"] == 7
    assert notes == ["The scenario's relationships and goals of personas that do not take part are left out."]
    strangers, _ = scenario_of(Wanted(scenario=config, number=3))
    assert strangers.relationships == []
    assert settings_of(Wanted(), strangers).agent_models == {}


def test_options_go_before_environment_before_scenario(config: Path, monkeypatch: pytest.MonkeyPatch):
    scenario, _ = scenario_of(Wanted(scenario=config))
    assert settings_of(Wanted(), scenario).max_messages == 7
    monkeypatch.setenv("PERSIMCHAT_MAX_MESSAGES", "8")
    assert settings_of(Wanted(), scenario).max_messages == 8
    assert settings_of(Wanted(assignments=("max_messages=9",)), scenario).max_messages == 9
    settings = settings_of(Wanted(arguments={"max_messages": 10, "seed": None}), scenario)
    assert (settings.max_messages, settings.seed) == (10, 3)


def test_the_same_setting_twice():
    assert settings_of(Wanted(arguments={"seed": 2}, assignments=("seed=2",))).seed == 2
    with pytest.raises(InputError, match="seed is given twice"):
        settings_of(Wanted(arguments={"seed": 1}, assignments=("seed=2",)))


def test_an_agent_s_model_may_be_set_by_first_name(config: Path):
    scenario, _ = scenario_of(Wanted(scenario=config))
    settings = settings_of(Wanted(assignments=("agent_models.Jarmila=x@http://h/v1",)), scenario)
    assert settings.agent_models == {"Jarmila Dvořáčková": "x@http://h/v1", "Rowan Ó Dálaigh": "offline"}


def test_a_settings_file_goes_before_the_scenario_and_behind_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("seed: 3\nmax_messages: 7\nutterance_words: 40\n", encoding="utf-8")
    scenario = make_scenario("Tea?", ["Jarmila", "Rowan"], settings={"seed": 1, "selection_temperature": 2.0})
    settings = settings_of(Wanted(settings=file, assignments=("max_messages=9",)), scenario)
    assert (settings.seed, settings.max_messages, settings.utterance_words, settings.selection_temperature) == (
        3,
        9,
        40,
        2.0,
    )
