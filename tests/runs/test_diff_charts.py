"""The courses of two runs over each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from run_folders import EMOTIONS, PEOPLE, mind, utterance, write_run

from persimchat.runs.folder.reading import Record, read_run
from persimchat.runs.reports.charts.drawing import svg
from persimchat.runs.reports.diff_charts import overlays

EVA = PEOPLE[0]


def told(out: Path, run: str, anger: list[int], needs: list[int], words: str = "abc", **more: Any) -> Record:
    """A run in which Eva feels and wants to talk as told, a turn each."""
    minds = [
        mind(turn, EVA, emotion=dict.fromkeys(EMOTIONS, 1) | {"anger": felt}, need_to_talk=need)
        for turn, (felt, need) in enumerate(zip(anger, needs, strict=True))
    ]
    said = [utterance(turn, EVA, text) for turn, text in enumerate(words, 1)]
    return read_run(write_run(out, said, minds, run=run, **more), whole=True)


def test_what_differs_is_drawn_over_each_other(tmp_path: Path) -> None:
    a = told(tmp_path, "a", [0, 2, 3, 9], [5, 5, 5, 5])
    b = told(tmp_path, "b", [0, 2, 7, 9], [5, 5, 5, 5], "abx")
    (chart,) = overlays(a, b, parts="They part")
    assert chart.title == "Emotions"
    assert [text.text for text in chart.texts if "name" in text.style] == [f"{EVA}: anger"]
    assert [("dashed" in line.style, line.label) for line in chart.lines] == [(False, "A 9"), (True, "B 9")]
    assert [(mark.turn, mark.title) for mark in chart.marks] == [(3, "They part")]
    assert chart.table[0] == ["turn", f"{EVA}: anger, A", f"{EVA}: anger, B"]
    assert list(chart.table[3]) == [2, 3, 7]
    assert "dashed" in svg(chart, "x")


def test_equal_courses_and_runs_without_minds_have_no_charts(tmp_path: Path) -> None:
    a, b = told(tmp_path, "a", [0, 1], [5, 6]), told(tmp_path, "b", [0, 1], [5, 6])
    assert overlays(a, b) == []
    none = read_run(write_run(tmp_path, minds=[], run="none"), whole=True)
    assert overlays(none, none) == []
    assert [chart.title for chart in overlays(a, none)] == ["Emotions", "Need to talk"]


def test_openness_of_debates(tmp_path: Path) -> None:
    records = []
    for run, openness in (("a", 3), ("b", 8)):
        minds = [mind(turn, EVA, openness=openness) for turn in range(3)]
        records.append(read_run(write_run(tmp_path, minds=minds, run=run), whole=True))
    assert [chart.title for chart in overlays(*records)] == ["Openness to consensus"]
