"""A file becomes cells: ids by content, each combination once, tasks drawn by seed; what is wrong is refused."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from fixtures import Refused
from small_experiment import SMALL, Make

from persimchat.experiments.estimate import estimates
from persimchat.experiments.plan import canonical, identity, plan
from persimchat.state.errors import InputError

CATEGORIES = (
    "generic",
    "knowledge",
    "roleplay",
    "commonsense",
    "fermi",
    "counterfactual",
    "writing",
    "controversial",
)
TASKS = {"list": [{"id": f"t{n}", "topic": f"Topic {n}?"} for n in range(10)]}


def labels(planned: Any) -> list[dict[str, Any]]:
    return [each.cell.axes for each in planned.cells]


def test_the_id_of_known_content():
    assert canonical({"b": "č", "a": 1}) == '{"a":1,"b":"č"}'.encode()
    assert identity({"a": 1, "b": "č"}) == "52f0e9c70d2a"


def test_every_combination_is_a_cell(make: Make):
    planned = plan(make())
    assert labels(planned) == [
        {"method": method, "seed": seed} for method in ("need_to_talk", "round_robin") for seed in (0, 1)
    ]
    assert len({each.cell.id for each in planned.cells}) == 4
    assert planned.cells[2].settings.pattern == "round_robin"
    assert planned.cells[3].settings.seed == 1


def test_ids_depend_on_what_shapes_a_conversation_alone(make: Make):
    def ids(**settings: Any) -> list[str]:
        base = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline", **settings}}
        return [each.cell.id for each in plan(make(base=base)).cells]

    assert ids() == ids(timeout_s=7, concurrent=False, requests_per_second=3, max_concurrency=2, store="memories")
    assert not set(ids()) & set(ids(utterance_words=99))


def test_a_default_written_out_changes_no_id(make: Make):
    plain = [each.cell.id for each in plan(make()).cells]
    spelt = make(grid={"method": ["need_to_talk", "round_robin"], "seed": [0, 1], "memory_filtering": [False]})
    assert [each.cell.id for each in plan(spelt).cells] == plain


def test_equal_cells_are_held_once(make: Make):
    planned = plan(make(grid={"variant": {"Base": {}, "Same": {"memory_filtering": False}}}))
    assert (planned.combinations, labels(planned)) == (2, [{"variant": "Base"}])


def test_a_method_is_a_pattern_or_a_baseline(make: Make):
    first, second = plan(make(grid={"method": ["selector", "single_agent"]})).cells
    assert (first.settings.pattern, first.settings.baseline) == ("selector", None)
    assert second.settings.baseline == "single_agent"


def test_a_variant_sets_and_patches(make: Make):
    goals = {"social_goals": {"Jarmila": ["Keep the tea."]}, "rules": ["Be brief."]}
    base, patched = plan(make(grid={"variant": {"Base": {}, "Goals": {"scenario": goals}}})).cells
    assert base.scenario.rules == []
    assert patched.scenario.rules == ["Be brief."]
    assert list(patched.scenario.social_goals.values()) == [["Keep the tea."]]


def test_wordings_and_orders(make: Make):
    grid = {"wording": {"asked": "", "other": "Or cocoa? {topic}"}, "order": ["listed", "reversed", {"shuffled": 2}]}
    cells = plan(make(grid=grid)).cells
    assert {each.cell.topic for each in cells} == {"Tea or coffee?", "Or cocoa? Tea or coffee?"}
    names = {each.cell.axes["order"]: [person.name for person in each.scenario.participants] for each in cells}
    assert names["reversed"] == names["listed"][::-1]


def test_tasks_are_drawn_by_seed(make: Make):
    planned = plan(make(grid={}, tasks={**TASKS, "sample": 3, "rounds": 2, "seed": 7}))
    first = sorted(random.Random("small/7/1").sample(range(10), 3))
    assert [list(each) for each in planned.tasks][0] == [f"t{n}" for n in first]
    assert len(planned.cells) == 6
    assert {each.cell.round for each in planned.cells} == {1, 2}
    assert random.Random("gsm8k/7/1").sample(range(10), 3) == [5, 2, 6]


def test_exclusions(make: Make):
    planned = plan(make(exclude=[{"method": "round_robin", "seed": 1}]))
    assert {"method": "round_robin", "seed": 1} not in labels(planned)
    assert len(planned.cells) == 3


def test_too_many_cells_are_written_out(make: Make, refused: Refused):
    grid = {"seed": {"from": 0, "count": 101}, "utterance_words": list(range(10, 110))}
    refused(lambda: plan(make(grid=grid)), "10,100 cells", "101 (seed) × 100 (utterance_words)", "--many")


BASE = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"]}
WRONG: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"grid": {"memroy_filtering": [True]}}, ("'memroy_filtering'", "small.yaml", "grid", "'memory_filtering'?")),
    ({"grid": {"variant": {"A": {"sed": 1}}}}, ("no setting 'sed'", "grid.variant.A", "'seed'?")),
    (
        {"grid": {"method": ["mad"], "seed": [3]}},
        ("cell (method: mad, seed: 3)", "mode=debate", "exclude: [{method: mad, seed: 3}]"),
    ),
    ({"grid": {"method": ["round_robbin"]}}, ("'round_robbin'", "'round_robin'?")),
    ({"grid": {"utterance_words": [0]}}, ("cell (utterance_words: 0)", "utterance_words")),
    ({"grid": {"seed": {"from": 0, "count": 10**9}}}, ("1,000,000,000 levels are too many", "grid.seed")),
    ({"grid": {"order": [{"shuffled": 10**9}]}}, ("levels are too many", "grid.order")),
    ({"grid": {"seed": {"from": 0}}}, ("from and count", "grid.seed")),
    ({"grid": {"seed": []}}, ("no levels",)),
    ({"grid": {"seed": [1, 1]}}, ("level 1 twice",)),
    ({"grid": {"order": ["backwards"]}}, ("'backwards'", "reversed")),
    ({"grid": {"variant": {"A": {"scenario": {"topics": "?"}}}}}, ("field of a scenario 'topics'", "'topic'?")),
    ({"base": {**BASE, "settings": {"sed": 1}}}, ("small.yaml:", "base.settings.sed", "'seed'?")),
    ({"base": {**BASE, "settings": {"budget_calls": 9}}}, ("budget_calls", "limits")),
    ({"base": {**BASE, "participants": ["Jarmila", "Nobody At All"]}}, ("small.yaml", "Nobody At All")),
    ({"base": {**BASE, "participants": ["Jarmila", {"name": "P", "human": True}]}}, ("P is a person", "human: true")),
    ({"base": {**BASE, "scenario": "x.yaml"}}, ("a scenario file and participants",)),
    ({"base": {}}, ("the base has no topic",)),
    ({"base": {"scenario": "missing.yaml"}}, ("no such file", "missing.yaml")),
    ({"name": "a/b"}, ("name", "small.yaml:1")),
    ({"tasks": {**TASKS, "sample": 11}}, ("small.yaml:", "11 tasks", "there are 10", "tasks.sample")),
    ({"tasks": {"list": [TASKS["list"][0]] * 2}}, ("two tasks have the id 't0'", "tasks.list[1]")),
    ({"tasks": {"list": [{"id": "a", "topic": ""}]}}, ("small.yaml:", "tasks.list[0].topic")),
    ({"tasks": {}}, ("either a file or a list",)),
    ({"tasks": TASKS, "grid": {"wording": {"other": "Cocoa?"}}}, ("wording other", "{topic}")),
    ({"exclude": [{"model": "x"}]}, ("'model' is no axis", "exclude")),
    ({"exclude": [{"seed": 5}]}, ("no level 5", "0, 1")),
    ({"exclude": [{"seed": 0}, {"seed": 1}]}, ("every combination is excluded",)),
    ({"compare": [{"by": "model"}]}, ("'model' is no axis", "compare")),
    ({"compare": [{"by": "method", "reference": "x"}]}, ("axis method has no level 'x'",)),
    ({"limits": {"cells": 0}}, ("limits.cells", "1 to 1000")),
    ({"limts": {}}, ("limts", "'limits'?")),
    ({"tasks": {"file": "missing.yaml"}}, ("no such file", "missing.yaml")),
    ({"grid": {"variant": {"A": {"scenario": {"rulez": []}}}}}, ("'rulez'", "grid.variant.A.scenario", "'rules'?")),
    ({"grid": {"variant": {"A": {"scenario": {"social_goals": {"Jarmilla": ["x"]}}}}}}, ("'Jarmilla'", "Jarmila")),
    (
        {"grid": {"variant": {"A": {"scenario": {"participants": {"Jarmila": {"trait": ["x"]}}}}}}},
        ("cell (variant: A)", "'trait'", "small.yaml", "'traits'?"),
    ),
    ({"grid": {"variant": {"A": {"scenario": {"relationships": [{"form": "Jarmila"}]}}}}}, ("'form'", "'from'?")),
    ({"grid": {"variant": {"A": {"scenario": {"participants": {"Jarmila": 1}}}}}}, ("is not a mapping", "null")),
    ({"grid": {"variant": {"A": {"say": "Jarmila: No."}}}}, ("says something", "only a branch")),
    ({"grid": {"x": {"each": "agents", "seed": 1}}}, ("each: agents", "each: participants")),
    ({"grid": {"x": {"each": "participants", "utterance_words": 9}}}, ("{participant} stands nowhere", "axis x")),
    ({"grid": {"x": {"each": "participants", "sed": "{participant}"}}}, ("no setting 'sed'", "'seed'?")),
    ({"grid": {"variannt": {"A": {}}}}, ("'variannt'", "'variant'?")),
    ({"base": {"branch": {"run": "no-such-run", "at": 1}}}, ("no run 'no-such-run'", "base.branch.run")),
    ({"base": {"branch": {"run": "latest", "at": 1}}}, ("latest run", "id or its folder")),
    ({"base": {**BASE, "branch": {"run": "x", "at": 1}}}, ("a branch and participants",)),
    ({"base": {"branch": {"run": "x", "at": 1}}, "tasks": TASKS}, ("tasks give topics",)),
]


@pytest.mark.parametrize(("fields", "words"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_what_is_wrong_is_named(make: Make, refused: Refused, fields: dict[str, Any], words: tuple[str, ...]):
    refused(lambda: plan(make(**fields)), *words)


def test_tasks_with_settings_and_draws_of_their_own(make: Make):
    """Each task brings the form of its answer; a task that is drawn in two rounds is two cells."""
    numbers = {"id": "rolls", "topic": "How many rolls?", "answer": "3", "settings": {"answer_format": "number"}}
    choice = {"answer_format": "choice", "choices": ["Brno", "Lviv"]}
    towns = {"id": "towns", "topic": "Which town?", "answer": "Lviv", "settings": choice}
    base = {**SMALL["base"], "settings": {"mode": "debate", "model": "offline", "max_messages": 3}}
    tasks = {"list": [numbers, towns], "draws": [["rolls", "towns"], ["rolls"]]}
    planned = plan(make(base=base, grid={"method": ["mad"]}, tasks=tasks))
    found = [(c.cell.task, c.cell.round, c.settings.answer_format, c.settings.choices) for c in planned.cells]
    assert found == [
        ("rolls", 1, "number", []),
        ("towns", 1, "choice", ["Brno", "Lviv"]),
        ("rolls", 2, "number", []),
    ]
    assert len({c.cell.id for c in planned.cells}) == 3
    with pytest.raises(InputError, match="there is no task 'towms'.*Did you mean 'towns'"):
        plan(make(base=base, tasks={**tasks, "draws": [["towms"]]}))
    with pytest.raises(InputError, match="draws need no sample"):
        make(base=base, tasks={**tasks, "sample": 1})
    with pytest.raises(InputError, match="there is no setting|unknown|answer_from"):
        plan(make(base=base, tasks={"list": [{**numbers, "settings": {"answer_from": "number"}}]}))


def test_a_discussion_and_a_debate_that_differ_in_nothing_else_are_two_cells(make: Make):
    """The defaults of a mode hide what it sets, but not the mode."""
    planned = plan(
        make(base={"topic": "Tea?", "settings": {"max_messages": 4}}, grid={"mode": ["discussion", "debate"]})
    )
    assert [each.cell.settings.get("mode") for each in planned.cells] == [None, "debate"]
    assert len({each.cell.id for each in planned.cells}) == 2


def test_the_shipped_tasks(make: Make):
    """Forty topics, five a category; every one of them becomes a cell."""
    found = make(tasks={"file": "shipped"}, grid={}).all_tasks()
    assert len({task.id for task in found}) == len({task.topic for task in found}) == 40
    assert Counter(task.category for task in found) == dict.fromkeys(CATEGORIES, 5)
    planned = plan(make(base={**BASE, "topic": None}, tasks={"file": "shipped", "sample": 30}, grid={})).cells
    assert len({each.cell.topic for each in planned}) == 30


def test_settings_that_a_baseline_does_not_heed_are_not_varied(make: Make):
    """It is held once, and stands for all their levels."""
    grid = {"method": ["need_to_talk", "single_agent"], "memory_tokens": [200, 400], "seed": [0, 1]}
    planned = plan(make(grid=grid))
    assert (planned.combinations, len(planned.cells)) == (8, 6)
    once = [each.cell for each in planned.cells if each.cell.axes["method"] == "single_agent"]
    assert [cell.not_varied for cell in once] == [{"memory_tokens": [200, 400]}] * 2
    assert once[0].also == [{"method": "single_agent", "memory_tokens": 400, "seed": 0}]
    assert not any(each.cell.not_varied for each in planned.cells if each.cell not in once)


def test_a_level_a_participant(make: Make):
    """The names of the base's participants come in the place of {participant}, in keys and in texts."""
    goals = {"social_goals": {"{participant}": ["{participant} wants tea."]}}
    grid = {"leader": {"each": "participants", "none": "nobody", "utterance_words": 20, "scenario": goals}}
    nobody, jarmila, zeynep = plan(make(grid=grid)).cells
    assert nobody.cell.axes == {"leader": "nobody"} and nobody.scenario.social_goals == {}
    name = jarmila.scenario.participants[0].name
    assert jarmila.cell.axes == {"leader": name}
    assert jarmila.scenario.social_goals == {name: [f"{name} wants tea."]}
    assert jarmila.settings.utterance_words == 20
    assert list(zeynep.scenario.social_goals) == [zeynep.scenario.participants[1].name]


def test_each_participant_may_be_left_out(make: Make):
    """With what concerns them: goals, relationships and models."""
    base = {
        **BASE,
        "participants": ["Jarmila", "Zeynep", "Rowan"],
        "relationships": [{"from": "Jarmila", "to": "Zeynep", "type": "friend"}],
        "social_goals": {"Jarmila": ["Keep the tea."]},
    }
    grid = {"without": {"each": "participants", "scenario": {"participants": {"{participant}": None}}}}
    jarmila, zeynep, rowan = plan(make(base=base, grid=grid)).cells
    assert [len(each.scenario.participants) for each in (jarmila, zeynep, rowan)] == [2, 2, 2]
    assert (jarmila.scenario.relationships, jarmila.scenario.social_goals) == ([], {})
    assert (zeynep.scenario.relationships, len(zeynep.scenario.social_goals)) == ([], 1)
    assert len(rowan.scenario.relationships) == 1


def test_a_patch_is_merged_and_null_takes_out(make: Make):
    base = {**BASE, "social_goals": {"Jarmila": ["Keep the tea."]}, "rules": ["Be brief."]}
    variants = {
        "More": {"scenario": {"social_goals": {"Zeynep": ["Get coffee."]}}},
        "Other": {"scenario": {"social_goals": {"Jarmila": None}, "rules": None}},
        "Older": {"scenario": {"participants": {"Jarmila": {"characteristics": {"age": 90}, "traits": ["wry"]}}}},
    }
    more, other, older = (each.scenario for each in plan(make(base=base, grid={"variant": variants})).cells)
    assert list(more.social_goals.values()) == [["Keep the tea."], ["Get coffee."]]
    assert (other.social_goals, other.rules) == ({}, [])
    jarmila = older.participants[0]
    assert (jarmila.age, jarmila.traits) == (90, ["wry"])
    assert jarmila.characteristics.keys() == more.participants[0].characteristics.keys()
    assert jarmila.description == more.participants[0].description


# Tasks with people of their own, axes inside of groups of settings, and what pruning makes equal


PEOPLE = [
    {"name": "Ada Lind", "description": "Keeps bees."},
    {"name": "Bo Vik", "description": "Is afraid of bees."},
]
TASKS_OF_TASKS_WITH_PEOPLE = {
    "list": [
        {"id": "bees", "topic": "May bees live on the roof?", "scenario": {"participants": PEOPLE, "rules": ["Stay."]}},
        {"id": "tea", "topic": "Tea or coffee?"},
    ]
}


def test_a_task_may_have_its_own_people(make: Make):
    (bees, tea) = plan(make(grid={"seed": [0]}, tasks=TASKS_OF_TASKS_WITH_PEOPLE)).cells
    assert [person.name for person in bees.scenario.participants] == ["Ada Lind", "Bo Vik"]
    assert (bees.scenario.rules, bees.scenario.topic) == (["Stay."], "May bees live on the roof?")
    assert [person.name for person in tea.scenario.participants] == ["Jarmila Dvořáčková", "Zeynep Aydoğan"]
    assert bees.cell.id != tea.cell.id


def test_levels_are_patched_onto_the_task_s_scenario(make: Make):
    variants = {"Base": {}, "Older": {"scenario": {"rules": ["Whisper."]}}}
    tasks = {"list": TASKS_OF_TASKS_WITH_PEOPLE["list"][:1]}
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
def test_a_wrong_scenario_of_a_task_is_refused(make: Make, scenario: Any, says: str, refused: Refused):
    tasks = {"list": [{"id": "bees", "topic": "Bees?", "scenario": scenario}]}
    refused(lambda: plan(make(tasks=tasks)), says, "small.yaml")


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
def test_a_wrong_dotted_name_is_refused(make: Make, grid: Any, says: str, refused: Refused):
    refused(lambda: plan(make(grid=grid)), says, "small.yaml")


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


# Labels as readers of tables take them


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"utterance_words": [30, "30"]}, ('30 and "30"', "utterance_words")),
        ({"utterance_words": [30, 30.0]}, ("30 and 30.0",)),
        ({"utterance_words": ["30", 30.0]}, ('"30" and 30.0',)),
        ({"model": ["offline", "offline "]}, ('"offline" and "offline "', "look one", "grid.model")),
        ({"variant": {"caf\u00e9": {}, "cafe\u0301": {"utterance_words": 9}}}, ("look one",)),
    ],
)
def test_levels_that_are_one_or_look_one_are_refused(make: Make, refused: Refused, grid: Any, words: tuple[str, ...]):
    refused(lambda: plan(make(grid=grid)), *words)


def test_numbers_and_words_that_differ_are_levels(make: Make):
    assert len(plan(make(grid={"seed": [2**60, 2**60 + 1]})).cells) == 2
    assert len(plan(make(grid={"variant": {"1.1": {}, "1.10": {"utterance_words": 9}}})).cells) == 2


def test_labels_that_readers_take_for_something_else_are_told(make: Make):
    assert not plan(make()).notes
    variants = {name: {"utterance_words": number} for number, name in enumerate(("1.1", "1.10", "NA"), 5)}
    base = {
        "topic": "Tea?",
        "participants": [{"name": "None", "description": "x"}, "Zeynep"],
        "settings": {"model": "offline"},
    }
    grid = {"variant": variants, "context_tokens": [None, 8000]}
    tasks = {"list": [{"id": "nan", "topic": "Tea?"}, {"id": "007", "topic": "Coffee?"}]}
    notes = plan(make(grid=grid, base=base, tasks=tasks)).notes
    told = [note.partition(" by pandas")[0] for note in notes]
    assert told == [
        "axis variant: level 'NA' is read as missing",
        "axis variant: level '1.1', '1.10' is read as a number",
        "axis context_tokens: level null is read as missing",
        "task 'nan' is read as missing",
        "task '007' is read as a number",
        "participant 'None' is read as missing",
    ]


def test_a_wrong_environment_variable_is_no_bad_grid(make: Make, refused: Refused, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERSIMCHAT_UTTERANCE_WORDS", "many")
    said = refused(lambda: plan(make()), "environment variable PERSIMCHAT_UTTERANCE_WORDS", "utterance_words")
    assert "cannot be held" not in said and "exclude" not in said and "grid" not in said
