"""Stories in experiments: what may be varied, what is measured, and what stands beside published figures."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from experiment_tables import rows
from fixtures import Refused
from recorded_stories import AINO, NAMES, OLLE, TUULI, VEIKKO, happened, recorded
from small_experiment import Make, planned, report_of

from persimchat.evaluation.statistics.claims import family
from persimchat.evaluation.statistics.intervals import COUNT, PERCENT, SHARE
from persimchat.evaluation.stories import story_in
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import prepare
from persimchat.experiments.estimate import estimates
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Cell, plan
from persimchat.experiments.report import Shown, _environment
from persimchat.experiments.report_stories import MADE_UP, effects
from persimchat.experiments.stories import ends, ends_compared, parts_of
from persimchat.experiments.tables import Tables
from persimchat.personas.scenario import load_story
from persimchat.runs.api import collected
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

TINY = str(Path(__file__).parents[2] / "personas/stories/tiny.yaml")
EXAMPLES = {"winners": 20, "ablations": 40, "attitude": 4}
BASE = {"scenario": TINY, "settings": {"model": "offline"}}


def example(root: Path, name: str) -> Experiment:
    return Experiment.load(root / f"examples/experiments/{name}.yaml")


def scenarios(experiment: Experiment, axis: str) -> dict[Any, Scenario]:
    return {each.cell.axes[axis]: each.scenario for each in plan(experiment).cells}


# ── refused before the first call ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"measures": {"story": ["winners"]}}, "the conversations have no story"),
        ({"measures": {"attitude": "seed"}}, "the conversations have no story"),
        ({"base": BASE, "measures": {"attitude": "observed"}}, "'observed' is no axis of the grid"),
        ({"base": BASE, "measures": {"attitude": "seed"}}, "no level of the axis seed is a participant"),
    ],
)
def test_measures_without_what_they_measure_are_refused(
    make: Make, tmp_path: Path, given: Any, what: str, refused: Refused
):
    wanted = make(grid={"seed": [0]}, **given)
    refused(lambda: prepare(wanted, tmp_path), what, "small.yaml", "field measures.")


# ── patches ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_variant_patches_the_section_of_a_story(make: Make):
    variants: dict[str, Any] = {
        "base": {},
        "group": {"scenario": {"story": {"stages": [{"kind": "group"}], "limits": {"change": 5}}}},
        "belief": {"scenario": {"story": {"characters": {"Olle": {"known_as": "A rich man."}}}}},
        "goals": {"scenario": {"social_goals": {"Olle": ["Be rich."]}}},
        "alone": {"scenario": {"story": {"settlement": {"decider": "Olle"}}}},
        "smaller": {"scenario": {"participants": {"Olle": None}}},
    }
    found = scenarios(make(base=BASE, grid={"variant": variants, "seed": [0]}, measures={}), "variant")
    stories = {name: scenario.story for name, scenario in found.items()}
    base = stories["base"]
    assert base is not None
    assert all(stories.values()), "a patch of something else keeps the story"
    assert found["goals"].social_goals[OLLE] == ["Be rich."]
    assert stories["goals"] == base
    assert stories["group"] == base.model_copy(
        update={
            "stages": [base.stages[2].model_copy(update={"exchanges": 3})],
            "limits": base.limits.model_copy(update={"change": 5}),
        }
    )
    assert stories["belief"] and stories["belief"].characters[OLLE].known_as == "A rich man."
    assert stories["belief"].characters[AINO] == base.characters[AINO]
    assert stories["alone"] and stories["alone"].settlement and stories["alone"].settlement.decider == OLLE
    assert stories["smaller"] and [*stories["smaller"].characters] == [AINO, VEIKKO, TUULI]
    assert [one.owner for one in stories["smaller"].resources if one.owner == OLLE] == []


def test_a_base_may_write_a_story_out(make: Make, tmp_path: Path):
    story = {"characters": {"Jarmila": {"main": True}, "Zeynep": {"main": True}}, "settlement": {}}
    base = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "story": story, "settings": {"model": "offline"}}
    prepared = prepare(make(base=base, grid={"seed": [0]}, measures={"story": ["winners"]}), tmp_path)
    (cell,) = prepared.plan.cells
    assert cell.scenario.story is not None
    assert cell.settings.mode == "story"
    with pytest.raises(InputError, match="a scenario file and story are both given"):
        make(base={"scenario": TINY, "story": story})


def test_a_wrong_patch_of_a_story_says_where(make: Make, refused: Refused):
    wrong = {"wrong": {"scenario": {"story": {"characters": {"Ollie": {"main": True}}}}}}
    refused(lambda: plan(make(base=BASE, grid={"variant": wrong}, measures={})), "'Ollie'", "small.yaml")


def test_further_goals_for_all_others(root: Path):
    found = scenarios(example(root, "attitude"), "observed")
    assert [*found] == ["nobody", AINO, VEIKKO, TUULI]
    before = found["nobody"].social_goals
    for observed in (AINO, VEIKKO, TUULI):
        goals = found[observed].social_goals
        assert goals.get(observed) == before.get(observed), "the observed one keeps its goals, and learns nothing"
        for name in set(NAMES) - {observed}:
            *own, further = goals[name]
            assert own == list(before.get(name, []))
            assert further.startswith(f"Treat {observed} badly")


@pytest.mark.parametrize("goals", [{"also": "Be kind."}, {"more": ["Be kind."]}])
def test_further_goals_are_a_list(make: Make, goals: Any):
    wrong = {"wrong": {"scenario": {"social_goals": {"Olle": goals}}}}
    with pytest.raises(InputError, match=f"the goals of {OLLE} are not a list"):
        plan(make(base=BASE, grid={"variant": wrong}, measures={}))


# ── parts over runs ────────────────────────────────────────────────────────────────────────────────────────────────


def test_shares_and_means_have_intervals_of_their_kind():
    cells = [Cell(id=str(n), axes={"seed": n}, topic="", settings={}) for n in range(20)]
    won = {str(n): float(n < 7) for n in range(20)}
    talked = {str(n): float(n % 3) for n in range(20)}
    values = {("won", "candidate", "R"): won, ("talks", "pair", "R → L"): talked, ("talks", "pair", "R → K"): won}
    first, second, third = parts_of({"seed": range(20)}, cells, values, {"won": SHARE, "talks": COUNT})
    assert (first.n, first.total, first.estimate.value, first.estimate.method) == (20, 7, 0.35, "Clopper–Pearson")
    assert (first.estimate.low, first.estimate.high) == pytest.approx((0.154, 0.592), abs=5e-4)
    assert (second.estimate.method, third.estimate.method) == ("t", "t"), "one measure, one method"


def test_text_in_the_report_is_data():
    shown = Shown(
        "<i>c", ["<b>h"], [["<script>x", 1234, 1234.5, None], [(0.1, 0.25), (None, None), (0, 1, 2), ""]], ["<u>"]
    )
    made = _environment().get_template("stories.html.jinja").render(values={"tables": [shown], "made_up": ""})
    assert [tag for tag in ("<script>x", "<b>h", "<i>c", "<u>") if tag in made] == []
    for text in ("1,234</td>", "0.1 to 0.25", ">none<", "0 (1 to 2)", "&lt;script&gt;"):
        assert text in made


# ── the examples ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_estimated(root: Path, tmp_path: Path, name: str):
    prepared = prepare(example(root, name), tmp_path)
    assert len(prepared.plan.cells) == EXAMPLES[name]
    assert len({each.cell.id for each in prepared.plan.cells}) == EXAMPLES[name]


@pytest.mark.proof
def test_the_report_of_nothing_says_so(root: Path, tmp_path: Path):
    """Before any conversation is complete, tables and report can be made."""
    for name in EXAMPLES:
        results = planned(example(root, name), tmp_path / name)
        assert {row["missing"] for row in results.rows("measures")} == {"the conversation is not complete: planned"}
        assert results.rows("parts") == []
        assert MADE_UP in report_of(results)


def held(root: Path, out: Path, name: str, **grid: Any) -> Path:
    """An example with a smaller grid, held to its end."""
    wanted = example(root, name)
    smaller = wanted.model_copy(update={"grid": {**wanted.grid, **grid}})
    smaller._document, smaller._folder = None, wanted.folder
    return run_experiment(smaller, out).folder


@pytest.mark.proof
def test_winners(root: Path, tmp_path: Path):
    folder = held(root, tmp_path, "winners", seed=[0, 1, 2])
    parts = {(row["measure"], row["who"]): row for row in rows(folder, "parts")}
    won = [row for (measure, _), row in parts.items() if measure == "won"]
    assert [row["who"] for row in won] == [AINO, VEIKKO, TUULI, "a draw", "nobody"]
    assert sum(float(row["total"]) for row in won) == 3
    assert {row["interval"] for row in won} == {"Clopper–Pearson"}
    assert sum(float(row["total"]) for (measure, _), row in parts.items() if measure == "talks") == 18
    assert {"0", "1"} <= {who for measure, who in parts if measure == "supported"}
    values = {(row["measure"], row["unit"]) for row in rows(folder, "measures")}
    assert {("won", "candidate"), ("supported", "round"), ("talks", "pair"), ("talks", "run")} <= values
    codebook = (folder / "tables/codebook.md").read_text(encoding="utf-8")
    assert "- `won`: " in codebook
    assert "## parts" in codebook


@pytest.mark.long
def test_ablations(root: Path, tmp_path: Path):
    folder = held(root, tmp_path, "ablations", seed=[0])
    grams = {row["variant"]: float(row["mean"]) for row in rows(folder, "groups") if row["measure"] == "bigrams_words"}
    assert len(grams) == 8
    assert max(grams["no group"], grams["no private talks"], grams["no confidential meetings"]) < grams["base"]
    bounded = {row["measure"]: float(row["mean"]) for row in rows(folder, "groups") if row["variant"] == "base"}
    assert bounded["entropy_words_bits_at_n"] <= bounded["entropy_words_bits"]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Published: 7.218 for base" in report
    for published in ("+0.022", "+0.042", "+0.054", "+0.355", "+0.049", "+0.071", "+0.296"):
        assert f"<bdi>{published}</bdi>" in report


@pytest.mark.proof
@pytest.mark.long
def test_attitude(root: Path, tmp_path: Path):
    folder = held(root, tmp_path, "attitude")
    observed = {row["observed"]: row for row in rows(folder, "groups") if row["measure"] == "attitude_T1"}
    assert [*observed] == ["nobody", AINO, VEIKKO, TUULI]
    assert observed["nobody"]["not_applicable"] == "1"
    assert {float(observed[name]["mean"]) % 20 for name in (AINO, VEIKKO, TUULI)} == {0}
    controls = [row for row in rows(folder, "parts") if row["measure"] == "attitude_T1"]
    assert [row["who"] for row in controls] == [AINO, VEIKKO, TUULI]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "published: GPT4-Turbo" in report
    assert "nothing shows that they were provoked" in report, (
        "the offline model does not read goals, and the check says so"
    )


# Stories that differ in one private word or one choice: who else wins, and where the characters end, pair by pair


EXAMPLES_OF_STORY_EFFECTS = Path(__file__).parents[2] / "examples/experiments"


def test_where_a_story_ends(tmp_path: Path) -> None:
    near = {VEIKKO: 13, TUULI: 20, OLLE: 6}
    record = recorded(
        tmp_path,
        happenings=[
            happened("standing", AINO, round=0, closeness={VEIKKO: 10}, beliefs=[60, 10, 10], supports=""),
            happened("standing", AINO, closeness=near, beliefs=[51, 15, 16], supports="", influence=30),
        ],
        outcome={"winners": [TUULI], "elected": [TUULI], "open": {TUULI: 2, AINO: 1}, "closed": {VEIKKO: 1}},
    )
    story = story_in(record)
    assert story is not None
    found = [(one.measure, one.unit, one.who, one.value) for one in ends(record, story, cast(Cell, None))]
    assert found == [
        ("belief", "belief", f"{AINO}: The company should be sold.", 51),
        ("belief", "belief", f"{AINO}: Veikko should lead it.", 15),
        ("belief", "belief", f"{AINO}: Tuuli should lead it.", 16),
        *(("closeness", "pair", f"{AINO} → {name}", score) for name, score in near.items()),
        *(("open_ballots", "candidate", name, n) for name, n in ((AINO, 1), (VEIKKO, 0), (TUULI, 2))),
        *(("closed_ballots", "candidate", name, n) for name, n in ((AINO, 0), (VEIKKO, 1), (TUULI, 0))),
    ]


def compared(won: dict[str, list[str]], belief: dict[str, list[float]], **wanted: Any) -> list[Any]:
    """The tables on an axis `word`: by level, who won and how strong one belief was, seed by seed."""
    cells, measures = [], []
    for level, winners in won.items():
        for seed, winner in enumerate(winners):
            cell = Cell(id=f"{level}{seed}", axes={"word": level, "seed": seed}, topic="", settings={})
            cells.append(cell)
            values = {("won", who): float(who == winner) for who in ("R", "S")}
            values["belief", "R: I lead."] = belief[level][seed]
            for (measure, who), value in values.items():
                row = {"cell": cell.id, "measure": measure, "who": who, "value": value}
                measures.append(SimpleNamespace(model_dump=row.copy))
    axes = {"word": list(won), "seed": [0, 1, 2, 3]}
    strong = {f"{level}{seed}": value for level, values in belief.items() for seed, value in enumerate(values)}
    parts = {("belief", "belief", "R: I lead."): strong} if strong else {}
    found: Any = SimpleNamespace(
        experiment=SimpleNamespace(compare=[Compare(by="word", **wanted)]),
        locked=SimpleNamespace(axes=axes, cells=cells),
        rows={"measures": measures},
        at_end=family(ends_compared(Compare(by="word", **wanted), axes, cells, parts, {"belief": PERCENT})),
    )
    return list(effects(cast(Tables, found)))


def test_pairs_are_equal_in_seed_and_counted_one_by_one() -> None:
    winners, end = compared(
        {"as it was": ["R", "R", "S", "S"], "another": ["R", "S", "S", "R"]},
        {"as it was": [50, 52, 54, 56], "another": [51, 54, 57, 60]},
        reference="as it was",
    )
    assert winners.caption == "How often another wins, by word"
    ((label, pairs, other, share, interval),) = winners.rows
    assert (label, pairs, other, share) == ("another, as it was", 4, 2, 0.5)
    assert interval == pytest.approx((0.0676, 0.9324), abs=5e-4), "Clopper and Pearson's, of 2 in 4"
    ((label, of, who, pairs, second, difference, interval, p, told),) = end.rows
    assert (label, of, who, pairs) == ("another − as it was", "belief", "R: I lead.", 4)
    assert (second, difference) == (53, 2.5)
    assert interval == pytest.approx((0.446, 4.554), abs=5e-4), "Student's: 2.5 ± 3.182·1.291/2"
    assert (p, told) == (0.125, "not shown")  # its interval leaves 0 out; of four pairs, no test can hold


def test_without_values_there_is_no_table() -> None:
    assert compared({"as it was": [], "another": []}, {"as it was": [], "another": []}) == []


# ── choices in files ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small story, held once."""
    out, story = tmp_path_factory.mktemp("kept"), load_story()
    settings = Settings(**{**story.settings, "model": "offline", "seed": 1})
    asyncio.run(collected(run_simulation(story, settings, out=out, run="origin")))
    return out / "origin"


def base(kept: Path, **more: Any) -> dict[str, Any]:
    return {"branch": {"run": str(kept), **more}}


@pytest.mark.proof
def test_a_choice_is_a_part_of_the_cell(make: Make, kept: Path) -> None:
    variants = {"own": {"choose": ""}, "Olle": {}, "nobody": {"choose": "Tuuli=nobody"}}
    wanted = make(base=base(kept, at=2, choose="Tuuli=Olle"), grid={"variant": variants}, measures={})
    cells = [each.cell.branch for each in plan(wanted).cells]
    assert cells == [
        {"run": "origin", "at": 2, "say": None},
        {"run": "origin", "at": 2, "say": None, "choose": ["Tuuli", "Olle"]},
        {"run": "origin", "at": 2, "say": None, "choose": ["Tuuli", "nobody"]},
    ]
    last = plan(make(base=base(kept, choose="Tuuli=Olle"), grid={}, measures={})).cells[0]
    assert last.cell.branch and last.cell.branch["at"] == 8, "the last choice"
    (found,) = estimates(plan(make(base=base(kept, at=8), grid={}, measures={}))).values()
    assert found.utterances == 12
    assert 67 * 0.5 < found.total.calls < 67 * 0.7


WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"choose": "Tuuli"}, {}, "the host or the partner is missing"),
    ({"choose": "Tuuli=Bob"}, {}, "no participant 'Bob'"),
    ({"at": 9, "choose": "Tuuli=Olle"}, {}, "no choice after utterance 9 or later"),
    ({}, {}, "the turn at which the branch begins is missing"),
    ({"at": 2}, {"variant": {"A": {"choose": 3}}}, "choose is not a text"),
    ({"at": 2, "say": "Tuuli: Hm.", "choose": "Tuuli=Olle"}, {}, "words and a choice are both given"),
]


@pytest.mark.proof
@pytest.mark.parametrize(("branch", "grid", "words"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_wrong_choices_are_refused(
    make: Make, kept: Path, refused: Refused, branch: dict[str, Any], grid: dict[str, Any], words: str
) -> None:
    refused(lambda: plan(make(base=base(kept, **branch), grid=grid, measures={})), words)


def test_only_a_branch_chooses(make: Make, refused: Refused) -> None:
    grid = {"variant": {"A": {"choose": "Jarmila=Zeynep"}}}
    refused(lambda: plan(make(grid=grid)), "chooses for a host", "only a branch")


# ── the example ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_the_example_says_what_one_private_word_does(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "personas").symlink_to(root / "personas")
    folder = tmp_path / "examples/experiments"
    folder.mkdir(parents=True)
    for name in ("one_story", "private_word"):
        given = yaml.safe_load((EXAMPLES_OF_STORY_EFFECTS / f"{name}.yaml").read_text(encoding="utf-8"))
        if name == "private_word":
            given["grid"]["seed"]["count"] = 3
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")
        results = run_experiment(Experiment.load(folder / f"{name}.yaml"), Path("results"))
    report = report_of(results)
    assert "How often another wins, by variant" in report
    assert "What differs at the end, by variant" in report
    assert "say nothing about people" in report
    ended = {
        (row["variant"], row["seed"], row["measure"], row["who"]): float(row["value"])
        for row in rows(results.folder, "measures")
        if row["measure"] in ("belief", "closeness")
    }
    moved = {
        who.partition(":")[0].partition(" →")[0]
        for (variant, seed, measure, who), value in ended.items()
        for other in ("another word", "in other words")
        if variant == "as it was" and value != ended[other, seed, measure, who]
    }
    assert moved == {AINO}, "who did not hear the word ends where they would have ended without it"
    said = {
        row["variant"]: read_run(results.folder / "runs" / row["cell"]).utterances[2]
        for row in rows(results.folder, "cells")
    }
    assert {one.speaker for one in said.values()} == {TUULI}
    assert [one.heard_by for one in said.values()] == [[AINO]] * 3
    assert [one.text for one in said.values()] == [
        "Good that we are alone, Aino. I speak for myself, and you may repeat that.",
        "We are alone at last, Aino. I speak for myself, and you may pass that on.",
        "Good that we are alone, Aino. I speak for Veikko, and you may repeat that.",
    ]


@pytest.mark.long
@pytest.mark.proof
def test_an_experiment_holds_stories_in_which_a_branch_chooses(make: Make, kept: Path, tmp_path: Path) -> None:
    variants = {"own": {"choose": "Tuuli=Aino"}, "nobody": {"choose": "Tuuli=nobody"}}
    measures = {"story": ["winners", "ends", "talks"], "stances": True}
    wanted = make(
        base=base(kept, at=2), grid={"variant": variants, "seed": [0]}, measures=measures, compare=[{"by": "variant"}]
    )
    folder = run_experiment(wanted, tmp_path).folder
    talks = {
        (row["variant"], row["who"]): float(row["mean"]) for row in rows(folder, "parts") if row["measure"] == "talks"
    }
    assert talks["own", f"{TUULI} → {AINO}"] > 0
    measured = {row["measure"] for row in rows(folder, "measures")}
    assert {"supports_moves", "supports_kept", "won", "belief"} <= measured
    assert rows(folder, "stances")
