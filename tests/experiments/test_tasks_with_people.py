"""Tasks with people of their own, axes inside of groups of settings, and what pruning makes equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from persimchat.experiments import Experiment
from persimchat.experiments.needs import estimates
from persimchat.experiments.plan import plan
from persimchat.state.errors import InputError

Make = Callable[..., Experiment]
PEOPLE = [
    {"name": "Ada Lind", "description": "Keeps bees."},
    {"name": "Bo Vik", "description": "Is afraid of bees."},
]
TASKS = {
    "list": [
        {"id": "bees", "topic": "May bees live on the roof?", "scenario": {"participants": PEOPLE, "rules": ["Stay."]}},
        {"id": "tea", "topic": "Tea or coffee?"},
    ]
}


def test_a_task_may_have_its_own_people(make: Make):
    (bees, tea) = plan(make(grid={"seed": [0]}, tasks=TASKS)).cells
    assert [person.name for person in bees.scenario.participants] == ["Ada Lind", "Bo Vik"]
    assert (bees.scenario.rules, bees.scenario.topic) == (["Stay."], "May bees live on the roof?")
    assert [person.name for person in tea.scenario.participants] == ["Jarmila Dvořáčková", "Zeynep Aydoğan"]
    assert bees.cell.id != tea.cell.id


def test_levels_are_patched_onto_the_task_s_scenario(make: Make):
    variants = {"Base": {}, "Older": {"scenario": {"rules": ["Whisper."]}}}
    tasks = {"list": TASKS["list"][:1]}
    base, older = plan(make(grid={"variant": variants}, tasks=tasks)).cells
    assert (base.scenario.rules, older.scenario.rules) == (["Stay."], ["Whisper."])
    assert older.scenario.participants == base.scenario.participants


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        ({"topic": "Another"}, "scenario='topic' is nothing that a task replaces"),
        ({"place": "Here"}, "Write participants, relationships"),
        ({"participants": PEOPLE[:1]}, "task bees cannot be held"),
        ({"relationships": [{"from": "Ada", "to": "Bo", "type": "friend"}]}, "task bees cannot be held"),
    ],
)
def test_a_wrong_scenario_of_a_task_is_refused(make: Make, scenario: Any, says: str):
    with pytest.raises(InputError, match=says) as error:
        plan(make(tasks={"list": [{"id": "bees", "topic": "Bees?", "scenario": scenario}]}))
    assert "small.yaml" in str(error.value) and error.value.remedy


def test_an_axis_reaches_inside_a_group(make: Make):
    grid = {"pruning.lambda": [0.3, 0.6], "variant": {"random": {"pruning.method": "random"}, "length": {}}}
    base = {"topic": "Tea?", "settings": {"model": "offline", "pruning": {"method": "length"}}}
    found = [cell.settings.pruning for cell in plan(make(base=base, grid=grid)).cells]
    assert [(one.strength, one.method) for one in found] == [
        (0.3, "random"), (0.3, "length"), (0.6, "random"), (0.6, "length"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        ({"prunning.lambda": [0.3]}, "no axis or setting"),
        ({"pruning.lamda": [0.3]}, "unknown setting 'pruning.lamda'"),
        ({"pruning.lambda": [1.5]}, "lambda"),
        ({"variant": {"x": {"max_messages.y": 1}}}, "has no parts"),
    ],
)
def test_a_wrong_dotted_name_is_refused(make: Make, grid: Any, says: str):
    with pytest.raises(InputError, match=says) as error:
        plan(make(grid=grid))
    assert "small.yaml" in str(error.value)


def test_without_pruning_how_to_prune_makes_no_difference(make: Make):
    base = {"topic": "Tea?", "settings": {"model": "offline"}}
    grid = {"pruning.lambda": [0.0, 0.6], "pruning.method": ["length", "random"], "pruning.fill": ["skip", "reach"]}
    made = plan(make(base=base, grid=grid))
    assert (made.combinations, len(made.cells)) == (8, 5)
    assert made.cells[0].cell.not_varied == {"pruning.method": ["length", "random"], "pruning.fill": ["skip", "reach"]}
    assert "pruning" not in made.cells[0].cell.settings


def test_cells_that_leave_out_more_or_less_are_estimated_as_one(make: Make):
    base = {"topic": "Tea?", "settings": {"model": "offline", "cognition": "fixed", "max_messages": 4}}
    variants = {
        "little": {"pruning.lambda": 0.3, "model_temperature": 0.2},
        "much": {"pruning.lambda": 0.9, "prompt_order": "cepmrnb"},
        "first responses": {"pruning.lambda": 0.9, "pruning.query": "response", "pruning.responses": 2},
    }
    made = plan(make(base=base, grid={"variant": variants}))
    found = estimates(made)
    little, much, first = (found[each.cell.id] for each in made.cells)
    assert little is much
    assert first.total.calls == 3 * little.total.calls
