"""From a command line to what a simulation needs: a scenario and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ...personas.names import with_full_names
from ...personas.scenario import default_participants, load_scenario, make_scenario, with_people
from ...state.configuration import load_settings, parse_assignment
from ...state.errors import InputError
from ...state.plain_text import matching
from ...state.scenario import Scenario
from ...state.settings import Settings
from ...state.stories.story import Character, Story
from ..output import warn
from .option_groups import Wanted

_FILES: Final = (".yaml", ".yml", ".json")
"""The endings of scenario files."""
_EXAMPLE: Final = 'persimchat run "Should our town close its centre to cars?"'


def understood(wanted: Wanted) -> tuple[Scenario, Settings]:
    """The scenario and the settings; a warning names what was left out of the scenario's file.

    Raises:
        InputError: as `scenario_of` and `settings_of`.
    """
    scenario, notes = scenario_of(wanted)
    settings = settings_of(wanted, scenario)
    for note in notes:
        warn(f"persimchat: {note}")
    return scenario, settings


def scenario_of(wanted: Wanted) -> tuple[Scenario, list[str]]:
    """The scenario that the user asked for, and notes on what was left out of its file.

    Raises:
        InputError: topic, participants or file are missing, wrong or contradict each other.
    """
    if wanted.topic is None and wanted.scenario is None:
        debated = wanted.arguments.get("mode") == "debate"
        example = _EXAMPLE.replace("run", "debate") if debated else _EXAMPLE
        raise InputError("no topic", remedy=f"Give a topic: {example}; or name a scenario with --scenario.")
    if wanted.participants is not None and wanted.number is not None:
        raise InputError("--participants and -n contradict each other", remedy="Leave one of them out.")
    if wanted.scenario is None and wanted.topic and Path(wanted.topic).suffix in _FILES:
        wanted = replace(wanted, topic=None, scenario=Path(wanted.topic))
    scenario, notes = _without_newcomers(wanted)
    return with_people(scenario, wanted.humans or ()), notes


def _without_newcomers(wanted: Wanted) -> tuple[Scenario, list[str]]:
    """The scenario before the people that --human names have joined."""
    chosen = _participants(wanted)
    if wanted.scenario is None:
        people = chosen or list(default_participants())
        if len(people) == 1:  # one participant is enough if a person joins
            people += [{"name": name, "human": True} for name in wanted.humans or ()]
        return make_scenario(wanted.topic or "", people), []
    scenario = load_scenario(wanted.scenario, topic=wanted.topic)
    if scenario.story is not None:
        if chosen is not None:
            raise InputError(
                "a story's participants have parts in it, and cannot be replaced",
                where="--participants",
                remedy="Leave --participants and -n out.",
            )
        return scenario, notes_on(scenario.story)
    if chosen is None:
        return scenario, []
    return _with_others(scenario, chosen)


def notes_on(story: Story) -> list[str]:
    """Notes on a story's participants without a part of their own, which is allowed and may be a slip."""
    without = [name for name, one in story.characters.items() if one == Character()] if story.mains else []
    listed = ", ".join(without)
    return [f"Without a part under story.characters, so other characters without beliefs: {listed}."] if without else []


def settings_of(wanted: Wanted, scenario: Scenario | None = None) -> Settings:
    """The settings: defaults < scenario < file < environment < `--set` and options.

    Raises:
        InputError: a setting is unknown or wrong, or given twice with different values.
    """
    arguments = assigned(wanted.assignments or (), wanted.arguments)
    if scenario is None:
        return load_settings(wanted.settings, **arguments)
    settings = load_settings(wanted.settings, scenario=scenario.settings, **arguments)
    return with_full_names(settings, [persona.name for persona in scenario.participants])


def assigned(assignments: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that `--set` and other options give; an option that is None was not given.

    Raises:
        InputError: a setting is unknown or wrong, or given twice with different values.
    """
    found: dict[str, Any] = dict(map(parse_assignment, assignments))
    for key, value in options.items():
        if value is None:
            continue
        if key in found and found[key] != value:
            raise InputError(f"{key} is given twice", where=f"--set {key}={found[key]}", remedy="Leave one out.")
        found[key] = value
    return found


def _participants(wanted: Wanted) -> list[Any] | None:
    if wanted.number is not None:
        return list(default_participants(wanted.number))
    if wanted.participants is None:
        return None
    names = [name.strip() for name in wanted.participants.split(",")]
    if not all(names):
        raise InputError(
            "a name is missing", where="--participants", remedy='Separate names by commas: --participants "Anna,Ben".'
        )
    return list(names)


def _with_others(scenario: Scenario, chosen: list[Any]) -> tuple[Scenario, list[str]]:
    """The scenario with other participants, without what the file says of those who no longer take part."""
    people = [_known(entry, scenario) for entry in chosen]
    names = {persona.name for persona in make_scenario(scenario.topic, people).participants}
    ties = [tie for tie in scenario.relationships if {tie.from_, tie.to} <= names]
    goals = {name: goals for name, goals in scenario.social_goals.items() if name in names}
    models: dict[str, str] = scenario.settings.get("agent_models", {})
    settings = {**scenario.settings, "agent_models": {name: m for name, m in models.items() if name in names}}
    notes = []
    if len(ties) < len(scenario.relationships) or len(goals) < len(scenario.social_goals):
        notes.append("The scenario's relationships and goals of personas that do not take part are left out.")
    guide = scenario.guide if scenario.guide is not None and scenario.guide.moderator in names else None
    if guide is not scenario.guide:
        notes.append("The scenario's guide is left out, for its moderator does not take part.")
    changed = make_scenario(
        scenario.topic,
        people,
        relationships=ties,
        social_goals=goals,
        rules=scenario.rules,
        settings=settings,
        guide=guide,
    )
    return changed, notes


def _known(entry: Any, scenario: Scenario) -> Any:
    """The scenario's own participant of that name, else the entry as it is: a shipped persona's name or a path."""
    if not isinstance(entry, str):
        return entry
    found = matching(entry, [persona.name for persona in scenario.participants])
    return next((p for p in scenario.participants if found == [p.name]), entry)
