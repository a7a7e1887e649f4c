"""Diversity in experiments: cells that differ in the seed are a case, settings stand side by side."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from experiment_tables import rows
from run_folders import mind, utterance, write_events, write_run
from small_experiment import SMALL, Make, report_of
from typer.testing import CliRunner

from persimchat.app.cli import app
from persimchat.evaluation.diversity.measuring import MEASURES
from persimchat.evaluation.published.figures import figures
from persimchat.evaluation.statistics.claims import family, paired
from persimchat.experiments import Experiment, arun_experiment, run_experiment
from persimchat.experiments.api import Results, prepare, report_on
from persimchat.experiments.place import Place
from persimchat.experiments.plan import Cell, Planned, plan
from persimchat.experiments.report_diversity import CAUTION, direction_of, published_shown, studied

TASKS = {"list": [{"id": "tea", "topic": "Tea?"}, {"id": "milk", "topic": "Milk?"}]}
SAID = {"Full": ["a b a b", "a b c"], "Less": ["a b d", "c c"]}
"""By setting, the words of each seed: the examples computed by hand."""
GRID: dict[str, Any] = {
    "variant": {"Full": {}, "Less": {"pruning": {"lambda": 0.6, "method": "length"}}},
    "seed": [0, 1],
}
MEASURED = {"diversity": {"embedding": "lexical"}}
TWO_CASES: dict[str, Any] = {
    "grid": GRID,
    "tasks": TASKS,
    "base": {name: value for name, value in SMALL["base"].items() if name != "topic"},
    "measures": MEASURED,
}


def told(experiment: Experiment, out: Path, said: Callable[[Planned], list[str]], **about: Any) -> Results:
    """What is found where every cell was held and these words were said in it."""
    place, planned = Place(out / experiment.name), plan(experiment)
    with place.driven():
        place.keep(planned)
    for each in planned.cells:
        texts = said(each)
        if texts:
            names = [persona.name for persona in each.scenario.participants]
            lines = [utterance(turn, names[turn % 2], text) for turn, text in enumerate(texts, start=1)]
            pruned = {
                "turn": 1, "lambda": 0.6, "method": "length", "units": 2, "removed": 1, "words": 40,
                "words_removed": 10, "items": [],
            }  # fmt: skip
            minds = [mind(1, names[0], pruned=pruned)] if each.settings.pruning.active else []
            write_run(
                place.runs,
                lines,
                minds,
                run=each.cell.id,
                seed=each.settings.seed,
                scenario=each.scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True),
                settings=each.settings.model_dump(mode="json", by_alias=True),
                **about,
            )
    return report_on(experiment, place)


def by_hand(each: Planned) -> list[str]:
    return [SAID[str(each.cell.axes["variant"])][int(str(each.cell.axes["seed"]))]]


@pytest.mark.proof
def test_settings_stand_side_by_side(make: Make, tmp_path: Path):
    results = told(make(**TWO_CASES), tmp_path, by_hand)
    values = {(row["case"], row["setting"], row["measure"]): row for row in results.rows("diversity")}
    assert {case for case, _, _ in values} == {"tea", "milk"}
    for case in ("tea", "milk"):
        assert values[case, "Full", "dist_1"]["value"] == pytest.approx(3 / 7)
        assert values[case, "Less", "exclusive_2"]["value"] == pytest.approx(2 / 3)
        assert values[case, "Less", "words_left_out"]["value"] == 0.25
    row = values["tea", "Less", "dist_3_gain"]
    assert (row["variant"], row["task"], row["unit"], row["dialogues"], row["value"]) == ("Less", "tea", "case", 2, 0.0)
    means = {(row["setting"], row["measure"]): row for row in results.rows("diversity_settings")}
    less = means["Less", "dist_1"]
    assert (less["cases"], less["both"], less["reference"]) == (2, 2, "Full")
    assert less["difference"] == pytest.approx(4 / 5 - 3 / 7)
    assert (less["low"], less["shown"], less["method"]) == (None, None, "t")  # two equal cases
    assert rows(results.folder, "diversity")[0]["embedding"] == "lexical"
    diversity = results.tables.diversity
    assert diversity is not None
    assert diversity.values_by_levels()[("Less",), "dist_1"] == {"tea": 0.8, "milk": 0.8}


@pytest.mark.proof
def test_the_report_has_a_section(make: Make, tmp_path: Path):
    results = told(make(**TWO_CASES), tmp_path, by_hand)
    report = report_of(results)
    for words in (
        '<section class="card words-list" id="diversity"',
        "lexical: words, not meanings; not comparable with published sim",
        "Settings side by side, means over cases",
        "Efficiency: what leaving words out brings",
        "Differences from the reference, paired by case",
        "0.429",
        "tables/diversity_settings.csv",
    ):
        assert words in report
    codebook = (results.folder / "tables/codebook.md").read_text(encoding="utf-8")
    assert f"- `sim`: Of a case: {MEASURES['sim']}." in codebook
    assert "## diversity_settings" in codebook


@pytest.mark.proof
def test_axes_that_make_another_scenario_are_cases(make: Make, tmp_path: Path):
    grid = {
        "wording": {"plain": "", "polite": "Please: {topic}"},
        "model_temperature": [0.8, 1.0],
        "seed": [0, 1],
    }
    results = told(make(grid=grid, measures=MEASURED), tmp_path, lambda each: ["tea for two"])
    found = {(row["case"], row["setting"]) for row in results.rows("diversity")}
    temperatures = ("model_temperature=0.8", "model_temperature=1.0")
    assert found == {(f"wording={one}", setting) for one in ("plain", "polite") for setting in temperatures}
    assert {row["wording"] for row in results.rows("diversity")} == {"plain", "polite"}


@pytest.mark.proof
def test_levels_that_make_no_difference_stand_in_every_place(make: Make, tmp_path: Path):
    variants = {"Full": {}, "also": {"pruning": {"lambda": 0}}, "Less": GRID["variant"]["Less"]}
    grid = {"variant": variants, "seed": [0, 1]}
    results = told(make(grid=grid, measures=MEASURED), tmp_path, lambda each: [f"tea {each.settings.seed}"])
    values = {(row["setting"], row["measure"]): row["value"] for row in results.rows("diversity")}
    assert {setting for setting, _ in values} == {"Full", "also", "Less"}
    assert values["also", "exclusive_1"] == 0.0


def test_what_is_not_complete_does_not_count(make: Make, tmp_path: Path):
    results = told(
        make(grid=GRID, measures=MEASURED), tmp_path, lambda each: by_hand(each) if by_hand(each) != ["c c"] else []
    )
    values = {(row["setting"], row["measure"]): row for row in results.rows("diversity")}
    assert values["Full", "dist_1"]["missing"] == "unequal numbers of dialogues"
    report = report_of(results)
    assert "Not complete, so they do not count: 1 conversation." in report
    assert "dist-N is not given" in report


def test_utterances_that_do_not_count_are_counted(make: Make, tmp_path: Path):
    experiment = make(grid={"seed": [0, 1]}, measures=MEASURED)
    results = told(experiment, tmp_path, lambda _: ["tea"])
    for log in results.folder.glob("runs/*/run.sqlite"):
        write_events(log.parent, [("utterance", utterance(2, "Moderator", "go on"))])
    report_on(experiment, Place(results.folder))
    report = report_of(results)
    assert "Utterances that do not count: words of the moderator 2." in report


def test_nothing_is_held_yet(make: Make, tmp_path: Path):
    results = told(make(grid=GRID, measures={"diversity": True}), tmp_path, lambda _: [])
    assert results.rows("diversity") == []
    assert "No conversation is complete." in report_of(results)


def test_positions_and_groups(make: Make, tmp_path: Path):
    grid = {"seed": [0, 1, 2, 3]}
    measured = {"diversity": {"embedding": "lexical", "positions": True, "group": 2}}
    said = ["a b", "a c", "a b", "d e"]
    results = told(make(grid=grid, measures=measured), tmp_path, lambda each: [said[each.settings.seed or 0], "well"])
    values = {(row["measure"], row["who"]): row["value"] for row in results.rows("diversity")}
    assert values["exclusive_1", None] == pytest.approx((1 / 4 + 2 / 5) / 2), "with itself: c is new, then d and e"
    assert values["dist_1", "1"] == pytest.approx((3 / 4 + 1) / 2)
    assert values["dist_1", "2"] == 0.5
    report = report_of(results)
    assert "By position in the dialogue" in report
    assert "itself, other seeds" in report


@pytest.mark.proof
def test_text_in_the_report_is_data(make: Make, tmp_path: Path):
    grid = {"variant": {"<b>Full": {}, "=1+1": {"model_temperature": 1.0}}, "seed": [0, 1]}
    results = told(make(grid=grid, measures=MEASURED), tmp_path, lambda each: ["<script>alert(1)</script>"])
    report = report_of(results)
    assert "<b>Full" not in report
    assert "&lt;b&gt;Full" in report
    assert "'=1+1" in {row["setting"] for row in rows(results.folder, "diversity")}


def test_diversity_asks_no_model(make: Make, tmp_path: Path):
    prepared = prepare(make(grid=GRID, measures={"diversity": True}), tmp_path)
    assert not prepared.judging


@pytest.mark.proof
def test_an_experiment_with_diversity_runs(make: Make, tmp_path: Path):
    results = run_experiment(make(**TWO_CASES), tmp_path)
    means = {(row["setting"], row["measure"]): row for row in results.rows("diversity_settings")}
    assert 0 < means["Less", "words_left_out"]["mean"] <= 1
    assert means["Full", "dist_3"]["low"] is not None
    assert means["Less", "dist_3_gain"]["cases"] == 2


# The experiments on pruning: cases, what each costs, and that each is planned, held and reported at a small size


ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/experiments/pruning.yaml"
CASES = ROOT / "examples/studies/cases.yaml"


def _studies() -> dict[str, tuple[dict[str, Any], int, int]]:
    """The studies of the documents' table: grid, conversations (equal ones are held once), requests."""
    text = (ROOT / "docs/pruning.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| `([^`]+)` \| [^|]+ \| ([\d,]+) \| ([\d,]+) \|$", text, re.MULTILINE)
    return {
        name: (yaml.safe_load(grid), int(held.replace(",", "")), int(asked.replace(",", "")))
        for name, grid, held, asked in rows
    }


STUDIES = _studies()


def study(name: str) -> dict[str, Any]:
    """The example, changed as the documents say: a grid of the table, and the paper's size."""
    given: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    given["tasks"] = {"file": str(CASES)}
    given["grid"] = {**copy.deepcopy(STUDIES[name][0]), "seed": {"from": 0, "count": 10}}
    given["base"]["settings"]["max_messages"] = 10
    del given["base"]["settings"]["model"], given["base"]["settings"]["pruning"]
    return given


def _ends(levels: Any) -> Any:
    """The first two levels of an axis and the last."""
    if isinstance(levels, dict):
        return {name: levels[name] for name in _ends(list(levels))}
    return levels if len(levels) <= 3 else [*levels[:2], levels[-1]]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An example with two cases, two seeds and two utterances, offline and scored by similarity."""
    monkeypatch.setenv("PERSIMCHAT_MODEL", "offline")
    monkeypatch.setenv("PERSIMCHAT_PRUNING__METHOD", "embedding")

    def make(name: str, *, fewer: bool = False) -> Path:
        given = study(name)
        given["tasks"]["sample"] = 2
        given["grid"]["seed"] = [0, 1]
        given["base"]["settings"] |= {"max_messages": 2, "utterance_words": 8}
        methods = given["grid"].get("pruning.method", [])
        if "attention" in methods:
            methods.remove("attention")
        if fewer:
            given["grid"] = {axis: _ends(levels) for axis, levels in given["grid"].items()}
        own = tmp_path / "study.yaml"
        own.write_text(yaml.safe_dump(given, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return own

    return make


@pytest.mark.proof
def test_there_are_twenty_cases_of_two_people_with_memories(tmp_path: Path):
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump({"name": "x", "base": {}, "tasks": {"file": str(CASES)}}), encoding="utf-8")
    cells = plan(Experiment.load(path)).cells
    assert len(cells) == 20
    people = Counter[str]()
    for cell in cells:
        scenario = cell.scenario
        assert len(scenario.participants) == 2
        assert len(scenario.rules) == 2 and scenario.rules[0].startswith("The place is")
        assert len(scenario.relationships) == 1
        for persona in scenario.participants:
            people[persona.name] += 1
            assert len(persona.memories) == 10
            assert len(persona.traits) == 3 and persona.social_goals and persona.characteristics
    assert len(people) == 20 and set(people.values()) == {2}
    assert len({cell.scenario.topic for cell in cells}) == 20
    assert len({tie.type for cell in cells for tie in cell.scenario.relationships}) >= 10


def test_the_documents_have_the_published_studies():
    assert len(STUDIES) == 8


@pytest.mark.proof
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_can_be_planned_at_a_small_size(name: str, small: Any):
    made = plan(Experiment.load(small(name)))
    assert {cell.settings.cognition for cell in made.cells} == {"fixed"}
    assert {cell.settings.pattern for cell in made.cells} == {"round_robin"}
    assert len({cell.cell.task for cell in made.cells}) == 2


@pytest.mark.long
@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", STUDIES)
def test_the_estimate_says_what_the_documents_say(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PERSIMCHAT_MODEL", "offline")
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study(name), allow_unicode=True, sort_keys=False), encoding="utf-8")
    told = CliRunner().invoke(app, ["experiment", "estimate", str(path), "--out", str(tmp_path), "--json"])
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    assert (data["cells"], data["in_all"]["calls"]) == STUDIES[name][1:]


@pytest.mark.long
@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", STUDIES)
async def test_each_study_runs_offline_at_a_small_size(name: str, small: Any, tmp_path: Path):
    results = await arun_experiment(Experiment.load(small(name, fewer=True)), tmp_path / "results")
    assert results.outcome is not None and not results.outcome.failed
    measured = {row["measure"] for row in results.rows("diversity")}
    assert {"sim", "dist_1", "dist_2", "dist_3"} <= measured
    told = report_of(results)
    assert "Another model, other cases: compare directions, not values." in told


# Published figures on pruning beside an experiment's: rows by settings, changes paired by case, directions


STUDIED = [f"case{n}" for n in range(8)]
PRUNING = {"method": "attention", "query": "prompt", "fill": "skip", "revision": "off"}


def cell(axes: dict[str, Any], **settings: Any) -> Cell:
    return Cell(id=str(axes), axes=axes, topic="", settings={"model": "offline", **settings})


def shown(axes: dict[str, list[Any]], cells: list[Cell], values: Any, embedding: str = "minilm") -> list[Any]:
    found: Any = SimpleNamespace(locked=SimpleNamespace(axes=axes, cells=cells), tested=[])
    return list(published_shown(found, values, embedding))


def variants(settings: dict[str, dict[str, Any]], measures: dict[str, list[float]], **about: Any) -> list[Any]:
    """What is shown of variants with such settings and means, in their order."""
    cells = [cell({"variant": label, "seed": 0}, **one) for label, one in settings.items()]
    values = {
        ((label,), measure): by_case(mean)
        for measure, means in measures.items()
        for label, mean in zip(settings, means, strict=True)
    }
    return shown({"variant": list(settings), "seed": [0]}, cells, values, **about)


def told_of(table: Any) -> dict[tuple[str, str], str]:
    """What is said of a change, by row and measure."""
    name, measure = table.head.index("row"), table.head.index("measure")
    return {(row[name], row[measure]): row[-1] for row in table.rows}


def by_case(value: float, spread: float = 0.001) -> dict[str, float]:
    return {case: value + spread * (n % 3) for n, case in enumerate([*STUDIED, *map(str, range(8))])}


def rows_of(table: Any, measure: str) -> list[Any]:
    place = table.head.index("measure")
    return [row for row in table.rows if row[place] == measure]


def test_blocks_stand_beside_their_rows():
    axes = {"pruning.remove": ["[]", '["m"]', '["e", "p", "m", "b"]', '["n"]'], "seed": [0]}
    removed = [[], ["m"], ["e", "p", "m", "b"], ["n"]]
    cells = [
        cell({"pruning.remove": label, "seed": 0}, **({"pruning": {"remove": one}} if one else {}))
        for label, one in zip(axes["pruning.remove"], removed, strict=True)
    ]
    means = {"[]": 0.4, '["m"]': 0.6, '["e", "p", "m", "b"]': 0.3, '["n"]': 0.9}
    values = {((label,), "dist_3"): by_case(mean) for label, mean in means.items()}
    tables = {one.caption.rpartition("(")[2]: one for one in shown(axes, cells, values)}
    two = tables["table 2)"]
    names = [row[two.head.index("row")] for row in two.rows]
    assert names == ["Full", "RMm", "RMbmpe"], "what nobody published has no row"
    full, memories, everything = rows_of(two, "dist_3")
    assert full[-1] == ""
    assert (memories[3], memories[5], memories[-1]) == (0.636, 0.101, "as published")
    assert memories[6] == pytest.approx(0.2)
    assert everything[-1] == "not comparable", "p is something else there"
    assert two.notes[0] == CAUTION
    assert "models here: offline" in two.notes[1] and "LLaMA 3 8B" in two.notes[1]
    assert tables.keys() == {"table 2)"}, "each row stands in one table"


def test_lambda_goes_a_published_way():
    axes: dict[str, list[Any]] = {
        "pruning.lambda": [0.0, 0.3, 1.0],
        "pruning.method": ["attention", "length"],
        "seed": [0],
    }
    cells = [
        cell(
            {"pruning.lambda": strength, "pruning.method": method, "seed": 0},
            **({"pruning": {**PRUNING, "lambda": strength, "method": method}} if strength else {}),
        )
        for strength, method in product(*(axes[name] for name in ("pruning.lambda", "pruning.method")))
    ]
    values = {
        ((str(strength), method), measure): by_case(0.5 + (0.1 * strength if method == "attention" else 0))
        for strength, method in product(*(axes[name] for name in ("pruning.lambda", "pruning.method")))
        for measure in ("dist_1", "sim")
    }
    *_, sweep = shown(axes, cells, values)
    assert "figure 2" in sweep.caption
    told = {(row[0], row[1], row[3]): row[-1] for row in sweep.rows}
    assert told["0.3", "attention", "dist_1"] == "as published"
    assert told["0.3", "attention", "sim"] == "against"
    assert told["1.0", "length", "dist_1"] == "not comparable", "the picture is of attention"
    assert len(told) == 2 * 2 * 2, "each method is compared with its own λ = 0"


def test_a_temperature_of_ones_own_does_not_hide_a_row():
    own = {"model_temperature": 0.4}
    two, *_ = variants({"Full": own, "RMm": {**own, "pruning": {"remove": ["m"]}}}, {"sim": [0.5, 0.5]})
    assert told_of(two)["RMm", "sim"] == "not shown"


def test_other_experiments_have_no_such_table():
    axes = {"method": ["need_to_talk"], "seed": [0]}
    assert shown(axes, [cell({"method": "need_to_talk", "seed": 0})], {(("need_to_talk",), "sim"): by_case(0.5)}) == []


@pytest.mark.parametrize(
    ("published", "here", "told"),
    [
        (0.1, [0.1, 0.12, 0.08, 0.11, 0.09, 0.13], "as published"),
        (-0.1, [0.1, 0.12, 0.08, 0.11, 0.09, 0.13], "against"),
        (-0.1, [-0.1, -0.12, -0.08, -0.11, -0.09, -0.13], "as published"),
        (0.1, [0.1, -0.12, 0.08, 0.11, -0.09, 0.13], "not shown"),
        (0.0, [0.1, 0.12, 0.08, 0.11, 0.09, 0.13], "no change published"),
        (0.1, [0.1, 0.12, 0.08, 0.11, 0.09], "not shown"),
        (0.1, [], "not measured"),
    ],
)
def test_directions(published: float, here: list[float], told: str):
    assert direction_of(published, family([paired(here)])[0][0]) == told


def test_revision_is_compared_with_the_first_wordings_of_the_same_conversations():
    """Without revision nothing is checked, so there is nothing else to compare with."""
    axes: dict[str, list[Any]] = {"pruning.lambda": [0.0, 0.6], "pruning.revision": ["off", "again"], "seed": [0]}
    cells = [
        Cell(id="0", axes={"pruning.lambda": 0.0, "pruning.revision": "off", "seed": 0}, topic="", settings={},
             also=({"pruning.lambda": 0.0, "pruning.revision": "again", "seed": 0},)),
        *(
            cell({"pruning.lambda": 0.6, "pruning.revision": one, "seed": 0},
                 pruning={**PRUNING, "lambda": 0.6, "revision": one})
            for one in ("off", "again")
        ),
    ]  # fmt: skip
    levels = list(product(("0.0", "0.6"), ("off", "again")))
    values: dict[Any, Any] = {(each, "dist_1"): by_case(0.5) for each in levels}
    for measure, mean in (("inconsistency", 2.0), ("inconsistency_first", 5.0)):
        values |= {(levels[2], measure): dict.fromkeys(STUDIED), (levels[3], measure): by_case(mean)}
    figure2, figure6 = shown(axes, cells, values)
    assert [row[:2] for row in figure2.rows] == [["0.6", "off"]], "λ = 0 is not compared with itself"
    (row,) = figure6.rows
    assert (row[0], row[1], row[-1]) == ("0.6", "again", "as published")
    assert row[figure6.head.index("change here")] == pytest.approx(-3)


@pytest.mark.parametrize(("embedding", "told"), [("lexical", "not comparable"), ("minilm", "as published")])
def test_likeness_of_words_is_not_judged_by_likeness_of_meanings(embedding: str, told: str):
    settings = {"Full": {}, "RMm": {"pruning": {"remove": ["m"]}}}
    two, *_ = variants(settings, {"sim": [0.5, 0.4], "dist_3": [0.4, 0.5]}, embedding=embedding)
    verdicts = told_of(two)
    assert (verdicts["RMm", "sim"], verdicts["RMm", "dist_3"]) == (told, "as published")
    assert f"embedding here: {embedding}" in two.notes[1]


def test_a_row_stands_in_the_table_of_which_most_is_there():
    settings: dict[str, dict[str, Any]] = {
        "Full": {}, "RMm": {"pruning": {"remove": ["m"]}}, "Full T=1.0": {"model_temperature": 1.0},
        "bmecp": {"prompt_order": "bnrmecp"},
    }  # fmt: skip
    settings = {label: {"model_temperature": 0.8, **one} for label, one in settings.items()}
    tables = variants(settings, {"dist_3": [0.4, 0.5, 0.5, 0.5]})
    three, five = map(told_of, tables)
    assert list(three) == [("Full", "dist_3"), ("RMm", "dist_3"), ("Full T=1.0", "dist_3")]
    assert five == {("bmecp", "dist_3"): "not comparable"}


def test_settings_that_differ_are_named():
    own = {"method": "embedding", "query": "response", "fill": "reach", "lambda": 0.6}
    settings = {"off": {"max_messages": 7}, "on": {"max_messages": 7, "pruning": own}}
    (figure,) = variants(settings, {"dist_3": [0.4, 0.5]})
    assert figure.notes[1].endswith(
        "; embedding here: minilm; here model_temperature: not set; here model_top_p: not set; here cognition: full; "
        "here pruning.method: embedding; here pruning.responses: 1; here pruning.fill: reach; here max_messages: 7."
    )


def test_responses_are_not_named_where_none_is_asked_for():
    settings = {"off": {}, "on": {"pruning": {**PRUNING, "responses": 1, "lambda": 0.6}}}
    (figure,) = variants(settings, {"dist_3": [0.4, 0.5]})
    assert "here pruning.query: prompt; here max_messages" in figure.notes[1]


def test_settings_as_in_the_paper_are_not_named():
    """Nor how pieces are scored, where none is."""
    base = {"model_temperature": 0.8, "model_top_p": 0.9, "cognition": "fixed"}
    settings = {"Full": base, "RMm": {**base, "pruning": {"remove": ["m"], "method": "random"}}}
    two, *_ = variants(settings, {"dist_3": [0.4, 0.5]})
    assert two.notes[1].endswith("; embedding here: minilm; here max_messages: 10.")


def test_a_measure_without_a_reference_has_no_row():
    settings = {"Full": {}, "RMm": {"pruning": {"remove": ["m"]}}}
    cells = [cell({"variant": label, "seed": 0}, **one) for label, one in settings.items()]
    values = {(("RMm",), "max_sim"): by_case(0.5)}
    assert shown({"variant": list(settings), "seed": [0]}, cells, values) == []


def test_settings_are_read_by_dotted_name():
    one = cell({}, pruning={"lambda": 0.5, "remove": ["e", "b"]}, model_temperature=1.0)
    assert studied(one, list(figures("pruning").settings)) == {
        "pruning.lambda": 0.5,
        "pruning.remove": "be",
        "model_temperature": 1.0,
    }
