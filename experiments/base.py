"""What all cells of an experiment start from: a scenario, which levels may patch, or a kept run that is branched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..personas.names import full_name
from ..personas.scenario import default_participants, load_scenario, make_scenario
from ..runs.folder.listing import LATEST, find_run
from ..runs.run.branch import Branching, branching
from ..runs.run.resume_input import manifest_of, scenario_of
from ..state.errors import InputError
from ..state.folders import CONVERSATIONS
from ..state.intervention import chosen_for, said_by
from ..state.scenario import Scenario
from .axes import Level, in_order
from .file import KEPT_SCENARIO, PATCHED, Base, BranchOf, Experiment

ALSO: Final = "also"
"""In a patch of somebody's goals: these come behind those that are there."""
_WITHOUT: Final = "the participants, topic and relationships of a branch are those of its run"


@dataclass(frozen=True)
class Start:
    """What all cells start from.

    Attributes:
        scenario: topic and participants.
        run: the folder of the run that is branched; None where cells begin anew.
    """

    scenario: Scenario
    run: Path | None = None


@dataclass(frozen=True)
class Origin:
    """A kept run of which one cell is a branch.

    Attributes:
        folder: the run's.
        run: its id.
        turn: how many utterances the cell shares with it.
        say: who says what next; None if nobody is made to.
        choose: a story's host, and whom it talks to; None if it chooses itself.
        changes: settings that it changes.
    """

    folder: Path
    run: str
    turn: int
    say: tuple[str, str] | None
    changes: Mapping[str, Any]
    choose: tuple[str, str] | None = None


def start_of(experiment: Experiment) -> Start:
    """What all cells start from; where only tasks have topics, with the first one's.

    Raises:
        InputError: the scenario is wrong, there is no such run, or it cannot be branched.
    """
    base: Base = experiment.base
    if base.branch is not None:
        return _run(experiment, base.branch)
    if base.scenario is not None:
        found = load_scenario(experiment.named(base.scenario, KEPT_SCENARIO))
    elif (kept := experiment.kept(KEPT_SCENARIO)) is not None:
        found = load_scenario(kept)
    else:
        topic = base.topic or next((task.topic for task in experiment.all_tasks()), None)
        if topic is None:
            where = experiment.where("base")
            raise InputError("the base has no topic", where=where, remedy="Give scenario, topic, or tasks.")
        given = base.model_dump(include=set(PATCHED) - {"topic", "participants"})
        people = base.participants if base.participants is not None else default_participants()
        try:
            found = make_scenario(topic, people, base=experiment.folder, **given)
        except InputError as error:
            where = f"{experiment.where('base')}, {error.where}"
            raise InputError(error.what, where=where, remedy=error.remedy) from None
    _refuse_people(experiment, found)
    return Start(found)


def _run(experiment: Experiment, wanted: BranchOf) -> Start:
    """The run that is branched."""
    where = experiment.where("base", "branch", "run")
    if experiment.tasks is not None:
        raise InputError(
            "tasks give topics, and a branch has its run's", where=experiment.where("tasks"), remedy="Leave them out."
        )
    if wanted.run == LATEST:
        raise InputError(
            "the latest run is another one tomorrow", where=where, remedy="Write the run's id or its folder."
        )
    beside = experiment.folder / wanted.run
    try:
        folder = find_run(str(beside) if beside.exists() else wanted.run, CONVERSATIONS)
        scenario = scenario_of(manifest_of(folder), folder)
    except InputError as error:
        raise InputError(error.what, where=f"{where}, {error.where}", remedy=error.remedy) from None
    _refuse_people(experiment, scenario)
    return Start(scenario, folder)


def _refuse_people(experiment: Experiment, scenario: Scenario) -> None:
    person = next((persona for persona in scenario.participants if persona.human), None)
    if person is not None:
        raise InputError(
            f"{person.name} is a person, and nobody can take part in an experiment's conversations",
            where=experiment.where("base"),
            remedy="Leave out human: true.",
        )


def branched(
    experiment: Experiment, folder: Path, levels: Sequence[Level], changes: Mapping[str, Any]
) -> tuple[Branching, Origin]:
    """The branch that levels make of a run, checked as far as it can be without the run's checkpoints.

    Args:
        experiment: its file.
        folder: the run's.
        levels: one of each axis.
        changes: the settings of the base and of the levels.

    Raises:
        InputError: a level changes what the run's past depends on, or the run has no such turn.
    """
    wanted = experiment.base.branch
    assert wanted is not None
    for level in levels:
        if level.scenario or level.wording is not None or level.order != "listed":
            raise InputError(
                f"level {level.label} would change them, and {_WITHOUT}",
                where=experiment.where("grid"),
                remedy="Vary settings, or how the branch begins: say, choose.",
            )
    where = experiment.where("base", "branch")
    said = next((level.say for level in reversed(levels) if level.say is not None), wanted.say)
    chosen = next((level.choose for level in reversed(levels) if level.choose is not None), wanted.choose)
    say = said_by(said, where=where, example='say: "Jan: No."') if said else None
    choose = chosen_for(chosen, where=where, example="choose: Jan=Eva") if chosen else None
    if wanted.at is None and choose is None:
        raise InputError(
            "the turn at which the branch begins is missing",
            where=where,
            remedy="Add at: how many utterances it shares.",
        )
    found = branching(folder, wanted.at, changes=changes, say=say, choose=choose)
    return found, Origin(folder, found.manifest.run, found.turn, say, changes, choose)


def patched(experiment: Experiment, base: Scenario, levels: Sequence[Level]) -> Scenario:
    """The base's scenario with what the levels patch, in their order of participants.

    A mapping in a patch is merged with what is there, and `null` takes out; everything else replaces.

    Raises:
        InputError: a patch is wrong, or names nobody who takes part.
    """
    scenario = base
    for level in levels:
        if level.say is not None or level.choose is not None:
            does, name = ("says something", "say") if level.say is not None else ("chooses for a host", "choose")
            raise InputError(
                f"level {level.label} {does}, and only a branch begins in the middle of a conversation",
                where=experiment.where("grid"),
                remedy=f"Give the base as branch: {{run: …, at: …}}, or leave {name} out.",
            )
        if level.scenario:
            scenario = _patched(experiment, scenario, level.scenario)
    people = list(scenario.participants)
    for level in levels:
        people = in_order(people, level.order, experiment.name)
    return scenario.model_copy(update={"participants": people})


def _patched(experiment: Experiment, base: Scenario, patch: Mapping[str, Any]) -> Scenario:
    given: dict[str, Any] = {name: getattr(base, name) for name in (*PATCHED, "settings")}
    given["story"] = base.story.model_dump(mode="json", by_alias=True) if base.story is not None else None
    given["guide"] = base.guide.model_dump(mode="json") if base.guide is not None else None
    people = patch.get("participants")
    if isinstance(people, Mapping):
        given |= _other_people(base, people)
        patch = {name: value for name, value in patch.items() if name != "participants"}
    for name, value in patch.items():
        if name == "social_goals" and isinstance(value, Mapping):
            named = {_named(base, key, name): goals for key, goals in value.items()}
            further = {key: _further(given[name].get(key, ()), goals, key) for key, goals in named.items()}
            given[name] = _merged(given[name], further)
        elif name == "story":
            given[name] = _other_story(base, given[name] or {}, value) if isinstance(value, Mapping) else value
        elif name == "guide":
            given[name] = _merged(given[name] or {}, value) if isinstance(value, Mapping) else value
        else:
            given[name] = value if value is not None or name == "topic" else []
    scenario = make_scenario(**given, base=experiment.folder)
    _refuse_people(experiment, scenario)
    return scenario


def _other_people(base: Scenario, patch: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario's fields with some participants patched by name, and some left out with all that concerns them.

    Args:
        base: the scenario.
        patch: by name: fields, or None for one who is left out.

    Raises:
        InputError: nobody is called so, or a patch is not a mapping.
    """
    wanted = {_named(base, name, "participants"): fields for name, fields in patch.items()}
    people: list[Any] = []
    gone: set[str] = set()
    for person in base.participants:
        fields = wanted.get(person.name, {})
        if fields is None:
            gone.add(person.name)
        elif not isinstance(fields, Mapping):
            raise InputError(
                f"the patch of {person.name} is not a mapping",
                where=f"field participants.{person.name}",
                remedy="Write fields of a persona, or null to leave them out.",
            )
        else:
            whole = person.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            people.append(_merged(whole, fields) if fields else person)
    settings, models = dict(base.settings), base.settings.get("agent_models")
    if models:
        settings["agent_models"] = {name: model for name, model in models.items() if name not in gone}
    return {
        "participants": people,
        "relationships": [tie for tie in base.relationships if not gone & {tie.from_, tie.to}],
        "social_goals": {name: goals for name, goals in base.social_goals.items() if name not in gone},
        "settings": settings,
        "story": _story_without(base, gone),
    }


def _story_without(base: Scenario, gone: Collection[str]) -> dict[str, Any] | None:
    """The section of a story without characters who are left out, with their resources and beliefs for them."""
    if base.story is None:
        return None
    story: dict[str, Any] = base.story.model_dump(mode="json", by_alias=True)
    story["resources"] = [one for one in story["resources"] if one["owner"] not in gone]
    story["characters"] = {name: part for name, part in story["characters"].items() if name not in gone}
    for part in story["characters"].values():
        part["beliefs"] = [one for one in part["beliefs"] if one["for"] not in gone]
        part["closeness"] = {name: score for name, score in part["closeness"].items() if name not in gone}
        part["supports"] = "" if part["supports"] in gone else part["supports"]
    return story


def _other_story(base: Scenario, story: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The section of a story with a patch, in which first names are enough."""
    parts = patch.get("characters")
    if isinstance(parts, Mapping):
        named = {_named(base, name, "story.characters"): part for name, part in parts.items()}
        patch = {**patch, "characters": named}
    return _merged(story, patch)


def _further(before: Sequence[str], goals: Any, name: str) -> Any:
    """Somebody's goals, with further ones behind them where a patch says `also`."""
    if not isinstance(goals, Mapping):
        return goals
    if set(goals) != {ALSO} or not isinstance(goals[ALSO], list):
        raise InputError(
            f"the goals of {name} are not a list",
            where=f"field social_goals.{name}",
            remedy=f"Write [GOAL, …], or {{{ALSO}: [GOAL, …]}} for goals besides those that are there.",
        )
    return [*before, *goals[ALSO]]


def _named(base: Scenario, name: str, field: str) -> str:
    names = [person.name for person in base.participants]
    return full_name(str(name), names, what="participant", where=f"field {field}.{name}")


def _merged(before: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping with a patch: mappings in it are merged, None takes out, all else replaces."""
    found = dict(before)
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(found.get(name), Mapping):
            found[name] = _merged(found[name], value)
        else:
            found[name] = value
    return found
