"""Diversity in experiments: cells that differ in the seed are a case, settings stand side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experiment_tables import rows
from run_folders import mind, utterance, write_run

from persimchat.app.cli import main
from persimchat.evaluation.diversity.measuring import MEASURES
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import Results, prepare, report_on
from persimchat.experiments.place import Place
from persimchat.experiments.plan import Planned, plan

Make = Callable[..., Experiment]
TASKS = {"list": [{"id": "tea", "topic": "Tea?"}, {"id": "milk", "topic": "Milk?"}]}
SAID = {"Full": ["a b a b", "a b c"], "Less": ["a b d", "c c"]}
"""By setting, the words of each seed: the examples computed by hand."""
GRID: dict[str, Any] = {
    "variant": {"Full": {}, "Less": {"pruning": {"lambda": 0.6, "method": "length"}}},
    "seed": [0, 1],
}
MEASURED = {"diversity": {"embedding": "lexical"}}


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


def test_settings_stand_side_by_side(make: Make, tmp_path: Path):
    experiment = make(grid=GRID, tasks=TASKS, base=_without_topic(), measures=MEASURED)
    results = told(experiment, tmp_path, by_hand)
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
    assert less["low"] == pytest.approx(4 / 5)
    assert "1,000 resamples, seed 0" in less["method"]
    assert rows(results.folder, "diversity")[0]["embedding"] == "lexical"
    diversity = results.tables.diversity
    assert diversity is not None
    assert diversity.values_by_levels()[("Less",), "dist_1"] == {"tea": 0.8, "milk": 0.8}


def test_the_report_has_a_section(make: Make, tmp_path: Path):
    results = told(make(grid=GRID, tasks=TASKS, base=_without_topic(), measures=MEASURED), tmp_path, by_hand)
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    for words in (
        '<section class="card words-list" id="diversity"',
        "lexical: words, not meanings; not comparable with published sim",
        "Settings side by side, means over cases",
        "Efficiency: what leaving words out brings",
        "Differences from the reference, paired by case",
        "0.429 (0.429 to 0.429)",
        "tables/diversity_settings.csv",
    ):
        assert words in report
    codebook = (results.folder / "tables/codebook.md").read_text(encoding="utf-8")
    assert f"- `sim`: Of a case: {MEASURES['sim']}." in codebook
    assert "## diversity_settings" in codebook


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
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "Not complete, so they do not count: 1 conversation." in report
    assert "dist-N is not given" in report


def test_utterances_that_do_not_count_are_counted(make: Make, tmp_path: Path):
    experiment = make(grid={"seed": [0, 1]}, measures=MEASURED)
    results = told(experiment, tmp_path, lambda _: ["tea"])
    for transcript in results.folder.glob("runs/*/transcript.jsonl"):
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(utterance(2, "Moderator", "go on")) + "\n")
    report_on(experiment, Place(results.folder))
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "Utterances that do not count: words of the moderator 2." in report


def test_nothing_is_held_yet(make: Make, tmp_path: Path):
    results = told(make(grid=GRID, measures={"diversity": True}), tmp_path, lambda _: [])
    assert results.rows("diversity") == []
    assert "No conversation is complete." in (results.folder / "report.html").read_text(encoding="utf-8")


def test_positions_and_groups(make: Make, tmp_path: Path):
    grid = {"seed": [0, 1, 2, 3]}
    measured = {"diversity": {"embedding": "lexical", "positions": True, "group": 2}}
    said = ["a b", "a c", "a b", "d e"]
    results = told(make(grid=grid, measures=measured), tmp_path, lambda each: [said[each.settings.seed or 0], "well"])
    values = {(row["measure"], row["who"]): row["value"] for row in results.rows("diversity")}
    assert values["exclusive_1", None] == pytest.approx((1 / 4 + 2 / 5) / 2), "with itself: c is new, then d and e"
    assert values["dist_1", "1"] == pytest.approx((3 / 4 + 1) / 2)
    assert values["dist_1", "2"] == 0.5
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "By position in the dialogue" in report
    assert "itself, other seeds" in report


def test_text_in_the_report_is_data(make: Make, tmp_path: Path):
    grid = {"variant": {"<b>Full": {}, "=1+1": {"model_temperature": 1.0}}, "seed": [0, 1]}
    results = told(make(grid=grid, measures=MEASURED), tmp_path, lambda each: ["<script>alert(1)</script>"])
    report = (results.folder / "report.html").read_text(encoding="utf-8")
    assert "<b>Full" not in report
    assert "&lt;b&gt;Full" in report
    assert "'=1+1" in {row["setting"] for row in rows(results.folder, "diversity")}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"embedding": "openai:text-embedding-3-small"}, "embedding"),
        ({"tokens": "signs"}, "tokens"),
        ({"group": 1}, "group"),
        ({"windows": 3}, "windows"),
        ("yes", "diversity"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: Any, words: str
) -> None:
    with pytest.raises(Exception, match="diversity"):
        make(measures={"diversity": given})
    assert main(["experiment", "estimate", str(tmp_path / "small.yaml"), "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert "Traceback" not in said


def test_diversity_asks_no_model(make: Make, tmp_path: Path):
    prepared = prepare(make(grid=GRID, measures={"diversity": True}), tmp_path)
    assert not prepared.judging


@pytest.mark.proof
def test_an_experiment_with_diversity_runs(make: Make, tmp_path: Path):
    results = run_experiment(make(grid=GRID, tasks=TASKS, base=_without_topic(), measures=MEASURED), tmp_path)
    means = {(row["setting"], row["measure"]): row for row in results.rows("diversity_settings")}
    assert 0 < means["Less", "words_left_out"]["mean"] <= 1
    assert means["Full", "dist_3"]["low"] is not None
    assert means["Less", "dist_3_gain"]["cases"] == 2


def _without_topic() -> dict[str, Any]:
    return {"participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline", "max_messages": 2}}
