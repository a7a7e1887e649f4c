"""The preset of a paper, and its published values beside an experiment's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from persimchat.experiments import Experiment
from persimchat.experiments.api import Results, report_on
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan

Make = Callable[..., Experiment]
VARIANTS = {
    "Base": {},
    "MF": {"memory_filtering": True},
    "Own": {"utterance_words": 20},
}
NOBODY = "m@http://127.0.0.1:9/v1"


def planned(experiment: Experiment, path: Path) -> Results:
    """The results of an experiment that nobody has run."""
    place = Place(path)
    with place.driven():
        place.keep(plan(experiment))
    return report_on(experiment, place)


def words_of(results: Results) -> str:
    text = (results.folder / "report.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def test_a_preset_is_below_the_base_and_the_axes(make: Make):
    base = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline", "closing": "on"}}
    grid = {"variant": VARIANTS, "method": ["need_to_talk", "group_chat"]}
    found = plan(make(base=base, grid=grid, preset="thesis")).cells
    settings = {(each.cell.axes["variant"], each.cell.axes["method"]): each.settings for each in found}
    one = settings["Base", "need_to_talk"]
    assert (one.utterance_words, one.speech_register, one.social_goals, one.closing) == (42, "neutral", False, "on")
    assert settings["MF", "need_to_talk"].memory_filtering
    assert settings["Own", "group_chat"].utterance_words == 20
    assert settings["Own", "group_chat"].baseline == "group_chat"


def test_published_values_stand_beside_groups_comparisons_and_pairs(make: Make, tmp_path: Path):
    measures = {
        "dimensions": {"by": NOBODY, "only": ["BEL", "CLO"]}, "pairs": {"by": NOBODY, "axis": "variant"}
    }  # fmt: skip
    base = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline"}}
    compare = [{"by": "variant", "reference": "Base"}]
    wanted = make(base=base, preset="thesis", grid={"variant": VARIANTS}, measures=measures, compare=compare)
    results = planned(wanted, tmp_path / "x")
    groups = {(row["measure"], row["variant"]): row for row in results.rows("groups")}
    base_row, own = groups["BEL", "Base"], groups["BEL", "Own"]
    assert (base_row["published"], base_row["published_sd"], base_row["published_table"]) == (8.53, 0.94, "6.3")
    assert (own["published"], own["published_table"], base_row["n"], base_row["missing"]) == (None, None, 0, 1)
    rows = {(row["measure"], row["a"]): row for row in results.rows("comparisons")}
    assert (rows["BEL", "MF"]["published_a"], rows["BEL", "MF"]["published_b"]) == (8.79, 8.53)
    assert rows["BEL", "Own"]["published_table"] is None
    contests = {(row["a"], row["b"]): row for row in results.rows("contests")}
    assert (contests["MF", "Base"]["published_win"], contests["MF", "Base"]["published_table"]) == (24.14, "6.8")
    report = words_of(results)
    assert "8.79 ± 0.74 (Table 6.3), 8.53 ± 0.94 (Table 6.3)" in report
    assert "24 / 31 / 45 % (Table 6.8)" in report
    assert "models gpt-4o-2024-08-06, here offline" in report
    assert "prompt_order" in report and "strict_answers" in report
    assert "The published values are no target" in report


def test_without_a_shared_key_nothing_is_published(make: Make, tmp_path: Path):
    results = planned(make(measures={"dimensions": {"by": NOBODY}}), tmp_path / "x")
    assert {row["published"] for row in results.rows("groups")} == {None}
    assert "What differed from" not in words_of(results)
