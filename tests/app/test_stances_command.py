"""`persimchat evaluate stances`, and where else a run's moves are shown."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import PEOPLE, utterance, verdict, write_run

Run = Callable[..., Any]
RUNS = Path("conversations")
EVA, BO, LI = PEOPLE


def debate(name: str = "cars", *, yes: str = "yes", no: str = "no", **about: Any) -> Path:
    """A debate in which Bo comes round after Eva."""
    said = [utterance(turn, speaker) for turn, speaker in enumerate((EVA, BO, EVA, BO), start=1)]
    held = {turn: {EVA: yes, BO: yes if turn == 4 else no} for turn in range(1, 5)}
    verdicts = [
        verdict(turn, positions=[{"agent": n, "position": "So.", "answer": a, "agrees": False} for n, a in own.items()])
        for turn, own in held.items()
    ]
    settings = {"mode": "debate", "answer_format": "choice", "choices": [yes, no], "model": "offline"}
    return write_run(RUNS, said, None, verdicts=verdicts, run=name, settings=settings, turn=4, **about)


def test_who_moved_after_whom(command: Run) -> None:
    folder = debate()
    found = json.loads(command("evaluate", "stances", str(folder), "--json").out)
    (one,) = found["runs"]["cars"]
    assert {holder["agent"]: (holder["first"], holder["last"], holder["credit"]) for holder in one["holders"]} == {
        EVA: ("yes", "yes", 1.0), BO: ("no", "yes", 0.0),
    }  # fmt: skip
    assert one["values"]["moves"] == 1
    (move,) = [row for row in found["ledger"] if row["moved"]]
    assert (move["agent"], move["turn"], move["candidates"], move["credit"]) == (BO, 4, [3], {EVA: 1.0})
    done = command("evaluate", "stances", str(folder), "--source", "verdicts", "--out", "res")
    assert "1 move, 1 to the majority of the time; the first position of 1 of 2 was their last." in done.out
    assert "after whom somebody moved, not because of whom" in done.out
    with (Path("res") / "stances.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["run"], row["turn"], row["moved"]) for row in rows][-1] == ("cars", "4", "true")


def test_several_runs_are_summed_up(command: Run) -> None:
    folders = [str(debate(name)) for name in ("one", "two")]
    done = command("evaluate", "stances", *folders)
    assert "one: verdicts" in done.out
    assert "Altogether, the first position of 2 of 4 was their last." in done.out
    plain = write_run(RUNS, run="plain")
    assert "plain: no position is known" in command("evaluate", "stances", str(plain)).out


def test_show_report_and_export_have_the_moves(command: Run) -> None:
    folder = debate()
    done = command("show", str(folder))
    assert "Who moved, by verdicts" in done.out
    assert json.loads(command("show", str(folder), "--json").out)["stances"][0]["source"] == "verdicts"
    assert command("show", str(folder), "--html").code == 0
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Who moved, by verdicts" in report
    assert f"<bdi>{EVA}</bdi> (3)" in report
    assert command("export", str(folder), "--format", "jsonl").code == 0
    rows = [json.loads(line) for line in Path("export/stances.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["candidates"] for row in rows] == [[], [], [], [3]]
    assert "## stances" in Path("export/codebook.md").read_text(encoding="utf-8")
    assert command("export", str(folder), "--for", EVA, "--out", "eyes").code == 0
    assert not list(Path("eyes").glob("stances*"))


def test_a_run_in_which_nobody_moved_says_no_more_than_before(command: Run) -> None:
    folder = write_run(RUNS, run="plain")
    assert "Who moved" not in command("show", str(folder)).out
    assert "stances" not in json.loads(command("show", str(folder), "--json").out)
    command("show", str(folder), "--html")
    assert "Who moved" not in (folder / "report.html").read_text(encoding="utf-8")


def test_texts_are_data(command: Run) -> None:
    folder = debate(yes="=1+1", no="<b>no</b>")
    command("evaluate", "stances", str(folder), "--out", "res")
    assert "'=1+1" in (Path("res") / "stances.csv").read_text(encoding="utf-8")
    command("show", str(folder), "--html")
    assert "<b>no</b>" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cars", "--source", "verdict"), "Did you mean 'verdicts'?"),
        (("cars", "cars"), "is given twice"),
        (("gone",), "there is no run"),
    ],
)
def test_bad_input_is_one_line(command: Run, arguments: tuple[str, ...], words: str) -> None:
    debate()
    done = command("evaluate", "stances", *arguments)
    assert done.code == 2
    assert words in done.error


def test_a_damaged_file_of_polls_names_the_line(command: Run) -> None:
    folder = debate()
    (folder / "polls.jsonl").write_text('{"poll": 3}\n')
    assert "polls.jsonl, line 1" in command("evaluate", "stances", str(folder)).error
