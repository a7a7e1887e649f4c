"""From an experiment's file to its cells: every combination of levels and tasks, resolved, checked and named."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ..models.naming import default_model_name
from ..personas.names import with_full_names
from ..runs.folder.manifest import public
from ..state.configuration import ENVIRONMENT, load_settings
from ..state.errors import InputError
from ..state.kinds import unheeded
from ..state.minds.judgement import own_module
from ..state.scenario import Scenario
from ..state.settings import ABOUT, BUDGETS, MODES, Settings
from .axes import Axis, Label, Level, axes_of
from .base import Origin, Start, branched, patched, start_of
from .file import Experiment, Task
from .labels import misread

MOST_CELLS: Final = 10_000
"""Cells beyond which an experiment has to be asked for twice."""

SHAPING: Final = tuple(name for name, about in ABOUT.items() if about.shapes)
"""Settings that shape a conversation: those of which a cell's id is made."""


class Cell(BaseModel):
    """One conversation to be held, as the lock file keeps it.

    Attributes:
        id: the first 12 hexadecimal digits of the SHA-256 of its content.
        axes: the label of its level on each axis.
        task: the id of its task; empty where the base's topic is the only one.
        category: of the task.
        round: the draw of tasks to which it belongs, from 1.
        topic: what it is about.
        answer: the task's reference answer.
        settings: those that shape it and are not at their defaults.
        branch: of which run it is a branch, at which turn, with which words or choice; None if it begins anew.
        also: other levels of the axes that would make the same conversation, so that it is held once for all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    axes: dict[str, Label]
    task: str = ""
    category: str = ""
    round: int = 1
    topic: str
    answer: str | None = None
    settings: dict[str, Any]
    branch: dict[str, Any] | None = None
    also: list[dict[str, Label]] = []

    @property
    def not_varied(self) -> dict[str, list[Label]]:
        """The axes in which it stands for several levels, each with these."""
        labels = {
            name: [*dict.fromkeys([label, *(axes[name] for axes in self.also)])] for name, label in self.axes.items()
        }
        return {name: several for name, several in labels.items() if len(several) > 1}


@dataclass(frozen=True)
class Planned:
    """A cell with everything that holding it needs."""

    cell: Cell
    scenario: Scenario
    settings: Settings
    origin: Origin | None = None


@dataclass(frozen=True)
class Plan:
    """What an experiment is to hold.

    Attributes:
        experiment: its file.
        axes: what is varied.
        tasks: ids of the tasks of each round.
        cells: in order of the grid; equal ones once.
        combinations: all combinations, before exclusions and before equal ones were joined.
        notes: labels that readers of the tables may take for something else, a sentence each.
    """

    experiment: Experiment
    axes: Sequence[Axis]
    tasks: Sequence[Sequence[str]]
    cells: Sequence[Planned]
    combinations: int
    notes: Sequence[str] = ()


def canonical(value: Any) -> bytes:
    """Data as JSON that is the same for the same data: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def identity(value: Any) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of data in canonical form."""
    return hashlib.sha256(canonical(value)).hexdigest()[:12]


def shaping(settings: Settings) -> dict[str, Any]:
    """The settings that shape a conversation and are not at the defaults of its mode, without keys and passwords.

    The mode itself shapes wherever it is not the usual one.

    Those that its baseline does not heed shape nothing, nor does how to prune if nothing is left out.
    """
    given, usual = settings.model_dump(mode="json"), {**defaults(settings.mode), "mode": MODES[0]}
    without = unheeded(dict(settings))
    if not settings.pruning.active:
        without |= {"pruning"}
    return public({name: given[name] for name in SHAPING if given.get(name) != usual.get(name) and name not in without})


@cache
def defaults(mode: str) -> Mapping[str, Any]:
    """All settings of a mode at their defaults."""
    return Settings.model_validate({"mode": mode}).model_dump(mode="json")


def plan(experiment: Experiment, *, many: bool = False) -> Plan:
    """Make the cells of an experiment; asks no model.

    Args:
        experiment: its file.
        many: whether more than `MOST_CELLS` cells are meant.

    Raises:
        InputError: what the file says is wrong, a combination cannot be held, or there are too many.
    """
    start = start_of(experiment)
    axes = axes_of(experiment, [persona.name for persona in start.scenario.participants])
    tasks = experiment.all_tasks()
    _check_names(experiment, axes)
    drawn = _drawn(experiment, tasks)
    number = math.prod(len(axis.levels) for axis in axes) * sum(map(len, drawn))
    if number > MOST_CELLS and not many:
        factors = [f"{len(axis.levels)} ({axis.name})" for axis in axes]
        factors += [f"{sum(map(len, drawn))} (tasks and rounds)"] if tasks else []
        raise InputError(
            f"the grid has {number:,} cells: {' × '.join(factors)}",
            where=experiment.where("grid"),
            remedy=f"Vary less, exclude some, or allow more than {MOST_CELLS:,} with --many.",
        )
    _check_wordings(experiment, axes, tasks)
    scenarios = _scenarios(experiment, start.scenario, (task for each in drawn for task in each))
    found: dict[str, Planned] = {}
    also: dict[str, list[dict[str, Label]]] = {}
    for levels in itertools.product(*(axis.levels for axis in axes)):
        labels = {axis.name: level.label for axis, level in zip(axes, levels, strict=True)}
        if any(all(labels[name] == value for name, value in out.items()) for out in experiment.exclude):
            continue
        for held in _cells(experiment, start, scenarios, levels, labels, drawn):
            if found.setdefault(held.cell.id, held) is not held:
                also.setdefault(held.cell.id, []).append(labels)
    if not found:
        where = experiment.where("exclude")
        raise InputError("every combination is excluded", where=where, remedy="Leave out fewer.")
    cells = [
        replace(each, cell=each.cell.model_copy(update={"also": also[name]})) if name in also else each
        for name, each in found.items()
    ]
    notes = [note for axis in axes for note in misread(f"axis {axis.name}: level", (one.label for one in axis.levels))]
    notes += misread("task", (task.id for each in drawn for task in each if task))
    notes += misread("participant", (person.name for each in cells for person in each.scenario.participants))
    return Plan(experiment, axes, [[task.id for task in each if task] for each in drawn], cells, number, notes)


def _drawn(experiment: Experiment, tasks: Sequence[Task]) -> list[list[Task | None]]:
    """The tasks of each round, in order of listing."""
    if experiment.tasks is None:
        return [[None]]
    if experiment.tasks.draws is not None:
        by_id = {task.id: task for task in tasks}
        return [[by_id[id_] for id_ in draw] for draw in experiment.tasks.draws]
    rounds: list[list[Task | None]] = []
    for number in range(1, experiment.tasks.rounds + 1):
        draw = random.Random(f"{experiment.name}/{experiment.tasks.seed}/{number}")
        size = experiment.tasks.sample
        chosen = sorted(draw.sample(range(len(tasks)), size)) if size is not None else range(len(tasks))
        rounds.append([tasks[place] for place in chosen])
    return rounds


def _check_names(experiment: Experiment, axes: Sequence[Axis]) -> None:
    """Refuse exclusions and comparisons that name what is not varied."""
    levels = {axis.name: [level.label for level in axis.levels] for axis in axes}
    named: list[tuple[tuple[str | int, ...], Mapping[str, Any]]] = [
        (("exclude", number), out) for number, out in enumerate(experiment.exclude)
    ]
    for number, wanted in enumerate(experiment.compare):
        reference = {} if wanted.reference is None else {wanted.by: wanted.reference}
        named.append((("compare", number), {**wanted.within, **reference}))
        _check_axis(experiment, wanted.by, levels, "compare", number)
    for place, pairs in named:
        if not pairs and place[0] == "exclude":
            raise InputError("the exclusion names no axis", where=experiment.where(*place), remedy="Name one.")
        for name, label in pairs.items():
            _check_axis(experiment, name, levels, *place)
            if label not in levels[name]:
                raise InputError(
                    f"axis {name} has no level {label!r}",
                    where=experiment.where(*place),
                    remedy=f"It has: {', '.join(map(str, levels[name]))}.",
                )


def _check_axis(experiment: Experiment, name: str, levels: Mapping[str, Any], *place: str | int) -> None:
    if name not in levels:
        remedy = f"The grid has: {', '.join(levels)}." if levels else "Put it into the grid."
        raise InputError(f"{name!r} is no axis of the grid", where=experiment.where(*place), remedy=remedy)


def _check_wordings(experiment: Experiment, axes: Sequence[Axis], tasks: Sequence[Task]) -> None:
    for level in (level for axis in axes for level in axis.levels):
        if tasks and level.wording is not None and "{topic}" not in level.wording:
            raise InputError(
                f"wording {level.label} would replace the topics of all tasks by one",
                where=experiment.where("grid", "wording", str(level.label)),
                remedy="Write {topic} in it where the task's topic is to stand.",
            )


def _cells(
    experiment: Experiment,
    start: Start,
    scenarios: Mapping[str, Scenario],
    levels: Sequence[Level],
    labels: Mapping[str, Label],
    drawn: Sequence[Sequence[Task | None]],
) -> Iterator[Planned]:
    """The cells of one combination of levels, one a task and round."""
    settled: dict[bytes, tuple[Scenario, Settings]] = {}
    origin: Origin | None = None
    changed: Mapping[str, Any] = {}
    try:
        for task in (task for tasks in drawn for task in tasks):
            if _key(task) in settled:
                continue
            changes = _changes(experiment, levels, task.settings if task else {})
            if start.run is not None:
                found, origin = branched(experiment, start.run, levels, changes)
                settled[_key(task)], changed = (found.scenario, found.settings), found.changed
            else:
                scenario = patched(experiment, scenarios[task.id if task else ""], levels)
                settled[_key(task)] = scenario, _settings(scenario, changes)
    except InputError as error:
        if error.where.startswith(ENVIRONMENT):
            raise
        shown = ", ".join(f"{name}: {label}" for name, label in labels.items()) or "the base"
        raise InputError(
            f"cell ({shown}) cannot be held: {error.what}",
            where=_in_file(experiment, error.where, "grid" if labels else "base"),
            remedy=f"{error.remedy} Or leave it out: exclude: [{{{shown}}}].".strip() if labels else error.remedy,
        ) from None
    for number, tasks in enumerate(drawn, start=1):
        for task in tasks:
            made = _cell(*settled[_key(task)], levels, labels, task, number)
            yield made if origin is None else _of_branch(made, origin, changed)


def _scenarios(experiment: Experiment, base: Scenario, tasks: Iterable[Task | None]) -> dict[str, Scenario]:
    """The scenario from which the cells of each task start, by its id; of the base's own topic, by none.

    Raises:
        InputError: what a task replaces is wrong.
    """
    found: dict[str, Scenario] = {}
    for task in tasks:
        if task is None or not task.scenario:
            found[task.id if task else ""] = base
            continue
        if task.id in found:
            continue
        try:
            found[task.id] = patched(experiment, base, [Level(task.id, scenario=task.scenario)])
        except InputError as error:
            raise InputError(
                f"task {task.id} cannot be held: {error.what}",
                where=_in_file(experiment, error.where, "tasks"),
                remedy=error.remedy,
            ) from None
    return found


def _key(task: Task | None) -> bytes:
    """What tasks of equal settings and scenario have in common."""
    return canonical([task.settings, task.id if task.scenario else ""]) if task else b""


def _in_file(experiment: Experiment, where: str, field: str) -> str:
    """A place in words, with that in the experiment's file before it, if it is not there already."""
    own = experiment.where(field)
    source = own.partition(",")[0].partition(":")[0]
    return where if where.startswith(source) else ", ".join(filter(None, [own, where]))


def _of_branch(planned: Planned, origin: Origin, changed: Mapping[str, Any]) -> Planned:
    """A cell that begins as a branch: its content is the run, the turn, and what is changed there."""
    branch: dict[str, Any] = {"run": origin.run, "at": origin.turn, "say": list(origin.say) if origin.say else None}
    if origin.choose:
        branch["choose"] = list(origin.choose)
    settings = {name: value for name, value in public(changed).items() if name in SHAPING}
    content = {"branch": branch, "settings": settings, **_of_packages(planned.settings)}
    cell = planned.cell.model_copy(update={"id": identity(content), "branch": branch})
    return replace(planned, cell=cell, origin=origin)


def _changes(experiment: Experiment, levels: Sequence[Level], own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the file gives a combination: its preset's < its base's < the task's < those of the levels."""
    preset = experiment.paper.preset.settings if experiment.paper else {}
    given = {**preset, **experiment.base.settings, **own}
    for level in levels:
        if level.settings.get("baseline") is not None:
            given.pop("pattern", None)
        given |= level.settings
    taken = [name for name in BUDGETS if given.get(name) is not None]
    if taken:
        raise InputError(
            f"{taken[0]} would limit each conversation by itself",
            where=experiment.where("base", "settings"),
            remedy=f"Write it under limits, for all of them together: limits: {{{taken[0]}: …}}.",
        )
    return {**given, **dict.fromkeys(BUDGETS)}


def _settings(scenario: Scenario, changes: Mapping[str, Any]) -> Settings:
    """The settings of a combination: the scenario's < the environment's < the file's."""
    settings = load_settings(scenario=scenario.settings, **changes)
    settings = settings.model_copy(update={"model": default_model_name(settings.model)[0], **dict.fromkeys(BUDGETS)})
    return with_full_names(settings, [persona.name for persona in scenario.participants])


def _of_packages(settings: Settings) -> dict[str, Any]:
    """What modules of packages ask, if minds have any: by the same name it may be something else tomorrow."""
    made = [own_module(name) for name in settings.modules]
    return {"modules": [[module.TASK, module.model_json_schema()] for module in made]} if made else {}


def _cell(
    scenario: Scenario,
    settings: Settings,
    levels: Sequence[Level],
    labels: Mapping[str, Label],
    task: Task | None,
    number: int,
) -> Planned:
    topic = task.topic if task is not None else scenario.topic
    for level in levels:
        if level.wording is not None:
            topic = level.wording.replace("{topic}", topic)
    scenario = scenario.model_copy(update={"topic": topic})
    kept = shaping(settings)
    content: dict[str, Any] = {
        "scenario": scenario.model_dump(mode="json", by_alias=True, exclude={"settings"}, exclude_defaults=True),
        "settings": kept,
        **_of_packages(settings),
    }
    if task is not None:
        content |= {"task": task.id, "round": number}
    cell = Cell(
        id=identity(content),
        axes=dict(labels),
        task=task.id if task is not None else "",
        category=task.category if task is not None else "",
        round=number,
        topic=topic,
        answer=task.answer if task is not None else None,
        settings=kept,
    )
    return Planned(cell, scenario, settings)
